//! Rings when events were committed here, so that whoever passes them on need not look all the
//! time.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use slated_model::id::WorkspaceId;
use tokio::sync::Notify;

#[derive(Default)]
pub struct CommitNotifier {
    rung: Mutex<BTreeMap<WorkspaceId, Committed>>,
    notify: Notify,
}

/// What there is to pass on; of both, what is later here counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Committed {
    Numbered,
    /// Some of it has to get its number first.
    Unnumbered,
}

impl CommitNotifier {
    pub(crate) fn ring(&self, told: &[(WorkspaceId, Committed)]) {
        if told.is_empty() {
            return;
        }
        let mut rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        for (workspace, news) in told {
            let heard = rung.entry(*workspace).or_insert(*news);
            *heard = (*heard).max(*news);
        }
        drop(rung);
        self.notify.notify_one();
    }

    /// Waits until it rings, or has rung since [`CommitNotifier::take`].
    pub async fn wait(&self) {
        while self.rung.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            self.notify.notified().await;
        }
    }

    /// The workspaces that it rang for since this was last asked, and why.
    pub fn take(&self) -> Vec<(WorkspaceId, Committed)> {
        std::mem::take(&mut *self.rung.lock().unwrap_or_else(PoisonError::into_inner))
            .into_iter()
            .collect()
    }
}
