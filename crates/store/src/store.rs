//! Opening a database and running work in it.

use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use crate::error::{Failure, StoreError};
use crate::sqlite::Sqlite;
use crate::tx::Tx;

/// Something that is done in one transaction: as a whole or not at all.
///
/// The work may run more than once if the engine asks for a retry, so it changes nothing but the transaction, and inside it
/// awaits nothing else either: on an embedded engine every await is ready at once.
pub trait Work: Send + Sync + 'static {
    type Output: Send + 'static;

    fn run(&self, tx: &mut Tx) -> impl Future<Output = Result<Self::Output, Failure>> + Send;
}

/// Where a database is, as `--database` says it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Location {
    Sqlite(PathBuf),
}

impl FromStr for Location {
    type Err = String;

    fn from_str(written: &str) -> Result<Self, String> {
        match written.strip_prefix("sqlite:") {
            Some("") => Err("sqlite: needs the path of a file behind it, as in sqlite:slated.db".to_owned()),
            Some(path) => Ok(Self::Sqlite(PathBuf::from(path))),
            None => Err(format!("{written:?} is no database this program knows; write sqlite:PATH, as in sqlite:slated.db")),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(formatter, "sqlite:{}", path.display()),
        }
    }
}

/// What the database is opened for: an embedded one has one server at a time, and any number of short commands beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    Serve,
    Command,
    /// A command that makes no sense on a database that is not there.
    Inspect,
}

pub struct Store {
    engine: Engine,
}

enum Engine {
    Sqlite(Sqlite),
}

impl Store {
    /// Opens the database, makes it if it is not there, and brings its schema up to date.
    pub fn open(location: &Location, purpose: Purpose) -> Result<Self, StoreError> {
        match location {
            Location::Sqlite(path) => Ok(Self { engine: Engine::Sqlite(Sqlite::open(path, purpose)?) }),
        }
    }

    /// Runs work that changes something. When it returns, the change is durable.
    pub async fn write<W: Work>(&self, work: W) -> Result<W::Output, Failure> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.write(work).await,
        }
    }

    /// Runs work that is one statement and only looks.
    pub async fn read<W: Work>(&self, work: W) -> Result<W::Output, Failure> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.read(&work),
        }
    }

    /// The same for work that may take long: it keeps no thread from serving others.
    pub async fn read_snapshot_at_length<W: Work>(self: &Arc<Self>, work: W) -> Result<W::Output, Failure> {
        match &self.engine {
            Engine::Sqlite(_) => {
                let store = Arc::clone(self);
                let reading = tokio::task::spawn_blocking(move || match &store.engine {
                    Engine::Sqlite(sqlite) => sqlite.read_snapshot(&work),
                });
                reading.await.unwrap_or_else(|error| Err(StoreError::Internal(error.to_string()).into()))
            }
        }
    }

    /// Runs work of several statements that only look, all at the same state of the data.
    pub async fn read_snapshot<W: Work>(&self, work: W) -> Result<W::Output, Failure> {
        match &self.engine {
            Engine::Sqlite(sqlite) => sqlite.read_snapshot(&work),
        }
    }
}
