use axum::http::StatusCode;

use crate::api::v1::responses::proposal::ProposalRead;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, ReadRequest};
use slated_operations::enrichment::proposals::ProposalsOf;

/// List the proposals for a person
///
/// The newest 200 in any state, newest first.
#[utoipa::path(get, path = "/v1/persons/{id}/proposals", operation_id = "listPersonProposals",
    tag = "Enrichment",
    params(("id" = String, Path, description = "The person's id.",
        example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "ERASED"]))),
    responses((status = 200, description = "The proposals.", body = Envelope<Vec<ProposalRead>>)))]
pub async fn list_person_proposals(request: ReadRequest) -> ApiResult {
    request.no_query()?;
    let work = ProposalsOf { workspace: request.workspace, id: request.id()? };
    let proposals = request.look_at_length(work).await?;
    Ok(answer(StatusCode::OK, proposals.into_iter().map(ProposalRead::from).collect::<Vec<_>>()))
}
