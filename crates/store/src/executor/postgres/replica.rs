//! Reading from a replica, which is always a little behind. Who wrote through this server reads
//! their own write all the same: for each workspace we remember how far the log of changes was
//! after its last write here, and until the replica has come so far the workspace is read from the
//! primary.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use slated_model::id::WorkspaceId;
use tokio::time::timeout;

use crate::driver::postgres::address::Address;
use crate::driver::postgres::pool::{Connections, START_TIMEOUT, connect};
use crate::driver::postgres::transaction::UNKNOWN;
use crate::error::StoreError;

/// How long a replica that failed is left alone.
const FAILURE_BACKOFF: Duration = Duration::from_secs(5);

/// What a database and its replicas have in common, and no other.
const IDENTITY: &str = "SELECT system_identifier::text || ' ' || (SELECT oid::text FROM \
                        pg_database WHERE datname = current_database()) \
                        FROM pg_control_system()";

/// Makes sure that one address leads to the database of the other, or a replica of it. Where that
/// cannot be found out now, it is taken for granted.
pub(crate) async fn check_replica(primary: &Address, replica: &Address) -> Result<(), StoreError> {
    let identity = async |address: &Address| {
        let asking = async {
            connect(address)
                .await
                .ok()?
                .query_one(IDENTITY, &[])
                .await
                .ok()?
                .try_get::<_, String>(0)
                .ok()
        };
        timeout(START_TIMEOUT, asking).await.ok().flatten()
    };
    match (identity(primary).await, identity(replica).await) {
        (Some(one), Some(other)) if one != other => Err(StoreError::Unusable(format!(
            "--read-database {replica} is not a replica of {primary}; use a \
             standby of the same server, and the same database on that standby"
        ))),
        _ => Ok(()),
    }
}

pub(crate) struct Replica {
    pub(crate) connections: Connections,
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
    pub(crate) fn new(connections: Connections) -> Self {
        Self { connections, last_writes: Mutex::default(), failed_at: Mutex::default() }
    }

    fn failed_at(&self) -> MutexGuard<'_, Option<Instant>> {
        self.failed_at.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the replica left alone for a while, so that not every read waits for one that does not
    /// answer.
    pub(crate) fn rest(&self, error: &StoreError) {
        if self.failed_at().replace(Instant::now()).is_none() {
            tracing::warn!(error = %error, "the replica cannot be read; the primary serves all \
                reads until it recovers");
        }
    }

    /// Of all who read while the replica is left alone, one at a time finds out whether it answers
    /// again.
    pub(crate) fn may_be_asked(&self) -> bool {
        match &mut *self.failed_at() {
            None => true,
            Some(moment) if moment.elapsed() < FAILURE_BACKOFF => false,
            Some(moment) => {
                *moment = Instant::now();
                true
            }
        }
    }

    pub(crate) fn note_answer(&self) {
        if self.failed_at().take().is_some() {
            tracing::info!("the replica answers again");
        }
    }

    pub(crate) fn note_write(&self, workspace: Option<WorkspaceId>, mark: i64) {
        let mut writes = self.last_writes.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = match workspace {
            Some(workspace) => writes.by_workspace.entry(workspace).or_default(),
            None => &mut writes.of_all,
        };
        *kept = match *kept {
            UNKNOWN => mark,
            known => mark.max(known),
        };
    }

    /// How far the replica must have come for this workspace.
    pub(crate) fn last_write(&self, workspace: WorkspaceId) -> Option<i64> {
        let writes = self.last_writes.lock().unwrap_or_else(PoisonError::into_inner);
        let mark = writes.by_workspace.get(&workspace).copied().unwrap_or(0).max(writes.of_all);
        (mark > 0).then_some(mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replica() -> Replica {
        let address: Address = "postgres://nowhere.invalid/slated".parse().unwrap();
        Replica::new(Connections::new(&address, 1, Duration::from_secs(1)).unwrap())
    }

    #[test]
    fn one_at_a_time_asks_a_replica_that_failed() {
        let replica = replica();
        assert!(replica.may_be_asked() && replica.may_be_asked());
        replica.rest(&StoreError::Lost("gone".to_owned()));
        assert!(!replica.may_be_asked());
        *replica.failed_at() = Instant::now().checked_sub(FAILURE_BACKOFF);
        assert!(replica.may_be_asked() && !replica.may_be_asked());
        replica.note_answer();
        assert!(replica.may_be_asked() && replica.may_be_asked());
    }

    #[test]
    fn a_write_of_which_nobody_knows_where_it_stands_keeps_reads_from_the_replica_until_the_next() {
        let (replica, workspace) = (replica(), WorkspaceId::from_number(1));
        for (mark, expected) in [(7, 7), (5, 7), (UNKNOWN, UNKNOWN), (9, 9), (8, 9)] {
            replica.note_write(Some(workspace), mark);
            assert_eq!(replica.last_write(workspace), Some(expected));
        }
        replica.note_write(None, 12);
        assert_eq!(replica.last_write(workspace), Some(12));
    }
}
