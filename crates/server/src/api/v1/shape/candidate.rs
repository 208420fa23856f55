use model::clock::Timestamp;
use model::id::{CandidateId, JobId, PersonId, StageId};
use model::stage::Stage;
use serde::Serialize;
use store::record::candidate::{CandidateItem, CandidateView, StageEntry};
use utoipa::ToSchema;

use super::person::id_or_empty;

/// A candidate as a single read shows it.
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
        Self { stage_id: entry.stage_id, stage_name: entry.stage_name, stage_date: entry.entered_at }
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
        let stage_name = stages.iter().find(|stage| stage.id == item.stage_id).map(|stage| stage.name.clone());
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
