//! Questions that take long to answer. Of each workspace and each key only so many are answered at
//! once and the others wait, so that those of other callers find a place.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use slated_model::id::{KeyId, WorkspaceId};
use slated_model::problem::{ErrorCode, Problem};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// How long a question waits for those of its own key and workspace.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Past that many lines, those in which nobody stands are forgotten.
const MANY_LINES: usize = 1000;

pub struct Questions {
    of_workspace: Lines<WorkspaceId>,
    of_key: Lines<KeyId>,
}

/// A place among those who are answered.
pub struct Turn {
    _of_key: OwnedSemaphorePermit,
    _of_workspace: OwnedSemaphorePermit,
}

impl Questions {
    /// With so many answered at once in all, a workspace has half of them, and a key half of these.
    pub fn new(at_once: usize) -> Self {
        Self {
            of_workspace: Lines::new((at_once / 2).max(1)),
            of_key: Lines::new((at_once / 4).max(1)),
        }
    }

    pub async fn turn(&self, workspace: WorkspaceId, key: KeyId) -> Result<Turn, Problem> {
        let waiting = async {
            let of_key = self.of_key.wait(key).await?;
            Some(Turn { _of_key: of_key, _of_workspace: self.of_workspace.wait(workspace).await? })
        };
        timeout(MAX_WAIT, waiting).await.ok().flatten().ok_or_else(|| {
            Problem::new(
                ErrorCode::Unavailable,
                "Too many of your slow requests are in progress; wait for some of them to \
                finish.",
            )
        })
    }
}

/// A line for each of those who ask.
struct Lines<K> {
    at_once: usize,
    by_owner: Mutex<HashMap<K, Weak<Semaphore>>>,
}

impl<K: Eq + Hash + Copy> Lines<K> {
    fn new(at_once: usize) -> Self {
        Self { at_once, by_owner: Mutex::default() }
    }

    async fn wait(&self, owner: K) -> Option<OwnedSemaphorePermit> {
        self.line(owner).acquire_owned().await.ok()
    }

    fn line(&self, owner: K) -> Arc<Semaphore> {
        let mut lines = self.by_owner.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(line) = lines.get(&owner).and_then(Weak::upgrade) {
            return line;
        }
        if lines.len() >= MANY_LINES {
            lines.retain(|_, line| line.strong_count() > 0);
        }
        let line = Arc::new(Semaphore::new(self.at_once));
        lines.insert(owner, Arc::downgrade(&line));
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    /// Whether the next question has its turn at once.
    async fn is_next(questions: &Questions, workspace: i64, key: u8) -> Option<Turn> {
        let turn =
            questions.turn(WorkspaceId::from_number(workspace), KeyId::from_bytes([key; 16]));
        tokio::select! {
            biased;
            turn = turn => turn.ok(),
            () = std::future::ready(()) => None,
        }
    }

    #[test]
    fn keys_and_workspaces_have_their_shares() {
        block_on(async {
            let questions = Questions::new(4);
            let first = is_next(&questions, 1, 1).await;
            assert!(first.is_some() && is_next(&questions, 1, 1).await.is_none());
            let _second = is_next(&questions, 1, 2).await.unwrap();
            assert!(is_next(&questions, 1, 3).await.is_none());
            let _other = is_next(&questions, 2, 4).await.unwrap();
            drop(first);
            assert!(is_next(&questions, 1, 1).await.is_some());
        });
    }
}
