//! The embedded engine. Readers run on the calling thread, each with a connection of its own; one writer thread runs all
//! writes, many in one commit.

mod checkpoint;
mod connection;
mod file;
mod lock;
mod writer;

use std::path::Path;
use std::pin::pin;

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

pub(crate) use self::connection::{SqliteTx, broken};
pub(crate) use self::file::provide as provide_file;
pub(crate) use self::lock::ServerLock;
use self::writer::Writer;
use crate::bell::Bell;
use crate::error::{Failure, StoreError};
use crate::migrations;
use crate::store::{Purpose, Work};
use crate::tx::{Arm, Tx};

/// One read in so many is timed: a read takes less time than two looks at the clock are worth.
const TIMED_READS: u32 = 16;

pub(crate) struct Sqlite {
    path: std::path::PathBuf,
    idle_readers: Mutex<Vec<Tx>>,
    reads: AtomicU32,
    read_seconds: metrics::Histogram,
    // Fields are dropped in order: the writer ends before another server may have the file.
    writer: Writer,
    _lock: Option<ServerLock>,
}

impl Sqlite {
    pub(crate) fn open(path: &Path, purpose: Purpose, bell: Arc<Bell>) -> Result<Self, StoreError> {
        file::provide(path, purpose)?;
        SqliteTx::examine(path)?;
        let lock = match purpose {
            Purpose::Serve => Some(ServerLock::take(path)?),
            Purpose::Command | Purpose::Inspect => None,
        };
        let mut connection = SqliteTx::open_writer(path)?;
        migrations::sqlite::bring_up_to_date(&mut connection)?;
        let writer = Writer::start(path, Tx::new(Arm::Sqlite(connection)), bell)?;
        let read_seconds = metrics::histogram!("slated_store_read_seconds");
        Ok(Self { path: path.to_owned(), idle_readers: Mutex::default(), reads: AtomicU32::new(0), read_seconds, writer, _lock: lock })
    }

    pub(crate) async fn write<W: Work>(&self, work: W) -> Result<W::Output, Failure> {
        self.writer.run(work).await
    }

    pub(crate) fn read<W: Work>(&self, work: &W) -> Result<W::Output, Failure> {
        match self.with_reader(|tx| run_now(work, tx)) {
            // Its statements saw different states of the data, and all that they found does not fit together.
            Err(Failure::Broken(StoreError::Conflict(_))) => self.read_snapshot(work),
            outcome => outcome,
        }
    }

    pub(crate) fn read_snapshot<W: Work>(&self, work: &W) -> Result<W::Output, Failure> {
        self.with_reader(|tx| {
            tx.sqlite().execute("BEGIN", &[])?;
            let outcome = run_now(work, tx);
            tx.sqlite().execute("ROLLBACK", &[])?;
            outcome
        })
    }

    /// A connection that fails is not used again.
    fn with_reader<T>(&self, run: impl FnOnce(&mut Tx) -> Result<T, Failure>) -> Result<T, Failure> {
        let idle = self.idle_readers.lock().map_or(None, |mut idle| idle.pop());
        let mut reader = match idle {
            Some(reader) => reader,
            None => Tx::new(Arm::Sqlite(SqliteTx::open_reader(&self.path)?)),
        };
        reader.start_work();
        let started = self.reads.fetch_add(1, Ordering::Relaxed).is_multiple_of(TIMED_READS).then(Instant::now);
        let outcome = run(&mut reader);
        if let Some(started) = started {
            self.read_seconds.record(started.elapsed().as_secs_f64());
        }
        if !matches!(outcome, Err(Failure::Broken(_)))
            && let Ok(mut idle) = self.idle_readers.lock()
        {
            idle.push(reader);
        }
        outcome
    }
}

/// Sees to it that there is a database at that path, of the newest version, to read from.
pub(crate) fn prepare_source(path: &Path) -> Result<(), StoreError> {
    file::provide(path, Purpose::Inspect)?;
    SqliteTx::examine(path)?;
    migrations::sqlite::bring_up_to_date(&mut SqliteTx::open_writer(path)?)
}

/// Runs work to its end on this thread. Nothing in it waits, so one poll is enough.
fn run_now<W: Work>(work: &W, tx: &mut Tx) -> Result<W::Output, Failure> {
    match pin!(work.run(tx)).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(StoreError::Internal("work awaited something other than its transaction".to_owned()).into()),
    }
}
