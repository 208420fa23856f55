//! Taking a person off a job.

use slated_model::id::{CandidateId, WorkspaceId};
use slated_model::problem::Problem;
use slated_store::records::candidate::CandidateView;
use slated_store::records::{candidate, job};
use slated_store::{Operation, OperationError, Pace, StoreError, Tx};

use crate::Actor;
use crate::emit::{Concerned, RecordRef};
use crate::etag::Precondition;

/// A candidate as it was before it went, and the name of its job.
#[derive(Clone, Debug)]
pub struct Taken {
    pub view: CandidateView,
    pub job_name: String,
}

impl Taken {
    /// Who and what an event about it concerns.
    pub fn concerned(&self) -> Concerned<'_> {
        let person = RecordRef { id: self.view.person_id, name: &self.view.name };
        Concerned {
            candidate: self.view.id,
            person,
            job: RecordRef { id: self.view.job_id, name: &self.job_name },
        }
    }
}

/// The candidate, kept with its job from others until the work is done: the job first, as everybody
/// does who needs both.
async fn hold(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CandidateId,
) -> Result<Option<Taken>, StoreError> {
    let Some(job_id) = candidate::job_of(tx, workspace, id).await? else { return Ok(None) };
    let Some(job) = job::load(tx, workspace, job_id).await? else { return Ok(None) };
    if candidate::place(tx, workspace, id).await?.is_none() {
        return Ok(None);
    }
    let view = candidate::view(tx, workspace, id).await?;
    Ok(view.map(|view| Taken { view, job_name: job.name }))
}

/// Takes the candidate off its job: its history goes, and the job has one less. Gives back what it
/// was, or nothing if it is not there. Tells nobody; whoever calls this says why it went. Who takes
/// off several does so in the order of their jobs.
pub async fn take_off(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CandidateId,
) -> Result<Option<Taken>, StoreError> {
    let Some(taken) = hold(tx, workspace, id).await? else { return Ok(None) };
    candidate::remove(tx, workspace, taken.view.job_id, id).await?;
    Ok(Some(taken))
}

pub struct RemoveCandidate {
    pub actor: Actor,
    pub id: CandidateId,
    pub precondition: Precondition,
}

impl Operation for RemoveCandidate {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        let Self { actor, id, precondition } = self;
        let taken = hold(tx, actor.workspace, *id)
            .await?
            .ok_or_else(|| Problem::not_found("candidate", id))?;
        precondition.check(&taken.view)?;
        candidate::remove(tx, actor.workspace, taken.view.job_id, *id).await?;
        taken.concerned().removed(tx, actor, &taken.view).await
    }
}
