//! Keeps the write-ahead log short. A thread of its own copies the log into the database and makes
//! that durable while writers go on, until little is left; the writer then copies the rest, so that
//! the next commit starts the log afresh.
//!
//! SQLite flushes the database file only in a copy that reaches the end of the log, which under
//! load is the writer's. So the thread flushes the file itself after each of its copies, and the
//! writer finds little that is not on the disk yet.
//!
//! When a flush of the database file fails, the system forgets what it could not write, and says so
//! once: the next flush succeeds without it. Nobody knows then which pages of the file are on the
//! disk, but all of them are in the log, which is. So the log never starts afresh in this process
//! any more: it is held whole, and whoever opens the file next copies all of it anew.

use std::fmt::Display;
use std::fs::File;
use std::mem::ManuallyDrop;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rusqlite::hooks::Wal;
use rusqlite::{Connection, ErrorCode};

use crate::driver::sqlite::connection::{BUSY_TIMEOUT, SqliteTx, broken};
use crate::driver::sqlite::file_identity::beside;
use crate::driver::sqlite::shortage;
use crate::error::StoreError;

/// New pages in the log that are worth a copy while writers are busy: 32 MiB.
const PAGES_WHEN_BUSY: i32 = 8_192;
/// Pages that are few enough for the writer to copy: 4 MiB.
const PAGES_LEFT_TO_WRITER: i32 = 1_024;
/// Copies after which the thread leaves the rest to the writer, however much it is.
const MAX_COPIES: usize = 4;
/// How long nothing may have been written for the rest of the log to be copied.
const IDLE: Duration = Duration::from_secs(1);
/// Pages in the log from which the writer copies the rest whatever the thread says: 256 MiB. A
/// longer log makes every look-up slower.
const PAGES_AT_MOST: i32 = 65_536;
const PAGES_BETWEEN_TRIES: i32 = 4_096;
/// How long the log is kept from being emptied by those who read.
const READERS_TIMEOUT: Duration = Duration::from_millis(50);
/// How long nothing is tried after a commit failed and the log could not be copied.
const COPY_INTERVAL: Duration = Duration::from_millis(250);

pub(crate) struct Checkpoints {
    wake: Option<mpsc::SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    log: Arc<Log>,
    /// The length of the log at which the thread was last woken, or the writer last copied it.
    woken_at: i32,
    /// A commit failed.
    log_comes_first: Option<StoreError>,
    /// When it was tried in vain to copy the log for that.
    tried_at: Option<Instant>,
    path: PathBuf,
}

/// What the writer and the thread tell each other.
struct Log {
    pages: AtomicI32,
    commits: AtomicU64,
    is_nearly_copied: AtomicBool,
    guard: Guard,
}

impl Checkpoints {
    pub(crate) fn start(path: &Path) -> Result<Self, StoreError> {
        let connection = SqliteTx::open_writer(path)?;
        let file = File::open(path).map_err(|error| {
            StoreError::Unusable(format!("{} cannot be opened: {error}", path.display()))
        })?;
        // Closing the file would take away the locks that SQLite holds on it for the whole process,
        // so it stays open until the end.
        let file = ManuallyDrop::new(file);
        let guard = Guard::open(path)?;
        let log = Arc::new(Log {
            pages: AtomicI32::new(0),
            commits: AtomicU64::new(0),
            is_nearly_copied: AtomicBool::new(false),
            guard,
        });
        let watched = Arc::clone(&log);
        let (wake, woken) = mpsc::sync_channel(1);
        let thread = std::thread::Builder::new()
            .name("sqlite-checkpoint".to_owned())
            .spawn(move || copy_when_worth_it(&connection, &file, &woken, &watched))
            .map_err(|error| {
                StoreError::Unusable(format!("the checkpoint thread cannot be started: {error}"))
            })?;
        Ok(Self {
            wake: Some(wake),
            thread: Some(thread),
            log,
            woken_at: 0,
            log_comes_first: None,
            tried_at: None,
            path: path.to_owned(),
        })
    }

    /// Lets commits on this connection tell how long the log is; this takes the place of SQLite's
    /// own checkpoints.
    pub(crate) fn watch(&self, tx: &mut SqliteTx) -> Result<(), StoreError> {
        let log = Arc::clone(&self.log);
        let hook = move |_: &mut Wal, pages| {
            log.pages.store(pages, Ordering::Relaxed);
            log.commits.fetch_add(1, Ordering::Relaxed);
            Ok(())
        };
        tx.connection_mut().wal_hook(Some(hook)).map_err(|error| broken(&error))
    }

