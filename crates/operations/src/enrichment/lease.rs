//! Who works on an enrichment: one server at a time, for a while.

use std::collections::HashMap;

use slated_model::clock::Timestamp;
use slated_model::enrichment::{Question, RunState, State};
use slated_model::id::{EnrichmentRunId, LeaseId, PersonId, WorkspaceId};
use slated_store::records::enrichment::{Settled, Task};
use slated_store::records::enrichment_answer::KeptAnswer;
use slated_store::records::{enrichment, enrichment_answer, enrichment_run, person};
use slated_store::{Operation, OperationError, StoreError, Tx};

use super::{CANCELLED, current_as_read};

/// The workspaces in which somebody waits to be worked on.
pub struct DueEnrichments;

impl Operation for DueEnrichments {
    type Output = Vec<WorkspaceId>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let now = tx.now();
        Ok(enrichment::waiting(tx, now).await?)
    }
}

/// Lets go of all enrichments: nobody else is there to work on them.
pub struct ClearEnrichmentLeases;

impl Operation for ClearEnrichmentLeases {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        Ok(enrichment::clear_leases(tx).await?)
    }
}

/// Takes some of those who are due.
pub struct TakeSome {
    pub workspace: WorkspaceId,
    pub lease: LeaseId,
    pub lease_millis: i64,
    pub most: i64,
}

impl Operation for TakeSome {
    type Output = Vec<Task>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Task>, OperationError> {
        let until = tx.now().plus_millis(self.lease_millis);
        let taken = enrichment::take(tx, self.workspace, self.lease, until, self.most).await?;
        let mut tasks = Vec::with_capacity(taken.len());
        let mut known = HashMap::new();
        for task in taken {
            let Some(run) = task.run else {
                tasks.push(task);
                continue;
            };
            let cancelled_at = match known.get(&run) {
                Some(cancelled_at) => *cancelled_at,
                None => cancelled_at(tx, self.workspace, run).await?,
            };
            known.insert(run, cancelled_at);
            match was_asked_before(&task, cancelled_at) {
                true => self.skip(tx, &task, run).await?,
                false => tasks.push(task),
            }
        }
        Ok(tasks)
    }
}

impl TakeSome {
    /// Who came into the queue, or back into it, while the run was cancelled.
    async fn skip(&self, tx: &mut Tx, task: &Task, run: EnrichmentRunId) -> Result<(), StoreError> {
        let settled = Settled {
            state: State::Skipped,
            provider: None,
            attempts: task.attempts,
            last_error: None,
            reason: Some(CANCELLED),
            is_cached: false,
            fields: &[],
            refused: &[],
            due_at: None,
        };
        enrichment::settle(tx, self.workspace, task.person, &settled).await?;
        enrichment_run::count(tx, self.workspace, run, State::Skipped).await
    }
}

/// When the run was cancelled, if it was.
async fn cancelled_at(
    tx: &mut Tx,
    workspace: WorkspaceId,
    run: EnrichmentRunId,
) -> Result<Option<Timestamp>, StoreError> {
    let run = enrichment_run::find(tx, workspace, run).await?;
    Ok(run.filter(|run| run.state == RunState::Cancelled).and_then(|run| run.finished_at))
}

/// Whether the person was asked for before the run was cancelled: somebody may ask for them anew,
/// and the run is not concerned by that.
fn was_asked_before(task: &Task, cancelled_at: Option<Timestamp>) -> bool {
    cancelled_at.is_some_and(|moment| task.requested_at <= moment)
}

/// Whether nobody wants it any more: it was asked for by a run that was cancelled since.
pub(super) async fn is_unwanted(
    tx: &mut Tx,
    workspace: WorkspaceId,
    task: &Task,
) -> Result<bool, StoreError> {
    match task.run {
        Some(run) => Ok(was_asked_before(task, cancelled_at(tx, workspace, run).await?)),
        None => Ok(false),
    }
}

/// What to ask about somebody who was taken, and what was answered before.
pub struct ReadQuestion {
    pub workspace: WorkspaceId,
    pub person: PersonId,
}

impl Operation for ReadQuestion {
    /// Nothing if the person is gone.
    type Output = Option<(Question, Vec<KeptAnswer>)>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let Self { workspace, person } = *self;
        let Some(view) = person::view(tx, workspace, person).await? else { return Ok(None) };
        let Some(details) = person::details(tx, workspace, person).await? else { return Ok(None) };
        let current = current_as_read(&view, &details)?;
        let answers = enrichment_answer::of_person(tx, workspace, person).await?;
        Ok(Some((Question::of(&current.person, &current.company_name), answers)))
    }
}

pub struct RenewLease {
    pub workspace: WorkspaceId,
    pub person: PersonId,
    pub lease: LeaseId,
    pub lease_millis: i64,
}

impl Operation for RenewLease {
    /// False if another server has it now, or the person is gone.
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        let until = tx.now().plus_millis(self.lease_millis);
        Ok(enrichment::renew(tx, self.workspace, self.person, self.lease, until).await?)
    }
}

/// Puts somebody who was taken back into the queue, as they were.
pub struct GiveBack {
    pub workspace: WorkspaceId,
    pub person: PersonId,
    pub lease: LeaseId,
}

impl Operation for GiveBack {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        let Self { workspace, person, lease } = *self;
        let Some(task) = enrichment::held(tx, workspace, person, lease).await? else {
            return Ok(());
        };
        let before = enrichment::find(tx, workspace, person).await?;
        let settled = Settled {
            state: State::Queued,
            provider: None,
            attempts: task.attempts,
            last_error: before.as_ref().and_then(|before| before.last_error.as_deref()),
            reason: None,
            is_cached: false,
            fields: &[],
            refused: &[],
            due_at: Some(tx.now()),
        };
        Ok(enrichment::settle(tx, workspace, person, &settled).await?)
    }
}
