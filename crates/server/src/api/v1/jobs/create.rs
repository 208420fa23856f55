use axum::http::StatusCode;
use slated_model::job::NewJob;
use slated_operations::etag;
use slated_operations::jobs::create::CreateJob;
use utoipa::ToSchema;

use crate::api::v1::responses::job::JobRead;
use crate::http::response::{answer, with_etag};
use crate::http::{ApiResult, Envelope, WriteRequest};

/// A job to open. `client_company_name` or `client_company_id` is required.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Chief Analyst", "client_company_name": "Babbage & Co",
    "pipeline_stages": [{"name": "Applied"}, {"name": "Interview", "is_interviewing_stage": true},
        {"name": "Hired"}, {"name": "Rejected", "is_rejection_stage": true}]}))]
#[expect(dead_code, reason = "describes what NewJob reads")]
pub struct CreateJobBody {
    name: String,
    /// The client's name. The company is created if none has the name.
    client_company_name: Option<String>,
    client_company_id: Option<String>,
    /// A status of the workspace; if absent, the first of them, `Open`.
    job_status_name: Option<String>,
    /// The pipeline in order, with at least one stage that is not a rejection stage. If absent,
    /// that of a template.
    #[schema(min_items = 1, max_items = 50)]
    pipeline_stages: Option<Vec<NewStageBody>>,
    /// The template to take the pipeline from, instead of `pipeline_stages`; the workspace's
    /// default if both are absent.
    pipeline_template_id: Option<String>,
}

/// A stage of a new pipeline.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what NewJob reads")]
pub struct NewStageBody {
    name: String,
    is_rejection_stage: Option<bool>,
    is_interviewing_stage: Option<bool>,
}

/// Open a job
///
/// The job starts with the given status and pipeline, and without candidates.
#[utoipa::path(post, path = "/v1/jobs", operation_id = "createJob", tag = "Jobs",
    request_body = CreateJobBody,
    extensions(("x-errors" = json!(["NOT_FOUND"])), ("x-etag" = json!(true))),
    responses((status = 201, description = "The job was created.", body = Envelope<JobRead>)))]
pub async fn create_job(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let new = request.read(NewJob::read)?;
    let work = CreateJob { actor: request.actor.clone(), new };
    request
        .execute(work, |view| {
            let tag = etag::of(&view);
            with_etag(answer(StatusCode::CREATED, JobRead::from(view)), tag)
        })
        .await
}
