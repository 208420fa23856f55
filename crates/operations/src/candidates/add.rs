//! Putting a person on a job.

use slated_model::id::{self, JobId, WorkspaceId};
use slated_model::input::Reference;
use slated_model::problem::Problem;
use slated_store::records::candidate::CandidateView;
use slated_store::records::{candidate, person, stage};
use slated_store::{Operation, OperationError, StoreError, Tx};

use crate::Actor;
use crate::candidates::associate::put_on_job;
use crate::emit::RecordRef;
use crate::persons::resolve_merged;

pub struct AddCandidate {
    pub actor: Actor,
    pub job: JobId,
    pub person: Reference<id::Person>,
}

impl Operation for AddCandidate {
    /// The candidate, and whether it was made just now.
    type Output = (CandidateView, bool);

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let workspace = self.actor.workspace;
        let stages = stage::of_job(tx, workspace, self.job).await?;
        if stages.is_empty() {
            return Err(Problem::not_found("job", self.job).into());
        }
        let person =
            resolve_merged::named_to_stay(tx, workspace, &self.person, "person_id").await?;
        let name = person::name(tx, workspace, person)
            .await?
            .ok_or_else(|| self.person.not_found("person_id"))?;
        let (id, is_new) =
            put_on_job(tx, &self.actor, RecordRef { id: person, name: &name }, self.job, &stages)
                .await?;
        // One that was there already may be taken off the job at this moment.
        let gone =
            || StoreError::Conflict("the candidate was removed from the job meanwhile".to_owned());
        let view = candidate::view(tx, workspace, id).await?.ok_or_else(gone)?;
        Ok((view, is_new))
    }
}
