use slated_model::input::Reference;

use super::{counted_pipeline_in, whole};
use crate::api::v1::responses::stage::StageRead;
use crate::http::{ApiResult, BodilessWriteRequest, ListOf};
use slated_operations::jobs::stages::RemoveStage;

/// Remove a stage from a job
///
/// Candidates in the stage move to the stage in `move_to`, which is required if there are any; each
/// gets an entry in its history and an event. At most 5,000 move in one call. A job keeps at least
/// one stage that is not a rejection stage.
#[utoipa::path(delete, path = "/v1/jobs/{id}/stages/{stage_id}", operation_id = "removeStage",
    tag = "Pipelines",
    params(
        ("id" = String, Path, description = "The job's id.",
            example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz"),
        ("stage_id" = String, Path, description = "The stage's id.",
            example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm"),
        ("move_to" = Option<String>, Query, description = "The id of another stage of the job, to \
            which the candidates move."),
    ),
    extensions(
        ("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "LAST_STAGE", "STAGE_IN_USE",
            "TOO_MANY_CANDIDATES", "PRECONDITION_FAILED"])),
        ("x-if-match" = json!(true)), ("x-writes" = json!(true))),
    responses((status = 200, description = "The remaining stages, in order.",
        body = ListOf<StageRead>)))]
pub async fn remove_stage(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    let mut query = request.query();
    let move_to = query.words("move_to").map(Reference::new);
    let move_to = query.finish(move_to)?;
    request.read(|_| ())?;
    let id = request.second_id()?;
    let (of, counts) = counted_pipeline_in(&request).await?;
    request.carry_out(RemoveStage { of, id, move_to, counts }, whole).await
}
