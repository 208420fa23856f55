use axum::http::StatusCode;
use slated_model::problem::Problem;
use slated_operations::events::timeline::{ReadTimeline, Timeline};

use super::list::{read_before, read_limit};
use crate::api::v1::responses::event::{BackwardMeta, TimelinePage};
use crate::http::response::render;
use crate::http::{ApiResult, ReadRequest};

const MAX_PER_PAGE: i64 = 100;

/// Read a person's timeline
///
/// The events about the person and their candidates, newest first, within the retention.
#[utoipa::path(get, path = "/v1/persons/{id}/timeline", operation_id = "readPersonTimeline",
    tag = "Events",
    params(
        ("id" = String, Path, description = "The person's id.",
            example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd"),
        ("before" = Option<i64>, Query, description = "Only events before this number: \
            `next_before` of the previous page."),
        ("limit" = Option<i64>, Query, description = "The maximum number of events on a page."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "ERASED"]))),
    responses((status = 200, description = "A page of events.", body = TimelinePage)))]
pub async fn read_person_timeline(request: ReadRequest) -> ApiResult {
    read(request, |request| Ok(Timeline::Person(request.id()?))).await
}

/// Read a candidate's timeline
///
/// The events about the candidate, newest first, within the retention.
#[utoipa::path(get, path = "/v1/candidates/{id}/timeline", operation_id = "readCandidateTimeline",
    tag = "Events",
    params(
        ("id" = String, Path, description = "The candidate's id.",
            example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja"),
        ("before" = Option<i64>, Query, description = "Only events before this number: \
            `next_before` of the previous page."),
        ("limit" = Option<i64>, Query, description = "The maximum number of events on a page."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"]))),
    responses((status = 200, description = "A page of events.", body = TimelinePage)))]
pub async fn read_candidate_timeline(request: ReadRequest) -> ApiResult {
    read(request, |request| Ok(Timeline::Candidate(request.id()?))).await
}

/// Read a job's timeline
///
/// The events about the job and its candidates, newest first, within the retention.
#[utoipa::path(get, path = "/v1/jobs/{id}/timeline", operation_id = "readJobTimeline",
    tag = "Events",
    params(
        ("id" = String, Path, description = "The job's id.",
            example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz"),
        ("before" = Option<i64>, Query, description = "Only events before this number: \
            `next_before` of the previous page."),
        ("limit" = Option<i64>, Query, description = "The maximum number of events on a page."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"]))),
    responses((status = 200, description = "A page of events.", body = TimelinePage)))]
pub async fn read_job_timeline(request: ReadRequest) -> ApiResult {
    read(request, |request| Ok(Timeline::Job(request.id()?))).await
}

async fn read(
    request: ReadRequest,
    of: impl FnOnce(&ReadRequest) -> Result<Timeline, Problem>,
) -> ApiResult {
    let mut query = request.query();
    let before = read_before(&mut query);
    let limit = read_limit(&mut query, MAX_PER_PAGE, MAX_PER_PAGE);
    let (before, limit) = query.finish((before, limit))?;
    let work = ReadTimeline { workspace: request.workspace, of: of(&request)?, before, limit };
    let (events, next_before) = request.look_at_much(work).await?;
    Ok(render(
        StatusCode::OK,
        &TimelinePage { success: true, data: events, meta: BackwardMeta { next_before } },
    ))
}
