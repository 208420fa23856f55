use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::funnel::StageFigures;
use slated_model::id::{CandidateId, JobId, PersonId, StageId};
use slated_model::stage::Stage;
use slated_model::stage_duration::{StageDuration, StageTotal};
use slated_operations::candidates::add_many::Added;
use slated_operations::candidates::funnel::JobFunnel;
use slated_operations::candidates::move_many::Moved;
use slated_operations::candidates::stage_times::StageTimes;
use slated_store::records::candidate::{CandidateItem, CandidateOnJob, CandidateView, StageEntry};
use utoipa::ToSchema;

use super::person::id_or_empty;

/// A candidate in the format of a single read.
#[derive(Serialize, ToSchema)]
pub struct CandidateRead {
    #[schema(value_type = String, example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")]
    pub id: CandidateId,
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub person_id: PersonId,
    #[schema(value_type = String, example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")]
    pub job_id: JobId,
    #[schema(example = "Ada Lovelace")]
    pub name: String,
    #[schema(example = "Analyst")]
    pub current_job_title: String,
    #[schema(example = "Analytical Engines")]
    pub current_company_name: String,
    #[schema(example = "cmp_01m1v0e8k7c5qd0m3w8x9b2hsn")]
    pub current_company_id: String,
    #[schema(example = "Screening")]
    pub current_pipeline_stage_name: String,
    #[schema(value_type = String, example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm")]
    pub current_pipeline_stage_id: StageId,
    /// When the candidate entered the current stage.
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub current_pipeline_stage_date: Timestamp,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    /// The stages that the candidate entered, oldest first.
    pub pipeline_stage_history: Vec<StageHistoryEntry>,
}

/// A stage that a candidate entered, under the name that it had then.
#[derive(Serialize, ToSchema)]
pub struct StageHistoryEntry {
    #[schema(value_type = String, example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm")]
    pub stage_id: StageId,
    #[schema(example = "Screening")]
    pub stage_name: String,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub stage_date: Timestamp,
}