    pub(crate) fn after_commit(&mut self, tx: &SqliteTx) {
        let pages = self.log.pages.load(Ordering::Relaxed);
        if pages < self.woken_at {
            // The log started afresh.
            self.woken_at = 0;
        }
        let is_too_long = pages >= PAGES_AT_MOST && pages >= self.woken_at + PAGES_BETWEEN_TRIES;
        if self.log.is_nearly_copied.swap(false, Ordering::Relaxed) || is_too_long {
            // It waits for nobody: while someone looks at an old state of the data, the log has to
            // grow.
            self.log.copy(tx.connection());
            self.woken_at = pages;
        } else if pages >= self.woken_at + PAGES_WHEN_BUSY {
            self.woken_at = pages;
            // A full channel means that the thread is awake already.
            let _ = self.wake.as_ref().map(|wake| wake.try_send(()));
        }
    }

    /// The disk may be full. Whatever room there is then is for copying the log, which needs none
    /// any more once it is copied.
    ///
    /// And what was to be committed may stand whole in the log, if it was its flush that failed.
    /// Nobody here sees it, but whoever opens the file after a crash would. So its beginning is
    /// made unreadable before anybody is told that it failed.
    pub(crate) fn after_failure(&mut self, tx: &SqliteTx, error: &StoreError) {
        self.log_comes_first = Some(error.clone());
        if let Err(error) = self.spoil_what_failed(tx) {
            tracing::error!(%error, "a change reported as failed may reappear after a crash");
        }
    }

    fn spoil_what_failed(&self, tx: &SqliteTx) -> Result<(), StoreError> {
        // Nobody else commits meanwhile: a command beside the server would do so at the same place.
        tx.execute("BEGIN IMMEDIATE", &[])?;
        let spoiled = self.log.guard.length().and_then(|log_length| {
            let page_size = tx.row("PRAGMA page_size", &[], |row| row.int(0))?.unwrap_or_default();
            let behind_the_last = LOG_HEADER
                + u64::from(log_length.of.unsigned_abs())
                    * (FRAME_HEADER as u64 + page_size.unsigned_abs());
            let log = beside(&self.path, "-wal");
            let spoil = || {
                let log = File::options().write(true).open(&log)?;
                if log.metadata()?.len() > behind_the_last {
                    log.write_all_at(&[0; FRAME_HEADER], behind_the_last)?;
                    log.sync_data()?;
                }
                Ok(())
            };
            spoil().map_err(|error: std::io::Error| {
                StoreError::Unavailable(format!("{}: {error}", log.display()))
            })
        });
        tx.execute("ROLLBACK", &[])?;
        spoiled
    }

    /// Copies the log if that comes first, as far as those who read let it; nothing may be written
    /// until that was possible.
    pub(crate) fn before_commit(&mut self, tx: &SqliteTx) -> Result<(), StoreError> {
        if self.log.guard.is_lost() {
            return Err(StoreError::Unavailable(
                "the database file could not be flushed, and its log cannot be preserved; \
                 restart the server"
                    .to_owned(),
            ));
        }
        let Some(failure) = self.log_comes_first.as_ref().filter(|_| !self.log.guard.holds())
        else {
            return Ok(());
        };
        let is_full = matches!(failure, StoreError::DiskFull) || shortage::is_disk_full(&self.path);
        let is_tried_again = self.tried_at.is_none_or(|moment| moment.elapsed() >= COPY_INTERVAL);
        if is_tried_again && self.log.copy(tx.connection()).is_some() {
            (self.log_comes_first, self.tried_at) = (None, None);
            self.empty_log(tx);
            return Ok(());
        }
        if is_tried_again {
            self.tried_at = Some(Instant::now());
        }
        Err(match is_full {
            true => StoreError::DiskFull,
            false => {
                StoreError::Unavailable("the log cannot be copied into the database".to_owned())
            }
        })
    }

