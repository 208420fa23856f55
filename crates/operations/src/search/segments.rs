//! Segments of the index of words, which are made in the background.

use std::sync::Arc;

use slated_model::id::WorkspaceId;
use slated_store::records::search::segment_build;
use slated_store::records::search::segment_build::{Leaving, Made, Planned};
use slated_store::{Operation, OperationError, Pace, Store, StoreError, Tx};

/// Makes the segments that the workspace wants at once; others wait for the next time, so that
/// there is more to put into them. Says whether there was any.
pub async fn make(store: &Arc<Store>, workspace: WorkspaceId) -> Result<bool, OperationError> {
    let mut is_any = false;
    while let Some(planned) = store.read_consistent_unbounded(PlanSegment { workspace }).await? {
        is_any = true;
        let making = tokio::task::spawn_blocking(|| Arc::new(planned.make()));
        let made = making.await.map_err(|error| StoreError::Internal(error.to_string()))?;
        let is_stored = store.write(StoreSegment { made: Arc::clone(&made) }).await?;
        tracing::debug!(persons = made.persons(), is_stored, "a search index segment was created");
        if !is_stored {
            break;
        }
        let mut outcome = Ok(());
        for leaving in made.leaving() {
            // Some whom others hold do not keep the rest in the tail.
            outcome = outcome.and(store.write(LeaveTail { leaving }).await);
        }
        outcome?;
        if !made.is_urgent() {
            break;
        }
    }
    Ok(is_any)
}

/// The next workspace that may want a segment made.
pub struct NextToSegment {
    pub behind: Option<WorkspaceId>,
}

impl Operation for NextToSegment {
    type Output = Option<WorkspaceId>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<WorkspaceId>, OperationError> {
        Ok(segment_build::next_workspace(tx, self.behind).await?)
    }
}

/// Reads what the next segment is to be made of.
struct PlanSegment {
    workspace: WorkspaceId,
}

impl Operation for PlanSegment {
    type Output = Option<Planned>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<Planned>, OperationError> {
        Ok(segment_build::plan(tx, self.workspace).await?)
    }
}

/// Stores a segment; false if it is to be planned anew.
struct StoreSegment {
    made: Arc<Made>,
}

impl Operation for StoreSegment {
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.made.workspace())
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    fn replicas_must_show(&self) -> bool {
        false
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        Ok(self.made.store(tx).await?)
    }
}

/// Takes some out of the tail who are in a segment.
struct LeaveTail {
    leaving: Leaving,
}

impl Operation for LeaveTail {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.leaving.workspace())
    }

    fn replicas_must_show(&self) -> bool {
        false
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        Ok(self.leaving.leave(tx).await?)
    }
}
