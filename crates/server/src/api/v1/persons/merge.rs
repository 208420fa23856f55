use axum::http::StatusCode;
use slated_model::candidate::read_person;
use slated_model::problem::{FieldErrorCode, Problem};
use utoipa::ToSchema;

use crate::api::v1::responses::person::PersonRead;
use crate::http::response::{answer, with_etag};
use crate::http::{ApiResult, Envelope, WriteRequest};
use slated_operations::etag;
use slated_operations::persons::merge::MergePersons;

/// The person that goes.
#[derive(ToSchema)]
#[schema(example = json!({"person_id": "per_01m1v0e8k7f3vs8xq2zr6c4ybe"}))]
#[expect(dead_code, reason = "describes what read_person reads")]
pub struct MergePersonsBody {
    person_id: String,
}

/// Merge a person into another
///
/// The person that the body names goes into the one of the path, with contacts, identifiers, notes,
/// client contacts and candidates. What is empty is filled and nothing that is known is
/// overwritten. On a job that both are on their candidates become one, in the further stage. The
/// old id leads to the person from then on. All of it happens or nothing. Answers with the person
/// as a read shows it.
#[utoipa::path(post, path = "/v1/persons/{id}/merge", operation_id = "mergePersons",
    tag = "Persons",
    params(("id" = String, Path, description = "The id of the person that stays.",
        example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    request_body = MergePersonsBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "INVALID_MERGE", "ERASED"])),
        ("x-etag" = json!(true))),
    responses((status = 200, description = "The person that stays.", body = Envelope<PersonRead>)))]
pub async fn merge_persons(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let other = request
        .read(read_person)?
        .ok_or_else(|| Problem::invalid("person_id", FieldErrorCode::Required, "must be given"))?;
    let work = MergePersons { actor: request.actor.clone(), id: request.id()?, other };
    request
        .carry_out(work, |view| {
            let tag = etag::of(&view);
            with_etag(answer(StatusCode::OK, PersonRead::from(view)), tag)
        })
        .await
}
