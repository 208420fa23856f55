use axum::http::StatusCode;
use slated_operations::etag;
use slated_operations::read::ReadJob;

use crate::api::v1::responses::job::JobRead;
use crate::http::response::{answer, with_etag};
use crate::http::{ApiResult, Envelope, ReadRequest};

/// Read a job
///
/// The job with its client, its status, the number of its candidates and its pipeline in order.
#[utoipa::path(get, path = "/v1/jobs/{id}", operation_id = "readJob", tag = "Jobs",
    params(("id" = String, Path, description = "The job's id.",
        example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-etag" = json!(true))),
    responses((status = 200, description = "The job.", body = Envelope<JobRead>)))]
pub async fn read_job(request: ReadRequest) -> ApiResult {
    request.no_query()?;
    let view =
        request.app.store.read(ReadJob { workspace: request.workspace, id: request.id()? }).await?;
    let tag = etag::of(&view);
    Ok(request.unless_known(with_etag(answer(StatusCode::OK, JobRead::from(view)), tag)))
}
