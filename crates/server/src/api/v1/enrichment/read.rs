use crate::api::v1::responses::enrichment::EnrichmentRead;
use crate::http::response::followed;
use crate::http::{ApiResult, MaybeMerged, ReadRequest};
use slated_operations::enrichment::request::ReadEnrichment;

/// Read a person's enrichment
///
/// The progress or the result. A person for whom enrichment was never requested has none.
#[utoipa::path(get, path = "/v1/persons/{id}/enrichment", operation_id = "readEnrichment",
    tag = "Enrichment",
    params(("id" = String, Path, description = "The person's id.",
        example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "ERASED"]))),
    responses((status = 200, description = "The enrichment.", body = MaybeMerged<EnrichmentRead>)))]
pub async fn read_enrichment(request: ReadRequest) -> ApiResult {
    request.no_query()?;
    let id = request.id()?;
    let shown = request
        .app
        .store
        .read_consistent(ReadEnrichment { workspace: request.workspace, id })
        .await?;
    Ok(followed(id, shown.enrichment.person, EnrichmentRead::from(shown)))
}
