//! What an error of PostgreSQL means for the work that met it.

use std::error::Error as _;

use tokio_postgres::Error;
use tokio_postgres::error::{DbError, SqlState};

use crate::error::StoreError;

/// What the error means as long as the transaction cannot have been committed.
pub(crate) fn classify(error: &Error) -> StoreError {
    let Some(state) = error.code() else {
        return StoreError::Lost(describe(error));
    };
    let conflicts = [
        SqlState::T_R_SERIALIZATION_FAILURE,
        SqlState::T_R_DEADLOCK_DETECTED,
        SqlState::UNIQUE_VIOLATION,
    ];
    // A foreign key points at what another transaction took away in the meantime.
    let races = [SqlState::FOREIGN_KEY_VIOLATION];
    // This server is no longer the one that takes writes, or is about to go.
    let moved = [
        SqlState::READ_ONLY_SQL_TRANSACTION,
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    if conflicts.contains(state) || races.contains(state) {
        StoreError::Conflict(describe(error))
    } else if moved.contains(state) || is_stale(error, state) || is_gone(error, state) {
        StoreError::Lost(describe(error))
    } else if *state == SqlState::DISK_FULL {
        StoreError::DiskFull
    } else if *state == SqlState::LOCK_NOT_AVAILABLE {
        StoreError::Held(describe(error))
    } else if ["08", "40", "53", "57", "58"].contains(&&state.code()[..2]) {
        StoreError::Unavailable(describe(error))
    } else {
        StoreError::Internal(describe(error))
    }
}

/// Whether the connection knows a statement from before a schema step, or not at all. Other things
/// that an engine does not do, it never will.
fn is_stale(error: &Error, state: &SqlState) -> bool {
    let refused_plan = || {
        error
            .as_db_error()
            .is_some_and(|refusal| refusal.routine() == Some("RevalidateCachedQuery"))
    };
    *state == SqlState::INVALID_SQL_STATEMENT_NAME
        || (*state == SqlState::FEATURE_NOT_SUPPORTED && refused_plan())
}

/// What spreads the database over machines passes on with a code of its own what one of these said
/// when it went.
pub(crate) fn is_gone(error: &Error, state: &SqlState) -> bool {
    let says = |refusal: &DbError| {
        refusal.message().contains("shut down") || refusal.message().contains("remote node")
    };
    *state == SqlState::INTERNAL_ERROR && error.as_db_error().is_some_and(says)
}

/// The error with its cause, which tokio-postgres leaves out of its own text.
pub(crate) fn describe(error: &Error) -> String {
    match error.as_db_error() {
        Some(refusal) => format!("{} (SQLSTATE {})", refusal.message(), refusal.code().code()),
        None => match error.source() {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    }
}
