//! The statuses that jobs may have.

use axum::http::StatusCode;
use slated_model::listing::Page;
use slated_model::status::{read_name, read_new_name};
use slated_operations::statuses::{CreateStatus, ListStatuses, UpdateStatus};
use utoipa::ToSchema;

use crate::api::v1::responses::status::JobStatusRead;
use crate::http::response::{answer, page_of, render};
use crate::http::{ApiResult, Envelope, ListOf, ReadRequest, WriteRequest};

/// List job statuses
///
/// The statuses of the workspace, in order. A new job gets the first unless it names another.
#[utoipa::path(get, path = "/v1/job-statuses", operation_id = "listJobStatuses", tag = "Pipelines",
    extensions(("x-errors" = json!(["INVALID_REQUEST"])), ("x-page" = json!(true))),
    responses((status = 200, description = "A page of statuses.", body = ListOf<JobStatusRead>)))]
pub async fn list_statuses(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let page = Page::read(&mut query, &());
    let page = query.finish(page)?;
    let statuses = request.app.store.read(ListStatuses { workspace: request.workspace }).await?;
    let (statuses, meta) = page_of(&page, statuses, |status| status.id);
    let data = statuses.into_iter().map(JobStatusRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}

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
    request.execute(work, |status| answer(StatusCode::CREATED, JobStatusRead::from(status))).await
}

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
    request.execute(work, |status| answer(StatusCode::OK, JobStatusRead::from(status))).await
}
