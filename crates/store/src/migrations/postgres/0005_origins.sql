-- Where the values of a person come from that were set by changes whose events are forgotten, the newest change first.
CREATE TABLE person_origin (
    workspace_id bigint NOT NULL,
    person_id uuid NOT NULL,
    changes jsonb NOT NULL,
    PRIMARY KEY (workspace_id, person_id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);
