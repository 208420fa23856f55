use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::id::{KeyId, NoteId};
use slated_store::records::note::Note;
use utoipa::ToSchema;

/// A note on a person.
#[derive(Serialize, ToSchema)]
pub struct NoteRead {
    #[schema(value_type = String, example = "nte_01m1v0e8k7d2f4h6j8k0m2n4pq")]
    pub id: NoteId,
    #[schema(example = "Met at the fair. Wants to move to London.")]
    pub body: String,
    /// The key that wrote it; null for the command line.
    #[schema(value_type = Option<String>, required, example = "key_01m1v0e8k7c6m9r2t4w8y1a3ef")]
    pub key_id: Option<KeyId>,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub updated_at: Timestamp,
}

impl From<Note> for NoteRead {
    fn from(note: Note) -> Self {
        let Note { id, body, key_id, created_at, updated_at } = note;
        Self { id, body, key_id, created_at, updated_at }
    }
}
