//! What became of the candidates of a job, stage by stage.

use slated_model::funnel::{Funnel, StageFigures};
use slated_model::id::{JobId, WorkspaceId};
use slated_model::problem::Problem;
use slated_store::records::{candidate, job, stage};
use slated_store::{Operation, OperationError, Tx};

/// Candidates whose histories are read at a time.
const AT_A_TIME: i64 = 5000;

pub struct ReadFunnel {
    pub workspace: WorkspaceId,
    pub job: JobId,
}

#[derive(Clone, Debug)]
pub struct JobFunnel {
    pub job_id: JobId,
    pub candidate_count: i64,
    pub stages: Vec<StageFigures>,
}

impl Operation for ReadFunnel {
    type Output = JobFunnel;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<JobFunnel, OperationError> {
        let missing = || Problem::not_found("job", self.job);
        let places = job::places(tx, self.workspace, self.job).await?.ok_or_else(missing)?;
        let mut funnel = Funnel::of(stage::of_job(tx, self.workspace, self.job).await?);
        let mut after = 0;
        while after < places.last {
            for history in
                candidate::histories(tx, self.workspace, self.job, after, after + AT_A_TIME).await?
            {
                funnel.count(history.stage_id, &history.entries);
            }
            after += AT_A_TIME;
        }
        Ok(JobFunnel { job_id: self.job, candidate_count: places.taken(), stages: funnel.finish() })
    }
}
