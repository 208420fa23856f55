//! Looking at one record.

use slated_model::id::{CandidateId, JobId, PersonId, WorkspaceId};
use slated_model::problem::Problem;
use slated_model::stage::Stage;
use slated_store::records::candidate::CandidateView;
use slated_store::records::job::JobView;
use slated_store::records::person::PersonView;
use slated_store::records::{candidate, job};
use slated_store::{Operation, OperationError, Tx};

use super::merged_ids::resolve_merged_id;
use super::persons::resolve_merged;

/// The person, under their id or under one that went into them.
pub struct ReadPerson {
    pub workspace: WorkspaceId,
    pub id: PersonId,
}

impl Operation for ReadPerson {
    type Output = PersonView;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<PersonView, OperationError> {
        resolve_merged::view(tx, self.workspace, self.id).await
    }
}

/// The candidate, under its id or under one that went into it.
pub struct ReadCandidate {
    pub workspace: WorkspaceId,
    pub id: CandidateId,
}

impl Operation for ReadCandidate {
    type Output = CandidateView;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<CandidateView, OperationError> {
        if let Some(found) = candidate::view(tx, self.workspace, self.id).await? {
            return Ok(found);
        }
        let id = resolve_merged_id(tx, self.workspace, self.id).await?;
        Ok(candidate::view(tx, self.workspace, id)
            .await?
            .ok_or_else(|| Problem::not_found("candidate", self.id))?)
    }
}

pub struct ReadJob {
    pub workspace: WorkspaceId,
    pub id: JobId,
}

impl Operation for ReadJob {
    type Output = (JobView, Vec<Stage>);

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        Ok(job::view(tx, self.workspace, self.id)
            .await?
            .ok_or_else(|| Problem::not_found("job", self.id))?)
    }
}
