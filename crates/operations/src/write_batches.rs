//! Writes that come while others of their kind are on their way go together, in one transaction: to
//! a database that is a server of its own that costs each of them a fraction. (An embedded engine
//! does so with all writes.) Nobody waits for company: who is alone goes alone, at once.

use std::future::Future;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use metrics::counter;
use slated_model::id::{JobId, WorkspaceId};
use slated_model::problem::Problem;
use slated_store::records::events::log;
use slated_store::{BatchQueue, BatchSlot, Operation, OperationError, Pace, Store, StoreError, Tx};
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// Transactions of one line that are on their way at once.
const MAX_AT_WORK: usize = 2;
/// Writes in one of them.
const MAX_IN_ONE: usize = 64;
/// How long those behind it wait for one that goes alone, or for the turn of another. It takes a
/// fraction of that, unless it has to wait for others.
const APPEND_LOCK_TIMEOUT: Duration = Duration::from_millis(50);
/// Workspaces whose numbers leave the same rest share a turn.
const TURNS: usize = 64;

/// What became of each; nothing of those that are to go alone.
pub type Outcomes<T> = Vec<Option<Result<T, Problem>>>;

/// A write that can go together with others of its kind.
pub trait Batchable: Operation {
    /// What others may wait for, in an order that all have, so that no two wait for each other.
    type Order: Ord;

    /// What waits for more would let all others wait.
    fn can_go_together(&self) -> bool;

    /// The job that it adds to. Whoever does waits for others who do, so it goes with those only.
    fn job(&self) -> Option<JobId> {
        None
    }

    fn order(&self) -> Self::Order;

    /// Only on a shared database, and all of one workspace, in their order.
    fn run_together(
        tx: &mut Tx,
        works: &[Arc<Self>],
    ) -> impl Future<Output = Result<Outcomes<Self::Output>, OperationError>> + Send;
}

/// The transactions of one server that append events to the log of a workspace take turns: whoever
/// comes while another does would find it held, and have to leave its events to be numbered later.
/// Nothing more depends on it.
pub struct LogAppendLocks(Vec<Arc<Mutex<()>>>);

impl Default for LogAppendLocks {
    fn default() -> Self {
        Self((0..TURNS).map(|_| Arc::default()).collect())
    }
}

impl LogAppendLocks {
    fn of(&self, workspace: WorkspaceId) -> LogAppendGuard {
        let place = workspace.number().rem_euclid(TURNS as i64);
        LogAppendGuard { order: Arc::clone(&self.0[place as usize]), held: OnceLock::new() }
    }
}

/// Ends when it is dropped.
struct LogAppendGuard {
    order: Arc<Mutex<()>>,
    held: OnceLock<OwnedMutexGuard<()>>,
}

impl LogAppendGuard {
    /// Waits for a moment at most.
    async fn begin(&self) {
        if self.held.get().is_none()
            && let Ok(held) =
                timeout(APPEND_LOCK_TIMEOUT, Arc::clone(&self.order).lock_owned()).await
        {
            let _ = self.held.set(held);
        }
    }
}

pub struct WriteBatcher<W: Batchable> {
    store: Arc<Store>,
    turns: Arc<LogAppendLocks>,
    lines: Arc<BatchQueue<Line, Waiting<W>>>,
}

/// Where those wait who can go together: those of a workspace that add to a job, and those that add
/// to none.
type Line = (WorkspaceId, Option<JobId>);

struct Waiting<W: Batchable> {
    since: Instant,
    work: Arc<W>,
    answer: oneshot::Sender<Result<W::Output, OperationError>>,
}

impl<W: Batchable> Waiting<W> {
    fn refuse(self) {
        let _ = self
            .answer
            .send(Err(StoreError::Unavailable("too many writes are queued".to_owned()).into()));
    }
}

impl<W: Batchable> WriteBatcher<W> {
    pub fn new(store: Arc<Store>, turns: Arc<LogAppendLocks>) -> Self {
        Self { store, turns, lines: BatchQueue::new(MAX_AT_WORK, MAX_IN_ONE) }
    }

