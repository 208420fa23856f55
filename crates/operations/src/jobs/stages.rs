//! The pipeline of one job: its stages are added, changed, put in order and removed. Whoever
//! changes one keeps the job from others.

use slated_model::event::EventType;
use slated_model::id::{self, JobId, StageId, WorkspaceId};
use slated_model::input::Reference;
use slated_model::job::Job;
use slated_model::problem::{ErrorCode, FieldError, FieldErrorCode, Problem};
use slated_model::stage::{
    AddedStage, MAX_MOVED, MAX_STAGES, NewStage, Stage, StagePatch, check_pipeline, insert,
    renumber, reorder,
};
use slated_store::records::{job, stage};
use slated_store::{Operation, OperationError, Pace, Tx};

use crate::Actor;
use crate::emit::{Concerned, PipelineChange, RecordRef};
use crate::etag::Precondition;

/// A stage, and how many candidates are in it now.
#[derive(Clone, Debug)]
pub struct CountedStage {
    pub stage: Stage,
    pub candidate_count: i64,
}

/// How many candidates are in the stages of a job. Those without any are left out.
pub struct Counts(Vec<(StageId, i64)>);

impl Counts {
    fn of(&self, id: StageId) -> i64 {
        self.0.iter().find(|(counted, _)| *counted == id).map_or(0, |(_, count)| *count)
    }

    fn with(&self, stage: Stage) -> CountedStage {
        CountedStage { candidate_count: self.of(stage.id), stage }
    }

    fn with_all(&self, stages: Vec<Stage>) -> Vec<CountedStage> {
        stages.into_iter().map(|stage| self.with(stage)).collect()
    }
}

/// Counts the candidates of a job whose pipeline is about to change. With very many of them that
/// takes a while, in which others can write.
pub struct CountCandidates {
    pub workspace: WorkspaceId,
    pub job: JobId,
}

impl Operation for CountCandidates {
    type Output = Counts;

    async fn run(&self, tx: &mut Tx) -> Result<Counts, OperationError> {
        Ok(Counts(stage::counts(tx, self.workspace, self.job).await?))
    }
}

pub struct ListStages {
    pub workspace: WorkspaceId,
    pub job: JobId,
}

impl Operation for ListStages {
    type Output = Vec<CountedStage>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let stages = stage::of_job(tx, self.workspace, self.job).await?;
        if stages.is_empty() {
            return Err(Problem::not_found("job", self.job).into());
        }
        Ok(Counts(stage::counts(tx, self.workspace, self.job).await?).with_all(stages))
    }
}

/// Which job's pipeline changes, on whose behalf, and what the caller believes the job to be.
#[derive(Clone, Debug)]
pub struct PipelineOf {
    pub actor: Actor,
    pub job: JobId,
    pub precondition: Precondition,
}

impl PipelineOf {
    /// The job, kept from others, and its stages in order.
    async fn load(&self, tx: &mut Tx) -> Result<(Job, Vec<Stage>), OperationError> {
        let Self { actor, job: id, precondition } = self;
        let missing = || Problem::not_found("job", id);
        let loaded = job::load(tx, actor.workspace, *id).await?.ok_or_else(missing)?;
        if precondition.needs_tag() {
            precondition.check(&job::view(tx, actor.workspace, *id).await?.ok_or_else(missing)?)?;
        }
        Ok((loaded, stage::of_job(tx, actor.workspace, *id).await?))
    }

    /// Writes down the stages that changed, which are few, and that the job did.
    async fn keep(
        &self,
        tx: &mut Tx,
        before: &[Stage],
        after: &[Stage],
    ) -> Result<(), OperationError> {
        let workspace = self.actor.workspace;
        for changed in after
            .iter()
            .filter(|stage| before.iter().any(|old| old.id == stage.id && old != *stage))
        {
            stage::update(tx, workspace, self.job, changed).await?;
        }
        Ok(job::touch(tx, workspace, self.job).await?)
    }

    /// What an event says of a change to the pipeline as a whole.
    const fn change<'c>(&self, before: &'c [Stage], after: &'c [Stage]) -> PipelineChange<'c> {
        PipelineChange { job: self.job, before, after, stage: None, moved_to: None }
    }
}

fn find(stages: &[Stage], id: StageId) -> Result<&Stage, Problem> {
    stages
        .iter()
        .find(|stage| stage.id == id)
        .ok_or_else(|| Problem::not_found("pipeline stage", id))
}

pub struct AddStage {
    pub of: PipelineOf,
    pub added: AddedStage,
}

impl Operation for AddStage {
    type Output = CountedStage;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.of.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<CountedStage, OperationError> {
        let PipelineOf { actor, job, .. } = &self.of;
        let (_, before) = self.of.load(tx).await?;
        if before.len() >= MAX_STAGES {
            let message =
                format!("The job has {MAX_STAGES} stages, which is the maximum; remove one first.");
            return Err(Problem::new(ErrorCode::TooMany, message).into());
        }
        let NewStage { name, is_rejection_stage, is_interviewing_stage } = self.added.stage.clone();
        let id = tx.new_id();
        let mut after = before.clone();
        let added = Stage { id, name, stage_order: 0, is_rejection_stage, is_interviewing_stage };
        insert(&mut after, added, self.added.stage_order);
        let added = find(&after, id)?;
        stage::add(tx, actor.workspace, *job, added).await?;
        self.of.keep(tx, &before, &after).await?;
        let change = PipelineChange { stage: Some(added), ..self.of.change(&before, &after) };
        change.emit(tx, actor, EventType::JobStageAdded).await?;
        Ok(CountedStage { stage: added.clone(), candidate_count: 0 })
    }
}

