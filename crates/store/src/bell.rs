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

    /// The workspaces that it rang for since this was last asked; waits for the first.
    pub async fn wait(&self) -> Vec<WorkspaceId> {
        loop {
            let rung = std::mem::take(&mut *self.rung.lock().unwrap_or_else(PoisonError::into_inner));
            if !rung.is_empty() {
                return rung.into_iter().collect();
            }
            self.notify.notified().await;
        }
    }
}
