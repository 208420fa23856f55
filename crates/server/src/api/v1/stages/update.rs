use axum::http::StatusCode;
use slated_model::stage::StagePatch;
use utoipa::ToSchema;

use super::counted_pipeline_in;
use crate::api::v1::responses::stage::StageRead;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, WriteRequest};
use slated_operations::jobs::stages::UpdateStage;

/// The fields of a stage to change. None of them can be cleared.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Phone screening", "stage_order": 2}))]
#[expect(dead_code, reason = "describes what StagePatch reads")]
pub struct UpdateStageBody {
    #[schema(nullable = false)]
    name: Option<String>,
    /// The new position; past the end means last.
    #[schema(nullable = false, minimum = 1, maximum = 50)]
    stage_order: Option<i64>,
    #[schema(nullable = false)]
    is_rejection_stage: Option<bool>,
    #[schema(nullable = false)]
    is_interviewing_stage: Option<bool>,
}

/// Change a stage of a job
///
/// Renames the stage, changes its flags, or moves it to another position and shifts the others. Its
/// candidates stay in it; their history keeps the name that the stage had when they entered it.
/// With `If-Match`, only if the job has not changed since it was read.
#[utoipa::path(patch, path = "/v1/jobs/{id}/stages/{stage_id}", operation_id = "updateStage",
    tag = "Pipelines",
    params(
        ("id" = String, Path, description = "The job's id.",
            example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz"),
        ("stage_id" = String, Path, description = "The stage's id.",
            example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm"),
    ),
    request_body = UpdateStageBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "LAST_STAGE", "PRECONDITION_FAILED"])),
        ("x-if-match" = json!(true))),
    responses((status = 200, description = "The stage after the change.", body = Envelope<StageRead>)))]
pub async fn update_stage(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let patch = request.read(StagePatch::read)?;
    let id = request.second_id()?;
    let (of, counts) = counted_pipeline_in(&request).await?;
    let work = UpdateStage { of, id, patch, counts };
    request.carry_out(work, |stage| answer(StatusCode::OK, StageRead::from(stage))).await
}
