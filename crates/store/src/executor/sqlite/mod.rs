//! The embedded engine. Reads run on the calling thread, each with a connection of its own;
//! one writer thread runs all writes, many in one commit.

pub mod examine;
mod reader_pool;
mod run_now;
mod write_queue;
pub mod writer;

use std::path::Path;
use std::sync::Arc;

use tokio::sync::watch;

use self::reader_pool::ReaderPool;
use self::run_now::run_now;
use self::writer::{Remains, Writer};
use crate::commit_notifier::CommitNotifier;
use crate::driver::sqlite::connection::SqliteTx;
use crate::driver::sqlite::file_identity::{self, FileIdentity};
use crate::driver::sqlite::lock::ServerLock;
use crate::driver::sqlite::shortage;
use crate::error::{OperationError, StoreError};
use crate::limit::Limit;
use crate::migrations;
use crate::operation::Operation;
use crate::purpose::Purpose;
use crate::tx::{Connection, Tx};

pub(crate) struct Sqlite {
    readers: ReaderPool,
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
        file_identity::provide(path, purpose)?;
        let lock = match (purpose, examine::examine(path, purpose)) {
            (Purpose::Command | Purpose::Inspect, examined) => examined.map(|()| None)?,
            (Purpose::Serve, Ok(())) => Some(ServerLock::take(path)?),
            (Purpose::Serve, Err(_)) if shortage::is_disk_full(path) => {
                let lock = ServerLock::take(path)?;
                lock.release();
                examine::examine(path, purpose)?;
                Some(lock)
            }
            (Purpose::Serve, Err(error)) => return Err(error),
        };
        let file = FileIdentity::of(path)?;
        let mut connection = SqliteTx::open_writer(path)?;
        migrations::sqlite::bring_up_to_date(&mut connection)?;
        let file = Arc::new(file.with_log()?);
        lock.iter().for_each(ServerLock::reserve);
        let readers = ReaderPool::start(Arc::clone(&file))?;
        let writer =
            Writer::start(file, Tx::new(Connection::Sqlite(connection)), readers.states(), bell)?;
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
