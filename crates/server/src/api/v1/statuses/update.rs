use axum::http::StatusCode;
use slated_model::status::read_new_name;
use utoipa::ToSchema;

use crate::api::v1::responses::status::JobStatusRead;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, WriteRequest};
use slated_operations::statuses::UpdateStatus;

/// The fields of a status to change.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Paused"}))]
#[expect(dead_code, reason = "describes what read_new_name reads")]
pub struct UpdateJobStatusBody {
    #[schema(nullable = false)]
    name: Option<String>,
}

/// Rename a job status
///
/// All jobs with the status show the new name.
#[utoipa::path(patch, path = "/v1/job-statuses/{id}", operation_id = "updateJobStatus",
    tag = "Pipelines",
    params(("id" = String, Path, description = "The status's id.",
        example = "sts_01m1v0e8k7g8h2j4k6m0n5p7rt")),
    request_body = UpdateJobStatusBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "NAME_TAKEN"]))),
    responses((status = 200, description = "The status after the change.",
        body = Envelope<JobStatusRead>)))]
pub async fn update_status(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let name = request.read(read_new_name)?;
    let work = UpdateStatus { actor: request.actor.clone(), id: request.id()?, name };
    request.carry_out(work, |status| answer(StatusCode::OK, JobStatusRead::from(status))).await
}
