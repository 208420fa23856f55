//! Answers that were not read yet. What they take in memory is bounded, in all and for each
//! workspace: a caller that asks and does not read would hold as much as they like.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use slated_model::id::WorkspaceId;
use slated_model::problem::{ErrorCode, Problem};

use super::error_response::internal;
use super::shares::{Full, Share, Shares};

const ROOM: usize = 256 * 1024 * 1024;
const ROOM_OF_WORKSPACE: usize = ROOM / 4;
/// The system takes answers up to this length at once.
const MAX_SMALL_BODY_BYTES: u64 = 64 * 1024;

/// What is there at a time of a document that is read while it is sent.
const DOCUMENT: usize = 4 * 1024 * 1024;

pub struct Unread(Arc<Shares<WorkspaceId>>);

impl Default for Unread {
    fn default() -> Self {
        Self(Shares::new(ROOM, ROOM_OF_WORKSPACE))
    }
}

/// The bytes of an answer, and their place in the room until the last of them is sent.
struct Kept {
    bytes: Bytes,
    _place: Share<WorkspaceId>,
}

impl AsRef<[u8]> for Kept {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Unread {
    /// Refuses who has not read so much that the answer to one more change has no place.
    pub fn check(&self, workspace: WorkspaceId) -> Result<(), Problem> {
        if self.0.is_used_up(workspace) { Err(too_much(Full::Share)) } else { Ok(()) }
    }

    /// A place for a document that is read while it is sent, of which a part is there at a time.
    pub fn place_for_document(
        &self,
        workspace: WorkspaceId,
    ) -> Result<Share<WorkspaceId>, Problem> {
        self.0.take(workspace, DOCUMENT).map_err(too_much)
    }

    /// Gives a large answer its place in the room. One that tells of a change has it anyway: the
    /// change is made.
    pub async fn place(
        &self,
        workspace: WorkspaceId,
        tells_of_change: bool,
        response: Response,
    ) -> Result<Response, Problem> {
        let length =
            response.body().size_hint().exact().filter(|length| *length > MAX_SMALL_BODY_BYTES);
        let Some(length) = length.and_then(|length| usize::try_from(length).ok()) else {
            return Ok(response);
        };
        let place = match tells_of_change {
            true => self.0.take_anyway(workspace, length),
            false => self.0.take(workspace, length).map_err(too_much)?,
        };
        let (parts, body) = response.into_parts();
        let whole = body.collect().await.map_err(|_| internal())?;
        let kept = Kept { bytes: whole.to_bytes(), _place: place };
        Ok(Response::from_parts(parts, Body::from(Bytes::from_owner(kept))))
    }
}

fn too_much(full: Full) -> Problem {
    let message = match full {
        Full::Share => {
            "You have too many large unread responses; read some of them, or request smaller \
             pages."
        }
        Full::All => "Too many large responses are waiting to be read; try again shortly.",
    };
    Problem::new(ErrorCode::Unavailable, message)
}
