use axum::http::StatusCode;

use crate::api::v1::responses::enrichment::RunRead;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, ReadRequest};
use slated_operations::enrichment::runs::ReadRun;

/// Read an enrichment run
///
/// The number of persons found so far, by outcome.
#[utoipa::path(get, path = "/v1/enrichments/{id}", operation_id = "readEnrichmentRun",
    tag = "Enrichment",
    params(("id" = String, Path, description = "The run's id.",
        example = "enr_01m1v0e8k7n3q5s7v9x1z3b5dg")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"]))),
    responses((status = 200, description = "The run.", body = Envelope<RunRead>)))]
pub async fn read_run(request: ReadRequest) -> ApiResult {
    request.no_query()?;
    let work = ReadRun { workspace: request.workspace, id: request.id()? };
    let run = request.app.store.read(work).await?;
    Ok(answer(StatusCode::OK, RunRead::from(run)))
}
