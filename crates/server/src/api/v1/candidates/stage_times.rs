use slated_operations::candidates::stage_times::ReadStageTimes;

use crate::api::v1::responses::candidate::StageTimesRead;
use crate::http::response::followed;
use crate::http::{ApiResult, MaybeMerged, ReadRequest};

/// Read a candidate's time in each stage
///
/// Every stay in a stage with its length, oldest first, and the totals by stage.
#[utoipa::path(get, path = "/v1/candidates/{id}/stage-times", operation_id = "readStageTimes",
    tag = "Candidates",
    params(("id" = String, Path, description = "The candidate's id.",
        example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"]))),
    responses((status = 200, description = "The stays.", body = MaybeMerged<StageTimesRead>)))]
pub async fn read_stage_times(request: ReadRequest) -> ApiResult {
    request.no_query()?;
    let id = request.id()?;
    let times = request.app.store.read(ReadStageTimes { workspace: request.workspace, id }).await?;
    Ok(followed(id, times.id, StageTimesRead::from(times)))
}
