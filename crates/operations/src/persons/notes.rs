//! Notes on a person. A note is a part of the person: changing one changes the person too.

use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::event::{EventType, Subject};
use slated_model::id::{self, KeyId, NoteId, PersonId, WorkspaceId};
use slated_model::listing::{Page, TimeFilter};
use slated_model::problem::{ErrorCode, Problem};
use slated_store::records::note;
use slated_store::records::note::Note;
use slated_store::records::pagination::PageResult;
use slated_store::records::person;
use slated_store::{Operation, OperationError, Tx};

use super::resolve_merged;
use crate::Actor;
use crate::emit::{Empty, EventData, emit};
use crate::search::index;

pub const MAX_NOTES: i64 = 10_000;

/// A note as events show it.
#[derive(Serialize)]
struct Noted<'n> {
    note: NoteFields<'n>,
}

#[derive(Serialize)]
struct NoteFields<'n> {
    id: NoteId,
    body: &'n str,
    key_id: Option<KeyId>,
    created_at: Timestamp,
    updated_at: Timestamp,
}

impl<'n> Noted<'n> {
    fn of(note: &'n Note) -> Self {
        let Note { id, body, key_id, created_at, updated_at } = note;
        Self {
            note: NoteFields {
                id: *id,
                body,
                key_id: *key_id,
                created_at: *created_at,
                updated_at: *updated_at,
            },
        }
    }
}

/// What follows from any change of a note.
async fn changed(
    tx: &mut Tx,
    actor: &Actor,
    kind: EventType,
    person: PersonId,
    before: impl Serialize,
    after: impl Serialize,
) -> Result<(), OperationError> {
    person::touch(tx, actor.workspace, person).await?;
    emit(tx, actor, kind, Subject::of(person), &EventData::new(before, after)).await?;
    index::refresh(tx, actor.workspace, person).await?;
    Ok(())
}

/// A person has so many notes at most, so that what is kept of them stays within bounds.
pub async fn refuse_if_full(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<(), OperationError> {
    if note::are_at_least(tx, workspace, person, MAX_NOTES).await? {
        let message = format!(
            "The person has {MAX_NOTES} notes, which is the maximum; delete \
             some first."
        );
        return Err(Problem::new(ErrorCode::TooMany, message).into());
    }
    Ok(())
}

async fn existing(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    id: NoteId,
) -> Result<Note, OperationError> {
    Ok(note::find(tx, workspace, person, id)
        .await?
        .ok_or_else(|| Problem::not_found("note", id))?)
}

pub struct ListNotes {
    pub workspace: WorkspaceId,
    pub person: PersonId,
    pub times: TimeFilter,
    pub page: Page<id::Note>,
}

impl Operation for ListNotes {
    type Output = PageResult<Note>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<PageResult<Note>, OperationError> {
        let person = resolve_merged::current(tx, self.workspace, self.person).await?;
        Ok(note::list(tx, self.workspace, person, &self.times, &self.page).await?)
    }
}

pub struct AddNote {
    pub actor: Actor,
    pub person: PersonId,
    pub body: String,
}

impl Operation for AddNote {
    type Output = Note;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Note, OperationError> {
        let Self { actor, person, body } = self;
        let person = resolve_merged::load(tx, actor.workspace, *person).await?.id;
        refuse_if_full(tx, actor.workspace, person).await?;
        let id = note::insert(tx, actor.workspace, person, actor.key, body).await?;
        let added = Note {
            id,
            body: body.clone(),
            key_id: actor.key,
            created_at: tx.now(),
            updated_at: tx.now(),
        };
        changed(tx, actor, EventType::PersonNoteAdded, person, Empty {}, Noted::of(&added)).await?;
        Ok(added)
    }
}

pub struct UpdateNote {
    pub actor: Actor,
    pub person: PersonId,
    pub id: NoteId,
    pub body: String,
}

impl Operation for UpdateNote {
    type Output = Note;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Note, OperationError> {
        let Self { actor, person, id, body } = self;
        let person = resolve_merged::load(tx, actor.workspace, *person).await?.id;
        let before = existing(tx, actor.workspace, person, *id).await?;
        if before.body == *body {
            return Ok(before);
        }
        note::update(tx, actor.workspace, person, *id, body).await?;
        let after = Note { body: body.clone(), updated_at: tx.now(), ..before.clone() };
        changed(
            tx,
            actor,
            EventType::PersonNoteUpdated,
            person,
            Noted::of(&before),
            Noted::of(&after),
        )
        .await?;
        Ok(after)
    }
}

pub struct DeleteNote {
    pub actor: Actor,
    pub person: PersonId,
    pub id: NoteId,
}

impl Operation for DeleteNote {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        let Self { actor, person, id } = self;
        let person = resolve_merged::load(tx, actor.workspace, *person).await?.id;
        let before = existing(tx, actor.workspace, person, *id).await?;
        note::delete(tx, actor.workspace, person, *id).await?;
        changed(tx, actor, EventType::PersonNoteDeleted, person, Noted::of(&before), Empty {}).await
    }
}
