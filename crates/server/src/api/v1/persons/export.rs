use crate::api::v1::shape::export::PersonExport;
use crate::http::answer::followed;
use crate::http::{Followed, Read, Reply};
use crate::ops::persons::export::ExportPerson;

/// Export a person
///
/// Everything that is kept of the person in one document, as they may ask for it.
#[utoipa::path(get, path = "/v1/persons/{id}/export", operation_id = "exportPerson", tag = "Persons",
    params(("id" = String, Path, description = "The person's id.", example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "ERASED"]))),
    responses((status = 200, description = "All that is kept of the person.", body = Followed<PersonExport>)))]
pub async fn export_person(request: Read) -> Reply {
    request.no_query()?;
    let id = request.id()?;
    let exported = request.app.store.read_snapshot_at_length(ExportPerson { workspace: request.workspace, id }).await?;
    Ok(followed(id, exported.view.id, PersonExport::from(exported)))
}
