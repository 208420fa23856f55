-- Every row belongs to a workspace, and workspace_id leads every key: that is the wall between
-- tenants, and what the tables are spread by on an engine that spreads them. *_key columns are
-- folded for comparison. Text is compared byte by byte, as everywhere.

CREATE TABLE workspace (
    workspace_id bigint NOT NULL PRIMARY KEY,
    name text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL,
    job_count bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL
);

CREATE TABLE api_key (
    workspace_id bigint NOT NULL REFERENCES workspace (workspace_id),
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL CHECK (scope IN ('read', 'write', 'admin')),
    hash bytea NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    -- The key that took its place when it was rotated.
    replaced_by uuid,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, hash)
);

CREATE TABLE company (
    workspace_id bigint NOT NULL REFERENCES workspace (workspace_id),
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, name_key)
);

-- Contacts and career history are kept as the JSON that a read gives back.
CREATE TABLE person (
    workspace_id bigint NOT NULL REFERENCES workspace (workspace_id),
    id uuid NOT NULL,
    version bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL,
    first_name text COLLATE "C" NOT NULL,
    last_name text COLLATE "C" NOT NULL,
    current_job_title text COLLATE "C" NOT NULL,
    company_id uuid,
    social_public_id text COLLATE "C" NOT NULL,
    social_url text COLLATE "C" NOT NULL,
    social_location text COLLATE "C" NOT NULL,
    social_headline text COLLATE "C" NOT NULL,
    address text COLLATE "C" NOT NULL,
    external_source_id text COLLATE "C",
    emails jsonb NOT NULL,
    phones jsonb NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    work_experience jsonb NOT NULL DEFAULT '[]',
    education_experience jsonb NOT NULL DEFAULT '[]',
    certifications jsonb NOT NULL DEFAULT '[]',
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, company_id) REFERENCES company (workspace_id, id)
);

-- What points at a person. The lowest rank is the holder; others who have the same contact stand
-- behind it.
CREATE TABLE person_identifier (
    workspace_id bigint NOT NULL,
    kind bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    rank bigint NOT NULL,
    person_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, kind, key, rank),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id)
);

CREATE TABLE note (
    workspace_id bigint NOT NULL,
    person_id uuid NOT NULL,
    id uuid NOT NULL,
    body text COLLATE "C" NOT NULL,
    key_id uuid,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, person_id, id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id)
);

CREATE TABLE client_contact (
    workspace_id bigint NOT NULL,
    company_id uuid NOT NULL,
    person_id uuid NOT NULL,
    id uuid NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, company_id, person_id),
    FOREIGN KEY (workspace_id, company_id) REFERENCES company (workspace_id, id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id)
);

CREATE TABLE job_status (
    workspace_id bigint NOT NULL REFERENCES workspace (workspace_id),
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    PRIMARY KEY (workspace_id, id),
    UNIQUE (workspace_id, name_key)
);

-- position is dense within the workspace and candidate_count is kept, so that no page and no total
-- is counted.
CREATE TABLE job (
    workspace_id bigint NOT NULL REFERENCES workspace (workspace_id),
    id uuid NOT NULL,
    version bigint NOT NULL,
    position bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    name_key text COLLATE "C" NOT NULL,
    company_id uuid NOT NULL,
    status_id uuid NOT NULL,
    is_archived boolean NOT NULL,
    candidate_count bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    removed_count bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, company_id) REFERENCES company (workspace_id, id),
    FOREIGN KEY (workspace_id, status_id) REFERENCES job_status (workspace_id, id)
);

CREATE INDEX job_by_position ON job (workspace_id, position);
CREATE INDEX job_by_name ON job (workspace_id, name_key);

CREATE TABLE pipeline_stage (
    workspace_id bigint NOT NULL,
    job_id uuid NOT NULL,
    id uuid NOT NULL,
    name text COLLATE "C" NOT NULL,
    stage_order bigint NOT NULL,
    is_rejection_stage boolean NOT NULL,
    is_interviewing_stage boolean NOT NULL,
    PRIMARY KEY (workspace_id, job_id, id),
    FOREIGN KEY (workspace_id, job_id) REFERENCES job (workspace_id, id)
);

-- position is dense within the job. A person's candidates stand together, since a read of the
-- person shows them.
CREATE TABLE candidate (
    workspace_id bigint NOT NULL,
    id uuid NOT NULL,
    version bigint NOT NULL,
    person_id uuid NOT NULL,
    job_id uuid NOT NULL,
    position bigint NOT NULL,
    stage_id uuid NOT NULL,
    stage_entered_at timestamptz NOT NULL,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, person_id, job_id),
    UNIQUE (workspace_id, id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id),
    FOREIGN KEY (workspace_id, job_id) REFERENCES job (workspace_id, id),
    FOREIGN KEY (workspace_id, job_id, stage_id) REFERENCES pipeline_stage (workspace_id, job_id, id)
);

-- Holds all that a page of candidates needs of them, so that the table itself is not touched.
CREATE INDEX candidate_by_position ON candidate (workspace_id, job_id, position, person_id, stage_id, created_at, id);

-- The stages that a candidate entered, under the names that they had then.
CREATE TABLE stage_entry (
    workspace_id bigint NOT NULL,
    candidate_id uuid NOT NULL,
    number bigint NOT NULL,
    stage_id uuid NOT NULL,
    stage_name text COLLATE "C" NOT NULL,
    entered_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, candidate_id, number),
    FOREIGN KEY (workspace_id, candidate_id) REFERENCES candidate (workspace_id, id)
);

-- Answers that were given to requests with an Idempotency-Key.
CREATE TABLE idempotent_answer (
    workspace_id bigint NOT NULL REFERENCES workspace (workspace_id),
    key text COLLATE "C" NOT NULL,
    request_hash bytea NOT NULL,
    status bigint NOT NULL,
    etag text COLLATE "C",
    body bytea NOT NULL,
    created_at timestamptz NOT NULL,
    -- The number of the kind of identifier by which a create found the person.
    matched_by bigint,
    PRIMARY KEY (workspace_id, key)
);

CREATE INDEX idempotent_answer_by_age ON idempotent_answer (workspace_id, created_at);
