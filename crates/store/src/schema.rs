//! The tables by name, as far as the code has to know them.

/// The tables with records, in an order in which none points at a later one.
pub(crate) const TABLES: &[&str] = &[
    "workspace",
    "api_key",
    "company",
    "person",
    "person_identifier",
    "note",
    "client_contact",
    "job_status",
    "job",
    "pipeline_stage",
    "candidate",
    "stage_entry",
    "idempotent_answer",
    "pipeline_template",
    "former_record",
    "census",
    "event",
    "webhook",
    "webhook_delivery",
    "enrichment_run",
    "enrichment",
    "enrichment_answer",
    "field_source",
    "proposal",
    "person_origin",
    "candidate_gap",
];

/// How often providers were asked. It belongs to the operator and not to a workspace, so it is
/// copied, but never spread by workspace.
pub(crate) const PERMITS: &str = "enrichment_permit";

/// Where events wait for their number on PostgreSQL. It is empty but for moments, and not copied.
pub(crate) const OUTBOX: &str = "event_outbox";
/// The other tables that only PostgreSQL has, for what its many writers need.
pub(crate) const ONLY_POSTGRES: [&str; 2] = [OUTBOX, "event_numbering"];

/// What search is made of. It follows from the persons and is not copied, but made anew.
pub(crate) const SEARCH: [&str; 7] = [
    "search_queue",
    "search_document",
    "search_tail",
    "search_segment",
    "search_posting",
    "search_place",
    "search_generation",
];
/// Lets the words of all persons be taken.
pub(crate) const INDEX_ALL: &str =
    "INSERT INTO search_queue (workspace_id, person_id) SELECT workspace_id, id FROM person";