pub struct UpdateStage {
    pub of: PipelineOf,
    pub id: StageId,
    pub patch: StagePatch,
    pub counts: Counts,
}

impl Operation for UpdateStage {
    type Output = CountedStage;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.of.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<CountedStage, OperationError> {
        let PipelineOf { actor, .. } = &self.of;
        let (_, before) = self.of.load(tx).await?;
        find(&before, self.id)?;
        let after = self.patch.apply(&before, self.id);
        let updated = find(&after, self.id)?;
        if after != before {
            check_pipeline(&after)?;
            self.of.keep(tx, &before, &after).await?;
            let change = PipelineChange { stage: Some(updated), ..self.of.change(&before, &after) };
            change.emit(tx, actor, EventType::JobStageUpdated).await?;
        }
        Ok(self.counts.with(updated.clone()))
    }
}

pub struct ReorderStages {
    pub of: PipelineOf,
    pub order: Vec<Reference<id::Stage>>,
    pub counts: Counts,
}

impl Operation for ReorderStages {
    type Output = Vec<CountedStage>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.of.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let PipelineOf { actor, .. } = &self.of;
        let (_, before) = self.of.load(tx).await?;
        let after = reorder(&before, &self.order)?;
        if after != before {
            self.of.keep(tx, &before, &after).await?;
            let change = self.of.change(&before, &after);
            change.emit(tx, actor, EventType::JobStagesReordered).await?;
        }
        Ok(self.counts.with_all(after))
    }
}

pub struct RemoveStage {
    pub of: PipelineOf,
    pub id: StageId,
    /// The stage that takes the candidates.
    pub move_to: Option<Reference<id::Stage>>,
    pub counts: Counts,
}

impl Operation for RemoveStage {
    type Output = Vec<CountedStage>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.of.actor.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let PipelineOf { actor, job, .. } = &self.of;
        let workspace = actor.workspace;
        let (loaded, before) = self.of.load(tx).await?;
        let removed = find(&before, self.id)?;
        let target = self.target(&before)?;
        let mut after: Vec<Stage> =
            before.iter().filter(|stage| stage.id != self.id).cloned().collect();
        renumber(&mut after);
        check_pipeline(&after)?;
        // Candidates before the stage, as everybody does who moves them.
        stage::hold_occupants(tx, workspace, *job, self.id, MAX_MOVED).await?;
        stage::lock_for_delete(tx, workspace, *job, self.id).await?;
        let count = stage::count(tx, workspace, *job, self.id).await?;
        let moved_to = match (count, target) {
            (0, _) => None,
            (count, None) => return Err(in_use(removed, count).into()),
            (count, Some(_)) if count > MAX_MOVED => return Err(too_many(removed, count).into()),
            (_, Some(target)) => {
                self.move_candidates(tx, &loaded, removed, target).await?;
                Some(target)
            }
        };
        stage::remove(tx, workspace, *job, self.id).await?;
        self.of.keep(tx, &before, &after).await?;
        let change =
            PipelineChange { stage: Some(removed), moved_to, ..self.of.change(&before, &after) };
        change.emit(tx, actor, EventType::JobStageRemoved).await?;
        let mut left = self.counts.with_all(after);
        if let Some(target) = left
            .iter_mut()
            .find(|counted| moved_to.is_some_and(|stage| stage.id == counted.stage.id))
        {
            target.candidate_count += count;
        }
        Ok(left)
    }
}

impl RemoveStage {
    fn target<'s>(&self, stages: &'s [Stage]) -> Result<Option<&'s Stage>, Problem> {
        const FIELD: &str = "move_to";
        let Some(reference) = &self.move_to else { return Ok(None) };
        if reference.id == Some(self.id) {
            return Err(Problem::invalid(
                FIELD,
                FieldErrorCode::Contradiction,
                "must not be the stage being removed",
            ));
        }
        let known = stages.iter().find(|stage| reference.id == Some(stage.id));
        known.map(Some).ok_or_else(|| reference.not_found(FIELD))
    }

    async fn move_candidates(
        &self,
        tx: &mut Tx,
        job: &Job,
        from: &Stage,
        to: &Stage,
    ) -> Result<(), OperationError> {
        let actor = &self.of.actor;
        let occupants = stage::occupants(tx, actor.workspace, job.id, from.id).await?;
        let now = tx.now();
        stage::move_all(tx, actor.workspace, job.id, from.id, to.id, now).await?;
        for occupant in &occupants {
            let person = RecordRef { id: occupant.person_id, name: &occupant.name };
            let concerned = Concerned {
                candidate: occupant.id,
                person,
                job: RecordRef { id: job.id, name: &job.name },
            };
            let entered_at = occupant.entered_at;
            concerned.moved(tx, actor, (from, entered_at), (to, now.max(entered_at))).await?;
        }
        Ok(())
    }
}

fn in_use(stage: &Stage, count: i64) -> Problem {
    let candidates =
        if count == 1 { "1 candidate".to_owned() } else { format!("{count} candidates") };
    let message = format!(
        "The stage {:?} has {candidates}; choose a stage for them with move_to.",
        stage.name
    );
    Problem::new(ErrorCode::StageInUse, message).with(FieldError::new(
        "move_to",
        FieldErrorCode::Required,
        "is required because the stage has candidates",
    ))
}

fn too_many(stage: &Stage, count: i64) -> Problem {
    let message = format!(
        "The stage {:?} has {count} candidates, but one call can move at most {MAX_MOVED} to \
         another stage; move some of them first.",
        stage.name
    );
    Problem::new(ErrorCode::TooManyCandidates, message)
}
