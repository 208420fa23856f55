//! The schema, as a list of steps, each written for both engines. A step is applied once, in order,
//! inside a transaction; one that was released never changes. Steps only add, or put an index in
//! the place of another, so that servers of the version before go on working.

pub(crate) mod distribute;
pub(crate) mod postgres;
pub(crate) mod sqlite;

use crate::error::StoreError;

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

struct Step {
    version: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

/// The files of a step, one after the other.
macro_rules! files {
    ($($file:literal)*) => { concat!($(include_str!($file),)*) };
}

const STEPS: &[Step] = &[Step {
    version: 1,
    name: "schema",
    sqlite: files!(
        "sqlite/records.sql" "sqlite/events.sql" "sqlite/desk.sql" "sqlite/enrichment.sql" "sqlite/search.sql" "sqlite/statistics.sql"
    ),
    postgres: files!(
        "postgres/records.sql" "postgres/events.sql" "postgres/desk.sql" "postgres/enrichment.sql" "postgres/search.sql"
    ),
}];

fn newest_version() -> i64 {
    STEPS.last().map_or(0, |step| step.version)
}

/// The steps that a database of that version lacks; none may be newer than those we know.
fn missing_from(current: i64) -> Result<impl Iterator<Item = &'static Step>, StoreError> {
    let newest = newest_version();
    if current > newest {
        return Err(StoreError::Unusable(format!(
            "the database has schema version {current}, made by a newer slated; this one knows \
             versions up to {newest}: install the newer program"
        )));
    }
    Ok(STEPS.iter().filter(move |step| step.version > current))
}

fn failed(step: &Step, reason: &str) -> StoreError {
    StoreError::Unusable(format!("schema step {} ({}) failed: {reason}", step.version, step.name))
}

fn log_applied(step: &Step) {
    tracing::info!(schema.version = step.version, schema.step = step.name, "schema step applied");
}
