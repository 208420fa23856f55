use axum::http::StatusCode;
use utoipa::ToSchema;

use crate::api::v1::responses::enrichment::EnrichmentRead;
use crate::http::response::answer;
use crate::http::{ApiResult, BodilessWriteRequest, Envelope};
use slated_operations::enrichment::request::RequestEnrichment;

/// How to enrich a person.
#[derive(ToSchema)]
#[schema(example = json!({"refresh": true}))]
#[expect(dead_code, reason = "describes what is read")]
pub struct RequestEnrichmentBody {
    /// True to ask providers anew although they answered not long ago.
    refresh: Option<bool>,
}

/// Enrich a person
///
/// Puts the person into the queue, from where providers are asked in the background. A person who
/// waits already keeps their place; one who is being worked on is done once more. Nothing that a
/// caller wrote is overwritten: what is empty is filled, and what differs is proposed.
#[utoipa::path(post, path = "/v1/persons/{id}/enrichment", operation_id = "requestEnrichment",
    tag = "Enrichment",
    params(("id" = String, Path, description = "The person's id.",
        example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    request_body = RequestEnrichmentBody,
    extensions(("x-may-be-empty" = json!(true)), ("x-errors" = json!(["NOT_FOUND", "ERASED"]))),
    responses((status = 202, description = "The enrichment, which waits now.",
        body = Envelope<EnrichmentRead>)))]
pub async fn request_enrichment(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    request.no_query()?;
    let refresh = request.read(|fields| fields.flag("refresh"))?;
    let work = RequestEnrichment { actor: request.actor.clone(), id: request.id()?, refresh };
    request.carry_out(work, |shown| answer(StatusCode::ACCEPTED, EnrichmentRead::from(shown))).await
}
