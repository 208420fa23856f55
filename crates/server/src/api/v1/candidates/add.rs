use slated_model::candidate::read_person;
use slated_model::problem::{FieldErrorCode, Problem};
use slated_operations::candidates::add::AddCandidate;
use slated_operations::etag;
use utoipa::ToSchema;

use crate::api::v1::persons::create::status;
use crate::api::v1::responses::candidate::CandidateRead;
use crate::http::response::{answer, with_etag};
use crate::http::{ApiResult, Envelope, WriteRequest};

/// The person to add to the job.
#[derive(ToSchema)]
#[schema(example = json!({"person_id": "per_01m1v0e8k7f3vs8xq2zr6c4ybd"}))]
#[expect(dead_code, reason = "describes what read_person reads")]
pub struct AddCandidateBody {
    person_id: String,
}

/// Add a person to a job
///
/// The candidate starts in the lowest stage that is not a rejection stage. If the person is already
/// on the job, the response is 200 with the existing candidate.
#[utoipa::path(post, path = "/v1/jobs/{id}/candidates", operation_id = "addCandidate",
    tag = "Candidates",
    params(("id" = String, Path, description = "The job's id.",
        example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")),
    request_body = AddCandidateBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "ERASED"])), ("x-etag" = json!(true))),
    responses(
        (status = 201, description = "The candidate was created.", body = Envelope<CandidateRead>),
        (status = 200, description = "The person was already on the job.",
            body = Envelope<CandidateRead>)))]
pub async fn add_candidate(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let person = request
        .read(read_person)?
        .ok_or_else(|| Problem::invalid("person_id", FieldErrorCode::Required, "is required"))?;
    let work = AddCandidate { actor: request.actor.clone(), job: request.id()?, person };
    let shown = |(view, is_new)| {
        let tag = etag::of(&view);
        with_etag(answer(status(is_new), CandidateRead::from(view)), tag)
    };
    request.execute_batched(|app| &app.adds, work, shown).await
}
