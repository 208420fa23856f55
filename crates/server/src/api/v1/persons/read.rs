use axum::http::StatusCode;

use crate::api::v1::shape::person::PersonRead;
use crate::http::answer::{answer, with_etag};
use crate::http::{Envelope, Read, Reply};
use crate::ops::etag;
use crate::ops::read::ReadPerson;

/// Read a person
///
/// The person with contacts, career history and the jobs they are a candidate of, the oldest first. The `ETag` goes into `If-Match` of an
/// update, or into `If-None-Match` of the next read, which then answers 304 while nothing changed.
#[utoipa::path(get, path = "/v1/persons/{id}", operation_id = "readPerson", tag = "Persons",
    params(("id" = String, Path, description = "The person's id.", example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-etag" = json!(true))),
    responses((status = 200, description = "The person.", body = Envelope<PersonRead>)))]
pub async fn read_person(request: Read) -> Reply {
    request.no_query()?;
    let view = request.app.store.read(ReadPerson { workspace: request.workspace, id: request.id()? }).await?;
    let tag = etag::of(&view);
    Ok(request.unless_known(with_etag(answer(StatusCode::OK, PersonRead::from(view)), tag)))
}
