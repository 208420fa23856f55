//! Works on the queue: takes those who are due, as many as can be worked on at once, and feeds it
//! with the persons of runs. Servers that share a database share the queue; whom one has taken, no
//! other takes as long as it lives.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use slated_model::clock::Timestamp;
use slated_model::id::{LeaseId, PersonId, WorkspaceId};
use slated_operations::enrichment::enqueue_run::{FeedRun, UnfedRuns};
use slated_operations::enrichment::lease::{
    ClearEnrichmentLeases, DueEnrichments, GiveBack, ReadQuestion, RenewLease, TakeSome,
};
use slated_operations::enrichment::record_outcome::{Outcome, RecordOutcome};
use slated_store::records::enrichment::Task;
use slated_store::{OperationError, Store, StoreError};
use tokio::sync::{Notify, watch};
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{sleep, timeout};

use super::provider_chain::{Chain, Held};
use super::settings::Enriching;

/// How often somebody looks for those who are due.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// No two looks are closer than that, however much is done.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// What a server that stops waits for those who are being worked on.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);
/// Persons who are worked on at once, whatever the providers would allow, and if there are none.
const MAX_SLOTS: usize = 64;
const SLOTS_FOR_NOBODY: usize = 8;
/// Persons who are taken from one workspace before another has its turn.
const MAX_FROM_ONE: usize = 16;
/// A lease that is not renewed ends after that at the latest, so that what a dead server had is not
/// left alone for long.
const MAX_LEASE_MILLIS: i64 = 15_000;
/// When to look again at somebody who could not be looked at.
const UNKNOWN_MILLIS: i64 = 2_000;
/// How often it is tried to keep what was answered, if the database is away for a moment, and the
/// waits between.
const WAITS_TO_SETTLE: [Duration; 3] =
    [Duration::from_millis(200), Duration::from_secs(1), Duration::from_secs(3)];

/// Runs until the server is told to stop, and those are through who were being worked on.
pub fn start(
    store: &Arc<Store>,
    enriching: Arc<Enriching>,
    stopping: watch::Receiver<bool>,
) -> JoinHandle<()> {
    let (slots, lease_millis) = (slots(&enriching), lease_millis(&enriching));
    let chain = Chain::new(store, enriching);
    let desk = Desk {
        store: Arc::clone(store),
        chain,
        lease_millis,
        at_work: Mutex::default(),
        pace: Pace::new(slots),
        freed: Notify::new(),
    };
    let worker = Worker { desk: Arc::new(desk), stopping, last: None, tasks: JoinSet::new() };
    tokio::spawn(worker.run())
}

fn slots(enriching: &Enriching) -> usize {
    let calls: usize = enriching.providers.iter().map(|provider| provider.concurrency).sum();
    match calls {
        0 => SLOTS_FOR_NOBODY,
        calls => calls.min(MAX_SLOTS),
    }
}

/// What all providers may take in a row, and a little more.
fn lease_millis(enriching: &Enriching) -> i64 {
    let timeouts = enriching
        .providers
        .iter()
        .map(|provider| i64::try_from(provider.timeout.as_millis()).unwrap_or(i64::MAX));
    let all =
        timeouts.fold(0, |sum: i64, timeout| sum.saturating_add(timeout).saturating_add(2_000));
    all.saturating_add(3_000).min(MAX_LEASE_MILLIS)
}

/// Those of the workspaces that have waited longest since they had their turn come first. They are
/// in the order of their numbers.
fn in_turn(mut due: Vec<WorkspaceId>, last: Option<WorkspaceId>) -> Vec<WorkspaceId> {
    let next = due.partition_point(|workspace| Some(*workspace) <= last);
    due.rotate_left(next);
    due
}

struct Worker {
    desk: Arc<Desk>,
    stopping: watch::Receiver<bool>,
    /// The workspace that had its turn last.
    last: Option<WorkspaceId>,
    tasks: JoinSet<()>,
}

