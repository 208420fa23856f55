-- Every row belongs to a workspace, and workspace_id leads every key: that is the wall between
-- tenants. Ids are 16 bytes in time order, moments are milliseconds since 1970 in UTC, *_key
-- columns are folded for comparison.

CREATE TABLE workspace (
    workspace_id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    job_count INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE api_key (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    hash BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    last_used_at INTEGER,
    -- The key that took its place when it was rotated.
    replaced_by BLOB,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, hash)
) STRICT, WITHOUT ROWID;

CREATE TABLE company (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, name_key)
) STRICT, WITHOUT ROWID;

-- Contacts and career history are kept as the JSON that a read gives back. The rows are large, so
-- this table has row ids: one without keeps whole rows inside the tree that leads to them, and is
-- deep. What is long and seldom needed comes last.
CREATE TABLE person (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    id BLOB NOT NULL,
    version INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    current_job_title TEXT NOT NULL,
    company_id BLOB,
    social_public_id TEXT NOT NULL,
    social_url TEXT NOT NULL,
    social_location TEXT NOT NULL,
    social_headline TEXT NOT NULL,
    address TEXT NOT NULL,
    external_source_id TEXT,
    emails TEXT NOT NULL,
    phones TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    work_experience TEXT NOT NULL DEFAULT '[]',
    education_experience TEXT NOT NULL DEFAULT '[]',
    certifications TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, company_id) REFERENCES company (workspace_id, id)
) STRICT;

-- What points at a person. The lowest rank is the holder; others who have the same contact stand
-- behind it.
CREATE TABLE person_identifier (
    workspace_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    key TEXT NOT NULL,
    rank INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    PRIMARY KEY (workspace_id, kind, key, rank),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE note (
    workspace_id INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    id BLOB NOT NULL,
    body TEXT NOT NULL,
    key_id BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, person_id, id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE client_contact (
    workspace_id INTEGER NOT NULL,
    company_id BLOB NOT NULL,
    person_id BLOB NOT NULL,
    id BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, company_id, person_id),
    FOREIGN KEY (workspace_id, company_id) REFERENCES company (workspace_id, id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE job_status (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, name_key)
) STRICT, WITHOUT ROWID;

-- position is dense within the workspace and candidate_count is kept, so that no page and no total
-- is counted.
CREATE TABLE job (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    id BLOB NOT NULL,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,
    company_id BLOB NOT NULL,
    status_id BLOB NOT NULL,
    is_archived INTEGER NOT NULL CHECK (is_archived IN (0, 1)),
    candidate_count INTEGER NOT NULL DEFAULT 0,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    removed_count INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, company_id) REFERENCES company (workspace_id, id),
    FOREIGN KEY (workspace_id, status_id) REFERENCES job_status (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX job_by_position ON job (workspace_id, position);
CREATE INDEX job_by_name ON job (workspace_id, name_key);

CREATE TABLE pipeline_stage (
    workspace_id INTEGER NOT NULL,
    job_id BLOB NOT NULL,
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    stage_order INTEGER NOT NULL,
    is_rejection_stage INTEGER NOT NULL CHECK (is_rejection_stage IN (0, 1)),
    is_interviewing_stage INTEGER NOT NULL CHECK (is_interviewing_stage IN (0, 1)),
    PRIMARY KEY (workspace_id, job_id, id),
    FOREIGN KEY (workspace_id, job_id) REFERENCES job (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- position is dense within the job. A person's candidates stand together, since a read of the
-- person shows them.
CREATE TABLE candidate (
    workspace_id INTEGER NOT NULL,
    id BLOB NOT NULL,
    version INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    job_id BLOB NOT NULL,
    position INTEGER NOT NULL,
    stage_id BLOB NOT NULL,
    stage_entered_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, person_id, job_id),
    UNIQUE (workspace_id, id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id),
    FOREIGN KEY (workspace_id, job_id) REFERENCES job (workspace_id, id),
    FOREIGN KEY (workspace_id, job_id, stage_id) REFERENCES pipeline_stage (workspace_id, job_id, id)
) STRICT, WITHOUT ROWID;

-- Holds all that a page of candidates needs of them, so that the table itself is not touched.
CREATE INDEX candidate_by_position ON candidate (workspace_id, job_id, position, person_id, stage_id, created_at, id);

-- The stages that a candidate entered, under the names that they had then.
CREATE TABLE stage_entry (
    workspace_id INTEGER NOT NULL,
    candidate_id BLOB NOT NULL,
    number INTEGER NOT NULL,
    stage_id BLOB NOT NULL,
    stage_name TEXT NOT NULL,
    entered_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, candidate_id, number),
    FOREIGN KEY (workspace_id, candidate_id) REFERENCES candidate (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- Answers that were given to requests with an Idempotency-Key.
CREATE TABLE idempotent_answer (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    key TEXT NOT NULL,
    request_hash BLOB NOT NULL,
    status INTEGER NOT NULL,
    etag TEXT,
    body BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    -- The number of the kind of identifier by which a create found the person.
    matched_by INTEGER,
    PRIMARY KEY (workspace_id, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX idempotent_answer_by_age ON idempotent_answer (workspace_id, created_at);
