-- What others know of persons: who waits to be asked about, what was answered, and what came of it.

-- Persons to be enriched together. They are found bit by bit, in the order of their ids, up to
-- position so far. filter is the JSON that was asked with.
CREATE TABLE enrichment_run (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    id BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('running', 'done', 'cancelled')),
    filter TEXT NOT NULL,
    refresh INTEGER NOT NULL CHECK (refresh IN (0, 1)),
    position BLOB,
    is_fed INTEGER NOT NULL DEFAULT 0 CHECK (is_fed IN (0, 1)),
    person_count INTEGER NOT NULL DEFAULT 0,
    done_count INTEGER NOT NULL DEFAULT 0,
    skipped_count INTEGER NOT NULL DEFAULT 0,
    failed_count INTEGER NOT NULL DEFAULT 0,
    key_id BLOB,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX enrichment_run_running ON enrichment_run (workspace_id, id) WHERE state = 'running';

-- The last enrichment of a person. due_at is when to try while it is queued, the end of the lease
-- while it is running, and nothing once it is finished. What hangs on a person goes with them, so
-- that a server of the version before, which knows none of it, can remove one too.
CREATE TABLE enrichment (
    workspace_id INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'done', 'skipped', 'failed')),
    run_id BLOB,
    refresh INTEGER NOT NULL CHECK (refresh IN (0, 1)),
    provider TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    requested_at INTEGER NOT NULL,
    started_at INTEGER,
    finished_at INTEGER,
    due_at INTEGER,
    lease BLOB,
    last_error TEXT,
    reason TEXT,
    is_cached INTEGER NOT NULL DEFAULT 0 CHECK (is_cached IN (0, 1)),
    fields TEXT NOT NULL DEFAULT '[]',
    refused TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (workspace_id, person_id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX enrichment_due ON enrichment (workspace_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX enrichment_by_run ON enrichment (workspace_id, run_id) WHERE run_id IS NOT NULL AND due_at IS NOT NULL;

-- What a provider last said of a person, and a hash of what it was asked; no profile if it knew
-- nobody. The rows are large, so this table has row ids.
CREATE TABLE enrichment_answer (
    workspace_id INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    provider TEXT NOT NULL,
    asked_at INTEGER NOT NULL,
    question BLOB NOT NULL,
    profile TEXT,
    PRIMARY KEY (workspace_id, person_id, provider),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
) STRICT;

-- The values that came from a provider, as hashes. One that differs from what the person has now is
-- the source of nothing any more.
CREATE TABLE field_source (
    workspace_id INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    field TEXT NOT NULL,
    value_hash BLOB NOT NULL,
    provider TEXT NOT NULL,
    set_at INTEGER NOT NULL,
    key_id BLOB,
    PRIMARY KEY (workspace_id, person_id, field, value_hash),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Values that differ from what a caller wrote, for somebody to decide about. Some are long, so this
-- table has row ids.
CREATE TABLE proposal (
    workspace_id INTEGER NOT NULL,
    id BLOB NOT NULL,
    person_id BLOB NOT NULL,
    field TEXT NOT NULL,
    value TEXT NOT NULL,
    value_hash BLOB NOT NULL,
    provider TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'accepted', 'rejected', 'superseded')),
    created_at INTEGER NOT NULL,
    decided_at INTEGER,
    key_id BLOB,
    -- The key of the caller that has the value, and none for a provider.
    proposed_by BLOB,
    PRIMARY KEY (workspace_id, id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
) STRICT;

CREATE INDEX proposal_by_person ON proposal (workspace_id, person_id, field);
CREATE INDEX proposal_by_state ON proposal (workspace_id, state, id);

-- How often a provider was asked: when the next call is due, and the calls of a day, counted in
-- days since 1970. The limits are the operator's for all workspaces together, so this is the one
-- table without a workspace.
CREATE TABLE enrichment_permit (
    provider TEXT NOT NULL PRIMARY KEY,
    next_at INTEGER NOT NULL,
    day INTEGER NOT NULL,
    calls INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Where the values of a person come from that were set by changes whose events are forgotten, as
-- JSON, the newest change first. The rows are long, so this table has row ids.
CREATE TABLE person_origin (
    workspace_id INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    changes TEXT NOT NULL,
    PRIMARY KEY (workspace_id, person_id),
    FOREIGN KEY (workspace_id, person_id) REFERENCES person (workspace_id, id) ON DELETE CASCADE
) STRICT;
