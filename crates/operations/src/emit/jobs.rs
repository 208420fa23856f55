use serde::Serialize;
use serde_json::Map;
use slated_model::clock::Timestamp;
use slated_model::event::{EventType, Subject};
use slated_model::id::{CompanyId, JobId, StageId, StatusId};
use slated_model::stage::Stage;
use slated_store::records::job::JobView;
use slated_store::{OperationError, Tx};

use super::event_data::{Empty, EventData, RecordRef, differences, emit};
use crate::Actor;

/// A job as events show it.
#[derive(Serialize)]
struct JobFields<'j> {
    name: &'j str,
    is_archived: bool,
    client_company_name: &'j str,
    client_company_id: CompanyId,
    job_status_name: &'j str,
    job_status_id: StatusId,
}

#[derive(Serialize)]
struct NewJobFields<'j> {
    #[serde(flatten)]
    fields: JobFields<'j>,
    pipeline_stages: Vec<JobStage<'j>>,
    created_at: Timestamp,
}

#[derive(Serialize)]
struct JobStage<'j> {
    id: StageId,
    name: &'j str,
    stage_order: i64,
    is_rejection_stage: bool,
    is_interviewing_stage: bool,
}

impl<'j> JobStage<'j> {
    fn of(stage: &'j Stage) -> Self {
        let Stage { id, name, stage_order, is_rejection_stage, is_interviewing_stage } = stage;
        Self {
            id: *id,
            name,
            stage_order: *stage_order,
            is_rejection_stage: *is_rejection_stage,
            is_interviewing_stage: *is_interviewing_stage,
        }
    }
}

fn job_fields(job: &JobView) -> JobFields<'_> {
    JobFields {
        name: &job.name,
        is_archived: job.is_archived,
        client_company_name: &job.client_company_name,
        client_company_id: job.client_company_id,
        job_status_name: &job.status_name,
        job_status_id: job.status_id,
    }
}

pub async fn job_created(
    tx: &mut Tx,
    actor: &Actor,
    job: &JobView,
    stages: &[Stage],
) -> Result<(), OperationError> {
    let after = NewJobFields {
        fields: job_fields(job),
        pipeline_stages: stages.iter().map(JobStage::of).collect(),
        created_at: job.created_at,
    };
    emit(tx, actor, EventType::JobCreated, Subject::of(job.id), &EventData::new(Empty {}, after))
        .await
        .map(|_| ())
}

/// Tells what changed of a job: that it was archived or restored is an event of its own.
pub async fn job_updated(
    tx: &mut Tx,
    actor: &Actor,
    before: &JobView,
    after: &JobView,
) -> Result<(), OperationError> {
    const ARCHIVED: &str = "is_archived";
    let Some((mut was, mut is)) = differences(&job_fields(before), &job_fields(after))? else {
        return Ok(());
    };
    let subject = Subject::of(after.id);
    let archived = (was.shift_remove(ARCHIVED), is.shift_remove(ARCHIVED));
    if !is.is_empty() {
        emit(tx, actor, EventType::JobUpdated, subject, &EventData::new(was, is)).await?;
    }
    if let (Some(was), Some(is)) = archived {
        let kind = if after.is_archived { EventType::JobArchived } else { EventType::JobRestored };
        let only = |value| Map::from_iter([(ARCHIVED.to_owned(), value)]);
        emit(tx, actor, kind, subject, &EventData::new(only(was), only(is))).await?;
    }
    Ok(())
}

#[derive(Serialize)]
struct PipelineFields<'j> {
    pipeline_stages: Vec<JobStage<'j>>,
}

impl<'j> PipelineFields<'j> {
    fn of(stages: &'j [Stage]) -> Self {
        Self { pipeline_stages: stages.iter().map(JobStage::of).collect() }
    }
}

#[derive(Serialize)]
struct PipelineEventData<'j> {
    before: PipelineFields<'j>,
    after: PipelineFields<'j>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stage: Option<RecordRef<'j, StageId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_to: Option<RecordRef<'j, StageId>>,
}

fn named(stage: &Stage) -> RecordRef<'_, StageId> {
    RecordRef { id: stage.id, name: &stage.name }
}

/// The pipeline of a job as it was and as it is, the stage that was changed if it was one, and the
/// stage that took its candidates.
pub struct PipelineChange<'c> {
    pub job: JobId,
    pub before: &'c [Stage],
    pub after: &'c [Stage],
    pub stage: Option<&'c Stage>,
    pub moved_to: Option<&'c Stage>,
}

impl PipelineChange<'_> {
    pub async fn emit(
        &self,
        tx: &mut Tx,
        actor: &Actor,
        kind: EventType,
    ) -> Result<(), OperationError> {
        let told = PipelineEventData {
            before: PipelineFields::of(self.before),
            after: PipelineFields::of(self.after),
            stage: self.stage.map(named),
            moved_to: self.moved_to.map(named),
        };
        emit(tx, actor, kind, Subject::of(self.job), &told).await.map(|_| ())
    }
}
