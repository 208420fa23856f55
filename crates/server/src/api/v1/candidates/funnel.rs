use axum::http::StatusCode;
use slated_operations::candidates::funnel::ReadFunnel;

use crate::api::v1::responses::candidate::FunnelRead;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, ReadRequest};

/// Read a job's funnel
///
/// The progress of the candidates through each stage: how many are in it, moved on or were
/// rejected, and how long they stayed.
#[utoipa::path(get, path = "/v1/jobs/{id}/funnel", operation_id = "readFunnel", tag = "Candidates",
    params(("id" = String, Path, description = "The job's id.",
        example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"]))),
    responses((status = 200, description = "The stages in order.", body = Envelope<FunnelRead>)))]
pub async fn read_funnel(request: ReadRequest) -> ApiResult {
    request.no_query()?;
    let funnel = request
        .look_at_length(ReadFunnel { workspace: request.workspace, job: request.id()? })
        .await?;
    Ok(answer(StatusCode::OK, FunnelRead::from(funnel)))
}
