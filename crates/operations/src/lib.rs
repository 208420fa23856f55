//! The use cases: each is one piece of work that runs in one transaction, and knows neither HTTP
//! nor SQL. The HTTP interface, the command line and the demo data all go through here.

pub mod candidates;
pub mod companies;
mod emit;
pub mod enrichment;
pub mod etag;
pub mod events;
mod filter_errors;
pub mod idempotency;
pub mod jobs;
pub mod keys;
pub mod maintenance;
pub mod merged_ids;
pub mod persons;
pub mod read;
mod references;
pub mod search;
pub mod statuses;
pub mod templates;
pub mod webhook_delivery;
pub mod webhooks;
pub mod workspaces;
pub mod write_batches;

use std::sync::Arc;

use slated_model::id::{KeyId, WorkspaceId};

/// On whose behalf work is done.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Actor {
    pub workspace: WorkspaceId,
    pub key: Option<KeyId>,
    pub request_id: Option<Arc<str>>,
    /// Leaves no events; only to measure what they cost, and to fill a database for that.
    pub is_silent: bool,
}

impl Actor {
    /// The program itself, or somebody at its command line.
    #[must_use]
    pub const fn program(workspace: WorkspaceId) -> Self {
        Self { workspace, key: None, request_id: None, is_silent: false }
    }
}
