//! Moving many candidates in one transaction, each as one move would.

use std::collections::HashMap;
use std::sync::Arc;

use slated_model::id::{CandidateId, WorkspaceId};
use slated_store::records::candidate;
use slated_store::records::candidate::{CandidatePlace, CandidateView};
use slated_store::records::stage_entry;
use slated_store::records::stage_entry::StageChange;
use slated_store::{Asked, OperationError, StoreError, Tx};

use super::move_many::jobs_of;
use super::move_stage::MoveCandidate;
use crate::write_batches::{Batchable, Outcomes};

impl Batchable for MoveCandidate {
    /// In which everybody holds candidates.
    type Order = CandidateId;

    fn can_go_together(&self) -> bool {
        !self.precondition.needs_tag()
    }

    fn order(&self) -> CandidateId {
        self.id
    }

    /// Nothing becomes of moves of a candidate that is not there, or that is changed by others at
    /// the moment or by an earlier one. Who removes a stage may wait for one candidate while
    /// another waits for the stage; then each goes alone.
    async fn run_together(
        tx: &mut Tx,
        moves: &[Arc<Self>],
    ) -> Result<Outcomes<CandidateView>, OperationError> {
        let mut outcomes: Outcomes<_> = moves.iter().map(|_| None).collect();
        let Some(workspace) = moves.first().map(|first| first.actor.workspace) else {
            return Ok(outcomes);
        };
        let found = find(tx, workspace, moves).await?;
        let jobs = jobs_of(tx, workspace, found.iter().map(|found| found.place.job_id)).await?;
        let (mut allowed, mut changes) =
            (Vec::with_capacity(found.len()), Vec::with_capacity(found.len()));
        for Found { number, place, entries } in found {
            let entries = tx.answer(entries).await?.pop().unwrap_or(0);
            let (one, Some(job)) = (&moves[number], jobs.get(&place.job_id)) else { continue };
            match one.target(&job.stages, &place) {
                Ok(target) => {
                    changes.extend(
                        target.map(|target| StageChange::now(tx, one.id, &place, entries, target)),
                    );
                    allowed.push((number, place, job, target));
                }
                Err(problem) => outcomes[number] = Some(Err(problem)),
            }
        }
        stage_entry::change_stages(tx, workspace, &changes).await?;
        let ids: Vec<_> = allowed.iter().map(|(number, ..)| moves[*number].id).collect();
        let views = candidate::views(tx, workspace, &ids).await?;
        let mut views: HashMap<_, _> = views.into_iter().map(|view| (view.id, view)).collect();
        for (number, place, job, target) in allowed {
            let Some(view) = views.remove(&moves[number].id) else { continue };
            if let Some(target) = target {
                moves[number].tell(tx, &view, &job.name, &place, (&job.stages, target)).await?;
            }
            outcomes[number] = Some(Ok(view));
        }
        Ok(outcomes)
    }
}

struct Found {
    number: usize,
    place: CandidatePlace,
    /// How many stages the candidate has entered.
    entries: Asked<i64>,
}

/// Finds the candidates, and keeps them from others.
async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    moves: &[Arc<MoveCandidate>],
) -> Result<Vec<Found>, StoreError> {
    let mut ids: Vec<_> = moves.iter().map(|one| one.id).collect();
    ids.dedup();
    let mut places: HashMap<_, _> =
        candidate::free_places(tx, workspace, &ids).await?.into_iter().collect();
    let mut found = Vec::with_capacity(places.len());
    for (number, one) in moves.iter().enumerate() {
        if let Some(place) = places.remove(&one.id) {
            found.push(Found {
                number,
                place,
                entries: stage_entry::ask_entries(tx, workspace, one.id).await?,
            });
        }
    }
    Ok(found)
}
