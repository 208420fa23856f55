//! Opening a database and running work in it.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::{Arc, Mutex};
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;
use tracing::Instrument;

use crate::commit_notifier::CommitNotifier;
use crate::driver::postgres::address::Address;
use crate::error::{OperationError, StoreError};
use crate::executor::postgres::Postgres;
use crate::executor::postgres::replica::check_replica;
use crate::executor::sqlite::Sqlite;
use crate::executor::sqlite::writer::Remains;
use crate::limit::Waiting;
use crate::migrations;
use crate::operation::{Nothing, Operation, Trial};
use crate::options::Options;
use crate::purpose::Purpose;
use crate::tx::Tried;

/// Where a database is, as `--database` says it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Location {
    Sqlite(PathBuf),
    Postgres(Box<Address>),
}

impl FromStr for Location {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        if written.starts_with("postgres://") || written.starts_with("postgresql://") {
            return written.parse().map(|address| Self::Postgres(Box::new(address)));
        }
        match written.strip_prefix("sqlite:") {
            Some("") => Err("sqlite: needs the path of a file, as in sqlite:slated.db".to_owned()),
            // The engine takes these for no files.
            Some(path) if path.starts_with(':') || path.starts_with("file:") => {
                Err("sqlite: needs the path of a file; write sqlite:./NAME if it is \
                    really called that"
                    .to_owned())
            }
            Some(path) => Ok(Self::Sqlite(PathBuf::from(path))),
            None => Err("it is not a known kind of database URL; write sqlite:PATH, as in \
                         sqlite:slated.db, or \
                         postgres://USER:PASSWORD@HOST:PORT/DATABASE"
                .to_owned()),
        }
    }
}

/// Without passwords, so that it may be shown and logged.
impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(formatter, "sqlite:{}", path.display()),
            Self::Postgres(address) => address.fmt(formatter),
        }
    }
}

pub struct Store {
    engine: Engine,
    bell: Arc<CommitNotifier>,
    long_reads: Arc<Semaphore>,
    long_reads_at_once: usize,
}

/// Reads that may take long and run at once on an embedded engine, for each processor: more would
/// only keep each other, and everybody else, waiting.
const LONG_READS_PER_PROCESSOR: usize = 2;
/// Over a network, one of so many connections is for them.
const CONNECTIONS_PER_LONG_READ: usize = 4;
/// How long others wait for their turn.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// How long each may take.
const READ_TIMEOUT: Duration = Duration::from_secs(30);

/// Runs an operation in a span of its own, and says at `debug` how long it took.
async fn traced<W: Operation, T>(running: impl Future<Output = T>) -> T {
    let span = tracing::debug_span!("operation", operation.name = %short_name::<W>());
    if span.is_disabled() {
        return running.await;
    }
    let started = Instant::now();
    let outcome = running.instrument(span.clone()).await;
    let millis = started.elapsed().as_secs_f64() * 1000.0;
    span.in_scope(|| tracing::debug!(operation.duration_ms = millis, "operation"));
    outcome
}

/// The name of a type without the modules that it stands in; of a wrapper, that of what it wraps.
fn short_name<W>() -> &'static str {
    let name = std::any::type_name::<W>();
    let first = name.split([',', '>']).next().unwrap_or(name);
    first.rsplit([':', '<']).next().unwrap_or(first)
}

/// What is under way on PostgreSQL takes many kilobytes. It is boxed, or every request would carry
/// them along, on either engine.
enum Engine {
    Sqlite(Sqlite),
    Postgres(Postgres),
}

