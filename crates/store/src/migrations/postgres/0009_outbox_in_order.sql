-- Those that wait for a number are taken in the order in which they were written, however many wait: each look goes no further than it has to.
ALTER TABLE event_outbox DROP CONSTRAINT event_outbox_pkey, ADD PRIMARY KEY (workspace_id, written_at, id);
