//! Values of providers that differ from what is kept, for somebody to decide.

use axum::http::StatusCode;
use slated_model::enrichment::proposal::ProposalState;
use slated_model::listing::Page;
use slated_model::problem::FieldErrorCode;
use slated_operations::enrichment::proposals::{DecideProposal, ListProposals, ProposalsOf};

use crate::api::v1::responses::proposal::{ProposalRead, ProposalStateName};
use crate::http::response::{answer, list_meta, render};
use crate::http::{ApiResult, BodilessWriteRequest, Envelope, ListOf, ReadRequest, WriteRequest};

/// List proposals
///
/// The proposals for all persons, oldest first. With `state=open`, those that are not decided
/// yet.
#[utoipa::path(get, path = "/v1/proposals", operation_id = "listProposals", tag = "Enrichment",
    params(("state" = inline(Option<ProposalStateName>), Query, description = "Only proposals in \
        this state: `open`, `accepted`, `rejected` or `superseded`.")),
    extensions(("x-errors" = json!(["INVALID_REQUEST"])), ("x-page" = json!(true))),
    responses((status = 200, description = "A page of proposals.", body = ListOf<ProposalRead>)))]
pub async fn list_proposals(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let state = query.parsed(
        "state",
        FieldErrorCode::InvalidValue,
        "open, accepted, rejected or superseded",
        ProposalState::parse,
    );
    let page = Page::read(&mut query, &state);
    let page = query.finish(page)?;
    let work = ListProposals { workspace: request.workspace, state, page: page.clone() };
    let listed = request.look_at_length(work).await?;
    let meta = list_meta(&page, &listed, |shown| shown.proposal.id);
    let data = listed.records.into_iter().map(ProposalRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}

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
    request.execute(work, |shown| answer(StatusCode::OK, ProposalRead::from(shown))).await
}
