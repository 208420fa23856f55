//! One server at a time has an embedded database. The lock is on a file beside it, and the system releases it when the process
//! ends, however it ends.

use std::fs::{File, TryLockError};
use std::path::Path;

use crate::error::StoreError;

pub(crate) struct ServerLock {
    _file: File,
}

impl ServerLock {
    pub(crate) fn take(database: &Path) -> Result<Self, StoreError> {
        let mut name = database.as_os_str().to_owned();
        name.push(".lock");
        let path = Path::new(&name);
        let refused = |reason: String| StoreError::Unusable(format!("{} cannot be locked: {reason}", path.display()));
        let file = File::options().create(true).truncate(false).write(true).open(path).map_err(|error| refused(error.to_string()))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { _file: file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Unusable(format!(
                "another slated server has {} open; stop it first, or serve another file with --database sqlite:PATH",
                database.display()
            ))),
            Err(TryLockError::Error(error)) => Err(refused(error.to_string())),
        }
    }
}