impl Worker {
    async fn run(mut self) {
        let store = Arc::clone(&self.desk.store);
        if !store.is_shared()
            && let Err(failure) = store.write(ClearEnrichmentLeases).await
        {
            tracing::warn!(error = %failure, "old enrichment leases could not be cleared; their \
                persons wait until they expire");
        }
        let feeding = tokio::spawn(feed(store));
        while !*self.stopping.borrow() {
            self.desk.chain.report();
            let was_taken = self.take().await;
            sleep(MIN_POLL_INTERVAL).await;
            if self.desk.pace.is_slow() {
                tokio::select! {
                    () = sleep(POLL_INTERVAL) => {}
                    _ = self.stopping.changed() => {}
                }
                continue;
            }
            // There may be more of them, and room for them.
            if was_taken {
                continue;
            }
            tokio::select! {
                _ = timeout(POLL_INTERVAL, self.desk.freed.notified()) => {}
                _ = self.stopping.changed() => {}
            }
        }
        self.desk.chain.close();
        feeding.abort();
        let _ = feeding.await;
        let _ =
            timeout(STOP_TIMEOUT, async { while self.tasks.join_next().await.is_some() {} }).await;
        self.give_back().await;
    }

    /// Takes some of each workspace in turn, as many as there are free slots; says whether it took
    /// any.
    async fn take(&mut self) -> bool {
        while self.tasks.try_join_next().is_some() {}
        let mut free = self.desk.pace.window().saturating_sub(self.tasks.len());
        if free == 0 {
            return false;
        }
        let due = match self.desk.store.read(DueEnrichments).await {
            Ok(due) => due,
            Err(failure) => {
                tracing::debug!(error = %failure, "due enrichments could not be queried");
                return false;
            }
        };
        let mut was_taken = false;
        for workspace in in_turn(due, self.last) {
            if free == 0 || *self.stopping.borrow() {
                break;
            }
            let lease = LeaseId::at(Timestamp::now(), rand::random());
            let most = free.min(MAX_FROM_ONE) as i64;
            match self
                .desk
                .store
                .write(TakeSome { workspace, lease, lease_millis: self.desk.lease_millis, most })
                .await
            {
                Ok(taken) => {
                    free = free.saturating_sub(taken.len());
                    was_taken |= !taken.is_empty();
                    taken.into_iter().for_each(|task| self.begin(workspace, lease, task));
                }
                Err(failure) => {
                    tracing::debug!(error = %failure, "due enrichments could not be leased")
                }
            }
            self.last = Some(workspace);
        }
        was_taken
    }

    fn begin(&mut self, workspace: WorkspaceId, lease: LeaseId, task: Task) {
        let desk = Arc::clone(&self.desk);
        let shift = Shift::begin(Arc::clone(&self.desk), (workspace, task.person), lease);
        self.tasks.spawn(async move {
            desk.work_on(workspace, lease, task).await;
            drop(shift);
        });
    }

    /// Lets go of those who could not be waited for, so that others need not wait for the end of
    /// their lease.
    async fn give_back(&mut self) {
        let left: Vec<_> =
            self.desk.at_work().iter().map(|(person, lease)| (*person, *lease)).collect();
        self.tasks.shutdown().await;
        for ((workspace, person), lease) in left {
            if let Err(failure) = self.desk.store.write(GiveBack { workspace, person, lease }).await
            {
                tracing::debug!(person.id = %person, error = %failure, "the lease of an enrichment \
                    could not be released");
            }
        }
    }
}

/// Feeds the queue until it is aborted.
async fn feed(store: Arc<Store>) {
    loop {
        match store.read(UnfedRuns).await {
            Ok(runs) => {
                for (workspace, id) in runs {
                    // One after the other as long as there is room; one that fails does not keep
                    // the others waiting.
                    loop {
                        match store.write(FeedRun { workspace, id }).await {
                            Ok(true) => {}
                            Ok(false) => break,
                            Err(failure) => {
                                tracing::warn!(run.id = %id, error = %failure, "persons of a run \
                                    could not be queued");
                                break;
                            }
                        }
                    }
                }
            }
            Err(failure) => {
                tracing::debug!(error = %failure, "runs with persons left to queue could not be \
                    queried")
            }
        }
        sleep(POLL_INTERVAL).await;
    }
}

