//! Creates that come while others are on their way go together, in one transaction: to a database that is a server of its own that costs each of
//! them a fraction. (An embedded engine does so with all writes.) Nobody waits for company: who is alone goes alone, at once.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use model::id::WorkspaceId;
use model::problem::Problem;
use store::record::event;
use store::{Failure, Lines, Pace, Place, Store, StoreError, Tx, Work};
use tokio::sync::{Mutex, OwnedMutexGuard, oneshot};
use tokio::task::JoinHandle;
use tokio::time::timeout;

use super::create::{CreatePerson, CreatedPerson};
use super::create_many::create_new;

/// Transactions of one workspace that are on their way at once.
const MOST_AT_WORK: usize = 2;
/// Creates in one of them.
const MOST_IN_ONE: usize = 64;
/// How long those behind it wait for one that goes alone. It takes a fraction of that, unless it has to wait for others.
const A_MOMENT: Duration = Duration::from_millis(50);

type Outcome = Result<CreatedPerson, Failure>;

/// Workspaces whose numbers leave the same rest share a turn.
const TURNS: usize = 64;

pub struct Gathering {
    store: Arc<Store>,
    lines: Arc<Lines<WorkspaceId, Waiting>>,
    /// Whose transaction appends its events to the log of a workspace. Those of this server take turns, or they would find it held.
    turns: Vec<Arc<Mutex<()>>>,
}

struct Waiting {
    since: Instant,
    create: Arc<CreatePerson>,
    answer: oneshot::Sender<Outcome>,
}

impl Gathering {
    pub fn new(store: Arc<Store>) -> Self {
        let turns = (0..TURNS).map(|_| Arc::default()).collect();
        Self { store, lines: Lines::new(MOST_AT_WORK, MOST_IN_ONE), turns }
    }

    fn turn_of(&self, workspace: WorkspaceId) -> Turn {
        let number = workspace.number().unsigned_abs() % TURNS as u64;
        Turn { order: Arc::clone(&self.turns[number as usize]), held: OnceLock::new() }
    }

    pub async fn create(self: &Arc<Self>, create: CreatePerson) -> Outcome {
        let workspace = match create.workspace() {
            // What waits for a job or a client would let all others wait.
            Some(workspace) if self.store.is_shared() && create.stands_alone() => workspace,
            _ => return self.store.write(create).await,
        };
        let (answer, answered) = oneshot::channel();
        if let Some(place) = self.lines.line_up(&workspace, Waiting { since: Instant::now(), create: Arc::new(create), answer }) {
            tokio::spawn(Arc::clone(self).work_off(place));
        }
        answered.await.unwrap_or_else(|_| Err(StoreError::Unavailable("the work was broken off".to_owned()).into()))
    }

    async fn work_off(self: Arc<Self>, mut place: Place<WorkspaceId, Waiting>) {
        let workspace = *place.kind();
        while let Some(some) = place.take() {
            // Past that the database is away, or far too busy.
            let longest_wait = self.store.patience() / 4;
            let (late, mut some): (Vec<_>, Vec<_>) = some.into_iter().partition(|waiting| waiting.since.elapsed() > longest_wait);
            for Waiting { answer, .. } in late {
                let _ = answer.send(Err(StoreError::Unavailable("too many creates wait".to_owned()).into()));
            }
            if some.len() > 1 {
                // In an order that others have too, so that no two wait for each other.
                some.sort_by_cached_key(|waiting| (waiting.create.companies(), waiting.create.claims()));
                self.send_together(workspace, some).await;
            } else if let Some(one) = some.pop() {
                let _ = timeout(A_MOMENT, self.send_alone(workspace, one)).await;
            }
        }
    }

    async fn send_together(&self, workspace: WorkspaceId, some: Vec<Waiting>) {
        let creates = some.iter().map(|waiting| Arc::clone(&waiting.create)).collect();
        match self.store.write(Together { workspace, creates, turn: self.turn_of(workspace) }).await {
            Ok(outcomes) => {
                for (waiting, outcome) in some.into_iter().zip(outcomes) {
                    match outcome {
                        Some(outcome) => drop(waiting.answer.send(outcome.map_err(Failure::Refused))),
                        None => drop(self.send_alone(workspace, waiting)),
                    }
                }
            }
            // That concerns all of them, and it may have been done.
            Err(Failure::Broken(error @ StoreError::Unavailable(_))) => {
                for Waiting { answer, .. } in some {
                    let _ = answer.send(Err(error.clone().into()));
                }
            }
            // Nothing was done, and who is to blame is not known.
            Err(_) => some.into_iter().for_each(|waiting| drop(self.send_alone(workspace, waiting))),
        }
    }

    /// It is answered by itself, whether or not anybody waits for this to end.
    fn send_alone(&self, workspace: WorkspaceId, Waiting { create, answer, .. }: Waiting) -> JoinHandle<()> {
        let store = Arc::clone(&self.store);
        tokio::spawn(async move {
            let _ = answer.send(store.write(Alone { workspace, create }).await);
        })
    }
}

/// Those of them who are new, in one transaction. The others are told apart: they have rows to wait for, and more to look up.
struct Together {
    workspace: WorkspaceId,
    creates: Vec<Arc<CreatePerson>>,
    turn: Turn,
}

/// Ends when it is dropped.
struct Turn {
    order: Arc<Mutex<()>>,
    held: OnceLock<OwnedMutexGuard<()>>,
}

impl Turn {
    async fn begin(&self) {
        let held = Arc::clone(&self.order).lock_owned().await;
        let _ = self.held.set(held);
    }
}

impl Work for Together {
    type Output = Vec<Option<Result<CreatedPerson, Problem>>>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::Together
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, Failure> {
        tx.keep_events();
        let outcomes = create_new(tx, &self.creates).await?;
        tx.settle().await?;
        self.turn.begin().await;
        event::append_kept(tx, self.workspace).await?;
        Ok(outcomes)
    }
}

/// One of them.
struct Alone {
    workspace: WorkspaceId,
    create: Arc<CreatePerson>,
}

impl Work for Alone {
    type Output = CreatedPerson;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<CreatedPerson, Failure> {
        self.create.run(tx).await
    }
}
