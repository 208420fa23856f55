use slated_operations::companies::read::ReadCompany;
use slated_operations::etag;

use crate::api::v1::responses::company::CompanyRead;
use crate::http::response::{followed, with_etag};
use crate::http::{ApiResult, MaybeMerged, ReadRequest};

/// Read a company
///
/// The id of a company that was merged returns the remaining company, whose id is in
/// `merged_into`.
#[utoipa::path(get, path = "/v1/companies/{id}", operation_id = "readCompany", tag = "Companies",
    params(("id" = String, Path, description = "The company's id.",
        example = "cmp_01m1v0e8k7d2r9w4t6y8p1q3sk")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-etag" = json!(true))),
    responses((status = 200, description = "The company.", body = MaybeMerged<CompanyRead>)))]
pub async fn read_company(request: ReadRequest) -> ApiResult {
    request.no_query()?;
    let id = request.id()?;
    let view = request.app.store.read(ReadCompany { workspace: request.workspace, id }).await?;
    let tag = etag::of(&view);
    Ok(request.unless_known(with_etag(followed(id, view.id, CompanyRead::from(view)), tag)))
}
