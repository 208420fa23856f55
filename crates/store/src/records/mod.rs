//! The queries, a file for each kind of record. Every one that a caller's request needs names the
//! caller's workspace: there is no other way to a record. Only what a server does by itself looks
//! across workspaces: which of them have webhooks, persons to enrich or words that wait.

pub mod analyze_tables;
pub mod answers_mentioning;
pub mod candidate;
pub mod client_contact;
pub mod company;
pub mod duplicate;
pub mod enrichment;
pub mod enrichment_answer;
pub mod enrichment_run;
pub mod erasure;
pub mod events;
pub mod export;
pub mod field_order;
pub mod field_source;
pub mod idempotency;
pub mod identifier;
pub mod job;
pub mod key;
pub mod merge;
pub mod merged_ids;
pub mod note;
pub mod pagination;
pub mod person;
pub mod person_filter;
pub mod person_list;
pub mod person_origin;
pub(crate) mod person_rowid;
mod position_gaps;
pub mod proposal;
pub mod provider_rate_limit;
pub mod range_counts;
pub mod search;
pub mod stage;
pub mod stage_entry;
mod statement;
pub mod status;
pub mod template;
pub mod webhook;
pub mod workspace;

use serde::Serialize;
use serde::de::DeserializeOwned;
use slated_model::id::{Id, Kind, WorkspaceId};

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;

/// Places for a list of so many values, the first of them with that number: `?2, ?3, ?4`.
fn places(count: usize, first: usize) -> String {
    let places: Vec<_> = (first..first + count).map(|number| format!("?{number}")).collect();
    places.join(", ")
}

/// The parameters of a statement about several records of a workspace.
fn with_ids<K: Kind>(workspace: WorkspaceId, ids: &[Id<K>]) -> Vec<Param<'static>> {
    let mut params = vec![Param::from(workspace)];
    params.extend(ids.iter().map(|id| Param::from(*id)));
    params
}

/// What was kept as JSON in a column of text.
fn json_in<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Result<T, StoreError> {
    serde_json::from_str(row.str(column)?)
        .map_err(|error| StoreError::Internal(format!("column {column} is not readable: {error}")))
}

/// JSON for a column of text.
fn to_json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Internal(error.to_string()))
}

/// Bytes of which there are always so many.
fn bytes_in<const LENGTH: usize>(row: &Row<'_>, column: usize) -> Result<[u8; LENGTH], StoreError> {
    row.bytes(column)?
        .try_into()
        .map_err(|_| StoreError::Internal(format!("column {column} does not hold {LENGTH} bytes")))
}

/// A word that stands for one of few things.
fn named_in<T>(
    row: &Row<'_>,
    column: usize,
    what: &str,
    parse: impl Fn(&str) -> Option<T>,
) -> Result<T, StoreError> {
    let name = row.str(column)?;
    parse(name).ok_or_else(|| StoreError::Internal(format!("{what} has the unknown value {name}")))
}
