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
    /// Which persons to enrich; `{}` for everybody.
    filter: RunFilterInput,
    /// True to ask providers anew although they answered not long ago.
    refresh: Option<bool>,
}

/// Which persons to enrich. A person must fit all that is given.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what RunFilter reads")]
pub struct RunFilterInput {
    /// Only these persons, each named once.
    person_ids: Option<Vec<String>>,
    /// Only persons who work for this company now.
    company_id: Option<String>,
    /// Only persons who are candidates of this job.
    job_id: Option<String>,
    /// Only persons made after this moment; a date is its first moment in UTC.
    created_after: Option<String>,
    /// Only persons made before this moment.
    created_before: Option<String>,
    /// Only persons changed after this moment.
    updated_after: Option<String>,
    /// Only persons changed before this moment.
    updated_before: Option<String>,
    /// Only persons in whom at least one of these fields is empty.
    missing: Option<Vec<String>>,
    /// True for persons who were never asked to be enriched.
    never_enriched: Option<bool>,
}

/// Enrich many persons
///
/// Starts a run: the persons are found and put into the queue bit by bit in the background, in the
/// order of their ids, so that requests for single persons do not wait behind it. The answer is the
/// run, which can be read to see how far it has come.
#[utoipa::path(post, path = "/v1/enrichments", operation_id = "startEnrichmentRun",
    tag = "Enrichment",
    request_body = StartRunBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "ERASED"]))),
    responses((status = 202, description = "The run, which has begun.", body = Envelope<RunRead>)))]
pub async fn start_run(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let new = request.read(NewRun::read)?;
    let work = StartRun { actor: request.actor.clone(), new };
    request.carry_out(work, |run| answer(StatusCode::ACCEPTED, RunRead::from(run))).await
}