    /// Copies all of the log and cuts it off, so that nothing of the past is left in it. False if
    /// somebody still needs it.
    pub(crate) fn empty_log(&mut self, tx: &SqliteTx) -> bool {
        if self.log.guard.holds() {
            return false;
        }
        // Writers wait meanwhile, so it does not wait long for readers.
        let wait = |patience| tx.connection().busy_timeout(patience);
        let emptied = wait(READERS_TIMEOUT).and_then(|()| {
            tx.connection()
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
        });
        let is_patient_again = wait(BUSY_TIMEOUT);
        let is_emptied = emptied
            .and_then(|is_busy| is_patient_again.map(|()| is_busy == 0))
            .unwrap_or_else(|error| {
                self.log.after_error(&error);
                false
            });
        if is_emptied {
            self.woken_at = 0;
        }
        is_emptied
    }

    /// Ends the thread and copies all of the log, so that the file alone is the database. False if
    /// the log must stay.
    pub(crate) fn finish(&mut self, tx: &SqliteTx) -> bool {
        self.wake = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        if !self.log.guard.holds() {
            let _ =
                copy(tx.connection(), "TRUNCATE").inspect_err(|error| self.log.after_error(error));
        }
        !self.log.guard.holds()
    }
}

impl Log {
    /// Copies the log as far as those who read let it; nothing if it failed, somebody else is
    /// copying, or it must not be copied any more.
    fn copy(&self, connection: &Connection) -> Option<Copied> {
        if self.guard.holds() {
            return None;
        }
        copy(connection, "PASSIVE").inspect_err(|error| self.after_error(error)).ok().flatten()
    }

    fn after_error(&self, error: &rusqlite::Error) {
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull | ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                tracing::warn!(%error, "a checkpoint failed")
            }
            _ => self.guard.hold(error),
        }
    }
}

/// What the first of the log's own bytes take, and what stands before each page in it.
const LOG_HEADER: u64 = 32;
const FRAME_HEADER: usize = 24;

/// Holds the log whole, once it must be: by looking at a state of the data that is only in the log,
/// for as long as the process lives.
struct Guard {
    /// Looks at the state.
    holding: Mutex<SqliteTx>,
    /// Sees how long the log is, which a connection that looks at a state cannot.
    measuring: Mutex<SqliteTx>,
    holds: AtomicBool,
    is_lost: AtomicBool,
}

impl Guard {
    fn open(path: &Path) -> Result<Self, StoreError> {
        let [holding, measuring] =
            [SqliteTx::open_reader(path)?, SqliteTx::open_reader(path)?].map(Mutex::new);
        Ok(Self {
            holding,
            measuring,
            holds: AtomicBool::new(false),
            is_lost: AtomicBool::new(false),
        })
    }

    fn holds(&self) -> bool {
        self.holds.load(Ordering::SeqCst)
    }

    /// The log could not be held.
    fn is_lost(&self) -> bool {
        self.is_lost.load(Ordering::SeqCst)
    }

    fn hold(&self, reason: &dyn Display) {
        if self.holds.swap(true, Ordering::SeqCst) {
            return;
        }
        tracing::error!(
            %reason,
            "the database file could not be flushed. No data is lost: the log is preserved \
             from now on and grows until the server \
             restarts; check the disk and restart the server"
        );
        // If all of the log were copied, its next page would be the first again.
        let held = locked(&self.holding)
            .connection()
            .execute_batch("BEGIN; SELECT 1 FROM sqlite_schema;")
            .map_err(|error| broken(&error));
        let is_held = held.and_then(|()| self.length()).is_ok_and(|log| !log.is_whole());
        if !is_held {
            self.is_lost.store(true, Ordering::SeqCst);
            tracing::error!(
                "the log cannot be preserved, so writes are refused; restart the server"
            );
        }
    }

    /// How long the log is, without anything being copied.
    fn length(&self) -> Result<Copied, StoreError> {
        let unknown = || StoreError::Unavailable("the length of the log cannot be read".to_owned());
        copy(locked(&self.measuring).connection(), "NOOP")
            .map_err(|error| broken(&error))?
            .ok_or_else(unknown)
    }
}

fn locked(connection: &Mutex<SqliteTx>) -> MutexGuard<'_, SqliteTx> {
    connection.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Copies when it is woken, and when the log has stopped growing.
