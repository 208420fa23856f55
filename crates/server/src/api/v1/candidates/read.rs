use slated_operations::etag;
use slated_operations::read::ReadCandidate;

use crate::api::v1::responses::candidate::CandidateRead;
use crate::http::response::{followed, with_etag};
use crate::http::{ApiResult, MaybeMerged, ReadRequest};

/// Read a candidate
///
/// The candidate with its current stage and all the stages that it entered, oldest first.
#[utoipa::path(get, path = "/v1/candidates/{id}", operation_id = "readCandidate",
    tag = "Candidates",
    params(("id" = String, Path, description = "The candidate's id.",
        example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-etag" = json!(true))),
    responses((status = 200, description = "The candidate.", body = MaybeMerged<CandidateRead>)))]
pub async fn read_candidate(request: ReadRequest) -> ApiResult {
    request.no_query()?;
    let id = request.id()?;
    let view = request.app.store.read(ReadCandidate { workspace: request.workspace, id }).await?;
    let tag = etag::of(&view);
    Ok(request.unless_known(with_etag(followed(id, view.id, CandidateRead::from(view)), tag)))
}
