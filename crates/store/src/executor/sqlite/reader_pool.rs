//! The connections that read.
//!
//! A thread puts those that it does not need on a shelf of its own: a connection that goes from
//! core to core has its memory fetched from the other each time. On the shelf a connection keeps
//! the state of the data open that it saw, until something is about to be committed, and some
//! milliseconds at most: to open a state and to close it again takes a sixth of a read.
//!
//! States have numbers. The number is read first, and the engine fixes the state at the
//! first statement behind it, so that a state may be newer than its number says. Then the number
//! has changed meanwhile, and the state is not kept. Nobody who was told of a commit finds a state
//! that lacks it.

use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{JoinHandle, sleep};
use std::time::{Duration, Instant};

use crate::driver::sqlite::connection::SqliteTx;
use crate::driver::sqlite::file_identity::FileIdentity;
use crate::error::{OperationError, StoreError};
use crate::tx::{Connection, Tx};

/// Threads that have a shelf of their own; more share them.
const SHELVES: usize = 16;
/// Connections that lie on a shelf at most; more are closed.
const MAX_IDLE: usize = 4;
/// Connections that are open from the start on, so that there are some when the system has no more
/// to give.
const ALWAYS_OPEN: usize = 4;
/// Stands for a state that is let go when it was seen.
const NOT_TO_BE_KEPT: u64 = u64::MAX;
/// How long a state is kept open, about. Another process may have changed the data, or wait until
/// nobody looks at an old state.
const SNAPSHOT_MAX_AGE: Duration = Duration::from_millis(5);
/// One read in so many is timed: a read takes less time than two looks at the clock are worth.
const TIMED_READS: u32 = 16;

thread_local! {
    static OWN_SHELF: usize = {
        static THREADS: AtomicUsize = AtomicUsize::new(0);
        THREADS.fetch_add(1, Ordering::Relaxed) % SHELVES
    };
}

pub(crate) struct ReaderPool {
    file: Arc<FileIdentity>,
    states: Arc<Snapshots>,
    /// Tells the thread that a state was opened that is to be kept.
    opened: Option<mpsc::SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    seconds: metrics::Histogram,
}

/// The connections that nobody uses, and which state of the data they may keep open.
pub(crate) struct Snapshots {
    shelves: [IdleReaders; SHELVES],
    /// The number of the state that is there, which goes up with every commit. It is odd while no
    /// state may be kept open.
    current: AtomicU64,
}

const fn may_be_kept(state: u64) -> bool {
    state.is_multiple_of(2)
}

/// Apart from the others in memory, or cores would take it from each other.
#[derive(Default)]
#[repr(align(128))]
struct IdleReaders(Mutex<Vec<Reader>>);

impl IdleReaders {
    fn lock(&self) -> MutexGuard<'_, Vec<Reader>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct Reader {
    tx: Tx,
    /// The number of the state that it has open.
    open: Option<u64>,
    reads: u32,
}

impl Reader {
    fn open(path: &Path) -> Result<Self, StoreError> {
        Ok(Self {
            tx: Tx::new(Connection::Sqlite(SqliteTx::open_reader(path)?)),
            open: None,
            reads: 0,
        })
    }

    fn begin(&mut self, state: u64) -> Result<(), StoreError> {
        self.tx.sqlite().execute("BEGIN", &[])?;
        self.open = Some(state);
        Ok(())
    }

    fn let_go(&mut self) -> Result<(), StoreError> {
        match self.open.take() {
            Some(_) => self.tx.sqlite().execute("ROLLBACK", &[]).map(|_| ()),
            None => Ok(()),
        }
    }
}

impl ReaderPool {
    pub(crate) fn start(file: Arc<FileIdentity>) -> Result<Self, StoreError> {
        let states =
            Arc::new(Snapshots { shelves: Default::default(), current: AtomicU64::new(0) });
        let (opened, is_opened) = mpsc::sync_channel(1);
        let watched = Arc::clone(&states);
        let let_go_in_time = move || {
            while is_opened.recv().is_ok() {
                sleep(SNAPSHOT_MAX_AGE);
                watched.expire_snapshots();
            }
        };
        let thread = std::thread::Builder::new()
            .name("sqlite-readers".to_owned())
            .spawn(let_go_in_time)
            .map_err(|error| {
                StoreError::Unusable(format!("the reader thread cannot be started: {error}"))
            })?;
        let seconds = metrics::histogram!("slated_store_read_seconds");
        for shelf in states.shelves.iter().take(ALWAYS_OPEN) {
            shelf.lock().push(Reader::open(&file.path)?);
        }
        Ok(Self { file, states, opened: Some(opened), thread: Some(thread), seconds })
    }

    pub(crate) fn states(&self) -> Arc<Snapshots> {
        Arc::clone(&self.states)
    }

