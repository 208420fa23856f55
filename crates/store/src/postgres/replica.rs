//! Reading from a replica, which is always a little behind. Who wrote through this server reads their own write all the same: for each
//! workspace we remember how far the log of changes was after its last write here, and until the replica has come so far the
//! workspace is read from the primary.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use model::id::WorkspaceId;

use super::connection::Connections;

pub(super) struct Replica {
    pub(super) connections: Connections,
    last_writes: Mutex<LastWrites>,
}

#[derive(Default)]
struct LastWrites {
    by_workspace: HashMap<WorkspaceId, i64>,
    /// Of work that belongs to no one workspace.
    of_all: i64,
}

impl Replica {
    pub(super) fn new(connections: Connections) -> Self {
        Self { connections, last_writes: Mutex::default() }
    }

    pub(super) fn note_write(&self, workspace: Option<WorkspaceId>, mark: i64) {
        let mut writes = self.last_writes.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = match workspace {
            Some(workspace) => writes.by_workspace.entry(workspace).or_default(),
            None => &mut writes.of_all,
        };
        *kept = mark.max(*kept);
    }

    /// How far the replica must have come for this workspace.
    pub(super) fn last_write(&self, workspace: WorkspaceId) -> Option<i64> {
        let writes = self.last_writes.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = writes.by_workspace.get(&workspace).copied().unwrap_or(0).max(writes.of_all);
        (mark > 0).then_some(mark)
    }
}
