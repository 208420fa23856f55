//! Slots for writes, so that some connections are left for everybody else. Writes may wait for
//! rows that others hold, each on a connection of its own, and for commits that the server does not
//! answer, as one that waits for a standby which is away.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use deadpool::managed::Object;
use tokio::runtime::Handle;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tokio_postgres::SimpleQueryMessage;

use crate::driver::postgres::pipeline::Boxed;
use crate::driver::postgres::pool::{PooledConnection, all_busy};
use crate::error::StoreError;

/// One of so many connections, or of fewer, is kept from writes that go alone, unless it is the
/// only one.
const CONNECTIONS_TO_KEEP_ONE_OF: usize = 8;
/// How often a commit that is not answered is looked after.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

pub(crate) struct WriteSlots {
    free: Arc<Semaphore>,
    /// Whether anything would be left for others.
    may_be_kept: bool,
    /// Commits that were not answered in time. Each has a place.
    unanswered: AtomicUsize,
}

/// What a write has while it is under way.
pub(crate) struct WriteSlot {
    places: Arc<WriteSlots>,
    permit: Option<OwnedSemaphorePermit>,
}

impl WriteSlots {
    pub(crate) fn new(connections: usize) -> Arc<Self> {
        let left = connections.div_ceil(CONNECTIONS_TO_KEEP_ONE_OF);
        let free = Arc::new(Semaphore::new((connections - left).max(1)));
        Arc::new(Self { free, may_be_kept: connections > 1, unanswered: AtomicUsize::new(0) })
    }

    /// For what waits for nobody.
    pub(crate) fn none(self: &Arc<Self>) -> WriteSlot {
        WriteSlot { places: Arc::clone(self), permit: None }
    }

    pub(crate) async fn take(
        self: &Arc<Self>,
        patience: Duration,
    ) -> Result<WriteSlot, StoreError> {
        match timeout(patience, Arc::clone(&self.free).acquire_owned()).await {
            Ok(permit) => Ok(WriteSlot { places: Arc::clone(self), permit: permit.ok() }),
            Err(_) => Err(all_busy()),
        }
    }

    /// For a write that hardly waits for what others hold: it does without, unless commits are not
    /// answered.
    pub(crate) async fn take_if_scarce(
        self: &Arc<Self>,
        patience: Duration,
    ) -> Result<WriteSlot, StoreError> {
        match self.unanswered.load(Ordering::Relaxed) {
            0 => Ok(self.none()),
            _ => self.take(patience).await,
        }
    }
}

impl WriteSlot {
    /// Keeps the place and the connection of a commit that was not answered in time for as long as
    /// the server works on it. Given up, they would be taken by others whose commits are not
    /// answered either, while the server keeps all of them, until it takes no connections any more.
    pub(crate) fn keep<T: Send + 'static>(
        self,
        connection: PooledConnection,
        answered: Boxed<'static, T>,
    ) {
        let Self { places, permit } = self;
        let permit = permit
            .or_else(|| Arc::clone(&places.free).try_acquire_owned().ok())
            .filter(|_| places.may_be_kept);
        let (Some(permit), Ok(runtime)) = (permit, Handle::try_current()) else {
            return Object::take(connection).abandon(false);
        };
        places.unanswered.fetch_add(1, Ordering::Relaxed);
        runtime.spawn(async move {
            wait(connection, answered).await;
            places.unanswered.fetch_sub(1, Ordering::Relaxed);
            drop(permit);
        });
    }
}

async fn wait<T>(connection: PooledConnection, mut answered: Boxed<'static, T>) {
    while timeout(CHECK_INTERVAL, &mut answered).await.is_err() {
        if !may_be_at_work(&connection).await {
            return Object::take(connection).abandon(false);
        }
    }
}

/// It is not if the server to which connections lead now says that it does nothing for this one:
/// that is another server then.
async fn may_be_at_work(connection: &PooledConnection) -> bool {
    let (Some(backend), Some(pool)) = (connection.backend, Object::pool(connection)) else {
        return false;
    };
    let Ok(other) = pool.get().await else { return true };
    // A role that has taken on another one may not see what its own sessions do.
    let sql = format!(
        "SELECT 1 FROM pg_stat_activity WHERE pid = {backend} AND usename = session_user AND \
         COALESCE(state, 'active') IN ('active', 'disabled')"
    );
    let Ok(answer) = timeout(CHECK_INTERVAL, other.client.simple_query(&sql)).await else {
        Object::take(other).abandon(true);
        return true;
    };
    answer.map_or(true, |messages| {
        messages.iter().any(|message| matches!(message, SimpleQueryMessage::Row(_)))
    })
}
