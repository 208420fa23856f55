-- Where the values of a person come from that were set by changes whose events are forgotten, as JSON, the newest change first. The rows
-- are long, so this table has row ids.
CREATE TABLE person_origin (
    workspace_id INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    changes TEXT NOT NULL,
    PRIMARY KEY (workspace_id, person_id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
) STRICT;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('person_origin', 'sqlite_autoindex_person_origin_1', '1000000 1000000 1');

ANALYZE sqlite_schema;
