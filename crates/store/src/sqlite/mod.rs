//! The embedded engine. Readers run on the calling thread, each with a connection of its own; one
//! writer thread runs all writes, many in one commit.

mod checkpoint;
mod connection;
mod file;
mod line;
mod lock;
mod readers;
#[cfg(test)]
mod scratch;
mod shortage;
mod words;
mod writer;

use std::path::Path;
use std::pin::pin;

use std::sync::Arc;
use std::task::{Context, Poll, Waker};

use tokio::sync::watch;

pub(crate) use self::connection::{SqliteTx, broken};
use self::file::Identity;
pub(crate) use self::file::{beside, provide as provide_file, refuse_remains};
pub(crate) use self::lock::ServerLock;
use self::readers::Readers;
#[cfg(test)]
pub(crate) use self::scratch::ScratchFile;
pub(crate) use self::words::{WordChange, WordChanges};
pub(crate) use self::writer::Remains;
use self::writer::Writer;
use crate::commit_notifier::CommitNotifier;
use crate::error::{OperationError, StoreError};
use crate::limit::Limit;
use crate::migrations;
use crate::store::{Operation, Purpose};
use crate::tx::{Arm, Tx};

pub(crate) struct Sqlite {
    readers: Readers,
    // Fields are dropped in order: nobody reads when the writer empties the log, and the writer
    // ends before another server may have the file.
    writer: Writer,
    lock: Option<ServerLock>,
}

impl Sqlite {
    pub(crate) fn open(
        path: &Path,
        purpose: Purpose,
        bell: Arc<CommitNotifier>,
    ) -> Result<Self, StoreError> {
        file::provide(path, purpose)?;
        let lock = match (purpose, SqliteTx::examine(path, purpose)) {
            (Purpose::Command | Purpose::Inspect, examined) => examined.map(|()| None)?,
            (Purpose::Serve, Ok(())) => Some(ServerLock::take(path)?),
            (Purpose::Serve, Err(_)) if shortage::is_disk_full(path) => {
                let lock = ServerLock::take(path)?;
                lock.release();
                SqliteTx::examine(path, purpose)?;
                Some(lock)
            }
            (Purpose::Serve, Err(error)) => return Err(error),
        };
        let file = Identity::of(path)?;
        let mut connection = SqliteTx::open_writer(path)?;
        migrations::sqlite::bring_up_to_date(&mut connection)?;
        let file = Arc::new(file.with_log()?);
        lock.iter().for_each(ServerLock::reserve);
        let readers = Readers::start(Arc::clone(&file))?;
        let writer = Writer::start(file, Tx::new(Arm::Sqlite(connection)), readers.states(), bell)?;
        Ok(Self { readers, writer, lock })
    }

    pub(crate) async fn write<W: Operation>(&self, work: W) -> Result<W::Output, OperationError> {
        self.writer.run(work).await
    }

    pub(crate) fn has_room(&self) -> bool {
        self.lock.as_ref().is_none_or(ServerLock::has_room)
    }

    /// What is left in the log of those who were erased.
    pub(crate) fn remains(&self) -> watch::Receiver<Remains> {
        self.writer.remains()
    }

    pub(crate) fn read<W: Operation>(&self, work: &W) -> Result<W::Output, OperationError> {
        match work.workspace() {
            Some(_) => self.readers.look(|tx| run_now(work, tx)),
            None => self.readers.look_anew(|tx| run_now(work, tx)),
        }
    }

    /// The same for work that is ended when it reaches a limit.
    pub(crate) fn read_within<W: Operation>(
        &self,
        work: &W,
        limit: Arc<Limit>,
    ) -> Result<W::Output, OperationError> {
        self.readers.look(|tx| {
            tx.sqlite().limit(Some(limit))?;
            let outcome = run_now(work, tx);
            tx.sqlite().limit(None)?;
            outcome
        })
    }
}

/// Sees to it that there is a database at that path, of the newest version, to read from, and that
/// no server has it while the lock is held.
pub(crate) fn prepare_source(path: &Path) -> Result<ServerLock, StoreError> {
    file::provide(path, Purpose::Inspect)?;
    SqliteTx::examine(path, Purpose::Inspect)?;
    let lock = ServerLock::take(path)?;
    migrations::sqlite::bring_up_to_date(&mut SqliteTx::open_writer(path)?)?;
    Ok(lock)
}

/// Runs work to its end on this thread. Nothing in it waits, so one poll is enough.
fn run_now<W: Operation>(work: &W, tx: &mut Tx) -> Result<W::Output, OperationError> {
    match pin!(work.run(tx)).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(StoreError::Internal(
            "work awaited something other than its transaction".to_owned(),
        )
        .into()),
    }
}