    /// Runs what only looks, at one state of the data with all in it that was committed by this
    /// process.
    pub(crate) fn look<T>(
        &self,
        run: impl FnOnce(&mut Tx) -> Result<T, OperationError>,
    ) -> Result<T, OperationError> {
        self.look_at(self.states.current(), run)
    }

    /// The same with all in it that was committed by any process.
    pub(crate) fn look_anew<T>(
        &self,
        run: impl FnOnce(&mut Tx) -> Result<T, OperationError>,
    ) -> Result<T, OperationError> {
        self.look_at(NOT_TO_BE_KEPT, run)
    }

    /// One that looks at the file that the writer has, and at no other that has its name by now.
    fn new_reader(&self) -> Result<Reader, StoreError> {
        self.file.check()?;
        let opened = Reader::open(&self.file.path);
        self.file.check()?;
        match opened {
            Ok(reader) => Ok(reader),
            // Without file descriptors or memory, one that lies on another shelf will do.
            Err(error) => {
                self.states.any_idle().ok_or_else(|| StoreError::Unavailable(error.to_string()))
            }
        }
    }

    fn look_at<T>(
        &self,
        state: u64,
        run: impl FnOnce(&mut Tx) -> Result<T, OperationError>,
    ) -> Result<T, OperationError> {
        let shelf = self.states.own_shelf();
        let idle = shelf.lock().pop();
        let mut reader = match idle {
            Some(reader) => reader,
            None => self.new_reader()?,
        };
        reader.tx.start_work();
        reader.reads = reader.reads.wrapping_add(1);
        let started = reader.reads.is_multiple_of(TIMED_READS).then(Instant::now);
        if reader.open != Some(state) {
            reader.let_go()?;
            reader.begin(state)?;
            if may_be_kept(state) {
                // A full channel means that the thread knows.
                let _ = self.opened.as_ref().map(|opened| opened.try_send(()));
            }
        }
        let outcome = run(&mut reader.tx);
        if let Some(started) = started {
            self.seconds.record(started.elapsed().as_secs_f64());
        }
        // A connection that fails is not used again.
        if !matches!(outcome, Err(OperationError::Store(_))) {
            self.states.put_back(shelf, reader);
        }
        outcome
    }
}

impl Drop for ReaderPool {
    fn drop(&mut self) {
        self.opened = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.states.shelves.iter().for_each(|shelf| shelf.lock().clear());
    }
}

impl Snapshots {
    fn current(&self) -> u64 {
        self.current.load(Ordering::SeqCst)
    }

    fn own_shelf(&self) -> &IdleReaders {
        &self.shelves[OWN_SHELF.with(|own| *own)]
    }

    fn any_idle(&self) -> Option<Reader> {
        self.shelves.iter().find_map(|shelf| shelf.lock().pop())
    }

    /// Whoever has all states let go changes the number first and then looks at every shelf under
    /// its lock. So a state that was put back before is found there, and one that comes later finds
    /// another number.
    fn put_back(&self, shelf: &IdleReaders, mut reader: Reader) {
        let mut idle = shelf.lock();
        let may_stay_open =
            reader.open.is_some_and(|state| may_be_kept(state) && state == self.current())
                && !reader.tx.sqlite().is_idle();
        if idle.len() < MAX_IDLE && (may_stay_open || reader.let_go().is_ok()) {
            idle.push(reader);
        }
    }

    /// Has nobody keep a state open from now on: another one is about to be committed, and the log
    /// can start afresh if nobody looks at an old state.
    pub(crate) fn close_snapshots(&self) {
        self.current.fetch_or(1, Ordering::SeqCst);
        self.let_go();
    }

    /// Lets states be kept open that are seen from now on, whether or not they could not be before.
    pub(crate) fn reopen_snapshots(&self) {
        self.current.fetch_or(1, Ordering::SeqCst);
        self.current.fetch_add(1, Ordering::SeqCst);
    }

    /// Has everybody look anew, and leaves it at that whether states may be kept.
    fn expire_snapshots(&self) {
        self.current.fetch_add(2, Ordering::SeqCst);
        self.let_go();
    }

