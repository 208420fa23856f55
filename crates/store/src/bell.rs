//! Rings when events were committed here, so that whoever passes them on need not look all the time.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use model::id::WorkspaceId;
use tokio::sync::Notify;

#[derive(Default)]
pub struct Bell {
    rung: Mutex<BTreeSet<WorkspaceId>>,
    notify: Notify,
}

impl Bell {
    pub(crate) fn ring(&self, workspaces: &[WorkspaceId]) {
        if workspaces.is_empty() {
            return;
        }
        self.rung.lock().unwrap_or_else(PoisonError::into_inner).extend(workspaces);
        self.notify.notify_one();
    }

    /// Waits until it rings, or has rung since [`Bell::take`].
    pub async fn wait(&self) {
        while self.rung.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            self.notify.notified().await;
        }
    }

    /// The workspaces that it rang for since this was last asked.
    pub fn take(&self) -> Vec<WorkspaceId> {
        std::mem::take(&mut *self.rung.lock().unwrap_or_else(PoisonError::into_inner)).into_iter().collect()
    }
}
