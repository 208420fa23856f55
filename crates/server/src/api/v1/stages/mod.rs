//! The stages of one job's pipeline.

pub mod add;
pub mod list;
pub mod remove;
pub mod reorder;
pub mod update;

use axum::http::StatusCode;
use slated_model::listing::MAX_PER_PAGE;
use slated_model::problem::Problem;

use super::responses::stage::StageRead;
use crate::http::response::ApiResponse;
use crate::http::response::render;
use crate::http::{ErrorResponse, ListMeta, ListOf, WriteRequest};
use slated_operations::jobs::stages::{CountCandidates, CountedStage, Counts, PipelineOf};

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
