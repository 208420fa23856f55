use axum::http::StatusCode;
use slated_model::listing::{Page, TimeFilter};
use slated_model::note::read_note;
use slated_operations::persons::notes::{AddNote, DeleteNote, ListNotes, UpdateNote};
use utoipa::ToSchema;

use super::update::Confirmation;
use crate::api::v1::responses::note::NoteRead;
use crate::http::response::{answer, list_meta, render};
use crate::http::{ApiResult, BodilessWriteRequest, Envelope, ListOf, ReadRequest, WriteRequest};

/// A note to add.
#[derive(ToSchema)]
#[schema(example = json!({"body": "Met at the fair. Wants to move to London."}))]
#[expect(dead_code, reason = "describes what read_note reads")]
pub struct NoteBody {
    /// At most 64 KiB of text, and not blank.
    body: String,
}

/// List the notes on a person
///
/// Oldest first; `sort=-created_at` for newest first.
#[utoipa::path(get, path = "/v1/persons/{id}/notes", operation_id = "listNotes", tag = "Persons",
    params(("id" = String, Path, description = "The person's id.",
        example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "ERASED"])),
        ("x-list" = json!(true))),
    responses((status = 200, description = "A page of notes.", body = ListOf<NoteRead>)))]
pub async fn list_notes(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let times = TimeFilter::read(&mut query);
    let page = Page::read(&mut query, &times);
    let (times, page) = query.finish((times, page))?;
    let work = ListNotes {
        workspace: request.workspace,
        person: request.id()?,
        times,
        page: page.clone(),
    };
    let listed = request.look_at_much(work).await?;
    let meta = list_meta(&page, &listed, |note| note.id);
    let data = listed.records.into_iter().map(NoteRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}

/// Add a note to a person
#[utoipa::path(post, path = "/v1/persons/{id}/notes", operation_id = "addNote", tag = "Persons",
    params(("id" = String, Path, description = "The person's id.",
        example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    request_body = NoteBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "ERASED"]))),
    responses((status = 201, description = "The note was added.", body = Envelope<NoteRead>)))]
pub async fn add_note(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let body = request.read(read_note)?;
    let work = AddNote { actor: request.actor.clone(), person: request.id()?, body };
    request.execute(work, |note| answer(StatusCode::CREATED, NoteRead::from(note))).await
}

/// Change a note on a person
///
/// The new text replaces the old one.
#[utoipa::path(patch, path = "/v1/persons/{id}/notes/{note_id}", operation_id = "updateNote",
    tag = "Persons",
    params(
        ("id" = String, Path, description = "The person's id.",
            example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd"),
        ("note_id" = String, Path, description = "The note's id.",
            example = "nte_01m1v0e8k7d2f4h6j8k0m2n4pq"),
    ),
    request_body = NoteBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "ERASED"]))),
    responses((status = 200, description = "The note after the change.", body = Envelope<NoteRead>)))]
pub async fn update_note(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let body = request.read(read_note)?;
    let work = UpdateNote {
        actor: request.actor.clone(),
        person: request.id()?,
        id: request.second_id()?,
        body,
    };
    request.execute(work, |note| answer(StatusCode::OK, NoteRead::from(note))).await
}

/// Delete a note on a person
#[utoipa::path(delete, path = "/v1/persons/{id}/notes/{note_id}", operation_id = "deleteNote",
    tag = "Persons",
    params(
        ("id" = String, Path, description = "The person's id.",
            example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd"),
        ("note_id" = String, Path, description = "The note's id.",
            example = "nte_01m1v0e8k7d2f4h6j8k0m2n4pq"),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND", "ERASED"])),
        ("x-writes" = json!(true))),
    responses((status = 200, description = "The note was deleted.", body = Envelope<Confirmation>)))]
pub async fn delete_note(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    request.no_query()?;
    request.read(|_| ())?;
    let work = DeleteNote {
        actor: request.actor.clone(),
        person: request.id()?,
        id: request.second_id()?,
    };
    request
        .execute(work, |()| {
            answer(StatusCode::OK, Confirmation { message: "The note was deleted." })
        })
        .await
}
