use axum::http::StatusCode;
use slated_model::enrichment::proposal::ProposalState;
use slated_model::listing::Page;
use slated_model::problem::FieldErrorCode;

use crate::api::v1::responses::proposal::{ProposalRead, ProposalStateName};
use crate::http::response::{list_meta, render};
use crate::http::{ApiResult, ListOf, ReadRequest};
use slated_operations::enrichment::proposals::ListProposals;

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
