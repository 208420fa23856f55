//! Giving events their numbers, where writers do not.

use slated_model::id::WorkspaceId;
use slated_store::records::events::outbox;
use slated_store::{Operation, OperationError, Tx};

/// Gives committed events of a workspace their numbers, some at a time; says whether there may be
/// more.
pub struct NumberEvents {
    pub workspace: WorkspaceId,
}

impl Operation for NumberEvents {
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        Ok(outbox::number(tx, self.workspace).await?)
    }
}

/// The workspaces with events that have no number yet.
pub struct UnnumberedEvents;

impl Operation for UnnumberedEvents {
    type Output = Vec<WorkspaceId>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<WorkspaceId>, OperationError> {
        Ok(outbox::waiting(tx).await?)
    }
}

/// How many rows of events that got their numbers are still to be cleared away.
pub struct NumberedRemains;

impl Operation for NumberedRemains {
    type Output = i64;

    async fn run(&self, tx: &mut Tx) -> Result<i64, OperationError> {
        Ok(outbox::remains(tx).await?)
    }
}

/// Clears them away. There must be no transaction around it.
pub struct ClearNumberedAway;

impl Operation for ClearNumberedAway {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        Ok(outbox::clear_away(tx).await?)
    }
}
