use axum::http::StatusCode;
use slated_model::candidate::read_person;
use slated_model::problem::{FieldErrorCode, Problem};
use slated_operations::etag;
use slated_operations::persons::merge::MergePersons;
use utoipa::ToSchema;

use crate::api::v1::responses::person::PersonRead;
use crate::http::response::{answer, with_etag};
use crate::http::{ApiResult, Envelope, WriteRequest};

/// The person to merge into the other.
#[derive(ToSchema)]
#[schema(example = json!({"person_id": "per_01m1v0e8k7f3vs8xq2zr6c4ybe"}))]
#[expect(dead_code, reason = "describes what read_person reads")]
pub struct MergePersonsBody {
    person_id: String,
}

/// Merge a person into another
///
/// Merges the person in the body into the one in the path, with contacts, identifiers, notes,
/// client contacts and candidates. Empty fields are filled and known values are never overwritten.
/// If both are on a job, their candidates become one, in the further stage. The old id leads to
/// the remaining person from then on. The merge is atomic. Returns the person in the format of a
/// read.
#[utoipa::path(post, path = "/v1/persons/{id}/merge", operation_id = "mergePersons",
    tag = "Persons",
    params(("id" = String, Path, description = "The id of the person to keep.",
        example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    request_body = MergePersonsBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "INVALID_MERGE", "ERASED"])),
        ("x-etag" = json!(true))),
    responses((status = 200, description = "The remaining person.", body = Envelope<PersonRead>)))]
pub async fn merge_persons(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let other = request
        .read(read_person)?
        .ok_or_else(|| Problem::invalid("person_id", FieldErrorCode::Required, "is required"))?;
    let work = MergePersons { actor: request.actor.clone(), id: request.id()?, other };
    request
        .execute(work, |view| {
            let tag = etag::of(&view);
            with_etag(answer(StatusCode::OK, PersonRead::from(view)), tag)
        })
        .await
}
