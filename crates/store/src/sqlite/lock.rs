//! One server at a time has an embedded database. The lock is on a file beside it, and the system releases it when the process
//! ends, however it ends.

use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::file::beside;
use crate::error::StoreError;

pub(crate) struct ServerLock {
    _file: File,
}

impl ServerLock {
    pub(crate) fn take(database: &Path) -> Result<Self, StoreError> {
        let refused = |path: &Path, reason: &dyn Display| StoreError::Unusable(format!("{} cannot be locked: {reason}", path.display()));
        // Links lead to one file, and so to one lock.
        let found = database.canonicalize().and_then(|real| Ok((real.metadata()?.nlink(), real)));
        let (names, real) = found.map_err(|error| refused(database, &error))?;
        if names > 1 {
            // The engine would keep a log beside each of them.
            return Err(refused(database, &format_args!("the file has {names} names (hard links), and may have but one")));
        }
        let path = beside(&real, ".lock");
        let file = File::options().create(true).truncate(false).write(true).open(&path).map_err(|error| refused(&path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Unusable(format!(
                "another slated server has {} open; stop it first, or serve another file with --database sqlite:PATH",
                database.display()
            ))),
            Err(TryLockError::Error(error)) => Err(refused(&path, &error)),
        }
    }
}
