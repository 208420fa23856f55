-- What others know of persons: who waits to be asked about, what was answered, and what came of it.

-- Persons to be enriched together. They are found bit by bit, in the order of their ids, up to
-- position so far. filter is the JSON that was asked with, as text, since it is only given back.
CREATE TABLE enrichment_run (
    workspace_id bigint NOT NULL REFERENCES workspace (workspace_id),
    id uuid NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('running', 'done', 'cancelled')),
    filter text COLLATE "C" NOT NULL,
    refresh boolean NOT NULL,
    position uuid,
    is_fed boolean NOT NULL DEFAULT false,
    person_count bigint NOT NULL DEFAULT 0,
    done_count bigint NOT NULL DEFAULT 0,
    skipped_count bigint NOT NULL DEFAULT 0,
    failed_count bigint NOT NULL DEFAULT 0,
    key_id uuid,
    created_at timestamptz NOT NULL,
    finished_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);

CREATE INDEX enrichment_run_running ON enrichment_run (workspace_id, id) WHERE state = 'running';

-- The last enrichment of a person. due_at is when to try while it is queued, the end of the lease
-- while it is running, and nothing once it is finished. What hangs on a person goes with them, so
-- that a server of the version before, which knows none of it, can remove one too.
CREATE TABLE enrichment (
    workspace_id bigint NOT NULL,
    person_id uuid NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('queued', 'running', 'done', 'skipped', 'failed')),
    run_id uuid,
    refresh boolean NOT NULL,
    provider text COLLATE "C",
    attempts bigint NOT NULL DEFAULT 0,
    requested_at timestamptz NOT NULL,
    started_at timestamptz,
    finished_at timestamptz,
    due_at timestamptz,
    lease uuid,
    last_error text COLLATE "C",
    reason text COLLATE "C",
    is_cached boolean NOT NULL DEFAULT false,
    fields text COLLATE "C" NOT NULL DEFAULT '[]',
    refused text COLLATE "C" NOT NULL DEFAULT '[]',
    PRIMARY KEY (workspace_id, person_id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);

CREATE INDEX enrichment_due ON enrichment (workspace_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX enrichment_by_run ON enrichment (workspace_id, run_id) WHERE run_id IS NOT NULL AND due_at IS NOT NULL;

-- What a provider last said of a person, and a hash of what it was asked; no profile if it knew
-- nobody.
CREATE TABLE enrichment_answer (
    workspace_id bigint NOT NULL,
    person_id uuid NOT NULL,
    provider text COLLATE "C" NOT NULL,
    asked_at timestamptz NOT NULL,
    question bytea NOT NULL,
    profile text COLLATE "C",
    PRIMARY KEY (workspace_id, person_id, provider),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);

-- The values that came from a provider, as hashes. One that differs from what the person has now is
-- the source of nothing any more.
CREATE TABLE field_source (
    workspace_id bigint NOT NULL,
    person_id uuid NOT NULL,
    field text COLLATE "C" NOT NULL,
    value_hash bytea NOT NULL,
    provider text COLLATE "C" NOT NULL,
    set_at timestamptz NOT NULL,
    key_id uuid,
    PRIMARY KEY (workspace_id, person_id, field, value_hash),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);

-- Values that differ from what a caller wrote, for somebody to decide about. They are text, since a
-- hash is taken over every byte.
CREATE TABLE proposal (
    workspace_id bigint NOT NULL,
    id uuid NOT NULL,
    person_id uuid NOT NULL,
    field text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    value_hash bytea NOT NULL,
    provider text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL CHECK (state IN ('open', 'accepted', 'rejected', 'superseded')),
    created_at timestamptz NOT NULL,
    decided_at timestamptz,
    key_id uuid,
    -- The key of the caller that has the value, and none for a provider.
    proposed_by uuid,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);

CREATE INDEX proposal_by_person ON proposal (workspace_id, person_id, field);
CREATE INDEX proposal_by_state ON proposal (workspace_id, state, id);

-- How often a provider was asked: when the next call is due, and the calls of a day, counted in
-- days since 1970. The limits are the operator's for all workspaces together, so this is the one
-- table without a workspace.
CREATE TABLE enrichment_permit (
    provider text COLLATE "C" NOT NULL PRIMARY KEY,
    next_at timestamptz NOT NULL,
    day bigint NOT NULL,
    calls bigint NOT NULL
);

-- Where the values of a person come from that were set by changes whose events are forgotten, the
-- newest change first.
CREATE TABLE person_origin (
    workspace_id bigint NOT NULL,
    person_id uuid NOT NULL,
    changes jsonb NOT NULL,
    PRIMARY KEY (workspace_id, person_id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
);
