use axum::http::StatusCode;
use slated_model::company::CompanyPatch;
use slated_operations::companies::update::UpdateCompany;
use utoipa::ToSchema;

use super::shown;
use crate::api::v1::responses::company::CompanyRead;
use crate::http::{ApiResult, Envelope, WriteRequest};

/// The fields of a company to change. The name cannot be cleared.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Babbage & Company"}))]
#[expect(dead_code, reason = "describes what CompanyPatch reads")]
pub struct UpdateCompanyBody {
    #[schema(nullable = false)]
    name: Option<String>,
}

/// Rename a company
///
/// The new name appears wherever the company is shown. A name that another company has is refused.
/// With `If-Match`, only if the company has not changed since it was read.
#[utoipa::path(patch, path = "/v1/companies/{id}", operation_id = "updateCompany",
    tag = "Companies",
    params(("id" = String, Path, description = "The company's id.",
        example = "cmp_01m1v0e8k7d2r9w4t6y8p1q3sk")),
    request_body = UpdateCompanyBody,
    extensions(
        ("x-errors" = json!(["NOT_FOUND", "NAME_TAKEN", "PRECONDITION_FAILED"])),
        ("x-if-match" = json!(true)), ("x-etag" = json!(true))),
    responses((status = 200, description = "The company after the change.",
        body = Envelope<CompanyRead>)))]
pub async fn update_company(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let patch = request.read(CompanyPatch::read)?;
    let work = UpdateCompany {
        actor: request.actor.clone(),
        id: request.id()?,
        patch,
        precondition: request.precondition.clone(),
    };
    request.execute(work, |view| shown(StatusCode::OK, view)).await
}
