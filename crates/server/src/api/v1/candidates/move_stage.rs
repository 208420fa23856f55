use axum::http::StatusCode;
use slated_model::candidate::StageMove;
use slated_operations::candidates::move_stage::MoveCandidate;
use slated_operations::etag;
use utoipa::ToSchema;

use crate::api::v1::responses::candidate::CandidateRead;
use crate::http::response::{answer, with_etag};
use crate::http::{ApiResult, Envelope, WriteRequest};

/// The new stage: `stage_id` or `stage_name`.
#[derive(ToSchema)]
#[schema(example = json!({"stage_name": "Interview",
    "from_stage_id": "stg_01m1v0e8k7b4k8s2d6f0g5h7jm"}))]
#[expect(dead_code, reason = "describes what StageMove reads")]
pub struct MoveCandidateBody {
    stage_id: Option<String>,
    /// The name of a stage of the candidate's job, regardless of case.
    stage_name: Option<String>,
    /// The stage that the caller expects the candidate to be in; 409 if it is in another.
    from_stage_id: Option<String>,
}

/// Move a candidate
///
/// Moves the candidate to a stage of its job and adds to its history. A move to the current stage
/// changes nothing.
#[utoipa::path(patch, path = "/v1/candidates/{id}", operation_id = "moveCandidate",
    tag = "Candidates",
    params(("id" = String, Path, description = "The candidate's id.",
        example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")),
    request_body = MoveCandidateBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "AMBIGUOUS_STAGE", "STAGE_CONFLICT",
        "PRECONDITION_FAILED"])), ("x-if-match" = json!(true)), ("x-etag" = json!(true))),
    responses((status = 200, description = "The candidate after the move.",
        body = Envelope<CandidateRead>)))]
pub async fn move_candidate(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let to = request.read(StageMove::read)?;
    let work = MoveCandidate {
        actor: request.actor.clone(),
        id: request.id()?,
        to,
        precondition: request.precondition.clone(),
    };
    let shown = |view| {
        let tag = etag::of(&view);
        with_etag(answer(StatusCode::OK, CandidateRead::from(view)), tag)
    };
    request.execute_batched(|app| &app.moves, work, shown).await
}
