//! The stages of one job's pipeline.

use axum::http::StatusCode;
use slated_model::input::Reference;
use slated_model::listing::{MAX_PER_PAGE, Page};
use slated_model::problem::Problem;
use slated_model::stage::{AddedStage, StagePatch, read_order};
use slated_operations::jobs::stages::{
    AddStage, CountCandidates, CountedStage, Counts, ListStages, PipelineOf, RemoveStage,
    ReorderStages, UpdateStage,
};
use utoipa::ToSchema;

use crate::api::v1::responses::stage::StageRead;
use crate::http::response::{ApiResponse, answer, page_of_ordered, render};
use crate::http::{
    ApiResult, BodilessWriteRequest, Envelope, ErrorResponse, ListMeta, ListOf, ReadRequest,
    WriteRequest,
};

/// The pipeline of the job in the path.
fn pipeline_in(request: &WriteRequest) -> Result<PipelineOf, Problem> {
    Ok(PipelineOf {
        actor: request.actor.clone(),
        job: request.id()?,
        precondition: request.precondition.clone(),
    })
}

/// The same, and how many candidates are in its stages.
async fn counted_pipeline_in(
    request: &WriteRequest,
) -> Result<(PipelineOf, Counts), ErrorResponse> {
    let of = pipeline_in(request)?;
    let counting = CountCandidates { workspace: of.actor.workspace, job: of.job };
    let counts = request.look_to_the_end(counting).await?;
    Ok((of, counts))
}

/// A whole pipeline, which always fits on one page.
fn whole(stages: Vec<CountedStage>) -> ApiResponse {
    let data: Vec<_> = stages.into_iter().map(StageRead::from).collect();
    let meta = ListMeta::Offset { total: data.len() as i64, offset: 0, limit: MAX_PER_PAGE };
    render(StatusCode::OK, &ListOf { success: true, data, meta })
}

/// List the stages of a job
///
/// Sorted by `stage_order`, each with the number of candidates in it; `sort=-created_at` reverses
/// the order.
#[utoipa::path(get, path = "/v1/jobs/{id}/stages", operation_id = "listStages", tag = "Pipelines",
    params(("id" = String, Path, description = "The job's id.",
        example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-page" = json!(true))),
    responses((status = 200, description = "A page of stages.", body = ListOf<StageRead>)))]
pub async fn list_stages(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let page = Page::read(&mut query, &());
    let page = query.finish(page)?;
    let work = ListStages { workspace: request.workspace, job: request.id()? };
    let stages = request.look_at_length(work).await?;
    let (stages, meta) = page_of_ordered(&page, stages, |counted| counted.stage.id);
    let data = stages.into_iter().map(StageRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}

/// A stage to add.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Reference check", "stage_order": 6}))]
#[expect(dead_code, reason = "describes what AddedStage reads")]
pub struct AddStageBody {
    name: String,
    /// The position of the stage; the stages from there on move back by one. If absent or past the
    /// end, the stage is the last.
    #[schema(minimum = 1, maximum = 50)]
    stage_order: Option<i64>,
    is_rejection_stage: Option<bool>,
    is_interviewing_stage: Option<bool>,
}

/// Add a stage to a job
///
/// The stage starts without candidates. A job has at most 50 stages. With `If-Match`, only if the
/// job has not changed since it was read.
#[utoipa::path(post, path = "/v1/jobs/{id}/stages", operation_id = "addStage", tag = "Pipelines",
    params(("id" = String, Path, description = "The job's id.",
        example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")),
    request_body = AddStageBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "TOO_MANY", "PRECONDITION_FAILED"])),
        ("x-if-match" = json!(true))),
    responses((status = 201, description = "The stage was added.", body = Envelope<StageRead>)))]
pub async fn add_stage(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let added = request.read(AddedStage::read)?;
    let work = AddStage { of: pipeline_in(&request)?, added };
    request.execute(work, |stage| answer(StatusCode::CREATED, StageRead::from(stage))).await
}

