//! Reading from a replica, which is always a little behind. Who wrote through this server reads their own write all the same: for each
//! workspace we remember how far the log of changes was after its last write here, and until the replica has come so far the
//! workspace is read from the primary.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use model::id::WorkspaceId;
use tokio::time::timeout;

use super::address::Address;
use super::connection::{Connections, PATIENCE_AT_START, connect};
use crate::error::StoreError;

/// How long a replica that failed is left alone.
const REST: Duration = Duration::from_secs(5);

/// What a database and its replicas have in common, and no other.
const IDENTITY: &str = "SELECT system_identifier::text || ' ' || (SELECT oid::text FROM pg_database WHERE datname = current_database()) \
                        FROM pg_control_system()";

/// Makes sure that one address leads to the database of the other, or a replica of it. Where that cannot be found out now, it is taken for granted.
pub(crate) async fn check_replica(primary: &Address, replica: &Address) -> Result<(), StoreError> {
    let identity = async |address: &Address| {
        let asking = async { connect(address).await.ok()?.query_one(IDENTITY, &[]).await.ok()?.try_get::<_, String>(0).ok() };
        timeout(PATIENCE_AT_START, asking).await.ok().flatten()
    };
    match (identity(primary).await, identity(replica).await) {
        (Some(one), Some(other)) if one != other => Err(StoreError::Unusable(format!(
            "--read-database {replica} is no replica of {primary}: it is another database; name a standby of the same server, and the same database on it"
        ))),
        _ => Ok(()),
    }
}

pub(super) struct Replica {
    pub(super) connections: Connections,
    last_writes: Mutex<LastWrites>,
    failed_at: Mutex<Option<Instant>>,
}

#[derive(Default)]
struct LastWrites {
    by_workspace: HashMap<WorkspaceId, i64>,
    /// Of work that belongs to no one workspace.
    of_all: i64,
}

impl Replica {
    pub(super) fn new(connections: Connections) -> Self {
        Self { connections, last_writes: Mutex::default(), failed_at: Mutex::default() }
    }

    fn failed_at(&self) -> MutexGuard<'_, Option<Instant>> {
        self.failed_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks nothing of the replica for a while, so that not every read waits for one that does not answer.
    pub(super) fn rest(&self, error: &StoreError) {
        if self.failed_at().replace(Instant::now()).is_none() {
            tracing::warn!(error = %error, "the replica cannot be read, so the primary serves all reads until it can");
        }
    }

    pub(super) fn is_resting(&self) -> bool {
        self.failed_at().is_some_and(|moment| moment.elapsed() < REST)
    }

    pub(super) fn note_answer(&self) {
        if self.failed_at().take().is_some() {
            tracing::info!("the replica serves reads again");
        }
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
