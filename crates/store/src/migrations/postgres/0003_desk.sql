-- What recruiters do between create and read: templates, merged and erased records, places in long lists, search.

-- stages is a list of names and flags, in order.
CREATE TABLE pipeline_template (
    workspace_id bigint NOT NULL REFERENCES workspace (workspace_id),
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    is_default boolean NOT NULL,
    stages jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, name_key)
);

INSERT INTO pipeline_template (workspace_id, id, name, name_key, position, is_default, stages, created_at, updated_at)
SELECT workspace_id, gen_random_uuid(), 'Standard', 'standard', 1, true, 
'[{"name":"Sourced","is_rejection_stage":false,"is_interviewing_stage":false},{"name":"Contacted","is_rejection_stage":false,"is_interviewing_stage":false},{"name":"Screening","is_rejection_stage":false,"is_interviewing_stage":false},{"name":"Interview","is_rejection_stage":false,"is_interviewing_stage":true},{"name":"Final interview","is_rejection_stage":false,"is_interviewing_stage":true},{"name":"Offer","is_rejection_stage":false,"is_interviewing_stage":false},{"name":"Hired","is_rejection_stage":false,"is_interviewing_stage":false},{"name":"Rejected","is_rejection_stage":true,"is_interviewing_stage":false}]',
created_at, created_at FROM workspace;

-- The key that took its place when it was rotated.
ALTER TABLE api_key ADD COLUMN replaced_by uuid;

-- What an id that is gone stood for: a record that went into another, or a person who was erased, which leaves no other trace.
CREATE TABLE former_record (
    workspace_id bigint NOT NULL REFERENCES workspace (workspace_id),
    id uuid NOT NULL,
    kind text COLLATE "C" NOT NULL CHECK (kind IN ('person', 'company', 'candidate')),
    merged_into uuid,
    gone_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX former_record_by_survivor ON former_record (workspace_id, merged_into);

-- How many records a list has in each stretch of ids, so that any page of it is found without counting. Those of the
-- last stretch, whose count is -1, are counted when they are asked for.
CREATE TABLE census (
    workspace_id bigint NOT NULL REFERENCES workspace (workspace_id),
    list bigint NOT NULL,
    first_id uuid NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (workspace_id, list, first_id)
);

CREATE INDEX client_contact_by_person ON client_contact (workspace_id, person_id);
CREATE INDEX person_identifier_by_person ON person_identifier (workspace_id, person_id);

-- Finds whom a company that goes into another employs.
CREATE INDEX person_by_company ON person (workspace_id, company_id) WHERE company_id IS NOT NULL;

-- Persons whose words are to be taken anew.
CREATE TABLE search_queue (
    workspace_id bigint NOT NULL,
    person_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, person_id)
);

INSERT INTO search_queue (workspace_id, person_id) SELECT workspace_id, id FROM person;

-- The words of a person. Every word begins with its workspace, and then how much it says.
CREATE TABLE search_document (
    workspace_id bigint NOT NULL,
    person_id uuid NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (workspace_id, person_id)
);

CREATE INDEX search_document_by_word ON search_document USING gin (words);