impl Store {
    /// Opens the database, makes it if it is not there, and brings its schema up to date.
    pub async fn open(
        location: &Location,
        purpose: Purpose,
        options: &Options,
    ) -> Result<Self, StoreError> {
        let bell = Arc::new(CommitNotifier::default());
        let long_reads_at_once = match location {
            Location::Sqlite(_) => {
                available_parallelism().map_or(1, NonZeroUsize::get) * LONG_READS_PER_PROCESSOR
            }
            Location::Postgres(_) => options.connections.div_ceil(CONNECTIONS_PER_LONG_READ),
        };
        let engine = match location {
            Location::Sqlite(path) => {
                Engine::Sqlite(Sqlite::open(path, purpose, Arc::clone(&bell))?)
            }
            Location::Postgres(address) => {
                migrations::postgres::bring_up_to_date(address, purpose).await?;
                if let Some(replica) = &options.read_from {
                    check_replica(address, replica).await?;
                }
                Engine::Postgres(Postgres::new(address, options, Arc::clone(&bell))?)
            }
        };
        Ok(Self {
            engine,
            bell,
            long_reads: Arc::new(Semaphore::new(long_reads_at_once)),
            long_reads_at_once,
        })
    }

    /// Rings whenever work that ran here has told of a change.
    pub fn bell(&self) -> &CommitNotifier {
        &self.bell
    }

    /// Whether other servers may change the same data.
    pub const fn is_shared(&self) -> bool {
        matches!(self.engine, Engine::Postgres(_))
    }

    /// Runs work that changes something. When it returns, the change is durable.
    pub async fn write<W: Operation>(&self, work: W) -> Result<W::Output, OperationError> {
        traced::<W, _>(async {
            match &self.engine {
                Engine::Sqlite(sqlite) => sqlite.write(work).await,
                Engine::Postgres(postgres) => Box::pin(postgres.write(&work)).await,
            }
        })
        .await
    }

