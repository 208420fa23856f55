//! Creates that come while others are on their way go together, in one transaction: to a database that is a server of its own that costs each of
//! them a fraction. (An embedded engine does so with all writes.) Nobody waits for company: who is alone goes alone, at once.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::join_all;
use model::id::WorkspaceId;
use model::problem::Problem;
use store::{Failure, Pace, Store, StoreError, Tx, Work};
use tokio::sync::oneshot;

use super::create::{CreatePerson, CreatedPerson};
use super::create_many::create_each;

/// Transactions of one workspace that are on their way at once.
const MOST_AT_WORK: usize = 2;
/// Creates in one of them.
const MOST_TOGETHER: usize = 64;

type Outcome = Result<CreatedPerson, Failure>;

pub struct Gathering {
    store: Arc<Store>,
    lines: Mutex<HashMap<WorkspaceId, Line>>,
}

/// The creates of a workspace.
#[derive(Default)]
struct Line {
    waiting: VecDeque<Waiting>,
    at_work: usize,
}

struct Waiting {
    create: CreatePerson,
    answer: oneshot::Sender<Outcome>,
}

impl Gathering {
    pub fn new(store: Arc<Store>) -> Self {
        Self { store, lines: Mutex::default() }
    }

    pub async fn create(self: &Arc<Self>, create: CreatePerson) -> Outcome {
        // What waits for a job or a client would let all others wait.
        if self.store.is_embedded() || !create.stands_alone() {
            return self.store.write(create).await;
        }
        let Some(workspace) = create.workspace() else { return self.store.write(create).await };
        let (answer, answered) = oneshot::channel();
        if self.line_up(workspace, Waiting { create, answer }) {
            tokio::spawn(Arc::clone(self).work_off(workspace));
        }
        answered.await.unwrap_or_else(|_| Err(StoreError::Unavailable("the work was broken off".to_owned()).into()))
    }

    fn lines(&self) -> MutexGuard<'_, HashMap<WorkspaceId, Line>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if somebody has to see to it.
    fn line_up(&self, workspace: WorkspaceId, waiting: Waiting) -> bool {
        let mut lines = self.lines();
        let line = lines.entry(workspace).or_default();
        line.waiting.push_back(waiting);
        let is_needed = line.at_work < MOST_AT_WORK;
        line.at_work += usize::from(is_needed);
        is_needed
    }

    async fn work_off(self: Arc<Self>, workspace: WorkspaceId) {
        let mut place = Place { gathering: &self, workspace, is_left: false };
        while let Some(some) = place.take(MOST_TOGETHER) {
            if let Err(error) = self.carry_out(workspace, some).await {
                // Whoever waits behind would only wait for the same.
                for Waiting { answer, .. } in place.take(usize::MAX).unwrap_or_default() {
                    let _ = answer.send(Err(error.clone().into()));
                }
            }
        }
    }

    /// Answers all of them. It is an error if the database is not there.
    async fn carry_out(&self, workspace: WorkspaceId, mut some: Vec<Waiting>) -> Result<(), StoreError> {
        // In an order that others have too, so that no two wait for each other.
        some.sort_by_cached_key(|waiting| (waiting.create.companies(), waiting.create.claims()));
        let (creates, answers): (Vec<_>, Vec<_>) = some.into_iter().map(|waiting| (waiting.create, waiting.answer)).unzip();
        let creates: Arc<[CreatePerson]> = creates.into();
        let outcomes = match creates.len() {
            1 => self.each_alone(workspace, &creates).await,
            _ => self.together(workspace, &creates).await,
        };
        let missing = outcomes.iter().find_map(|outcome| match outcome {
            Err(Failure::Broken(error @ StoreError::Unavailable(_))) => Some(error.clone()),
            _ => None,
        });
        for (answer, outcome) in answers.into_iter().zip(outcomes) {
            let _ = answer.send(outcome);
        }
        missing.map_or(Ok(()), Err)
    }

    async fn together(&self, workspace: WorkspaceId, creates: &Arc<[CreatePerson]>) -> Vec<Outcome> {
        match self.store.write(Together { workspace, creates: Arc::clone(creates) }).await {
            Ok(outcomes) => outcomes.into_iter().map(|outcome| outcome.map_err(Failure::Refused)).collect(),
            // Nothing was done, and who was in the way of whom is not known.
            Err(Failure::Broken(StoreError::Conflict(_) | StoreError::Held(_) | StoreError::Lost(_))) => {
                self.each_alone(workspace, creates).await
            }
            Err(Failure::Broken(error)) => creates.iter().map(|_| Err(error.clone().into())).collect(),
            Err(Failure::Refused(problem)) => creates.iter().map(|_| Err(problem.clone().into())).collect(),
        }
    }

    async fn each_alone(&self, workspace: WorkspaceId, creates: &Arc<[CreatePerson]>) -> Vec<Outcome> {
        let alone = |number| self.store.write(Alone { workspace, creates: Arc::clone(creates), number });
        join_all((0..creates.len()).map(alone)).await
    }
}

/// The place of one who works a line off.
struct Place<'g> {
    gathering: &'g Gathering,
    workspace: WorkspaceId,
    is_left: bool,
}

impl Place<'_> {
    /// The first of those who wait. If nobody does, the place is left, before anybody else can come and rely on it.
    fn take(&mut self, most: usize) -> Option<Vec<Waiting>> {
        if self.is_left {
            return None;
        }
        let mut lines = self.gathering.lines();
        let waiting = &mut lines.get_mut(&self.workspace)?.waiting;
        let taken: Vec<_> = waiting.drain(..most.min(waiting.len())).collect();
        if taken.is_empty() {
            self.is_left = true;
            leave(&mut lines, self.workspace);
            return None;
        }
        Some(taken)
    }
}

/// Even if the work was broken off.
impl Drop for Place<'_> {
    fn drop(&mut self) {
        if !self.is_left {
            leave(&mut self.gathering.lines(), self.workspace);
        }
    }
}

fn leave(lines: &mut HashMap<WorkspaceId, Line>, workspace: WorkspaceId) {
    if let Some(line) = lines.get_mut(&workspace) {
        line.at_work -= 1;
        if line.at_work == 0 && line.waiting.is_empty() {
            lines.remove(&workspace);
        }
    }
}

/// All of them in one transaction.
struct Together {
    workspace: WorkspaceId,
    creates: Arc<[CreatePerson]>,
}

impl Work for Together {
    type Output = Vec<Result<CreatedPerson, Problem>>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::Together
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, Failure> {
        let rows: Vec<_> = self.creates.iter().map(Ok).collect();
        create_each(tx, self.workspace, &rows).await
    }
}

/// One of them.
struct Alone {
    workspace: WorkspaceId,
    creates: Arc<[CreatePerson]>,
    number: usize,
}

impl Work for Alone {
    type Output = CreatedPerson;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<CreatedPerson, Failure> {
        self.creates[self.number].run(tx).await
    }
}
