//! Moving a candidate to another stage of its job.

use slated_model::candidate::StageMove;
use slated_model::id::{CandidateId, StageId, WorkspaceId};
use slated_model::problem::{ErrorCode, FieldError, FieldErrorCode, Problem};
use slated_model::stage::Stage;
use slated_model::text::comparison_key;
use slated_store::records::candidate::{CandidatePlace, CandidateView};
use slated_store::records::stage_entry;
use slated_store::records::stage_entry::StageChange;
use slated_store::records::{candidate, job, stage};
use slated_store::{Operation, OperationError, Tx};

use crate::Actor;
use crate::emit::{Concerned, RecordRef};
use crate::etag::Precondition;

pub struct MoveCandidate {
    pub actor: Actor,
    pub id: CandidateId,
    pub to: StageMove,
    pub precondition: Precondition,
}

impl Operation for MoveCandidate {
    type Output = CandidateView;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<CandidateView, OperationError> {
        let Self { actor, id, precondition, .. } = self;
        let workspace = actor.workspace;
        let missing = || Problem::not_found("candidate", id);
        let place = candidate::place(tx, workspace, *id).await?.ok_or_else(missing)?;
        if precondition.needs_tag() {
            precondition.check(&candidate::view(tx, workspace, *id).await?.ok_or_else(missing)?)?;
        }
        let entries = stage_entry::ask_entries(tx, workspace, *id).await?;
        let job_name = job::ask_name(tx, workspace, place.job_id).await?;
        let stages = stage::of_job(tx, workspace, place.job_id).await?;
        let entries = tx.answer(entries).await?.pop().unwrap_or(0);
        let Some(target) = self.target(&stages, &place)? else {
            return Ok(candidate::view(tx, workspace, *id).await?.ok_or_else(missing)?);
        };
        let change = StageChange::now(tx, *id, &place, entries, target);
        stage_entry::change_stages(tx, workspace, std::slice::from_ref(&change)).await?;
        let view = candidate::view(tx, workspace, *id).await?.ok_or_else(missing)?;
        let job_name = tx.answer(job_name).await?.pop().unwrap_or_default();
        self.tell(tx, &view, &job_name, &place, (&stages, target)).await?;
        Ok(view)
    }
}

impl MoveCandidate {
    /// The stage that is meant, or none if the candidate is there already.
    pub(super) fn target<'s>(
        &self,
        stages: &'s [Stage],
        place: &CandidatePlace,
    ) -> Result<Option<&'s Stage>, Problem> {
        let target = find_stage(stages, &self.to)?;
        check_origin(stages, &self.to, place.stage_id)?;
        Ok((target.id != place.stage_id).then_some(target))
    }

    /// `view` is the candidate as it is now, `last` where it was.
    pub(super) async fn tell(
        &self,
        tx: &mut Tx,
        view: &CandidateView,
        job_name: &str,
        last: &CandidatePlace,
        (stages, target): (&[Stage], &Stage),
    ) -> Result<(), OperationError> {
        let origin = stages.iter().find(|stage| stage.id == last.stage_id).unwrap_or(target);
        let (person, job) = (
            RecordRef { id: view.person_id, name: &view.name },
            RecordRef { id: view.job_id, name: job_name },
        );
        let concerned = Concerned { candidate: view.id, person, job };
        concerned
            .moved(tx, &self.actor, (origin, last.entered_at), (target, view.stage_entered_at))
            .await
    }
}

pub fn find_stage<'s>(stages: &'s [Stage], to: &StageMove) -> Result<&'s Stage, Problem> {
    match (&to.stage_id, &to.stage_name) {
        (Some(reference), _) => {
            let known = stages.iter().find(|stage| reference.id == Some(stage.id));
            known.ok_or_else(|| unknown_stage(stages, "stage_id", &reference.written))
        }
        (None, Some(name)) => {
            let named: Vec<_> = stages
                .iter()
                .filter(|stage| comparison_key(&stage.name) == comparison_key(name))
                .collect();
            only_stage(stages, &named, name)
        }
        (None, None) => Err(Problem::invalid("stage_id", FieldErrorCode::Required, "is required")),
    }
}

fn only_stage<'s>(stages: &[Stage], named: &[&'s Stage], name: &str) -> Result<&'s Stage, Problem> {
    match named {
        [] => Err(unknown_stage(stages, "stage_name", name)),
        [only] => Ok(only),
        several => {
            let message = format!(
                "{} stages of the job are named {name:?}; choose one with stage_id.",
                several.len()
            );
            let details = several
                .iter()
                .map(|stage| {
                    FieldError::about(
                        "stage_name",
                        format!("is the name of stage {}", stage.id),
                        stage.id,
                    )
                })
                .collect();
            Err(Problem { code: ErrorCode::AmbiguousStage, message, details })
        }
    }
}

fn unknown_stage(stages: &[Stage], field: &str, written: &str) -> Problem {
    let names: Vec<_> = stages.iter().map(|stage| stage.name.as_str()).collect();
    let message =
        format!("The job has no pipeline stage {written:?}; it has {}.", names.join(", "));
    Problem::new(ErrorCode::NotFound, message.clone()).with(FieldError::new(
        field,
        FieldErrorCode::NotFound,
        message,
    ))
}

fn check_origin(stages: &[Stage], to: &StageMove, current: StageId) -> Result<(), Problem> {
    let Some(from) = &to.from_stage_id else { return Ok(()) };
    let Some(id) = from.id.filter(|id| stages.iter().any(|stage| stage.id == *id)) else {
        return Err(unknown_stage(stages, "from_stage_id", &from.written));
    };
    if id == current {
        return Ok(());
    }
    let name =
        stages.iter().find(|stage| stage.id == current).map_or("", |stage| stage.name.as_str());
    let message = format!("The candidate is now in {name:?} ({current}).");
    Err(Problem::new(ErrorCode::StageConflict, message.clone()).with(FieldError::about(
        "from_stage_id",
        message,
        current,
    )))
}