fn copy_when_worth_it(connection: &SqliteTx, file: &File, woken: &mpsc::Receiver<()>, log: &Log) {
    let (mut seen, mut copied) = (0, 0);
    loop {
        let commits = log.commits.load(Ordering::Relaxed);
        match woken.recv_timeout(IDLE) {
            Ok(()) => copy_while_writers_go_on(connection, file, log),
            Err(RecvTimeoutError::Timeout) if commits == seen && commits != copied => {
                if log.copy(connection.connection()).is_some_and(|copied| copied.is_whole()) {
                    copied = commits;
                }
            }
            Err(RecvTimeoutError::Timeout) => seen = commits,
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn copy_while_writers_go_on(connection: &SqliteTx, file: &File, log: &Log) {
    for _ in 0..MAX_COPIES {
        let copied = log.copy(connection.connection());
        if let Err(error) = file.sync_data() {
            log.guard.hold(&error);
        }
        let Some(copied) = copied else { return };
        if log.pages.load(Ordering::Relaxed) - copied.pages <= PAGES_LEFT_TO_WRITER {
            break;
        }
    }
    log.is_nearly_copied.store(true, Ordering::Relaxed);
}

/// How much of the log is in the database.
struct Copied {
    pages: i32,
    of: i32,
}

impl Copied {
    /// False while somebody looks at an older state of the data.
    const fn is_whole(&self) -> bool {
        self.pages == self.of
    }
}

/// Copies the log; nothing if somebody else is copying.
fn copy(connection: &Connection, mode: &str) -> rusqlite::Result<Option<Copied>> {
    connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
        let is_kept_out = row.get::<_, i32>(1)? < 0;
        Ok((!is_kept_out).then_some(Copied { of: row.get(1)?, pages: row.get(2)? }))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::sqlite::scratch_file::ScratchFile;

    const TEST_TIMEOUT: Duration = Duration::from_secs(30);

    /// What stands in the database without its log. Another process copies it: to close the file
    /// here would take away the locks on it.
    fn alone(path: &Path) -> Option<String> {
        let copy = ScratchFile::new("checkpoint-alone");
        std::process::Command::new("cp").args([path, &copy.path]).status().ok()?;
        Connection::open(&copy.path)
            .ok()?
            .query_row("SELECT body FROM note", [], |row| row.get(0))
            .ok()
    }

    /// The log is as long after each of them.
    #[test]
    fn equal_changes_are_each_copied_when_nothing_more_is_written() {
        let file = ScratchFile::new("checkpoint-idle");
        File::create(&file.path).unwrap();
        let mut tx = SqliteTx::open_writer(&file.path).unwrap();
        let checkpoints = Checkpoints::start(&file.path).unwrap();
        checkpoints.watch(&mut tx).unwrap();
        tx.connection()
            .execute_batch("CREATE TABLE note (body TEXT); INSERT INTO note VALUES ('none')")
            .unwrap();
        for body in ["one", "two", "three"] {
            tx.connection().execute("UPDATE note SET body = ?1", [body]).unwrap();
            let begun = Instant::now();
            while alone(&file.path).as_deref() != Some(body) {
                assert!(begun.elapsed() < TEST_TIMEOUT, "{body} is not copied");
                std::thread::yield_now();
            }
        }
    }

    /// A copy that somebody else makes is none of ours: what waits for the log to be copied goes on
    /// waiting.
    #[test]
    fn who_is_kept_out_by_another_copy_has_copied_nothing() {
        let file = ScratchFile::new("checkpoint");
        let [one, other] = [0, 1].map(|_| Connection::open(&file.path).unwrap());
        one.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; CREATE TABLE \
            note (body TEXT);",
        )
        .unwrap();
        // Whoever reads keeps a copy that is to be whole waiting, and that keeps all others out.
        other.execute_batch("BEGIN; SELECT * FROM note;").unwrap();
        one.execute_batch("INSERT INTO note VALUES ('x')").unwrap();
        static IS_WAITING: AtomicBool = AtomicBool::new(false);
        let mut third = Connection::open(&file.path).unwrap();
        let go_on_waiting = |_| {
            IS_WAITING.store(true, Ordering::SeqCst);
            true
        };
        third.busy_handler(Some(go_on_waiting)).unwrap();
        let waiting = std::thread::spawn(move || {
            copy(&third, "FULL").unwrap().map(|copied| copied.is_whole())
        });
        while !IS_WAITING.load(Ordering::SeqCst) {
            assert!(!waiting.is_finished(), "nobody is waited for");
            std::thread::yield_now();
        }
        assert!(copy(&one, "PASSIVE").unwrap().is_none());
        other.execute_batch("COMMIT").unwrap();
        assert_eq!(waiting.join().unwrap(), Some(true));
        assert!(copy(&one, "PASSIVE").unwrap().is_some_and(|copied| copied.is_whole()));
    }
}
