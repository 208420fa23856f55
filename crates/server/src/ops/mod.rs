//! The use cases: each is one piece of work that runs in one transaction, and knows neither HTTP nor SQL. The HTTP interface, the
//! command line and the demo data all go through here.

pub mod add_candidate;
mod associate;
pub mod create_job;
pub mod create_person;
pub mod etag;
pub mod housekeeping;
pub mod idempotency;
pub mod keys;
pub mod list_candidates;
pub mod list_jobs;
pub mod move_candidate;
pub mod read;
pub mod replace_history;
pub mod update_job;
pub mod update_person;
pub mod workspaces;

use model::id::{KeyId, WorkspaceId};

/// On whose behalf work is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Actor {
    pub workspace: WorkspaceId,
    pub key: Option<KeyId>,
}
