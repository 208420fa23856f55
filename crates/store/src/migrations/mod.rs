//! The schema, as a list of steps, each written for both engines. A step is applied once, in order, inside a transaction; one that was
//! released never changes. Steps only add, or put an index in the place of another, so that servers of the version before go on working.

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

/// How often providers were asked. It belongs to the operator and not to a workspace, so it is copied, but never spread by workspace.
pub(crate) const PERMITS: &str = "enrichment_permit";

/// Where events wait for their number on PostgreSQL. It is empty but for moments, and not copied.
pub(crate) const OUTBOX: &str = "event_outbox";
/// The other tables that only PostgreSQL has, for what its many writers need.
pub(crate) const ONLY_POSTGRES: [&str; 2] = [OUTBOX, "event_numbering"];

/// What search is made of. It follows from the persons and is not copied, but made anew.
pub(crate) const SEARCH: [&str; 7] =
    ["search_queue", "search_document", "search_tail", "search_segment", "search_posting", "search_place", "search_generation"];
/// Lets the words of all persons be taken.
pub(crate) const INDEX_ALL: &str = "INSERT INTO search_queue (workspace_id, person_id) SELECT workspace_id, id FROM person";

struct Step {
    version: i64,
    name: &'static str,
    sqlite: &'static str,
    postgres: &'static str,
}

const STEPS: &[Step] = &[
    Step {
        version: 1,
        name: "records",
        sqlite: include_str!("sqlite/0001_records.sql"),
        postgres: include_str!("postgres/0001_records.sql"),
    },
    Step { version: 2, name: "events", sqlite: include_str!("sqlite/0002_events.sql"), postgres: include_str!("postgres/0002_events.sql") },
    Step { version: 3, name: "desk", sqlite: include_str!("sqlite/0003_desk.sql"), postgres: include_str!("postgres/0003_desk.sql") },
    Step {
        version: 4,
        name: "enrichment",
        sqlite: include_str!("sqlite/0004_enrichment.sql"),
        postgres: include_str!("postgres/0004_enrichment.sql"),
    },
    Step {
        version: 5,
        name: "origins",
        sqlite: include_str!("sqlite/0005_origins.sql"),
        postgres: include_str!("postgres/0005_origins.sql"),
    },
    Step { version: 6, name: "gaps", sqlite: include_str!("sqlite/0006_gaps.sql"), postgres: include_str!("postgres/0006_gaps.sql") },
    Step {
        version: 7,
        name: "names at companies",
        sqlite: include_str!("sqlite/0007_names_at_companies.sql"),
        postgres: include_str!("postgres/0007_names_at_companies.sql"),
    },
    Step {
        version: 8,
        name: "filters",
        sqlite: include_str!("sqlite/0008_filters.sql"),
        postgres: include_str!("postgres/0008_filters.sql"),
    },
    Step {
        version: 9,
        name: "outbox in order",
        sqlite: include_str!("sqlite/0009_outbox_in_order.sql"),
        postgres: include_str!("postgres/0009_outbox_in_order.sql"),
    },
    Step {
        version: 10,
        name: "keys of words",
        sqlite: include_str!("sqlite/0010_keys_of_words.sql"),
        postgres: include_str!("postgres/0010_keys_of_words.sql"),
    },
    Step {
        version: 11,
        name: "indexes of keys",
        sqlite: include_str!("sqlite/0011_indexes_of_keys.sql"),
        postgres: include_str!("postgres/0011_indexes_of_keys.sql"),
    },
    Step {
        version: 12,
        name: "segments",
        sqlite: include_str!("sqlite/0012_segments.sql"),
        postgres: include_str!("postgres/0012_segments.sql"),
    },
    Step {
        version: 13,
        name: "words unknown to segments",
        sqlite: include_str!("sqlite/0013_words_unknown_to_segments.sql"),
        postgres: include_str!("postgres/0013_words_unknown_to_segments.sql"),
    },
    Step {
        version: 14,
        name: "matches",
        sqlite: include_str!("sqlite/0014_matches.sql"),
        postgres: include_str!("postgres/0014_matches.sql"),
    },
];

fn newest_version() -> i64 {
    STEPS.last().map_or(0, |step| step.version)
}

/// The steps that a database of that version lacks; none may be newer than those we know.
fn missing_from(current: i64) -> Result<impl Iterator<Item = &'static Step>, StoreError> {
    let newest = newest_version();
    if current > newest {
        return Err(StoreError::Unusable(format!(
            "the database has schema version {current}, made by a newer slated; this one knows versions up to {newest}: install the newer program"
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
