//! The one thread that writes. It runs the work that waits in one transaction, makes that durable
//! with one commit, and only then answers. While some of it is run and on its way to the disk the
//! next gathers.
//!
//! An operation that is refused has nearly always written nothing yet, so the work of a commit
//! first runs without any way to undo a single one. Should one fail with something written, all of
//! it is rolled back and runs again, each under a savepoint of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use metrics::{gauge, histogram};
use slated_model::id::WorkspaceId;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot, watch};

use crate::commit_notifier::CommitNotifier;
use crate::driver::sqlite::checkpoint::Checkpoints;
use crate::driver::sqlite::connection::{SqliteTx, broken};
use crate::driver::sqlite::file_identity::FileIdentity;
use crate::error::{OperationError, StoreError};
use crate::executor::sqlite::reader_pool::Snapshots;
use crate::executor::sqlite::run_now::run_now;
use crate::executor::sqlite::write_queue::{Job, WriteQueue};
use crate::operation::{Operation, Pace};
use crate::tx::Tx;

/// Operations that may wait; past that, callers wait to be let in.
const QUEUE_LENGTH: usize = 8192;
/// Operations in one commit, so that the first of them does not wait for ever.
const MAX_PER_COMMIT: usize = 512;
/// How long work that waits or comes joins what is under way, at least. If all who write were in
/// one commit, nobody would be served while it runs, and nothing run while they are served.
const MIN_JOINED: Duration = Duration::from_millis(2);
/// And as many times as long as the last commit took, so that a slow disk does not have its way.
const COMMITS_JOINED: u32 = 2;
/// How long nobody tries again to empty a log that could not be emptied: writers wait for the try,
/// and whoever reads may do so for long.
const RETRY_INTERVAL: Duration = Duration::from_millis(500);
/// How long that may go on until those who would read for long wait.
const OVERDUE_AFTER: Duration = Duration::from_secs(2);
/// If none of ours reads for so long, another process looks at an old state, and waiting helps
/// nobody.
const OVERDUE_UNTIL: Duration = Duration::from_secs(40);

/// What is left in the log of those who were erased.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Remains {
    None,
    /// They go as soon as nobody looks at an old state.
    Some,
    /// They have been there for so long that nobody should begin to look at one for long.
    Overdue,
}

