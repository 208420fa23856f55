use axum::http::StatusCode;
use slated_model::job::JobPatch;
use slated_operations::etag;
use slated_operations::jobs::update::UpdateJob;
use utoipa::ToSchema;

use crate::api::v1::responses::job::JobRead;
use crate::http::response::{answer, with_etag};
use crate::http::{ApiResult, Envelope, WriteRequest};

/// The fields of a job to change. None of them can be cleared.
#[derive(ToSchema)]
#[schema(example = json!({"job_status_name": "Filled", "is_archived": true}))]
#[expect(dead_code, reason = "describes what JobPatch reads")]
pub struct UpdateJobBody {
    #[schema(nullable = false)]
    name: Option<String>,
    #[schema(nullable = false)]
    job_status_name: Option<String>,
    #[schema(nullable = false)]
    job_status_id: Option<String>,
    #[schema(nullable = false)]
    is_archived: Option<bool>,
    /// The client's name. The company is created if none has the name.
    #[schema(nullable = false)]
    client_company_name: Option<String>,
    #[schema(nullable = false)]
    client_company_id: Option<String>,
}

/// Update a job
///
/// Changes the fields in the body and keeps the rest. With `If-Match`, only if the job has not
/// changed since it was read.
#[utoipa::path(patch, path = "/v1/jobs/{id}", operation_id = "updateJob", tag = "Jobs",
    params(("id" = String, Path, description = "The job's id.",
        example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")),
    request_body = UpdateJobBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "PRECONDITION_FAILED"])),
        ("x-if-match" = json!(true)), ("x-etag" = json!(true))),
    responses((status = 200, description = "The job after the change.", body = Envelope<JobRead>)))]
pub async fn update_job(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let patch = request.read(JobPatch::read)?;
    let work = UpdateJob {
        actor: request.actor.clone(),
        id: request.id()?,
        patch,
        precondition: request.precondition.clone(),
    };
    request
        .execute(work, |view| {
            let tag = etag::of(&view);
            with_etag(answer(StatusCode::OK, JobRead::from(view)), tag)
        })
        .await
}
