//! The schema, as a list of steps, each written for both engines. A step is applied once, in order,
//! inside a transaction; one that was released never changes. Steps only add, or put an index in
//! the place of another, so that servers of the version before go on working.

pub(crate) mod distribute;
pub(crate) mod postgres;
pub(crate) mod sqlite;

use crate::error::StoreError;

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
            "the database has schema version {current} of a newer slated; this one supports \
             versions up to {newest}; install the newer slated"
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