    pub async fn write(self: &Arc<Self>, work: W) -> Result<W::Output, OperationError> {
        let line = match work.workspace() {
            Some(workspace) if self.store.is_shared() && work.can_go_together() => {
                (workspace, work.job())
            }
            _ => return self.store.write(work).await,
        };
        let (answer, answered) = oneshot::channel();
        if let Some(place) = self
            .lines
            .enqueue(&line, Waiting { since: Instant::now(), work: Arc::new(work), answer })
        {
            tokio::spawn(Arc::clone(self).work_off(place));
        }
        answered.await.unwrap_or_else(|_| {
            Err(StoreError::Unavailable("the operation was aborted".to_owned()).into())
        })
    }

    async fn work_off(self: Arc<Self>, mut place: BatchSlot<Line, Waiting<W>>) {
        let line @ (_, job) = *place.kind();
        while let Some(some) = place.take() {
            // Past that the database is away or far too busy, or somebody holds the job.
            let longest_wait = self.store.patience() / if job.is_some() { 2 } else { 4 };
            let (late, mut some): (Vec<_>, Vec<_>) =
                some.into_iter().partition(|waiting| waiting.since.elapsed() > longest_wait);
            late.into_iter().for_each(Waiting::refuse);
            if some.len() > 1 {
                some.sort_by_cached_key(|waiting| waiting.work.order());
                self.send_together(line, some).await;
            } else {
                self.send_each_alone(line, some).await;
            }
        }
    }

    async fn send_together(&self, line: Line, some: Vec<Waiting<W>>) {
        let (workspace, _) = line;
        let works = some.iter().map(|waiting| Arc::clone(&waiting.work)).collect();
        match self.store.write(Together { workspace, works, turn: self.turns.of(workspace) }).await
        {
            Ok(outcomes) => {
                for (waiting, outcome) in some.into_iter().zip(outcomes) {
                    match outcome {
                        Some(outcome) => {
                            drop(waiting.answer.send(outcome.map_err(OperationError::Rejected)))
                        }
                        None => drop(self.send_alone(waiting)),
                    }
                }
            }
            // That concerns all of them, and it may have been done.
            Err(OperationError::Store(error)) if error.is_for_now() => {
                for Waiting { answer, .. } in some {
                    let _ = answer.send(Err(error.clone().into()));
                }
            }
            // Nothing was done, and who is to blame is not known.
            Err(_) => {
                counter!("slated_store_retries_total").increment(1);
                self.send_each_alone(line, some).await;
            }
        }
    }

    /// Those behind them would wait for the same, so they wait for these, at least for a moment.
    async fn send_each_alone(&self, (_, job): Line, some: Vec<Waiting<W>>) {
        if job.is_none() {
            let alone: Vec<_> = some.into_iter().map(|waiting| self.send_alone(waiting)).collect();
            let _ = timeout(APPEND_LOCK_TIMEOUT, join_all(alone)).await;
            return;
        }
        // Whoever adds to a job gets through after the other anyway. While somebody holds it, they
        // would all wait, on a connection each.
        for waiting in some {
            match waiting.since.elapsed() > self.store.patience() / 2 {
                true => waiting.refuse(),
                false => drop(self.send_alone(waiting).await),
            }
        }
    }

    /// It is answered by itself, whether or not anybody waits for this to end.
    fn send_alone(&self, Waiting { work, answer, .. }: Waiting<W>) -> JoinHandle<()> {
        let store = Arc::clone(&self.store);
        tokio::spawn(async move {
            let _ = answer.send(store.write(work).await);
        })
    }
}

/// Those of them that need nothing else, and nobody but who adds to the same job, in one
/// transaction. The others are told apart: they have rows to wait for, and more to look up.
struct Together<W: Batchable> {
    workspace: WorkspaceId,
    works: Vec<Arc<W>>,
    turn: LogAppendGuard,
}

impl<W: Batchable> Operation for Together<W> {
    type Output = Outcomes<W::Output>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::Together
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        tx.buffer_events(self.workspace);
        let outcomes = W::run_together(tx, &self.works).await?;
        if tx.has_buffered_events() {
            // Whoever is next waits for what comes now, and for no more.
            tx.flush_and_wait().await?;
            self.turn.begin().await;
            log::append_buffered(tx).await?;
        }
        Ok(outcomes)
    }
}
