//! Finding the persons of a run and putting them into the queue, bit by bit, so that others who
//! wait are not stuck behind all of them.

use slated_model::enrichment::RunState;
use slated_model::id::{EnrichmentRunId, WorkspaceId};
use slated_store::records::enrichment_run::{Found, Run};
use slated_store::records::{enrichment, enrichment_run, person};
use slated_store::{Operation, OperationError, Pace, StoreError, Tx};

use super::runs::resolve_again;

/// Persons who are put into the queue in one transaction, which holds them that long.
const AT_ONCE: i64 = 100;
/// Persons of one run who may wait at once.
const MAX_WAITING: i64 = 1000;

/// The runs whose persons are not all found yet.
pub struct UnfedRuns;

impl Operation for UnfedRuns {
    type Output = Vec<(WorkspaceId, EnrichmentRunId)>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        Ok(enrichment_run::unfed(tx).await?)
    }
}

/// Finds some more persons of a run.
pub struct FeedRun {
    pub workspace: WorkspaceId,
    pub id: EnrichmentRunId,
}

impl Operation for FeedRun {
    /// Whether there is more to do at once.
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        let Self { workspace, id } = *self;
        let Some(before) = enrichment_run::find(tx, workspace, id).await? else { return Ok(false) };
        let room = (MAX_WAITING - before.waiting_count()).min(AT_ONCE);
        if before.state != RunState::Running || before.is_fed || room <= 0 {
            return Ok(false);
        }
        let mut found = match resolve_again(tx, workspace, &before.filter).await? {
            Some(filter) => {
                enrichment_run::find_persons(tx, workspace, &filter, before.position, room).await?
            }
            None => Found { persons: Vec::new(), position: None, is_end: true },
        };
        // Held, so that none of them goes, or is asked for by somebody else, while they come into
        // the queue.
        found.persons = person::lock_all(tx, workspace, &found.persons).await?;
        let has_moved = |now: Option<Run>| {
            now.is_none_or(|now| {
                (now.state, now.is_fed, now.position)
                    != (before.state, before.is_fed, before.position)
            })
        };
        // Another server may have done all of it while those were waited for.
        if has_moved(enrichment_run::find(tx, workspace, id).await?) {
            return Ok(true);
        }
        let waiting = enrichment::waiting_of(tx, workspace, &found.persons).await?;
        for person in found.persons.iter().filter(|person| !waiting.contains(person)) {
            enrichment::queue_for_run(tx, workspace, *person, before.refresh, id).await?;
        }
        if has_moved(enrichment_run::load(tx, workspace, id).await?) {
            return Err(StoreError::Conflict("the run went on meanwhile".to_owned()).into());
        }
        enrichment_run::fed(tx, workspace, id, &found, waiting.len()).await?;
        Ok(!found.is_end)
    }
}