/// Who is being worked on here, and under which lease.
type AtWork = HashMap<(WorkspaceId, PersonId), LeaseId>;

/// What came of asking, how often that was done, and the hash of what was asked.
struct FoundOut {
    outcome: Outcome,
    attempts: i64,
    question: [u8; 32],
}

/// How many are taken at once. While nobody can be asked, taking them all only to put them back
/// would be work for nothing, so there are ever fewer, down to one at a time; whenever somebody was
/// asked there is one more.
struct Pace {
    window: AtomicUsize,
    most: usize,
    /// Nobody could be asked the last time.
    is_idle: AtomicBool,
}

impl Pace {
    const fn new(most: usize) -> Self {
        Self { window: AtomicUsize::new(most), most, is_idle: AtomicBool::new(false) }
    }

    fn window(&self) -> usize {
        self.window.load(Ordering::Relaxed)
    }

    fn note(&self, was_asked: bool) {
        let next = |window: usize| match was_asked {
            true => Some((window + 1).min(self.most)),
            false => Some((window / 2).max(1)),
        };
        let _ = self.window.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next);
        self.is_idle.store(!was_asked, Ordering::Relaxed);
    }

    /// True if it is worth while to wait before the next ones are taken.
    fn is_slow(&self) -> bool {
        self.window() == 1 && self.is_idle.load(Ordering::Relaxed)
    }
}

/// What all who work on a person share.
struct Desk {
    store: Arc<Store>,
    chain: Chain,
    lease_millis: i64,
    at_work: Mutex<AtWork>,
    pace: Pace,
    /// Somebody is through.
    freed: Notify,
}

/// A person who is being worked on. However that ends, their place is free again.
struct Shift {
    desk: Arc<Desk>,
    person: (WorkspaceId, PersonId),
    lease: LeaseId,
}

impl Shift {
    fn begin(desk: Arc<Desk>, person: (WorkspaceId, PersonId), lease: LeaseId) -> Self {
        desk.at_work().insert(person, lease);
        Self { desk, person, lease }
    }
}

impl Drop for Shift {
    fn drop(&mut self) {
        let mut at_work = self.desk.at_work();
        // Somebody whose lease ran out may be at work here anew.
        if at_work.get(&self.person) == Some(&self.lease) {
            at_work.remove(&self.person);
        }
        drop(at_work);
        self.desk.freed.notify_one();
    }
}

impl Desk {
    fn at_work(&self) -> MutexGuard<'_, AtWork> {
        self.at_work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn work_on(&self, workspace: WorkspaceId, lease: LeaseId, task: Task) {
        let person = task.person;
        let working = async {
            if let Some(FoundOut { outcome, attempts, question }) =
                self.find_out(Held { workspace, lease, task: &task }).await
            {
                self.pace.note(
                    !matches!(outcome, Outcome::Postponed { .. }) || attempts > task.attempts,
                );
                self.settle(RecordOutcome {
                    workspace,
                    lease,
                    task,
                    outcome: Arc::new(outcome),
                    attempts,
                    question,
                })
                .await;
            }
        };
        tokio::select! {
            () = working => {}
            () = self.keep_lease(workspace, person, lease) => {}
        }
    }

    /// Nothing if the person is gone.
    async fn find_out(&self, held: Held<'_>) -> Option<FoundOut> {
        let Held { workspace, task, .. } = held;
        match self.store.read_consistent(ReadQuestion { workspace, person: task.person }).await {
            Ok(Some((question, answers))) => {
                let (outcome, attempts) = self.chain.ask(held, &question, &answers).await;
                Some(FoundOut { outcome, attempts, question: question.hash() })
            }
            Ok(None) => None,
            Err(failure) => {
                tracing::warn!(person.id = %task.person, error = %failure, "a person to be \
                    enriched could not be read");
                let until = Timestamp::now().plus_millis(UNKNOWN_MILLIS);
                let outcome = Outcome::Postponed { answers: Vec::new(), until, error: None };
                Some(FoundOut { outcome, attempts: task.attempts, question: [0; 32] })
            }
        }
    }

