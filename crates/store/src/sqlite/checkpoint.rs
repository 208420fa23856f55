//! Keeps the write-ahead log short. A thread of its own copies the log into the database while writers go on; when the log has
//! grown past a limit all the same, the writer copies the rest itself, so that the log starts afresh.

use std::path::Path;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread::JoinHandle;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::connection::{SqliteTx, broken};
use crate::error::StoreError;

/// Pages in the log from which the thread copies: 8 MiB.
const PAGES_TO_COPY: i32 = 2_048;
/// Pages in the log at which the writer stops to finish the copy: 64 MiB. A longer log makes every look-up slower.
const PAGES_AT_MOST: i32 = 16_384;

pub(super) struct Checkpoints {
    wake: Option<mpsc::SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    pages_in_log: Arc<AtomicI32>,
}

impl Checkpoints {
    pub(super) fn start(path: &Path) -> Result<Self, StoreError> {
        let connection = SqliteTx::open_writer(path)?;
        let (wake, woken) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("sqlite-checkpoint".to_owned())
            .spawn(move || {
                while woken.recv().is_ok() {
                    copy_log(connection.connection());
                }
            })
            .map_err(|error| StoreError::Unusable(format!("the checkpoint thread cannot be started: {error}")))?;
        Ok(Self { wake: Some(wake), thread: Some(thread), pages_in_log: Arc::default() })
    }

    /// Lets commits on this connection tell how long the log is; this takes the place of SQLite's own checkpoints.
    pub(super) fn watch(&self, tx: &mut SqliteTx) -> Result<(), StoreError> {
        let pages_in_log = Arc::clone(&self.pages_in_log);
        let hook = move |_: &mut Wal, pages| {
            pages_in_log.store(pages, Ordering::Relaxed);
            Ok(())
        };
        tx.connection_mut().wal_hook(Some(hook)).map_err(|error| broken(&error))
    }

    pub(super) fn after_commit(&self, tx: &SqliteTx) {
        let pages = self.pages_in_log.load(Ordering::Relaxed);
        if pages >= PAGES_AT_MOST {
            copy_log(tx.connection());
            self.pages_in_log.store(0, Ordering::Relaxed);
        } else if pages >= PAGES_TO_COPY {
            // A full channel means that the thread is awake already.
            let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
        }
    }

    /// Ends the thread and copies all of the log, so that the file alone is the database.
    pub(super) fn finish(&mut self, tx: &SqliteTx) {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        checkpoint(tx.connection(), "TRUNCATE");
    }
}

fn copy_log(connection: &Connection) {
    checkpoint(connection, "PASSIVE");
}

fn checkpoint(connection: &Connection, mode: &str) {
    if let Err(error) = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(())) {
        tracing::warn!(error = %error, "a checkpoint failed");
    }
}
