//! What has to be done from time to time: old answers thrown away, long lists counted, the database
//! told that tables have grown.

use slated_model::clock::Timestamp;
use slated_model::id::WorkspaceId;
use slated_store::records::analyze_tables;
use slated_store::records::analyze_tables::Unknown;
use slated_store::records::range_counts;
use slated_store::records::range_counts::{Closed, List};
use slated_store::records::{idempotency, workspace};
use slated_store::{Operation, OperationError, Pace, Tx};

use super::idempotency::KEPT_FOR_MILLIS;

/// How many answers one run forgets, so that no writer waits long behind it.
const MAX_PER_RUN: usize = 1000;

/// Forgets kept answers that are too old to be asked for. Says how many.
pub struct ForgetAnswers {
    pub now: Timestamp,
}

impl Operation for ForgetAnswers {
    type Output = usize;

    async fn run(&self, tx: &mut Tx) -> Result<usize, OperationError> {
        let before = self.now.plus_millis(-KEPT_FOR_MILLIS);
        let mut forgotten = 0;
        for (workspace, _) in workspace::all(tx).await? {
            forgotten +=
                idempotency::forget(tx, workspace, before, MAX_PER_RUN - forgotten).await?;
            if forgotten == MAX_PER_RUN {
                break;
            }
        }
        Ok(forgotten)
    }
}

/// Whether a list has grown by so much that it should be counted.
pub struct CensusDue {
    pub workspace: WorkspaceId,
    pub list: List,
}

impl Operation for CensusDue {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        Ok(range_counts::is_due(tx, self.workspace, self.list).await?)
    }
}

/// Counts some of what was added to a list.
pub struct TakeCensus {
    pub workspace: WorkspaceId,
    pub list: List,
}

impl Operation for TakeCensus {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        Ok(range_counts::close_stretches(tx, self.workspace, self.list).await?)
    }
}

/// Looks whether a stretch of a list that was counted long ago is still right, and which comes
/// next.
pub struct LookAgain {
    pub workspace: WorkspaceId,
    pub behind: Option<Closed>,
}

impl Operation for LookAgain {
    type Output = Option<(Closed, bool)>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        Ok(range_counts::look_again(tx, self.workspace, self.behind).await?)
    }
}

/// Counts a stretch anew. Says by how much it was wrong.
pub struct CountAgain {
    pub workspace: WorkspaceId,
    pub closed: Closed,
}

impl Operation for CountAgain {
    type Output = i64;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<i64, OperationError> {
        Ok(range_counts::count_again(tx, self.workspace, self.closed).await?)
    }
}

/// Tables that have grown and that the database knows no rows of.
pub struct UnknownTables;

impl Operation for UnknownTables {
    type Output = Vec<Unknown>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Unknown>, OperationError> {
        Ok(analyze_tables::unknown(tx).await?)
    }
}

/// Lets the database have a look at one of them.
pub struct AnalyzeTable {
    pub table: &'static str,
}

impl Operation for AnalyzeTable {
    type Output = ();

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    fn replicas_must_show(&self) -> bool {
        false
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        Ok(analyze_tables::learn(tx, self.table).await?)
    }
}
