use axum::http::StatusCode;
use slated_model::enrichment::run::NewRun;
use utoipa::ToSchema;

use crate::api::v1::responses::enrichment::RunRead;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, WriteRequest};
use slated_operations::enrichment::runs::StartRun;

/// A run to start.
#[derive(ToSchema)]
#[schema(example = json!({"filter": {"missing": ["current_job_title", "work_experience"],
    "never_enriched": true}}))]
#[expect(dead_code, reason = "describes what NewRun reads")]
pub struct StartRunBody {
    /// Which persons to enrich; `{}` for all.
    filter: RunFilterInput,
    /// True to ask providers again even if they answered recently.
    refresh: Option<bool>,
}

/// Which persons to enrich. A person must match all given conditions.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what RunFilter reads")]
pub struct RunFilterInput {
    /// Only these persons, each named once.
    person_ids: Option<Vec<String>>,
    /// Only persons who currently work for this company.
    company_id: Option<String>,
    /// Only persons who are candidates of this job.
    job_id: Option<String>,
    /// Only persons created after this time; a date means 00:00 UTC on that day.
    created_after: Option<String>,
    /// Only persons created before this time.
    created_before: Option<String>,
    /// Only persons changed after this time.
    updated_after: Option<String>,
    /// Only persons changed before this time.
    updated_before: Option<String>,
    /// Only persons with at least one of these fields empty.
    missing: Option<Vec<String>>,
    /// True for persons for whom enrichment was never requested.
    never_enriched: Option<bool>,
}

/// Enrich many persons
///
/// Starts a run: the persons are found and queued gradually in the background, in the order of
/// their ids, so that requests for single persons do not wait behind it. The response is the run,
/// which can be read to see its progress.
#[utoipa::path(post, path = "/v1/enrichments", operation_id = "startEnrichmentRun",
    tag = "Enrichment",
    request_body = StartRunBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "ERASED"]))),
    responses((status = 202, description = "The run, which has started.", body = Envelope<RunRead>)))]
pub async fn start_run(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let new = request.read(NewRun::read)?;
    let work = StartRun { actor: request.actor.clone(), new };
    request.carry_out(work, |run| answer(StatusCode::ACCEPTED, RunRead::from(run))).await
}
