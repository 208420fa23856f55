-- Leads to the events that were written first and wait for a number, without a look at the others.
CREATE INDEX event_outbox_in_order ON event_outbox (workspace_id, written_at, id);
