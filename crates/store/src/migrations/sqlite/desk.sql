-- What recruiters do between create and read: templates, merged and erased records, places in long
-- lists.

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

-- What an id that is gone stood for: a record that went into another, or a person who was erased,
-- which leaves no other trace.
CREATE TABLE former_record (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    id BLOB NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('person', 'company', 'candidate')),
    merged_into BLOB,
    gone_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX former_record_by_survivor ON former_record (workspace_id, merged_into);

-- How many records a list has in each stretch of ids, so that any page of it is found without
-- counting. Those of the last stretch, whose count is -1, are counted when they are asked for.
CREATE TABLE census (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    list INTEGER NOT NULL,
    first_id BLOB NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, list, first_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX client_contact_by_person ON client_contact (workspace_id, person_id);
CREATE INDEX person_identifier_by_person ON person_identifier (workspace_id, person_id);

-- Leads from a company to the ids of whom it employs, without a look at them; and to who of them
-- has the same name.
CREATE INDEX person_by_company_and_name ON person (workspace_id, company_id, name_key, id) WHERE company_id IS NOT NULL;

-- Leads to who was changed at some time.
CREATE INDEX person_by_update ON person (workspace_id, updated_at, id);

-- Places on a job are not given again when a candidate is taken off it: candidate_count of the job
-- is the number of the last place, and removed_count how many before it stand empty. How many those
-- are is known of each stretch of 1,024 places that has such, so that a page by offset is found
-- without counting.
CREATE TABLE candidate_gap (
    workspace_id INTEGER NOT NULL,
    job_id BLOB NOT NULL,
    stretch INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, job_id, stretch),
    FOREIGN KEY (workspace_id, job_id) REFERENCES job (workspace_id, id)
) STRICT, WITHOUT ROWID;
