//! How long a candidate has been in each stage.

use slated_model::id::{CandidateId, JobId, WorkspaceId};
use slated_model::stage_duration::{Entry, StageDuration, StageTotal, stays, totals};
use slated_store::{Operation, OperationError, Tx};

use crate::read::ReadCandidate;

/// The times of the candidate, under its id or under one that went into it.
pub struct ReadStageTimes {
    pub workspace: WorkspaceId,
    pub id: CandidateId,
}

#[derive(Clone, Debug)]
pub struct StageTimes {
    pub id: CandidateId,
    pub job_id: JobId,
    pub stays: Vec<StageDuration>,
    pub totals: Vec<StageTotal>,
}

impl Operation for ReadStageTimes {
    type Output = StageTimes;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<StageTimes, OperationError> {
        let view = ReadCandidate { workspace: self.workspace, id: self.id }.run(tx).await?;
        let history = view.history.into_iter();
        let history = history
            .map(|entry| Entry {
                stage_id: entry.stage_id,
                stage_name: entry.stage_name,
                entered_at: entry.entered_at,
            })
            .collect();
        let stays = stays(history, tx.now());
        let totals = totals(&stays);
        Ok(StageTimes { id: view.id, job_id: view.job_id, stays, totals })
    }
}
