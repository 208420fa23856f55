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
    /// True to ask providers again even if they answered recently.
    refresh: Option<bool>,
}

/// Enrich a person
///
/// Queues the person; providers are asked in the background. A person who is already queued keeps
/// their place; a person in progress is enriched once more. Values that callers wrote are never
/// overwritten: empty fields are filled, and different values become proposals.
#[utoipa::path(post, path = "/v1/persons/{id}/enrichment", operation_id = "requestEnrichment",
    tag = "Enrichment",
    params(("id" = String, Path, description = "The person's id.",
        example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    request_body = RequestEnrichmentBody,
    extensions(("x-may-be-empty" = json!(true)), ("x-errors" = json!(["NOT_FOUND", "ERASED"]))),
    responses((status = 202, description = "The enrichment, which is queued.",
        body = Envelope<EnrichmentRead>)))]
pub async fn request_enrichment(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    request.no_query()?;
    let refresh = request.read(|fields| fields.flag("refresh"))?;
    let work = RequestEnrichment { actor: request.actor.clone(), id: request.id()?, refresh };
    request.carry_out(work, |shown| answer(StatusCode::ACCEPTED, EnrichmentRead::from(shown))).await
}
