use axum::http::StatusCode;
use slated_operations::candidates::remove::RemoveCandidate;

use crate::api::v1::persons::update::Confirmation;
use crate::http::response::answer;
use crate::http::{ApiResult, BodilessWriteRequest, Envelope};

/// Remove a person from a job
///
/// Removes the candidate with its history; the person is kept. With `If-Match`, only if the
/// candidate has not changed since it was read. The event `candidate.removed` contains what was
/// removed.
#[utoipa::path(delete, path = "/v1/candidates/{id}", operation_id = "removeCandidate",
    tag = "Candidates",
    params(("id" = String, Path, description = "The candidate's id.",
        example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")),
    extensions(
        ("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "PRECONDITION_FAILED"])),
        ("x-if-match" = json!(true)),
        ("x-writes" = json!(true))
    ),
    responses((status = 200, description = "The candidate was removed.",
        body = Envelope<Confirmation>)))]
pub async fn remove_candidate(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    request.no_query()?;
    request.read(|_| ())?;
    let work = RemoveCandidate {
        actor: request.actor.clone(),
        id: request.id()?,
        precondition: request.precondition.clone(),
    };
    request
        .execute(work, |()| {
            answer(StatusCode::OK, Confirmation { message: "The candidate was removed." })
        })
        .await
}
