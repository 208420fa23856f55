use slated_model::stage::read_order;
use utoipa::ToSchema;

use super::{counted_pipeline_in, whole};
use crate::api::v1::responses::stage::StageRead;
use crate::http::{ApiResult, ListOf, WriteRequest};
use slated_operations::jobs::stages::ReorderStages;

/// The new order of a job's stages.
#[derive(ToSchema)]
#[schema(example = json!({"stage_ids": ["stg_01m1v0e8k7b4k8s2d6f0g5h7jm",
    "stg_01m1v0e8k7b4k8s2d6f0g5h7jn"]}))]
#[expect(dead_code, reason = "describes what read_order reads")]
pub struct ReorderStagesBody {
    /// Every stage of the job, once.
    #[schema(min_items = 1, max_items = 50)]
    stage_ids: Vec<String>,
}

/// Reorder the stages of a job
///
/// The body lists every stage of the job once, in the new order. With `If-Match`, only if the job
/// has not changed since it was read.
#[utoipa::path(put, path = "/v1/jobs/{id}/stages/order", operation_id = "reorderStages",
    tag = "Pipelines",
    params(("id" = String, Path, description = "The job's id.",
        example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")),
    request_body = ReorderStagesBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "PRECONDITION_FAILED"])),
        ("x-if-match" = json!(true))),
    responses((status = 200, description = "All stages, in order.", body = ListOf<StageRead>)))]
pub async fn reorder_stages(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let order = request.read(read_order)?;
    let (of, counts) = counted_pipeline_in(&request).await?;
    request.carry_out(ReorderStages { of, order, counts }, whole).await
}
