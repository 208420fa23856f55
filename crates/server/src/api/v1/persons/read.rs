use slated_model::profile::Include;
use slated_operations::etag;
use slated_operations::persons::profile::ReadPersonWith;
use slated_operations::read::ReadPerson;

use crate::api::v1::responses::person::PersonRead;
use crate::http::response::{followed, with_etag};
use crate::http::{ApiResult, MaybeMerged, ReadRequest};

/// Read a person
///
/// The person with contacts, career history and the jobs they are a candidate for, oldest first.
/// Send the `ETag` as `If-Match` of an update, or as `If-None-Match` of the next read, which then
/// returns 304 while nothing changed. With `include`, the `ETag` covers all that is returned and is
/// valid for `If-None-Match` only.
#[utoipa::path(get, path = "/v1/persons/{id}", operation_id = "readPerson", tag = "Persons",
    params(
        ("id" = String, Path, description = "The person's id.",
            example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd"),
        ("include" = Option<String>, Query, description = "Additional parts to return: `profile`, \
            `notes` and `provenance`, separated by commas."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "ERASED"])),
        ("x-etag" = json!(true))),
    responses((status = 200, description = "The person.", body = MaybeMerged<PersonRead>)))]
pub async fn read_person(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let include = Include::read(&mut query);
    let include = query.finish(include)?;
    let (id, workspace) = (request.id()?, request.workspace);
    let answer = if include.is_nothing() {
        let view = request.app.store.read(ReadPerson { workspace, id }).await?;
        let tag = etag::of(&view);
        with_etag(followed(id, view.id, PersonRead::from(view)), tag)
    } else {
        let work = ReadPersonWith { workspace, id, include };
        let person = match include.profile || include.provenance {
            true => request.look_at_length(work).await?,
            false => request.look_at_much(work).await?,
        };
        let tag = etag::of(&person);
        with_etag(followed(id, person.view.id, PersonRead::from(person)), tag)
    };
    Ok(request.unless_known(answer))
}