    fn let_go(&self) {
        for shelf in &self.shelves {
            shelf.lock().retain_mut(|reader| reader.let_go().is_ok());
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::driver::sqlite::scratch_file::ScratchFile;
    use crate::limit::{Limit, Waiting};

    const TEST_TIMEOUT: Duration = Duration::from_secs(20);

    /// A database of one table, written by a connection that stands for any process.
    struct Scratch {
        file: ScratchFile,
        other: Connection,
    }

    impl Scratch {
        fn new(name: &str) -> Self {
            let file = ScratchFile::new(&format!("readers-{name}"));
            let other = Connection::open(&file.path).unwrap();
            other
                .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE note (body TEXT);")
                .unwrap();
            Self { file, other }
        }

        fn write(&self) {
            self.other.execute_batch("INSERT INTO note VALUES ('x')").unwrap();
        }

        /// Whether the log can be emptied now.
        fn nobody_looks(&self) -> bool {
            self.other.busy_timeout(Duration::ZERO).unwrap();
            self.other
                .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get::<_, i64>(0))
                .unwrap()
                == 0
        }
    }

    fn count(tx: &mut Tx) -> Result<i64, OperationError> {
        Ok(tx.sqlite().row("SELECT COUNT(*) FROM note", &[], |row| row.int(0))?.unwrap_or_default())
    }

    fn wait_until(mut is_so: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < TEST_TIMEOUT, "it did not come to that");
            std::thread::yield_now();
        }
    }

    /// Invariant 3.
    #[test]
    fn what_is_committed_here_is_seen_at_once() {
        let scratch = Scratch::new("own");
        let readers =
            ReaderPool::start(Arc::new(FileIdentity::of(&scratch.file.path).unwrap())).unwrap();
        for made in 0..100 {
            assert_eq!(readers.look(count).unwrap(), made);
            readers.states().close_snapshots();
            assert_eq!(readers.look(count).unwrap(), made);
            scratch.write();
            assert_eq!(readers.look(count).unwrap(), made + 1);
            readers.states().reopen_snapshots();
        }
    }

    #[test]
    fn one_look_sees_one_state() {
        let scratch = Scratch::new("one");
        let readers =
            ReaderPool::start(Arc::new(FileIdentity::of(&scratch.file.path).unwrap())).unwrap();
        let seen = readers.look(|tx| {
            let before = count(tx)?;
            scratch.write();
            Ok((before, count(tx)?))
        });
        assert_eq!(seen.unwrap(), (0, 0));
    }

    #[test]
    fn what_another_process_commits_is_seen_before_long_and_by_who_looks_anew_at_once() {
        let scratch = Scratch::new("other");
        let readers =
            ReaderPool::start(Arc::new(FileIdentity::of(&scratch.file.path).unwrap())).unwrap();
        for made in 0..20 {
            assert_eq!(readers.look(count).unwrap(), made);
            scratch.write();
            assert_eq!(readers.look_anew(count).unwrap(), made + 1);
            wait_until(|| readers.look(count).unwrap() == made + 1);
        }
    }

    #[test]
    fn a_state_that_nobody_looks_at_is_let_go_before_long() {
        let scratch = Scratch::new("idle");
        let readers =
            ReaderPool::start(Arc::new(FileIdentity::of(&scratch.file.path).unwrap())).unwrap();
        for _ in 0..20 {
            scratch.write();
            readers.look(count).unwrap();
            wait_until(|| scratch.nobody_looks());
        }
    }

    #[test]
    fn nothing_stays_open_before_a_commit() {
        let scratch = Scratch::new("commit");
        let readers =
            ReaderPool::start(Arc::new(FileIdentity::of(&scratch.file.path).unwrap())).unwrap();
        for _ in 0..100 {
            scratch.write();
            readers.look(count).unwrap();
            readers.states().close_snapshots();
            assert!(scratch.nobody_looks());
            readers.states().reopen_snapshots();
        }
    }

    #[test]
    fn what_is_in_use_before_a_commit_is_let_go_when_it_is_put_back() {
        let scratch = Scratch::new("use");
        let readers =
            ReaderPool::start(Arc::new(FileIdentity::of(&scratch.file.path).unwrap())).unwrap();
        scratch.write();
        let states = readers.states();
        readers
            .look(|tx| {
                count(tx)?;
                states.close_snapshots();
                Ok(())
            })
            .unwrap();
        assert!(scratch.nobody_looks());
    }

    #[test]
    fn who_reads_for_too_long_or_for_nobody_is_ended() {
        let scratch = Scratch::new("limit");
        let readers =
            ReaderPool::start(Arc::new(FileIdentity::of(&scratch.file.path).unwrap())).unwrap();
        let look = |limit: Arc<Limit>| {
            readers.look(|tx| {
                tx.sqlite().limit(Some(limit))?;
                let endless = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
                    SELECT MAX(i) FROM n";
                Ok(tx.sqlite().row(endless, &[], |row| row.int(0))?)
            })
        };
        let late = Waiting::at_most(Some(Duration::ZERO));
        assert!(matches!(look(late.limit()), Err(OperationError::Store(StoreError::TookTooLong))));
        let gone = Waiting::at_most(None);
        let limit = gone.limit();
        std::thread::scope(|scope| {
            let looking = scope.spawn(|| look(limit));
            drop(gone);
            assert!(matches!(
                looking.join().unwrap(),
                Err(OperationError::Store(StoreError::TookTooLong))
            ));
        });
        assert_eq!(readers.look(count).unwrap(), 0);
    }
}
