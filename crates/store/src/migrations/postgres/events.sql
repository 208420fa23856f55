-- The log of changes, and who is called when it grows.

-- Numbered within the workspace without gaps. data, request_id and salt can be erased; the hashes
-- stay. data is text, since its hash is taken over every byte. Entries outlive the records that
-- they are about, so nothing refers to those.
CREATE TABLE event (
    workspace_id bigint NOT NULL,
    sequence bigint NOT NULL,
    id uuid NOT NULL,
    type text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    key_id uuid,
    record_id uuid NOT NULL,
    person_id uuid,
    job_id uuid,
    request_id text COLLATE "C",
    data text COLLATE "C",
    salt bytea,
    content_hash bytea NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    PRIMARY KEY (workspace_id, sequence)
);

CREATE INDEX event_by_record ON event (workspace_id, record_id, sequence);
CREATE INDEX event_by_person ON event (workspace_id, person_id, sequence) WHERE person_id IS NOT NULL;
CREATE INDEX event_by_job ON event (workspace_id, job_id, sequence) WHERE job_id IS NOT NULL;

-- Events that were committed and wait for their number. Writers of one workspace need not wait for
-- each other to put theirs here. written_at is the database's own clock, so that an event that
-- another depends on comes before it, whatever the servers' clocks say; those of one statement come
-- in the order of their ids.
CREATE TABLE event_outbox (
    workspace_id bigint NOT NULL,
    id uuid NOT NULL,
    written_at timestamptz NOT NULL DEFAULT statement_timestamp(),
    type text COLLATE "C" NOT NULL,
    created_at timestamptz NOT NULL,
    key_id uuid,
    record_id uuid NOT NULL,
    person_id uuid,
    job_id uuid,
    request_id text COLLATE "C",
    data text COLLATE "C",
    salt bytea,
    content_hash bytea NOT NULL,
    PRIMARY KEY (workspace_id, id)
);

-- Leads to the events that were written first and wait for a number, without a look at the others.
CREATE INDEX event_outbox_in_order ON event_outbox (workspace_id, written_at, id);

-- Who numbers the events of a workspace holds its row here, so that two do not do it at once;
-- nobody else waits for it.
CREATE TABLE event_numbering (
    workspace_id bigint NOT NULL PRIMARY KEY
);

-- Events up to settled_sequence are delivered or have a row of their own. A server that works on a
-- webhook holds it until leased_until. One that is deleted goes for good when its deliveries are
-- gone, which takes a while.
CREATE TABLE webhook (
    workspace_id bigint NOT NULL REFERENCES workspace (workspace_id),
    id uuid NOT NULL,
    url text COLLATE "C" NOT NULL,
    types text COLLATE "C" NOT NULL,
    description text COLLATE "C" NOT NULL,
    is_enabled boolean NOT NULL,
    secret_seed bytea NOT NULL,
    old_secret_seed bytea,
    old_secret_until timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    settled_sequence bigint NOT NULL,
    failed_rounds bigint NOT NULL DEFAULT 0,
    paused_at timestamptz,
    due_at timestamptz,
    last_success_at timestamptz,
    last_error text COLLATE "C" NOT NULL DEFAULT '',
    lease uuid,
    leased_until timestamptz,
    deleted_at timestamptz,
    PRIMARY KEY (workspace_id, id)
);

-- attempts holds the last ones as JSON. failure_count are those that failed while others got
-- through: a schedule of retries is for them.
CREATE TABLE webhook_delivery (
    workspace_id bigint NOT NULL,
    webhook_id uuid NOT NULL,
    sequence bigint NOT NULL,
    status text COLLATE "C" NOT NULL CHECK (status IN ('pending', 'delivered', 'failed')),
    attempt_count bigint NOT NULL,
    failure_count bigint NOT NULL,
    attempts text COLLATE "C" NOT NULL,
    next_attempt_at timestamptz,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (workspace_id, webhook_id, sequence),
    FOREIGN KEY (workspace_id, webhook_id) REFERENCES webhook (workspace_id, id)
);

CREATE INDEX webhook_delivery_pending ON webhook_delivery (workspace_id, webhook_id, sequence) WHERE status = 'pending';
CREATE INDEX webhook_delivery_failed ON webhook_delivery (workspace_id, webhook_id, sequence) WHERE status = 'failed';
