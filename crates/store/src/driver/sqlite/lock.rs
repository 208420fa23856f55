//! One server at a time has an embedded database. The lock is on a file beside it, and the system
//! releases it when the process ends, however it ends.
//!
//! The file is not empty: what is in it is given up when a server starts on a full disk, so that
//! the engine can make the index that it reads by.

use std::fmt::Display;
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Seek, Write};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use crate::driver::sqlite::file_identity::beside;
use crate::error::StoreError;

/// The engine needs half of that at least.
const RESERVE: u64 = 64 * 1024;
const PAGE: usize = 4096;

pub(crate) struct ServerLock {
    file: File,
}

impl ServerLock {
    pub(crate) fn take(database: &Path) -> Result<Self, StoreError> {
        let refused = |path: &Path, reason: &dyn Display| {
            StoreError::Unusable(format!("{} cannot be locked: {reason}", path.display()))
        };
        // Links lead to one file, and so to one lock.
        let found = database.canonicalize().and_then(|real| Ok((real.metadata()?.nlink(), real)));
        let (names, real) = found.map_err(|error| refused(database, &error))?;
        if names > 1 {
            // The engine would keep a log beside each of them.
            return Err(refused(
                database,
                &format_args!("the file has {names} hard links; remove all but one"),
            ));
        }
        let path = beside(&real, ".lock");
        let file = File::options()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(|error| refused(&path, &error))?;
        match file.try_lock() {
            Ok(()) => Ok(Self { file }),
            Err(TryLockError::WouldBlock) => Err(StoreError::Unusable(format!(
                "another slated server has {} open; stop it first, or use another file with \
                 --database sqlite:PATH",
                database.display()
            ))),
            Err(TryLockError::Error(error)) => Err(refused(&path, &error)),
        }
    }

    /// Keeps some room on the disk. Where there is none, nothing is kept.
    pub(crate) fn reserve(&self) {
        if self.file.metadata().is_ok_and(|known| known.len() < RESERVE) && self.fill().is_err() {
            self.release();
        }
    }

    fn fill(&self) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        file.write_all(&[0; RESERVE as usize])?;
        file.sync_data()
    }

    /// Whether more could be written. What the system says of a disk leaves out quotas, so it is
    /// tried.
    pub(crate) fn has_room(&self) -> bool {
        let tried = self.file.metadata().and_then(|known| {
            let tried = self.file.write_all_at(&[0; PAGE], known.len());
            self.file.set_len(known.len()).and(tried)
        });
        !matches!(
            tried.map_err(|error| error.kind()),
            Err(ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
        )
    }

    /// Gives that room back.
    pub(crate) fn release(&self) {
        if let Err(error) = self.file.set_len(0).and_then(|()| self.file.sync_all()) {
            tracing::warn!(%error, "the reserved disk space cannot be released");
        }
    }
}
