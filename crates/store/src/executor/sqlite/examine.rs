//! A file as it is found, before anything in it is changed.

use std::path::Path;

use rusqlite::{ErrorCode, MAIN_DB};

use crate::driver::sqlite::connection::{SqliteTx, unusable};
use crate::driver::sqlite::shortage;
use crate::error::StoreError;
use crate::migrations::sqlite::{is_empty, is_foreign};
use crate::purpose::Purpose;

/// Looks at a file before anything in it is changed: it must be ours, or empty if the purpose
/// lets one be made, and writable unless it is only looked at.
pub fn examine(path: &Path, purpose: Purpose) -> Result<(), StoreError> {
    let tx = SqliteTx::open(path)?;
    let read_only = || {
        let cause = shortage::of(path)
            .unwrap_or("its files and directory must be writable by the user that runs slated");
        StoreError::Unusable(format!("{} cannot be written; {cause}", path.display()))
    };
    // The engine opens a file to read if it may not write it, and says so only when somebody
    // does.
    if purpose != Purpose::Inspect
        && tx.connection().is_readonly(MAIN_DB).map_err(|error| unusable(path, &error))?
    {
        return Err(read_only());
    }
    let try_to_write = || tx.connection().execute_batch("BEGIN IMMEDIATE; ROLLBACK;");
    let is_refused =
        |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::ReadOnly);
    let is_of_others = is_foreign(&tx).map_err(|error| match try_to_write() {
        Err(refused) if is_refused(&refused) => read_only(),
        _ => match shortage::of(path) {
            Some(cause) => StoreError::Unusable(format!(
                "{} cannot be read as a database: {cause} ({error})",
                path.display()
            )),
            None => StoreError::Unusable(format!(
                "{} cannot be read as a database: {error}",
                path.display()
            )),
        },
    })?;
    if is_of_others {
        let message = format!(
            "{} is a database of another program; choose another file with --database \
             sqlite:PATH",
            path.display()
        );
        return Err(StoreError::Unusable(message));
    }
    if purpose == Purpose::Inspect && is_empty(&tx)? {
        return Err(StoreError::Unusable(format!(
            "{} holds no slated database; create one with slated serve or slated key create",
            path.display()
        )));
    }
    try_to_write()
        .map_err(|error| if is_refused(&error) { read_only() } else { unusable(path, &error) })
}
