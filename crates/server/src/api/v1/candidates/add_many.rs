use axum::http::StatusCode;
use slated_model::candidate::read_persons;
use slated_operations::candidates::add_many::{AddCandidates, Added};
use utoipa::ToSchema;

use crate::api::v1::responses::candidate::{AddedCandidate, Each};
use crate::http::response::render;
use crate::http::{ApiResult, WriteRequest};

/// The persons to add to the job.
#[derive(ToSchema)]
#[schema(example = json!({"person_ids": ["per_01m1v0e8k7f3vs8xq2zr6c4ybd"]}))]
#[expect(dead_code, reason = "describes what read_persons reads")]
pub struct AddCandidatesBody {
    /// Each person once.
    person_ids: Vec<String>,
}

/// Add many persons to a job
///
/// Adds all of them or none: if one does not exist, nobody is added. Persons who are already on the
/// job keep their candidate.
#[utoipa::path(post, path = "/v1/jobs/{id}/candidates/batch", operation_id = "addCandidates",
    tag = "Candidates",
    params(("id" = String, Path, description = "The job's id.",
        example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")),
    request_body = AddCandidatesBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "ERASED"]))),
    responses((status = 200, description = "The persons with their candidates, in the order of \
        the request.", body = Each<AddedCandidate>)))]
pub async fn add_candidates(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let persons = request.read(read_persons)?;
    let work = AddCandidates { actor: request.actor.clone(), job: request.id()?, persons };
    let shown = |added: Vec<Added>| {
        let data: Vec<AddedCandidate> = added.into_iter().map(AddedCandidate::from).collect();
        render(StatusCode::OK, &Each { success: true, data })
    };
    request.execute(work, shown).await
}
