//! Keeps the write-ahead log short. A thread of its own copies the log into the database while writers go on; when the log has
//! grown past a limit all the same, the writer copies the rest itself, so that the next commit starts the log afresh.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::hooks::Wal;

use super::connection::{SqliteTx, broken};
use crate::error::StoreError;

/// New pages in the log that are worth a copy while writers are busy: 32 MiB. Each copy makes the disk flush twice more.
const PAGES_WHEN_BUSY: i32 = 8_192;
/// How long nothing may have been written for the rest of the log to be copied.
const IDLE: Duration = Duration::from_secs(1);
/// Pages in the log from which the writer copies the rest itself: 112 MiB, a little after the thread began its third
/// copy, so that little is left. A longer log makes every look-up slower.
const PAGES_AT_MOST: i32 = 28_672;
const PAGES_BETWEEN_TRIES: i32 = 4_096;

pub(super) struct Checkpoints {
    wake: Option<mpsc::SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    pages_in_log: Arc<AtomicI32>,
    /// The length of the log at which the thread was last woken.
    woken_at: i32,
}

impl Checkpoints {
    pub(super) fn start(path: &Path) -> Result<Self, StoreError> {
        let connection = SqliteTx::open_writer(path)?;
        let pages_in_log = Arc::new(AtomicI32::new(0));
        let watched = Arc::clone(&pages_in_log);
        let (wake, woken) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("sqlite-checkpoint".to_owned())
            .spawn(move || copy_when_worth_it(&connection, &woken, &watched))
            .map_err(|error| StoreError::Unusable(format!("the checkpoint thread cannot be started: {error}")))?;
        Ok(Self { wake: Some(wake), thread: Some(thread), pages_in_log, woken_at: 0 })
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

    pub(super) fn after_commit(&mut self, tx: &SqliteTx) {
        let pages = self.pages_in_log.load(Ordering::Relaxed);
        if pages < self.woken_at {
            // The log started afresh.
            self.woken_at = 0;
        }
        if pages >= PAGES_AT_MOST && pages >= self.woken_at + PAGES_BETWEEN_TRIES {
            // It waits for nobody: while someone looks at an old state of the data, the log has to grow.
            checkpoint(tx.connection(), "PASSIVE");
            self.woken_at = pages;
        } else if pages >= self.woken_at + PAGES_WHEN_BUSY {
            self.woken_at = pages;
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

/// Copies when it is woken, and when the log has stopped growing.
fn copy_when_worth_it(connection: &SqliteTx, woken: &mpsc::Receiver<()>, pages_in_log: &AtomicI32) {
    let (mut seen, mut copied) = (0, 0);
    loop {
        let pages = pages_in_log.load(Ordering::Relaxed);
        match woken.recv_timeout(IDLE) {
            Ok(()) => checkpoint(connection.connection(), "PASSIVE"),
            Err(RecvTimeoutError::Timeout) if pages == seen && pages != copied => {
                checkpoint(connection.connection(), "PASSIVE");
                copied = pages;
            }
            Err(RecvTimeoutError::Timeout) => seen = pages,
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn checkpoint(connection: &Connection, mode: &str) {
    if let Err(error) = connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |_| Ok(())) {
        tracing::warn!(error = %error, "a checkpoint failed");
    }
}
