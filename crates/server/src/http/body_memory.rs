//! The memory that the bodies of requests may take, all together and of one key.

use std::sync::Arc;

use slated_model::id::{KeyId, WorkspaceId};
use slated_model::problem::{ErrorCode, Problem};

use super::api_key_cache::KnownKey;
use super::shares::{Full, Share, Shares};

/// What large bodies may take that are being read or worked on, and those of one workspace.
const ROOM: usize = 256 * 1024 * 1024;
const ROOM_OF_WORKSPACE: usize = ROOM / 4;
/// What all bodies of one key may take.
const ROOM_OF_KEY: usize = ROOM / 8;
/// Bodies up to this length need no place among the large ones, so that these keep nobody from
/// small requests.
const MAX_SMALL_BODY_BYTES: usize = 64 * 1024;

/// The memory for all bodies, in bytes.
pub struct BodyMemoryBudget {
    large: Arc<Shares<WorkspaceId>>,
    of_key: Arc<Shares<KeyId>>,
}

impl Default for BodyMemoryBudget {
    fn default() -> Self {
        Self {
            large: Shares::new(ROOM, ROOM_OF_WORKSPACE),
            of_key: Shares::new(usize::MAX, ROOM_OF_KEY),
        }
    }
}

/// What a body has of the room. It grows with what has arrived.
pub struct BodyMemory<'r> {
    room: &'r BodyMemoryBudget,
    workspace: WorkspaceId,
    pub of_key: Share<KeyId>,
    pub large: Option<Share<WorkspaceId>>,
}

impl BodyMemoryBudget {
    pub fn place(&self, sender: &KnownKey) -> Result<BodyMemory<'_>, Problem> {
        let of_key = self.of_key.take(sender.id, 0).map_err(too_much)?;
        Ok(BodyMemory { room: self, workspace: sender.workspace, of_key, large: None })
    }
}

impl BodyMemory<'_> {
    /// Takes more, for a body that has `length` bytes then.
    pub fn grow(&mut self, more: usize, length: usize) -> Result<(), Problem> {
        self.of_key.grow(more).map_err(too_much)?;
        match &mut self.large {
            Some(large) => large.grow(more).map_err(too_much)?,
            None if length > MAX_SMALL_BODY_BYTES => {
                self.large = Some(self.room.large.take(self.workspace, length).map_err(too_much)?)
            }
            None => {}
        }
        Ok(())
    }
}

fn too_much(full: Full) -> Problem {
    let message = match full {
        Full::Share => {
            "Too many of your large requests are in progress; wait for some of them to \
             finish."
        }
        Full::All => "Too many large requests are in progress; try again shortly.",
    };
    Problem::new(ErrorCode::Unavailable, message)
}
