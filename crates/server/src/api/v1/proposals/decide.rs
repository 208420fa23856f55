use axum::http::StatusCode;

use crate::api::v1::responses::proposal::ProposalRead;
use crate::http::response::answer;
use crate::http::{ApiResult, BodilessWriteRequest, Envelope, WriteRequest};
use slated_operations::enrichment::proposals::DecideProposal;

/// Accept a proposal
///
/// Writes the value to the person, like an update by the caller. Accepting it again changes
/// nothing.
#[utoipa::path(post, path = "/v1/proposals/{id}/accept", operation_id = "acceptProposal",
    tag = "Enrichment",
    params(("id" = String, Path, description = "The proposal's id.",
        example = "prp_01m1v0e8k7r4t6w8y0b2d4f6hk")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "IDENTIFIER_CONFLICT",
        "PROPOSAL_DECIDED"])), ("x-writes" = json!(true))),
    responses((status = 200, description = "The accepted proposal.",
        body = Envelope<ProposalRead>)))]
pub async fn accept_proposal(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    decide(request, true).await
}

/// Reject a proposal
///
/// The person does not change, and the same value is not proposed again. Rejecting it again
/// changes nothing.
#[utoipa::path(post, path = "/v1/proposals/{id}/reject", operation_id = "rejectProposal",
    tag = "Enrichment",
    params(("id" = String, Path, description = "The proposal's id.",
        example = "prp_01m1v0e8k7r4t6w8y0b2d4f6hk")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "PROPOSAL_DECIDED"])),
        ("x-writes" = json!(true))),
    responses((status = 200, description = "The rejected proposal.",
        body = Envelope<ProposalRead>)))]
pub async fn reject_proposal(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    decide(request, false).await
}

async fn decide(request: WriteRequest, accept: bool) -> ApiResult {
    request.no_query()?;
    request.read(|_| ())?;
    let work = DecideProposal { actor: request.actor.clone(), id: request.id()?, accept };
    request.carry_out(work, |shown| answer(StatusCode::OK, ProposalRead::from(shown))).await
}
