//! Segments of the index of words, which are made in the background.

use model::id::WorkspaceId;
use store::record::segment_making::{self, Made, Planned};
use store::{Failure, Pace, Tx, Work};

/// The next workspace that may want a segment of the index made.
pub struct NextToSegment {
    pub behind: Option<WorkspaceId>,
}

impl Work for NextToSegment {
    type Output = Option<WorkspaceId>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<WorkspaceId>, Failure> {
        Ok(segment_making::next_workspace(tx, self.behind).await?)
    }
}

/// Reads what the next segment of the index is to be made of.
pub struct PlanSegment {
    pub workspace: WorkspaceId,
}

impl Work for PlanSegment {
    type Output = Option<Planned>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<Planned>, Failure> {
        Ok(segment_making::plan(tx, self.workspace).await?)
    }
}

/// Stores a segment; false if it is to be planned anew.
pub struct StoreSegment {
    pub made: Made,
}

impl Work for StoreSegment {
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.made.workspace())
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, Failure> {
        Ok(self.made.store(tx).await?)
    }
}
