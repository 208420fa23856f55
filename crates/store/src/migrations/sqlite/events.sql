-- The log of changes, and who is called when it grows.

-- Numbered within the workspace without gaps. data, request_id and salt can be erased; the hashes
-- stay. Entries outlive the records that they are about, so nothing refers to those. The rows are
-- large, so this table has row ids.
CREATE TABLE event (
    workspace_id INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    id BLOB NOT NULL,
    type TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    key_id BLOB,
    record_id BLOB NOT NULL,
    person_id BLOB,
    job_id BLOB,
    request_id TEXT,
    data TEXT,
    salt BLOB,
    content_hash BLOB NOT NULL,
    previous_hash BLOB NOT NULL,
    hash BLOB NOT NULL,
    PRIMARY KEY (workspace_id, sequence)
) STRICT;

CREATE INDEX event_by_record ON event (workspace_id, record_id, sequence);
CREATE INDEX event_by_person ON event (workspace_id, person_id, sequence) WHERE person_id IS NOT NULL;
CREATE INDEX event_by_job ON event (workspace_id, job_id, sequence) WHERE job_id IS NOT NULL;

-- Events up to settled_sequence are delivered or have a row of their own. A server that works on a
-- webhook holds it until leased_until. One that is deleted goes for good when its deliveries are
-- gone, which takes a while.
CREATE TABLE webhook (
    workspace_id INTEGER NOT NULL REFERENCES workspace (workspace_id),
    id BLOB NOT NULL,
    url TEXT NOT NULL,
    types TEXT NOT NULL,
    description TEXT NOT NULL,
    is_enabled INTEGER NOT NULL,
    secret_seed BLOB NOT NULL,
    old_secret_seed BLOB,
    old_secret_until INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    settled_sequence INTEGER NOT NULL,
    failed_rounds INTEGER NOT NULL DEFAULT 0,
    paused_at INTEGER,
    due_at INTEGER,
    last_success_at INTEGER,
    last_error TEXT NOT NULL DEFAULT '',
    lease BLOB,
    leased_until INTEGER,
    deleted_at INTEGER,
    PRIMARY KEY (workspace_id, id)
) STRICT, WITHOUT ROWID;

-- attempts holds the last ones as JSON. failure_count are those that failed while others got
-- through: a schedule of retries is for them.
CREATE TABLE webhook_delivery (
    workspace_id INTEGER NOT NULL,
    webhook_id BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    attempt_count INTEGER NOT NULL,
    failure_count INTEGER NOT NULL,
    attempts TEXT NOT NULL,
    next_attempt_at INTEGER,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, webhook_id, sequence),
    FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhook (workspace_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_delivery_pending ON webhook_delivery (workspace_id, webhook_id, sequence) WHERE status = 'pending';
CREATE INDEX webhook_delivery_failed ON webhook_delivery (workspace_id, webhook_id, sequence) WHERE status = 'failed';
