use axum::http::StatusCode;
use slated_model::stage::AddedStage;
use utoipa::ToSchema;

use super::pipeline_in;
use crate::api::v1::responses::stage::StageRead;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, WriteRequest};
use slated_operations::jobs::stages::AddStage;

/// A stage to add.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Reference check", "stage_order": 6}))]
#[expect(dead_code, reason = "describes what AddedStage reads")]
pub struct AddStageBody {
    name: String,
    /// The position of the stage; the stages from there on move back by one. If absent or past the
    /// end, the stage is the last.
    #[schema(minimum = 1, maximum = 50)]
    stage_order: Option<i64>,
    is_rejection_stage: Option<bool>,
    is_interviewing_stage: Option<bool>,
}

/// Add a stage to a job
///
/// The stage starts without candidates. A job has at most 50 stages. With `If-Match`, only if the
/// job has not changed since it was read.
#[utoipa::path(post, path = "/v1/jobs/{id}/stages", operation_id = "addStage", tag = "Pipelines",
    params(("id" = String, Path, description = "The job's id.",
        example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")),
    request_body = AddStageBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "TOO_MANY", "PRECONDITION_FAILED"])),
        ("x-if-match" = json!(true))),
    responses((status = 201, description = "The stage was added.", body = Envelope<StageRead>)))]
pub async fn add_stage(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let added = request.read(AddedStage::read)?;
    let work = AddStage { of: pipeline_in(&request)?, added };
    request.carry_out(work, |stage| answer(StatusCode::CREATED, StageRead::from(stage))).await
}
