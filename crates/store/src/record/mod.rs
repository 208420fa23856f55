//! The queries, a file for each kind of record. Every one names the caller's workspace: there is no other way to a record.

pub mod candidate;
pub mod census;
pub mod client_contact;
pub mod company;
pub mod duplicate;
pub mod erasure;
pub mod event;
pub mod event_outbox;
pub mod export;
pub mod field_order;
pub mod former;
pub mod idempotency;
pub mod identifier;
pub mod job;
pub mod key;
pub mod listing;
pub mod merge;
pub mod note;
pub mod person;
pub mod person_list;
pub mod search;
pub mod stage;
pub mod status;
pub mod template;
pub mod webhook;
pub mod workspace;

use model::id::{Id, Kind, WorkspaceId};

use crate::Param;

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