/// The fields of a stage to change. None of them can be cleared.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Phone screening", "stage_order": 2}))]
#[expect(dead_code, reason = "describes what StagePatch reads")]
pub struct UpdateStageBody {
    #[schema(nullable = false)]
    name: Option<String>,
    /// The new position; past the end means last.
    #[schema(nullable = false, minimum = 1, maximum = 50)]
    stage_order: Option<i64>,
    #[schema(nullable = false)]
    is_rejection_stage: Option<bool>,
    #[schema(nullable = false)]
    is_interviewing_stage: Option<bool>,
}

/// Change a stage of a job
///
/// Renames the stage, changes its flags, or moves it to another position and shifts the others. Its
/// candidates stay in it; their history keeps the name that the stage had when they entered it.
/// With `If-Match`, only if the job has not changed since it was read.
#[utoipa::path(patch, path = "/v1/jobs/{id}/stages/{stage_id}", operation_id = "updateStage",
    tag = "Pipelines",
    params(
        ("id" = String, Path, description = "The job's id.",
            example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz"),
        ("stage_id" = String, Path, description = "The stage's id.",
            example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm"),
    ),
    request_body = UpdateStageBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "LAST_STAGE", "PRECONDITION_FAILED"])),
        ("x-if-match" = json!(true))),
    responses((status = 200, description = "The stage after the change.", body = Envelope<StageRead>)))]
pub async fn update_stage(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let patch = request.read(StagePatch::read)?;
    let id = request.second_id()?;
    let (of, counts) = counted_pipeline_in(&request).await?;
    let work = UpdateStage { of, id, patch, counts };
    request.execute(work, |stage| answer(StatusCode::OK, StageRead::from(stage))).await
}

/// The new order of a job's stages.
#[derive(ToSchema)]
#[schema(example = json!({"stage_ids": ["stg_01m1v0e8k7b4k8s2d6f0g5h7jm",
    "stg_01m1v0e8k7b4k8s2d6f0g5h7jn"]}))]
#[expect(dead_code, reason = "describes what read_order reads")]
pub struct ReorderStagesBody {
    /// Every stage of the job, once.
    #[schema(min_items = 1, max_items = 50)]
    stage_ids: Vec<String>,
}

/// Reorder the stages of a job
///
/// The body lists every stage of the job once, in the new order. With `If-Match`, only if the job
/// has not changed since it was read.
#[utoipa::path(put, path = "/v1/jobs/{id}/stages/order", operation_id = "reorderStages",
    tag = "Pipelines",
    params(("id" = String, Path, description = "The job's id.",
        example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")),
    request_body = ReorderStagesBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "PRECONDITION_FAILED"])),
        ("x-if-match" = json!(true))),
    responses((status = 200, description = "All stages, in order.", body = ListOf<StageRead>)))]
pub async fn reorder_stages(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let order = request.read(read_order)?;
    let (of, counts) = counted_pipeline_in(&request).await?;
    request.execute(ReorderStages { of, order, counts }, whole).await
}

/// Remove a stage from a job
///
/// Candidates in the stage move to the stage in `move_to`, which is required if there are any; each
/// gets an entry in its history and an event. At most 5,000 move in one call. A job keeps at least
/// one stage that is not a rejection stage.
#[utoipa::path(delete, path = "/v1/jobs/{id}/stages/{stage_id}", operation_id = "removeStage",
    tag = "Pipelines",
    params(
        ("id" = String, Path, description = "The job's id.",
            example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz"),
        ("stage_id" = String, Path, description = "The stage's id.",
            example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm"),
        ("move_to" = Option<String>, Query, description = "The id of another stage of the job, to \
            which the candidates move."),
    ),
    extensions(
        ("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "LAST_STAGE", "STAGE_IN_USE",
            "TOO_MANY_CANDIDATES", "PRECONDITION_FAILED"])),
        ("x-if-match" = json!(true)), ("x-writes" = json!(true))),
    responses((status = 200, description = "The remaining stages, in order.",
        body = ListOf<StageRead>)))]
pub async fn remove_stage(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    let mut query = request.query();
    let move_to = query.words("move_to").map(Reference::new);
    let move_to = query.finish(move_to)?;
    request.read(|_| ())?;
    let id = request.second_id()?;
    let (of, counts) = counted_pipeline_in(&request).await?;
    request.execute(RemoveStage { of, id, move_to, counts }, whole).await
}
