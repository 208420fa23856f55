use slated_model::company::NewCompany;
use slated_operations::companies::create::CreateCompany;
use utoipa::ToSchema;

use super::shown;
use crate::api::v1::persons::create::status;
use crate::api::v1::responses::company::CompanyRead;
use crate::http::{ApiResult, Envelope, WriteRequest};

/// A company to create.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Babbage & Co"}))]
#[expect(dead_code, reason = "describes what NewCompany reads")]
pub struct CreateCompanyBody {
    name: String,
}

/// Create a company
///
/// If a company already has the name, the response is 200 with that company, which keeps its
/// spelling. Names are compared without regard to case and runs of white space.
#[utoipa::path(post, path = "/v1/companies", operation_id = "createCompany", tag = "Companies",
    request_body = CreateCompanyBody,
    extensions(("x-etag" = json!(true))),
    responses(
        (status = 201, description = "The company was created.", body = Envelope<CompanyRead>),
        (status = 200, description = "A company already had the name.",
            body = Envelope<CompanyRead>)))]
pub async fn create_company(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let new = request.read(NewCompany::read)?;
    let work = CreateCompany { actor: request.actor.clone(), new };
    request.execute(work, |(view, is_new)| shown(status(is_new), view)).await
}
