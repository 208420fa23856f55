//! An event that waits for the end of its operation to get its number.

use slated_model::clock::Timestamp;
use slated_model::event::{Hash, Link, Subject};
use slated_model::id::{EventId, KeyId, WorkspaceId};

/// An event with its hash and without its number.
#[derive(Clone, Copy)]
pub(crate) struct Unnumbered<'e> {
    pub(crate) id: EventId,
    pub(crate) kind: &'e str,
    pub(crate) created_at: Timestamp,
    pub(crate) key_id: Option<KeyId>,
    pub(crate) subject: Subject,
    pub(crate) content_hash: Hash,
}

impl Unnumbered<'_> {
    pub(crate) fn link(&self, workspace: WorkspaceId, sequence: i64) -> Link<'_> {
        let Self { id, kind, created_at, key_id, subject, content_hash } = *self;
        Link { workspace, sequence, id, kind, created_at, key_id, subject, content_hash }
    }
}

/// One that waits for the end of the work.
pub(crate) struct BufferedEvent {
    pub(crate) event: Unnumbered<'static>,
    pub(crate) request_id: Option<String>,
    pub(crate) data: String,
    pub(crate) salt: [u8; 16],
}