pub(crate) struct Writer {
    remains: watch::Receiver<Remains>,
    queue: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(
        file: Arc<FileIdentity>,
        mut tx: Tx,
        states: Arc<Snapshots>,
        bell: Arc<CommitNotifier>,
    ) -> Result<Self, StoreError> {
        let (queue, jobs) = mpsc::channel(QUEUE_LENGTH);
        let checkpoints = Checkpoints::start(&file.path)?;
        checkpoints.watch(tx.sqlite())?;
        let runtime = Handle::try_current().ok();
        // Whoever had the file before may have been stopped before they could empty the log.
        let (tell_remains, remains) = watch::channel(Remains::Some);
        let concerned = Concerned { states, bell, remains: tell_remains };
        let thread = std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || {
                write_all(
                    tx,
                    WriteQueue::new(jobs, QUEUE_LENGTH),
                    &file,
                    checkpoints,
                    runtime.as_ref(),
                    &concerned,
                )
            })
            .map_err(|error| {
                StoreError::Unusable(format!("the writer thread cannot be started: {error}"))
            })?;
        Ok(Self { remains, queue: Some(queue), thread: Some(thread) })
    }

    pub(crate) fn remains(&self) -> watch::Receiver<Remains> {
        self.remains.clone()
    }

    pub(crate) async fn run<W: Operation>(&self, work: W) -> Result<W::Output, OperationError> {
        let gone = || StoreError::Unavailable("the writer has stopped".to_owned());
        let (reply, answer) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or_else(gone)?;
        queue.send(Box::new(Pending { work, outcome: None, reply })).await.map_err(|_| gone())?;
        answer.await.map_err(|_| gone())?
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Pending<W: Operation> {
    work: W,
    outcome: Option<Result<W::Output, OperationError>>,
    reply: oneshot::Sender<Result<W::Output, OperationError>>,
}

impl<W: Operation> Job for Pending<W> {
    fn run(&mut self, tx: &mut Tx) -> bool {
        tx.end_trial();
        tx.start_work();
        let outcome = catch_unwind(AssertUnwindSafe(|| run_now(&self.work, tx)))
            .unwrap_or_else(|_| Err(StoreError::Internal("the work panicked".to_owned()).into()));
        let kept = outcome.is_ok();
        self.outcome = Some(outcome);
        kept
    }

    fn pace(&self) -> Pace {
        self.work.pace()
    }

    fn workspace(&self) -> Option<WorkspaceId> {
        self.work.workspace()
    }

    fn answer(self: Box<Self>, committed: Result<(), &StoreError>) {
        let outcome = match (committed, self.outcome) {
            (Ok(()), Some(outcome)) => outcome,
            // Even a refusal may rest on what others of the batch wrote, and that is gone.
            (Err(error), _) => Err(error.clone().into()),
            (Ok(()), None) => Err(StoreError::Internal("the work was not run".to_owned()).into()),
        };
        // Whoever asked may have gone away; the work is done all the same.
        let _ = self.reply.send(outcome);
    }
}

/// Tells everyone. From inside the runtime that costs one wake-up of a thread, from outside one for
/// each.
fn answer_all(
    batch: Vec<Box<dyn Job>>,
    committed: Result<(), StoreError>,
    runtime: Option<&Handle>,
) {
    let answer = move || {
        for job in batch {
            job.answer(committed.as_ref().copied());
        }
    };
    match runtime {
        Some(runtime) => {
            runtime.spawn(async move { answer() });
        }
        None => answer(),
    }
}

/// Who hears of commits beside those who asked for them.
struct Concerned {
    states: Arc<Snapshots>,
    bell: Arc<CommitNotifier>,
    remains: watch::Sender<Remains>,
}

fn write_all(
    mut tx: Tx,
    mut line: WriteQueue,
    file: &FileIdentity,
    mut checkpoints: Checkpoints,
    runtime: Option<&Handle>,
    Concerned { states, bell, remains }: &Concerned,
) {
    let depth = gauge!("slated_store_queue_depth");
    let batch_size = histogram!("slated_store_commit_batch_size");
    let duration = histogram!("slated_store_commit_seconds");
    let mut batch = Vec::with_capacity(MAX_PER_COMMIT);
    let mut last_commit = Duration::ZERO;
    let mut empty_log_at = Some(Instant::now());
    let mut wanted_since = Instant::now();
    while let Some(first) = line.first() {
        let started = Instant::now();
        let joined_for = MIN_JOINED.max(last_commit * COMMITS_JOINED);
        batch.push(first);
        // Nothing is written while another file has the name of this one or of its log.
        let is_ours =
            file.check().inspect_err(|error| tracing::error!(%error, "nothing can be written"));
        let is_untouched = is_ours.is_err();
        let committed =
            is_ours.and_then(|()| checkpoints.before_commit(tx.sqlite())).and_then(|()| {
                let committed = commit_together(&mut tx, &mut line, &mut batch, joined_for, states)
                    .map(|took| last_commit = took);
                committed.inspect_err(|error| {
                    tracing::error!(%error, "a commit failed");
                    checkpoints.after_failure(tx.sqlite(), error);
                })
            });
        batch_size.record(batch.len() as f64);
        duration.record(started.elapsed().as_secs_f64());
        depth.set(line.len() as f64);
        let is_committed = committed.is_ok();
        if tx.take_truncate_wal() {
            empty_log_at.get_or_insert_with(Instant::now);
            let is_first = remains.send_if_modified(|remains| {
                let is_first = *remains == Remains::None;
                if is_first {
                    *remains = Remains::Some;
                }
                is_first
            });
            if is_first {
                wanted_since = Instant::now();
            }
        }
        answer_all(std::mem::take(&mut batch), committed, runtime);
        let told = tx.take_changed_workspaces();
        if is_committed {
            bell.ring(&told);
        }
        match empty_log_at {
            _ if is_untouched => {}
            // As long as somebody looks at an old state of the data the log stays; then a later
            // commit tries again.
            Some(due) if due <= Instant::now() => {
                empty_log_at =
                    (!checkpoints.empty_log(tx.sqlite())).then(|| Instant::now() + RETRY_INTERVAL);
                remains.send_replace(match empty_log_at {
                    None => Remains::None,
                    Some(_) if (OVERDUE_AFTER..OVERDUE_UNTIL).contains(&wanted_since.elapsed()) => {
                        Remains::Overdue
                    }
                    Some(_) => Remains::Some,
                });
            }
            _ => checkpoints.after_commit(tx.sqlite()),
        }
        states.reopen_snapshots();
    }
    states.close_snapshots();
    // A log that is gone by its name can still be copied; the file is whole then.
    let is_copied = file.check_database().is_ok() && checkpoints.finish(tx.sqlite());
    if !is_copied {
        // The engine would remove the log with the last connection, and with it what was answered
        // and is not in the file that lies there now.
        std::mem::forget(tx);
    }
}

/// Says how long the commit alone took.
fn commit_together(
    tx: &mut Tx,
    line: &mut WriteQueue,
    batch: &mut Vec<Box<dyn Job>>,
    joined_for: Duration,
    states: &Snapshots,
) -> Result<Duration, StoreError> {
    let done = run_unguarded(tx, line, batch, joined_for).and_then(|all_clean| match all_clean {
        true => Ok(()),
        false => {
            tx.sqlite().execute("ROLLBACK", &[])?;
            tx.fts_changes().truncate(0);
            run_with_savepoints(tx, batch)
        }
    });
    let committed = done.and_then(|()| tx.apply_fts_changes()).and_then(|()| {
        states.close_snapshots();
        let started = Instant::now();
        tx.sqlite().execute("COMMIT", &[]).map(|_| started.elapsed())
    });
    committed.inspect_err(|_| {
        tx.fts_changes().truncate(0);
        roll_back(tx.sqlite());
    })
}

/// Runs the batch, and what waits or comes for so long. False if one of them failed and left
/// something behind.
fn run_unguarded(
    tx: &mut Tx,
    line: &mut WriteQueue,
    batch: &mut Vec<Box<dyn Job>>,
    joined_for: Duration,
) -> Result<bool, StoreError> {
    tx.sqlite().execute("BEGIN IMMEDIATE", &[])?;
    let joined_until = Instant::now() + joined_for;
    tx.forget_log_end();
    let mut next = 0;
    while next < batch.len() {
        if batch[next].pace() == Pace::Trial {
            run_in_savepoint(tx, &mut batch[next])?;
        } else {
            let (before, words) = (tx.sqlite().changes(), tx.fts_changes().len());
            let is_kept = batch[next].run(tx);
            check_open(tx.sqlite())?;
            if !is_kept {
                tx.fts_changes().truncate(words);
            }
            if !is_kept && tx.sqlite().changes() != before {
                return Ok(false);
            }
        }
        next += 1;
        if batch.len() < MAX_PER_COMMIT
            && Instant::now() < joined_until
            && let Some(job) = line.more()
        {
            batch.push(job);
        }
    }
    Ok(true)
}

/// Runs the batch so that each can be undone alone.
fn run_with_savepoints(tx: &mut Tx, batch: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
    tx.sqlite().execute("BEGIN IMMEDIATE", &[])?;
    tx.forget_log_end();
    for job in batch {
        run_in_savepoint(tx, job)?;
    }
    Ok(())
}

/// Runs work so that it can be undone, which it is unless it succeeds.
fn run_in_savepoint(tx: &mut Tx, job: &mut Box<dyn Job>) -> Result<(), StoreError> {
    tx.sqlite().execute("SAVEPOINT work", &[])?;
    let words = tx.fts_changes().len();
    let is_kept = job.run(tx);
    check_open(tx.sqlite())?;
    if !is_kept {
        tx.sqlite().execute("ROLLBACK TO work", &[])?;
        tx.fts_changes().truncate(words);
        tx.forget_log_end();
    }
    tx.sqlite().execute("RELEASE work", &[]).map(|_| ())
}

/// On some errors the engine gives up the whole transaction by itself.
fn check_open(tx: &SqliteTx) -> Result<(), StoreError> {
    match tx.is_idle() {
        true => Err(StoreError::Unavailable("SQLite rolled back the transaction".to_owned())),
        false => Ok(()),
    }
}

fn roll_back(tx: &SqliteTx) {
    if !tx.is_idle()
        && let Err(error) = tx.connection().execute_batch("ROLLBACK")
    {
        tracing::error!(error = %broken(&error), "a rollback failed");
    }
}
