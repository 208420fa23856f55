use axum::http::StatusCode;
use slated_model::status::read_name;
use utoipa::ToSchema;

use crate::api::v1::responses::status::JobStatusRead;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, WriteRequest};
use slated_operations::statuses::CreateStatus;

/// A status to create.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Interviewing"}))]
#[expect(dead_code, reason = "describes what read_name reads")]
pub struct CreateJobStatusBody {
    /// Unique among statuses, regardless of case.
    name: String,
}

/// Create a job status
///
/// The new status comes last. A workspace has at most 100 statuses.
#[utoipa::path(post, path = "/v1/job-statuses", operation_id = "createJobStatus", tag = "Pipelines",
    request_body = CreateJobStatusBody,
    extensions(("x-errors" = json!(["NAME_TAKEN", "TOO_MANY"]))),
    responses((status = 201, description = "The status was created.",
        body = Envelope<JobStatusRead>)))]
pub async fn create_status(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let name = request.read(read_name)?;
    let work = CreateStatus { actor: request.actor.clone(), name };
    request.carry_out(work, |status| answer(StatusCode::CREATED, JobStatusRead::from(status))).await
}
