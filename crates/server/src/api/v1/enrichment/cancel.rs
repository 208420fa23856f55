use axum::http::StatusCode;

use crate::api::v1::responses::enrichment::RunRead;
use crate::http::response::answer;
use crate::http::{ApiResult, BodilessWriteRequest, Envelope};
use slated_operations::enrichment::runs::CancelRun;

/// Cancel an enrichment run
///
/// Stops the run: waiting persons are skipped, and persons in progress are finished. Results found
/// so far are kept. A finished run does not change.
#[utoipa::path(post, path = "/v1/enrichments/{id}/cancel", operation_id = "cancelEnrichmentRun",
    tag = "Enrichment",
    params(("id" = String, Path, description = "The run's id.",
        example = "enr_01m1v0e8k7n3q5s7v9x1z3b5dg")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-writes" = json!(true))),
    responses((status = 200, description = "The run, which is finished.", body = Envelope<RunRead>)))]
pub async fn cancel_run(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    request.no_query()?;
    request.read(|_| ())?;
    let work = CancelRun { actor: request.actor.clone(), id: request.id()? };
    request.carry_out(work, |run| answer(StatusCode::OK, RunRead::from(run))).await
}