impl From<CandidateView> for CandidateRead {
    fn from(view: CandidateView) -> Self {
        Self {
            id: view.id,
            person_id: view.person_id,
            job_id: view.job_id,
            name: view.name,
            current_job_title: view.current_job_title,
            current_company_name: view.company_name.unwrap_or_default(),
            current_company_id: id_or_empty(view.company_id),
            current_pipeline_stage_name: view.stage_name,
            current_pipeline_stage_id: view.stage_id,
            current_pipeline_stage_date: view.stage_entered_at,
            created_at: view.created_at,
            pipeline_stage_history: view.history.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<StageEntry> for StageHistoryEntry {
    fn from(entry: StageEntry) -> Self {
        Self {
            stage_id: entry.stage_id,
            stage_name: entry.stage_name,
            stage_date: entry.entered_at,
        }
    }
}

/// A candidate as an item of a job's list.
#[derive(Serialize, ToSchema)]
pub struct CandidateListItem {
    #[schema(value_type = String, example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")]
    pub id: CandidateId,
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub person_id: PersonId,
    #[schema(example = "Ada Lovelace")]
    pub name: String,
    #[schema(example = "Analyst")]
    pub current_job_title: String,
    #[schema(example = "Analytical Engines")]
    pub current_company_name: String,
    #[schema(example = "cmp_01m1v0e8k7c5qd0m3w8x9b2hsn")]
    pub current_company_id: String,
    #[schema(example = "Screening")]
    pub current_pipeline_stage_name: String,
    #[schema(value_type = String, example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm")]
    pub current_pipeline_stage_id: StageId,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
}

impl CandidateListItem {
    /// The item, with the name of its stage from those of the job.
    pub fn new(item: CandidateItem, stages: &[Stage]) -> Self {
        let stage_name =
            stages.iter().find(|stage| stage.id == item.stage_id).map(|stage| stage.name.clone());
        Self {
            id: item.id,
            person_id: item.person_id,
            name: item.name,
            current_job_title: item.current_job_title,
            current_company_name: item.company_name.unwrap_or_default(),
            current_company_id: id_or_empty(item.company_id),
            current_pipeline_stage_name: stage_name.unwrap_or_default(),
            current_pipeline_stage_id: item.stage_id,
            created_at: item.created_at,
        }
    }
}

/// The outcome for each record of the request, in its order.
#[derive(Serialize, ToSchema)]
pub struct Each<T> {
    #[schema(example = true)]
    pub success: bool,
    pub data: Vec<T>,
}

/// A person who is on the job now.
#[derive(Serialize, ToSchema)]
pub struct AddedCandidate {
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub person_id: PersonId,
    #[schema(value_type = String, example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")]
    pub candidate_id: CandidateId,
    /// False if the person was already on the job.
    #[schema(example = true)]
    pub is_new: bool,
}

impl From<Added> for AddedCandidate {
    fn from(Added { person_id, candidate_id, is_new }: Added) -> Self {
        Self { person_id, candidate_id, is_new }
    }
}

/// A candidate that is in the stage now.
#[derive(Serialize, ToSchema)]
pub struct MovedCandidate {
    #[schema(value_type = String, example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")]
    pub id: CandidateId,
    #[schema(value_type = String, example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")]
    pub job_id: JobId,
    #[schema(value_type = String, example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm")]
    pub current_pipeline_stage_id: StageId,
    #[schema(example = "Interview")]
    pub current_pipeline_stage_name: String,
    /// False if the candidate was already in the stage.
    #[schema(example = true)]
    pub is_moved: bool,
}

impl From<Moved> for MovedCandidate {
    fn from(Moved { id, job_id, stage_id, stage_name, is_moved }: Moved) -> Self {
        Self {
            id,
            job_id,
            current_pipeline_stage_id: stage_id,
            current_pipeline_stage_name: stage_name,
            is_moved,
        }
    }
}

/// A candidate as an item of the list of all candidates.
#[derive(Serialize, ToSchema)]
pub struct AnyCandidateItem {
    #[schema(value_type = String, example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")]
    pub id: CandidateId,
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub person_id: PersonId,
    #[schema(example = "Ada Lovelace")]
    pub name: String,
    #[schema(example = "Analyst")]
    pub current_job_title: String,
    #[schema(example = "Analytical Engines")]
    pub current_company_name: String,
    #[schema(example = "cmp_01m1v0e8k7c5qd0m3w8x9b2hsn")]
    pub current_company_id: String,
    #[schema(example = "Screening")]
    pub current_pipeline_stage_name: String,
    #[schema(value_type = String, example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm")]
    pub current_pipeline_stage_id: StageId,
    /// When the candidate entered the current stage.
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub current_pipeline_stage_date: Timestamp,
    #[schema(value_type = String, example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")]
    pub job_id: JobId,
    #[schema(example = "Chief Analyst")]
    pub job_name: String,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub updated_at: Timestamp,
}

impl From<CandidateOnJob> for AnyCandidateItem {
    fn from(found: CandidateOnJob) -> Self {
        let CandidateOnJob { item, stage_name, stage_entered_at, job_id, job_name, updated_at } =
            found;
        Self {
            id: item.id,
            person_id: item.person_id,
            name: item.name,
            current_job_title: item.current_job_title,
            current_company_name: item.company_name.unwrap_or_default(),
            current_company_id: id_or_empty(item.company_id),
            current_pipeline_stage_name: stage_name,
            current_pipeline_stage_id: item.stage_id,
            current_pipeline_stage_date: stage_entered_at,
            job_id,
            job_name,
            created_at: item.created_at,
            updated_at,
        }
    }
}

/// How long a candidate has been in each stage.
#[derive(Serialize, ToSchema)]
pub struct StageTimesRead {
    #[schema(value_type = String, example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")]
    pub id: CandidateId,
    #[schema(value_type = String, example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")]
    pub job_id: JobId,
    /// Every stay in a stage, oldest first.
    pub stays: Vec<StayRead>,
    /// The totals by stage, in the order in which the stages were first entered.
    pub totals: Vec<StageTotalRead>,
}

/// A stay in a stage, under the name that the stage had then.
#[derive(Serialize, ToSchema)]
pub struct StayRead {
    #[schema(value_type = String, example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm")]
    pub stage_id: StageId,
    #[schema(example = "Screening")]
    pub stage_name: String,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub entered_at: Timestamp,
    /// Null for the current stage.
    #[schema(value_type = Option<String>, required, example = "2026-11-17T14:00:00.000Z")]
    pub left_at: Option<Timestamp>,
    /// Whole seconds; up to now for the current stage.
    #[schema(minimum = 0, example = 189000)]
    pub seconds: i64,
}

/// All stays in one stage.
#[derive(Serialize, ToSchema)]
pub struct StageTotalRead {
    #[schema(value_type = String, example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm")]
    pub stage_id: StageId,
    /// The name that the stage had when it was last entered.
    #[schema(example = "Screening")]
    pub stage_name: String,
    /// The number of times that the candidate has entered the stage.
    #[schema(minimum = 1, example = 1)]
    pub times_entered: i64,
    #[schema(minimum = 0, example = 189000)]
    pub seconds: i64,
}

impl From<StageTimes> for StageTimesRead {
    fn from(StageTimes { id, job_id, stays, totals }: StageTimes) -> Self {
        Self {
            id,
            job_id,
            stays: stays.into_iter().map(Into::into).collect(),
            totals: totals.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<StageDuration> for StayRead {
    fn from(
        StageDuration { stage_id, stage_name, entered_at, left_at, seconds }: StageDuration,
    ) -> Self {
        Self { stage_id, stage_name, entered_at, left_at, seconds }
    }
}

impl From<StageTotal> for StageTotalRead {
    fn from(StageTotal { stage_id, stage_name, stays, seconds }: StageTotal) -> Self {
        Self { stage_id, stage_name, times_entered: stays, seconds }
    }
}

/// The progress of the candidates of a job.
#[derive(Serialize, ToSchema)]
pub struct FunnelRead {
    #[schema(value_type = String, example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")]
    pub job_id: JobId,
    /// The number of candidates of the job.
    #[schema(minimum = 0, example = 12)]
    pub candidate_count: i64,
    /// The current stages of the job, in order.
    pub stages: Vec<FunnelStage>,
}

/// The progress of candidates through a stage. Every candidate counts once in each number.
#[derive(Serialize, ToSchema)]
pub struct FunnelStage {
    #[schema(value_type = String, example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm")]
    pub stage_id: StageId,
    #[schema(example = "Screening")]
    pub stage_name: String,
    /// The position in the pipeline, from 1.
    #[schema(minimum = 1, example = 3)]
    pub stage_order: i64,
    pub is_rejection_stage: bool,
    /// Candidates who ever entered the stage.
    #[schema(minimum = 0, example = 12)]
    pub entered: i64,
    /// Candidates who are currently in it.
    #[schema(minimum = 0, example = 3)]
    pub current: i64,
    /// Candidates who entered it and later a stage further on that is not a rejection stage.
    #[schema(minimum = 0, example = 7)]
    pub went_on: i64,
    /// Candidates who entered it and whose next stage was a rejection stage.
    #[schema(minimum = 0, example = 2)]
    pub rejected: i64,
    /// The median of all stays that have ended, in days to one decimal; null if none has ended.
    #[schema(required, minimum = 0, example = 2.5)]
    pub median_days: Option<f64>,
}

impl From<JobFunnel> for FunnelRead {
    fn from(JobFunnel { job_id, candidate_count, stages }: JobFunnel) -> Self {
        Self { job_id, candidate_count, stages: stages.into_iter().map(Into::into).collect() }
    }
}

impl From<StageFigures> for FunnelStage {
    fn from(
        StageFigures { stage, entered, current, went_on, rejected, median_days }: StageFigures,
    ) -> Self {
        let Stage { id, name, stage_order, is_rejection_stage, is_interviewing_stage: _ } = stage;
        Self {
            stage_id: id,
            stage_name: name,
            stage_order,
            is_rejection_stage,
            entered,
            current,
            went_on,
            rejected,
            median_days,
        }
    }
}
