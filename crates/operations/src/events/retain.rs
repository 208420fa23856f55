//! How long events are kept.

use slated_model::clock::Timestamp;
use slated_model::id::WorkspaceId;
use slated_store::records::events::log;
use slated_store::records::{person_origin, webhook, workspace};
use slated_store::{Operation, OperationError, Tx};

use crate::webhook_delivery::Gap;

/// Forgets events of a workspace that are from before a moment, with their deliveries, and keeps
/// which change each value of a person comes from. Says whether there may be more.
pub struct ForgetEvents {
    pub workspace: WorkspaceId,
    pub before: Timestamp,
}

impl ForgetEvents {
    /// So many at a time, so that no writer waits long behind it.
    const MOST: usize = 1000;
}

impl Operation for ForgetEvents {
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        let (mut count, mut end) = (0, None);
        while count < Self::MOST {
            let forgotten = log::forget(tx, self.workspace, self.before).await?;
            let Some(last) = forgotten.last() else { break };
            (count, end) = (count + forgotten.len(), Some(last.sequence));
            person_origin::keep(tx, self.workspace, &forgotten).await?;
        }
        if let Some(end) = end {
            for (mut missing, first, last) in
                webhook::forget_deliveries(tx, self.workspace, end).await?
            {
                Gap { first, last }.note(&mut missing);
                webhook::update(tx, self.workspace, &missing).await?;
            }
        }
        Ok(end.is_some())
    }
}

/// When the newest event of all was written.
pub struct NewestRecord;

impl Operation for NewestRecord {
    type Output = Option<Timestamp>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<Timestamp>, OperationError> {
        let mut newest = None;
        for (workspace, _) in workspace::all(tx).await? {
            newest = newest.max(log::newest_time(tx, workspace).await?);
        }
        Ok(newest)
    }
}

/// When the oldest event was written, if there are others behind it.
pub struct OldestEvent {
    pub workspace: WorkspaceId,
}

impl Operation for OldestEvent {
    type Output = Option<Timestamp>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<Timestamp>, OperationError> {
        Ok(log::oldest_of_several(tx, self.workspace).await?)
    }
}
