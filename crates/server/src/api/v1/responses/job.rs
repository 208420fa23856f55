use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::id::{CompanyId, JobId, StageId, StatusId};
use slated_model::stage::Stage;
use slated_store::records::job::JobView;
use utoipa::ToSchema;

/// A job as an item of the list.
#[derive(Serialize, ToSchema)]
pub struct JobListItem {
    #[schema(value_type = String, example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")]
    pub id: JobId,
    #[schema(example = "Chief Analyst")]
    pub name: String,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    pub is_archived: bool,
    #[schema(example = "Babbage & Co")]
    pub client_company_name: String,
    #[schema(value_type = String, example = "cmp_01m1v0e8k7d2r9w4t6y8p1q3sk")]
    pub client_company_id: CompanyId,
    #[schema(example = "Open")]
    pub job_status_name: String,
    #[schema(value_type = String, example = "sts_01m1v0e8k7g8h2j4k6m0n5p7rt")]
    pub job_status_id: StatusId,
    #[schema(minimum = 0, example = 12)]
    pub candidate_count: i64,
}

impl From<JobView> for JobListItem {
    fn from(view: JobView) -> Self {
        Self {
            id: view.id,
            name: view.name,
            created_at: view.created_at,
            is_archived: view.is_archived,
            client_company_name: view.client_company_name,
            client_company_id: view.client_company_id,
            job_status_name: view.status_name,
            job_status_id: view.status_id,
            candidate_count: view.candidate_count,
        }
    }
}

/// A job in the format of a single read.
#[derive(Serialize, ToSchema)]
pub struct JobRead {
    #[schema(value_type = String, example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")]
    pub id: JobId,
    #[schema(example = "Chief Analyst")]
    pub name: String,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    pub is_archived: bool,
    #[schema(example = "Babbage & Co")]
    pub client_company_name: String,
    #[schema(value_type = String, example = "cmp_01m1v0e8k7d2r9w4t6y8p1q3sk")]
    pub client_company_id: CompanyId,
    #[schema(example = "Open")]
    pub job_status_name: String,
    #[schema(value_type = String, example = "sts_01m1v0e8k7g8h2j4k6m0n5p7rt")]
    pub job_status_id: StatusId,
    #[schema(minimum = 0, example = 12)]
    pub candidate_count: i64,
    /// The pipeline, in order.
    pub pipeline_stages: Vec<PipelineStage>,
}

/// A step of a job's pipeline.
#[derive(Serialize, ToSchema)]
pub struct PipelineStage {
    #[schema(value_type = String, example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm")]
    pub id: StageId,
    #[schema(example = "Screening")]
    pub name: String,
    /// The position in the pipeline, from 1.
    #[schema(minimum = 1, example = 3)]
    pub stage_order: i64,
    pub is_rejection_stage: bool,
    pub is_interviewing_stage: bool,
}

impl From<(JobView, Vec<Stage>)> for JobRead {
    fn from((view, stages): (JobView, Vec<Stage>)) -> Self {
        let stage = |Stage { id, name, stage_order, is_rejection_stage, is_interviewing_stage }| {
            PipelineStage { id, name, stage_order, is_rejection_stage, is_interviewing_stage }
        };
        let pipeline_stages = stages.into_iter().map(stage).collect();
        let JobListItem {
            id,
            name,
            created_at,
            is_archived,
            client_company_name,
            client_company_id,
            job_status_name,
            job_status_id,
            candidate_count,
        } = view.into();
        Self {
            id,
            name,
            created_at,
            is_archived,
            client_company_name,
            client_company_id,
            job_status_name,
            job_status_id,
            candidate_count,
            pipeline_stages,
        }
    }
}
