-- What recruiters do between create and read: templates, merged and erased records, places in long lists, search.

-- stages is a list of names and flags, in order.
CREATE TABLE pipeline_template (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    position INTEGER NOT NULL,
    is_default INTEGER NOT NULL CHECK (is_default IN (0, 1)),
    stages TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, name_key)
) STRICT, WITHOUT ROWID;

INSERT INTO pipeline_template (workspace_id, id, name, name_key, position, is_default, stages, created_at, updated_at)
SELECT workspace_id, randomblob(16), 'Standard', 'standard', 1, 1, 
'[{"name":"Sourced","is_rejection_stage":false,"is_interviewing_stage":false},{"name":"Contacted","is_rejection_stage":false,"is_interviewing_stage":false},{"name":"Screening","is_rejection_stage":false,"is_interviewing_stage":false},{"name":"Interview","is_rejection_stage":false,"is_interviewing_stage":true},{"name":"Final interview","is_rejection_stage":false,"is_interviewing_stage":true},{"name":"Offer","is_rejection_stage":false,"is_interviewing_stage":false},{"name":"Hired","is_rejection_stage":false,"is_interviewing_stage":false},{"name":"Rejected","is_rejection_stage":true,"is_interviewing_stage":false}]',
created_at, created_at FROM workspace;

-- The key that took its place when it was rotated.
ALTER TABLE api_key ADD COLUMN replaced_by BLOB;

-- What an id that is gone stood for: a record that went into another, or a person who was erased, which leaves no other trace.
CREATE TABLE former_record (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    id BLOB NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('person', 'company', 'candidate')),
    merged_into BLOB,
    gone_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX former_record_by_survivor ON former_record (workspace_id, merged_into);

-- How many records a list has in each stretch of ids, so that any page of it is found without counting. Those of the
-- last stretch, whose count is -1, are counted when they are asked for.
CREATE TABLE census (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    list INTEGER NOT NULL,
    first_id BLOB NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, list, first_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX client_contact_by_person ON client_contact (workspace_id, person_id);
CREATE INDEX person_identifier_by_person ON person_identifier (workspace_id, person_id);

-- Finds whom a company that goes into another employs.
CREATE INDEX person_by_company ON person (workspace_id, company_id) WHERE company_id IS NOT NULL;

-- Persons whose words are to be taken anew.
CREATE TABLE search_queue (
    workspace_id INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    PRIMARY KEY (workspace_id, person_id)
) STRICT, WITHOUT ROWID;

INSERT INTO search_queue (workspace_id, person_id) SELECT workspace_id, id FROM person;

-- The words of a person as they stand in the index: what is to leave the index must be told to it.
CREATE TABLE search_document (
    number INTEGER NOT NULL PRIMARY KEY,
    workspace_id INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    words TEXT NOT NULL,
    UNIQUE (workspace_id, person_id)
) STRICT;

-- Every word begins with its workspace, and then how much it says.
CREATE VIRTUAL TABLE search_word USING fts5 (
    words, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars '='"
);

-- Words that left the index stay in its pages until those are merged. That is waited for where somebody was erased.
CREATE TABLE search_merge (
    wanted_at INTEGER NOT NULL PRIMARY KEY
) STRICT;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('pipeline_template', 'pipeline_template', '10 10 1'),
    ('pipeline_template', 'sqlite_autoindex_pipeline_template_2', '10 10 1'),
    ('former_record', 'former_record', '10000 10000 1'),
    ('former_record', 'former_record_by_survivor', '10000 10000 1 1'),
    ('census', 'census', '1000 1000 300 1'),
    ('client_contact', 'client_contact_by_person', '10000 10000 1'),
    ('person_identifier', 'person_identifier_by_person', '2000000 2000000 2'),
    ('person', 'person_by_company', '1000000 1000000 20'),
    ('search_queue', 'search_queue', '100 100 1'),
    ('search_document', 'sqlite_autoindex_search_document_1', '1000000 1000000 1');

ANALYZE sqlite_schema;