    /// Whether there is room on the disk for changes, as far as can be told.
    #[must_use]
    pub fn has_room(&self) -> bool {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.has_room(),
            Engine::Postgres(_) => true,
        }
    }

    /// How long an answer of the database may take.
    #[must_use]
    pub const fn patience(&self) -> Duration {
        match &self.engine {
            Engine::Sqlite(_) => Duration::MAX,
            Engine::Postgres(postgres) => postgres.patience(),
        }
    }

    /// Runs work as [`Store::write`] does, and undoes it. Gives back its outcome, and the events
    /// that it would have told.
    pub async fn dry_run<W: Operation>(
        &self,
        work: W,
    ) -> Result<(W::Output, Vec<Tried>), OperationError> {
        let outcome = Arc::new(Mutex::new(None));
        match self.write(Trial { work, outcome: Arc::clone(&outcome) }).await {
            Err(OperationError::Store(StoreError::TriedOut)) => {
                let outcome = outcome.lock().map_or(None, |mut outcome| outcome.take());
                outcome.ok_or_else(|| {
                    StoreError::Internal("the dry run had no outcome".to_owned()).into()
                })
            }
            Err(failure) => Err(failure),
            Ok(()) => {
                Err(StoreError::Internal("the dry run was not rolled back".to_owned()).into())
            }
        }
    }

    /// Runs work that only looks, with one statement as a rule: over a network each statement sees
    /// what is there when it is sent, on an embedded engine all see one state.
    pub async fn read<W: Operation>(&self, work: W) -> Result<W::Output, OperationError> {
        traced::<W, _>(async {
            match &self.engine {
                Engine::Sqlite(sqlite) => sqlite.read(&work),
                Engine::Postgres(postgres) => Box::pin(postgres.read(&work)).await,
            }
        })
        .await
    }

    /// Runs work of one statement that over a network must have no transaction around it, and may
    /// take long.
    pub async fn execute_outside_transaction<W: Operation>(
        &self,
        work: W,
    ) -> Result<W::Output, OperationError> {
        traced::<W, _>(async {
            match &self.engine {
                Engine::Sqlite(sqlite) => sqlite.read(&work),
                Engine::Postgres(postgres) => {
                    Box::pin(postgres.execute_outside_transaction(&work)).await
                }
            }
        })
        .await
    }

    /// Runs work of several statements that only look, all at the same state of the data.
    pub async fn read_consistent<W: Operation>(
        &self,
        work: W,
    ) -> Result<W::Output, OperationError> {
        traced::<W, _>(async {
            match &self.engine {
                Engine::Sqlite(sqlite) => sqlite.read(&work),
                Engine::Postgres(postgres) => Box::pin(postgres.read_consistent(&work)).await,
            }
        })
        .await
    }

    /// Runs work as [`Store::read_consistent`] does that may take long: it keeps no thread from
    /// serving others, and ends when it took too long or nobody waits for it any more.
    pub async fn read_consistent_slow<W: Operation>(
        self: &Arc<Self>,
        work: W,
    ) -> Result<W::Output, OperationError> {
        self.read_slow(work, Some(READ_TIMEOUT)).await
    }

    /// The same for work that something else cannot be done without, however long it takes.
    pub async fn read_consistent_unbounded<W: Operation>(
        self: &Arc<Self>,
        work: W,
    ) -> Result<W::Output, OperationError> {
        self.read_slow(work, None).await
    }

    async fn read_slow<W: Operation>(
        self: &Arc<Self>,
        work: W,
        longest: Option<Duration>,
    ) -> Result<W::Output, OperationError> {
        let place = self.place_for_long_read().await?;
        traced::<W, _>(async {
            match &self.engine {
                Engine::Sqlite(_) => self.read_on_own_thread(work, place, longest).await,
                Engine::Postgres(postgres) => Box::pin(postgres.read_consistent_slow(&work)).await,
            }
        })
        .await
    }

    /// Runs work as [`Store::read_consistent_slow`] does that finds what it reads as quickly as
    /// any, and may read much.
    pub async fn read_consistent_large<W: Operation>(
        self: &Arc<Self>,
        work: W,
    ) -> Result<W::Output, OperationError> {
        match &self.engine {
            Engine::Sqlite(_) => self.read_slow(work, Some(READ_TIMEOUT)).await,
            Engine::Postgres(_) => Box::pin(self.read_consistent(work)).await,
        }
    }

    /// Whether nothing is left in the log of an embedded engine of those who were erased. Otherwise
    /// tries to empty it.
    pub async fn empty_log(&self) -> Result<bool, OperationError> {
        let Engine::Sqlite(sqlite) = &self.engine else { return Ok(true) };
        if *sqlite.remains().borrow() != Remains::None {
            sqlite.write(Nothing).await?;
        }
        Ok(*sqlite.remains().borrow() == Remains::None)
    }

    /// How many reads that may take long are under way at once.
    #[must_use]
    pub const fn long_reads_at_once(&self) -> usize {
        self.long_reads_at_once
    }

    async fn place_for_long_read(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        if let Engine::Sqlite(sqlite) = &self.engine {
            // Nobody who was erased stays in the log for as long as others ask.
            let _ = timeout(
                MAX_WAIT,
                sqlite.remains().wait_for(|remains| *remains != Remains::Overdue),
            )
            .await;
        }
        let place = timeout(MAX_WAIT, Arc::clone(&self.long_reads).acquire_owned()).await;
        place
            .ok()
            .and_then(Result::ok)
            .ok_or_else(|| StoreError::Unavailable("too many long reads are running".to_owned()))
    }

    async fn read_on_own_thread<W: Operation>(
        self: &Arc<Self>,
        work: W,
        place: OwnedSemaphorePermit,
        longest: Option<Duration>,
    ) -> Result<W::Output, OperationError> {
        let waiting = Waiting::at_most(longest);
        let (store, limit) = (Arc::clone(self), waiting.limit());
        let reading = tokio::task::spawn_blocking(move || {
            let _place = place;
            match &store.engine {
                Engine::Sqlite(sqlite) => sqlite.read_within(&work, limit),
                Engine::Postgres(_) => Err(StoreError::Internal(
                    "a reader thread was created for a networked database".to_owned(),
                )
                .into()),
            }
        });
        reading.await.unwrap_or_else(|error| Err(StoreError::Internal(error.to_string()).into()))
    }

    /// Shows in the metrics what is known only by looking.
    pub fn report(&self) {
        match &self.engine {
            Engine::Sqlite(_) => {}
            Engine::Postgres(postgres) => postgres.report(),
        }
    }
}