    /// Comes back only when another server has the person, or the person is gone.
    async fn keep_lease(&self, workspace: WorkspaceId, person: PersonId, lease: LeaseId) {
        let lease_millis = self.lease_millis;
        loop {
            sleep(Duration::from_millis(lease_millis.unsigned_abs() / 3)).await;
            match self.store.write(RenewLease { workspace, person, lease, lease_millis }).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(failure) => {
                    tracing::warn!(person.id = %person, error = %failure, "a lease could not be \
                        renewed")
                }
            }
        }
    }

    /// Keeps what came of it. If it cannot be kept whatever is tried, the person is given up rather
    /// than asked about for ever; if the database is away, the lease runs out, and somebody begins
    /// anew.
    async fn settle(&self, settle: RecordOutcome) {
        let mut waits = WAITS_TO_SETTLE.into_iter();
        let failure = loop {
            match self.try_to_settle(settle.clone()).await {
                Ok(_) => return,
                Err(
                    failure @ OperationError::Store(
                        StoreError::Unavailable(_)
                        | StoreError::DiskFull
                        | StoreError::Conflict(_)
                        | StoreError::Lost(_),
                    ),
                ) => match waits.next() {
                    Some(wait) => sleep(wait).await,
                    None => {
                        let person = settle.task.person;
                        tracing::warn!(person.id = %person, error = %failure, "an enrichment could \
                            not be stored; it is repeated");
                        return;
                    }
                },
                Err(failure) => break failure,
            }
        };
        tracing::error!(person.id = %settle.task.person, error = %failure, "an enrichment cannot \
            be stored");
        let error = "the result could not be stored; the log has the cause".to_owned();
        let attempts = settle.task.attempts + 1;
        let given_up = RecordOutcome {
            outcome: Arc::new(Outcome::Failed { answers: Vec::new(), error }),
            attempts,
            ..settle
        };
        if let Err(failure) = self.try_to_settle(given_up).await {
            tracing::error!(error = %failure, "an enrichment that cannot be stored could not be \
                marked as failed");
        }
    }

    async fn try_to_settle(&self, settle: RecordOutcome) -> Result<bool, OperationError> {
        let settling = AssertUnwindSafe(self.store.write(settle)).catch_unwind().await;
        settling
            .unwrap_or_else(|_| Err(StoreError::Internal("the work panicked".to_owned()).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workspaces(numbers: &[i64]) -> Vec<WorkspaceId> {
        numbers.iter().copied().map(WorkspaceId::from_number).collect()
    }

    #[test]
    fn fewer_are_taken_while_nobody_can_be_asked() {
        let pace = Pace::new(8);
        let after = |outcomes: &[bool]| {
            outcomes.iter().for_each(|was_asked| pace.note(*was_asked));
            (pace.window(), pace.is_slow())
        };
        assert_eq!(after(&[true]), (8, false));
        assert_eq!(after(&[false, false]), (2, false));
        assert_eq!(after(&[false, false, false]), (1, true));
        assert_eq!(after(&[true, true]), (3, false));
        assert_eq!(after(&[true; 20]), (8, false));
    }

    #[test]
    fn workspaces_have_their_turn_one_after_the_other() {
        let in_turn =
            |last: Option<i64>| in_turn(workspaces(&[2, 5, 9]), last.map(WorkspaceId::from_number));
        assert_eq!(in_turn(None), workspaces(&[2, 5, 9]));
        assert_eq!(in_turn(Some(2)), workspaces(&[5, 9, 2]));
        assert_eq!(in_turn(Some(7)), workspaces(&[9, 2, 5]));
        assert_eq!(in_turn(Some(9)), workspaces(&[2, 5, 9]));
        assert!(super::in_turn(Vec::new(), Some(WorkspaceId::from_number(1))).is_empty());
    }

    #[test]
    fn without_providers_there_are_slots_and_leases_too() {
        let none = Enriching::none();
        assert_eq!((slots(&none), lease_millis(&none)), (SLOTS_FOR_NOBODY, 3_000));
    }
}
