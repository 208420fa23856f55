//! How work can fail: refused by a rule, or broken by the engine under it.

use slated_model::problem::Problem;

#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The engine cannot serve now; the same work may succeed later.
    #[error("the database is not available: {0}")]
    Unavailable(String),
    /// The same for lack of room; what is there can be read.
    #[error("the disk of the database is full; free some space on it")]
    DiskFull,
    /// It was ended, since it took longer than it may or nobody waits for it any more.
    #[error("the operation took too long and was cancelled")]
    TookTooLong,
    /// Another transaction got in the way; the same work may be run again at once.
    #[error("a concurrent change got in the way: {0}")]
    Conflict(String),
    /// Another transaction holds what this one needs, for longer than it may wait.
    #[error("a required lock is held by another transaction: {0}")]
    Held(String),
    /// The connection is gone, with nothing committed; the same work may be run again on another.
    #[error("the connection to the database was lost: {0}")]
    Lost(String),
    /// The work was tried out, and undone as it was meant to be.
    #[error("the operation was a dry run")]
    TriedOut,
    /// The database cannot be used by this program.
    #[error("{0}")]
    Unusable(String),
    /// A bug here, or a database that something else wrote to.
    #[error("the database refused a statement: {0}")]
    Internal(String),
}

impl StoreError {
    /// Whether the engine cannot serve now, and may later.
    #[must_use]
    pub const fn is_for_now(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::DiskFull)
    }
}

/// Why an operation was not done.
#[derive(Debug, thiserror::Error)]
pub enum OperationError {
    #[error(transparent)]
    Rejected(#[from] Problem),
    #[error(transparent)]
    Store(#[from] StoreError),
}
