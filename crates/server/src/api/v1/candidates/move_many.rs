use axum::http::StatusCode;
use slated_model::candidate::JointMove;
use slated_operations::candidates::move_many::{MoveCandidates, Moved};
use utoipa::ToSchema;

use crate::api::v1::responses::candidate::{Each, MovedCandidate};
use crate::http::response::render;
use crate::http::{ApiResult, WriteRequest};

/// The candidates and their new stage: `stage_id` or `stage_name`.
#[derive(ToSchema)]
#[schema(example = json!({"candidate_ids": ["cnd_01m1v0e8k7ez4gy9v5n1tq8rja"],
    "stage_name": "Interview"}))]
#[expect(dead_code, reason = "describes what JointMove reads")]
pub struct MoveCandidatesBody {
    /// Each candidate once.
    candidate_ids: Vec<String>,
    /// A stage of the job, which must be the same for all candidates.
    stage_id: Option<String>,
    /// The name of a stage of each candidate's job, regardless of case.
    stage_name: Option<String>,
}

/// Move many candidates
///
/// Moves all of them or none: if one does not exist, or its job has no such stage, none is moved.
/// Candidates already in the stage do not change. With `stage_name`, they may be of different
/// jobs.
#[utoipa::path(post, path = "/v1/candidates/move", operation_id = "moveCandidates",
    tag = "Candidates",
    request_body = MoveCandidatesBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "AMBIGUOUS_STAGE"]))),
    responses((status = 200, description = "The candidates after the move, in the order of the \
        request.", body = Each<MovedCandidate>)))]
pub async fn move_candidates(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let together = request.read(JointMove::read)?;
    let work = MoveCandidates { actor: request.actor.clone(), together };
    let shown = |moved: Vec<Moved>| {
        let data: Vec<MovedCandidate> = moved.into_iter().map(MovedCandidate::from).collect();
        render(StatusCode::OK, &Each { success: true, data })
    };
    request.execute(work, shown).await
}
