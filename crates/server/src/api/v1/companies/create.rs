use slated_model::company::NewCompany;
use utoipa::ToSchema;

use super::shown;
use crate::api::v1::persons::create::status;
use crate::api::v1::responses::company::CompanyRead;
use crate::http::{ApiResult, Envelope, WriteRequest};
use slated_operations::companies::create::CreateCompany;

/// A company to make.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Babbage & Co"}))]
#[expect(dead_code, reason = "describes what NewCompany reads")]
pub struct CreateCompanyBody {
    name: String,
}

/// Make a company
///
/// A company that has the name already is answered with 200 and keeps its spelling. Case and runs
/// of white space make no other name.
#[utoipa::path(post, path = "/v1/companies", operation_id = "createCompany", tag = "Companies",
    request_body = CreateCompanyBody,
    extensions(("x-etag" = json!(true))),
    responses(
        (status = 201, description = "The company was made.", body = Envelope<CompanyRead>),
        (status = 200, description = "There was a company of that name.",
            body = Envelope<CompanyRead>)))]
pub async fn create_company(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let new = request.read(NewCompany::read)?;
    let work = CreateCompany { actor: request.actor.clone(), new };
    request.carry_out(work, |(view, is_new)| shown(status(is_new), view)).await
}
