//! How long events are kept.

use model::clock::Timestamp;
use model::id::WorkspaceId;
use store::record::{event, origin, webhook};
use store::{Failure, Tx, Work};

use crate::ops::deliver::Gap;

/// Forgets events of a workspace that are older than the retention, with their deliveries, and keeps which change each value of a person
/// comes from. Says whether there may be more.
pub struct ForgetEvents {
    pub workspace: WorkspaceId,
    pub kept_for_millis: i64,
}

impl ForgetEvents {
    /// So many at a time, so that no writer waits long behind it.
    const MOST: usize = 1000;
}

impl Work for ForgetEvents {
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, Failure> {
        let before = tx.now().plus_millis(-self.kept_for_millis);
        let (mut count, mut end) = (0, None);
        while count < Self::MOST {
            let forgotten = event::forget(tx, self.workspace, before).await?;
            let Some(last) = forgotten.last() else { break };
            (count, end) = (count + forgotten.len(), Some(last.sequence));
            origin::keep(tx, self.workspace, &forgotten).await?;
        }
        if let Some(end) = end {
            for (mut missing, first, last) in webhook::forget_deliveries(tx, self.workspace, end).await? {
                Gap { first, last }.note(&mut missing);
                webhook::update(tx, self.workspace, &missing).await?;
            }
        }
        Ok(end.is_some())
    }
}

/// When the oldest event was written, if there are others behind it.
pub struct OldestEvent {
    pub workspace: WorkspaceId,
}

impl Work for OldestEvent {
    type Output = Option<Timestamp>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<Timestamp>, Failure> {
        Ok(event::oldest_of_several(tx, self.workspace).await?)
    }
}
