use std::sync::Arc;

use axum::http::StatusCode;
use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::id::PersonId;
use slated_model::problem::FieldErrorCode;
use slated_operations::persons::erase::{ErasePerson, Erased, FindMentions};
use slated_operations::search::wiping::wipe;
use utoipa::ToSchema;

use crate::http::response::{answer, with_field};
use crate::http::{ApiResult, BodilessWriteRequest, Envelope};

/// The result of an erasure.
#[derive(Serialize, ToSchema)]
pub struct PersonErased {
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub id: PersonId,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub erased_at: Timestamp,
    /// With `wait=true`: whether the person was also wiped from the files of the database.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = true)]
    pub is_wiped: Option<bool>,
}

impl From<Erased> for PersonErased {
    fn from(Erased { id, erased_at }: Erased) -> Self {
        Self { id, erased_at, is_wiped: None }
    }
}

/// Erase a person
///
/// Permanently removes the person with contacts, identifiers, notes, client contacts and
/// candidates, and the contents of all events about them. This cannot be undone. The id, and every
/// id that was merged into it, returns 410 from then on. Search words and old versions in the files
/// of the database are wiped within seconds; with `wait=true`, the response is sent when that is
/// done.
#[utoipa::path(delete, path = "/v1/persons/{id}", operation_id = "erasePerson", tag = "Persons",
    params(
        ("id" = String, Path, description = "The person's id.",
            example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd"),
        ("wait" = Option<bool>, Query, description = "With `true`, the response is sent when the \
            person is wiped from the files of the database, or after 20 seconds at most; \
            `is_wiped` says whether it was done."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "ERASED"])),
        ("x-writes" = json!(true))),
    responses((status = 200, description = "The person was erased.", body = Envelope<PersonErased>)))]
pub async fn erase_person(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    let mut query = request.query();
    let waits = query
        .parsed("wait", FieldErrorCode::InvalidValue, "true or false", |written| {
            written.parse().ok()
        })
        .unwrap_or(false);
    query.finish(())?;
    request.read(|_| ())?;
    let app = Arc::clone(&request.app);
    let (workspace, id) = (request.actor.workspace, request.id()?);
    let mentions = request.look_to_the_end(FindMentions { workspace, id }).await?;
    let work = ErasePerson { actor: request.actor.clone(), id, mentions };
    let erased =
        request.execute(work, |erased| answer(StatusCode::OK, PersonErased::from(erased))).await?;
    Ok(match waits && erased.status == StatusCode::OK.as_u16() {
        true => with_field(erased, "is_wiped", wipe(&app.store, workspace).await.into()),
        false => erased,
    })
}
