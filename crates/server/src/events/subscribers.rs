//! Where those wait who want to hear of new events.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use slated_model::id::WorkspaceId;
use tokio::sync::{Notify, watch};

/// Who may follow one workspace on one server at the same time: each of them takes a connection for
/// as long as they like.
pub const MAX_FOLLOWERS: usize = 100;

#[derive(Default)]
pub struct Subscribers {
    waiting: Mutex<HashMap<WorkspaceId, watch::Sender<()>>>,
    /// For whoever works on webhooks.
    pub webhooks: Notify,
}

impl Subscribers {
    /// Changes whenever the workspace may have new events. Nothing if too many follow it already.
    pub fn subscribe(&self, workspace: WorkspaceId) -> Option<watch::Receiver<()>> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let sender = waiting.entry(workspace).or_insert_with(|| watch::Sender::new(()));
        (sender.receiver_count() < MAX_FOLLOWERS).then(|| sender.subscribe())
    }

    pub fn wake(&self, workspace: WorkspaceId) {
        if let Some(sender) =
            self.waiting.lock().unwrap_or_else(PoisonError::into_inner).get(&workspace)
        {
            sender.send_replace(());
        }
        self.webhooks.notify_one();
    }

    /// The workspaces that somebody waits for.
    pub fn awaited(&self) -> Vec<WorkspaceId> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|_, sender| sender.receiver_count() > 0);
        waiting.keys().copied().collect()
    }
}
