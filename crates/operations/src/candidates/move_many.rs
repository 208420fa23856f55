//! Moving many candidates at once: all of them or none.

use std::collections::{BTreeMap, BTreeSet};

use slated_model::candidate::JointMove;
use slated_model::id::{CandidateId, JobId, PersonId, StageId, WorkspaceId};
use slated_model::problem::{ErrorCode, FieldError, FieldErrorCode, Problem};
use slated_model::stage::Stage;
use slated_store::records::candidate::CandidatePlace;
use slated_store::records::stage_entry;
use slated_store::records::stage_entry::StageChange;
use slated_store::records::{candidate, job, stage};
use slated_store::{Operation, OperationError, Pace, StoreError, Tx};

use super::move_stage::find_stage;
use crate::Actor;
use crate::emit::{Concerned, RecordRef};
use crate::references::all_known;

pub struct MoveCandidates {
    pub actor: Actor,
    pub together: JointMove,
}

/// A candidate in the stage that it was to go to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Moved {
    pub id: CandidateId,
    pub job_id: JobId,
    pub stage_id: StageId,
    pub stage_name: String,
    /// False if it was there already.
    pub is_moved: bool,
}

impl Operation for MoveCandidates {
    /// In the order of the request.
    type Output = Vec<Moved>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Moved>, OperationError> {
        let candidates = self.look_up(tx).await?;
        let jobs = jobs_of(
            tx,
            self.actor.workspace,
            candidates.iter().map(|candidate| candidate.place.job_id),
        )
        .await?;
        let targets = self.targets(&candidates, &jobs)?;
        let (mut moved, mut changes, mut moves) =
            (Vec::with_capacity(candidates.len()), Vec::new(), Vec::new());
        for standing in &candidates {
            let Standing { id, place, entries, .. } = standing;
            let (Some(&target), Some(job)) = (targets.get(&place.job_id), jobs.get(&place.job_id))
            else {
                continue;
            };
            let is_moved = target.id != place.stage_id;
            if is_moved {
                changes.push(StageChange::now(tx, *id, place, *entries, target));
                moves.push((standing, job));
            }
            let (stage_id, stage_name) = (target.id, target.name.clone());
            moved.push(Moved { id: *id, job_id: place.job_id, stage_id, stage_name, is_moved });
        }
        stage_entry::change_stages(tx, self.actor.workspace, &changes).await?;
        for (StageChange { stage, at, .. }, (standing, job)) in changes.iter().zip(moves) {
            let Standing { id, place, person_id, person_name, .. } = standing;
            let origin =
                job.stages.iter().find(|stage| stage.id == place.stage_id).unwrap_or(stage);
            let (person, job) = (
                RecordRef { id: *person_id, name: person_name },
                RecordRef { id: place.job_id, name: &job.name },
            );
            let concerned = Concerned { candidate: *id, person, job };
            concerned.moved(tx, &self.actor, (origin, place.entered_at), (stage, *at)).await?;
        }
        Ok(moved)
    }
}

/// A candidate as it stands before the move.
struct Standing {
    id: CandidateId,
    place: CandidatePlace,
    person_id: PersonId,
    person_name: String,
    entries: i64,
}

pub(super) struct JobOfSome {
    pub name: String,
    pub stages: Vec<Stage>,
}

/// The jobs that candidates are on.
pub(super) async fn jobs_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    jobs: impl Iterator<Item = JobId>,
) -> Result<BTreeMap<JobId, JobOfSome>, StoreError> {
    let ids: BTreeSet<_> = jobs.collect();
    let mut asked = Vec::with_capacity(ids.len());
    for id in ids {
        let name = job::ask_name(tx, workspace, id).await?;
        let stages = stage::ask_of_job(tx, workspace, id).await?;
        asked.push((id, name, stages));
    }
    let mut jobs = BTreeMap::new();
    for (id, name, stages) in asked {
        let name = tx.answer(name).await?.pop().unwrap_or_default();
        jobs.insert(id, JobOfSome { name, stages: stage::answer(tx, stages).await? });
    }
    Ok(jobs)
}

impl MoveCandidates {
    /// The candidates in the order of the request, kept from others in the order of their ids.
    async fn look_up(&self, tx: &mut Tx) -> Result<Vec<Standing>, OperationError> {
        let references = &self.together.candidates;
        let mut by_id: Vec<_> = references
            .iter()
            .enumerate()
            .filter_map(|(place, reference)| Some((reference.id?, place)))
            .collect();
        by_id.sort_unstable();
        let mut asked = Vec::with_capacity(by_id.len());
        for (id, place) in by_id {
            let standing = candidate::ask_place(tx, self.actor.workspace, id).await?;
            let person = candidate::ask_person(tx, self.actor.workspace, id).await?;
            asked.push((id, place, standing, person));
        }
        let mut found: Vec<Option<Standing>> = references.iter().map(|_| None).collect();
        for (id, at, place, person) in asked {
            let place = tx.answer(place).await?.pop();
            let person = tx.answer(person).await?.pop();
            found[at] = place.zip(person).map(|(place, (person_id, person_name, entries))| {
                Standing { id, place, person_id, person_name, entries }
            });
        }
        Ok(all_known("candidate_ids", references, found)?)
    }

    /// The stage that is meant on each of the jobs.
    fn targets<'j>(
        &self,
        candidates: &[Standing],
        jobs: &'j BTreeMap<JobId, JobOfSome>,
    ) -> Result<BTreeMap<JobId, &'j Stage>, Problem> {
        let mut targets = BTreeMap::new();
        for (id, job) in jobs {
            match find_stage(&job.stages, &self.together.to) {
                Ok(stage) => {
                    targets.insert(*id, stage);
                }
                Err(problem) if problem.code == ErrorCode::NotFound && jobs.len() > 1 => {}
                Err(problem) => return Err(problem),
            }
        }
        match targets.len() == jobs.len() {
            true => Ok(targets),
            false => Err(self.lacking(candidates, &targets)),
        }
    }

    /// Names every candidate whose job lacks the stage.
    fn lacking(&self, candidates: &[Standing], targets: &BTreeMap<JobId, &Stage>) -> Problem {
        let to = &self.together.to;
        let written = to
            .stage_id
            .as_ref()
            .map(|reference| &reference.written)
            .or(to.stage_name.as_ref())
            .cloned()
            .unwrap_or_default();
        let mut details = Vec::new();
        for (place, candidate) in candidates.iter().enumerate() {
            if !targets.contains_key(&candidate.place.job_id) {
                let message = format!(
                    "is on {}, which has no pipeline stage {written:?}",
                    candidate.place.job_id
                );
                details.push(FieldError::new(
                    format!("candidate_ids[{place}]"),
                    FieldErrorCode::NotFound,
                    message,
                ));
            }
        }
        let message = format!(
            "{} of the candidates are on jobs that have no pipeline stage {written:?}.",
            details.len()
        );
        Problem { code: ErrorCode::NotFound, message, details }
    }
}
