//! What providers know of persons: asking for one person, and for many in a run.

use axum::http::StatusCode;
use slated_model::enrichment::run::NewRun;
use slated_model::listing::Page;
use slated_operations::enrichment::request::{ReadEnrichment, RequestEnrichment};
use slated_operations::enrichment::runs::{CancelRun, ListRuns, ReadRun, StartRun};
use utoipa::ToSchema;

use crate::api::v1::responses::enrichment::{EnrichmentRead, RunRead};
use crate::http::response::{answer, followed, list_meta, render};
use crate::http::{
    ApiResult, BodilessWriteRequest, Envelope, ListOf, MaybeMerged, ReadRequest, WriteRequest,
};

/// How to enrich a person.
#[derive(ToSchema)]
#[schema(example = json!({"refresh": true}))]
#[expect(dead_code, reason = "describes what is read")]
pub struct RequestEnrichmentBody {
    /// True to ask providers again even if they answered recently.
    refresh: Option<bool>,
}

/// Enrich a person
///
/// Queues the person; providers are asked in the background. A person who is already queued keeps
/// their place; a person in progress is enriched once more. Values that callers wrote are never
/// overwritten: empty fields are filled, and different values become proposals.
#[utoipa::path(post, path = "/v1/persons/{id}/enrichment", operation_id = "requestEnrichment",
    tag = "Enrichment",
    params(("id" = String, Path, description = "The person's id.",
        example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    request_body = RequestEnrichmentBody,
    extensions(("x-may-be-empty" = json!(true)), ("x-errors" = json!(["NOT_FOUND", "ERASED"]))),
    responses((status = 202, description = "The enrichment, which is queued.",
        body = Envelope<EnrichmentRead>)))]
pub async fn request_enrichment(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    request.no_query()?;
    let refresh = request.read(|fields| fields.flag("refresh"))?;
    let work = RequestEnrichment { actor: request.actor.clone(), id: request.id()?, refresh };
    request.execute(work, |shown| answer(StatusCode::ACCEPTED, EnrichmentRead::from(shown))).await
}

/// Read a person's enrichment
///
/// The progress or the result. A person for whom enrichment was never requested has none.
#[utoipa::path(get, path = "/v1/persons/{id}/enrichment", operation_id = "readEnrichment",
    tag = "Enrichment",
    params(("id" = String, Path, description = "The person's id.",
        example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "ERASED"]))),
    responses((status = 200, description = "The enrichment.", body = MaybeMerged<EnrichmentRead>)))]
pub async fn read_enrichment(request: ReadRequest) -> ApiResult {
    request.no_query()?;
    let id = request.id()?;
    let shown = request
        .app
        .store
        .read_consistent(ReadEnrichment { workspace: request.workspace, id })
        .await?;
    Ok(followed(id, shown.enrichment.person, EnrichmentRead::from(shown)))
}

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
    request.execute(work, |run| answer(StatusCode::ACCEPTED, RunRead::from(run))).await
}

/// List enrichment runs
///
/// The runs of the workspace, oldest first, including finished ones.
#[utoipa::path(get, path = "/v1/enrichments", operation_id = "listEnrichmentRuns",
    tag = "Enrichment",
    extensions(("x-errors" = json!(["INVALID_REQUEST"])), ("x-page" = json!(true))),
    responses((status = 200, description = "A page of runs.", body = ListOf<RunRead>)))]
pub async fn list_runs(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let page = Page::read(&mut query, &());
    let page = query.finish(page)?;
    let work = ListRuns { workspace: request.workspace, page: page.clone() };
    let listed = request.app.store.read_consistent(work).await?;
    let meta = list_meta(&page, &listed, |run| run.id);
    let data = listed.records.into_iter().map(RunRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}

/// Read an enrichment run
///
/// The number of persons found so far, by outcome.
#[utoipa::path(get, path = "/v1/enrichments/{id}", operation_id = "readEnrichmentRun",
    tag = "Enrichment",
    params(("id" = String, Path, description = "The run's id.",
        example = "enr_01m1v0e8k7n3q5s7v9x1z3b5dg")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"]))),
    responses((status = 200, description = "The run.", body = Envelope<RunRead>)))]
pub async fn read_run(request: ReadRequest) -> ApiResult {
    request.no_query()?;
    let work = ReadRun { workspace: request.workspace, id: request.id()? };
    let run = request.app.store.read(work).await?;
    Ok(answer(StatusCode::OK, RunRead::from(run)))
}

/// Cancel an enrichment run
///
/// Stops the run: waiting persons are skipped, and persons in progress are finished. Results found
/// so far are kept. A finished run does not change.
#[utoipa::path(post, path = "/v1/enrichments/{id}/cancel", operation_id = "cancelEnrichmentRun",
    tag = "Enrichment",
    params(("id" = String, Path, description = "The run's id.",
        example = "enr_01m1v0e8k7n3q5s7v9x1z3b5dg")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-writes" = json!(true))),
    responses((status = 200, description = "The run, which is finished.", body = Envelope<RunRead>)))]
pub async fn cancel_run(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    request.no_query()?;
    request.read(|_| ())?;
    let work = CancelRun { actor: request.actor.clone(), id: request.id()? };
    request.execute(work, |run| answer(StatusCode::OK, RunRead::from(run))).await
}
