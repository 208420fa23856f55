use axum::http::StatusCode;
use model::clock::Timestamp;
use model::id::PersonId;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::answer::answer;
use crate::http::{BodilessWrite, Envelope, Reply};
use crate::ops::persons::erase::{ErasePerson, Erased, FindMentions};

/// All that is left of a person.
#[derive(Serialize, ToSchema)]
pub struct PersonErased {
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub id: PersonId,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub erased_at: Timestamp,
}

impl From<Erased> for PersonErased {
    fn from(Erased { id, erased_at }: Erased) -> Self {
        Self { id, erased_at }
    }
}

/// Erase a person
///
/// Removes the person with contacts, identifiers, notes, client contacts and candidates for good, and the contents of all events about them.
/// It cannot be undone. The id, and every id that was merged into it, answers 410 from then on.
#[utoipa::path(delete, path = "/v1/persons/{id}", operation_id = "erasePerson", tag = "Persons",
    params(("id" = String, Path, description = "The person's id.", example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "ERASED"])), ("x-writes" = json!(true))),
    responses((status = 200, description = "The person is gone.", body = Envelope<PersonErased>)))]
pub async fn erase_person(BodilessWrite(request): BodilessWrite) -> Reply {
    request.no_query()?;
    request.read(|_| ())?;
    let (workspace, id) = (request.actor.workspace, request.id()?);
    let mentions = request.app.store.read_snapshot_at_length(FindMentions { workspace, id }).await?;
    let work = ErasePerson { actor: request.actor.clone(), id, mentions };
    request.carry_out(work, |erased| answer(StatusCode::OK, PersonErased::from(erased))).await
}
