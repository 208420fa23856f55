//! The file itself: made so that only its owner reads it, and not made by accident.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::store::Purpose;

/// The file beside a database whose name ends so.
pub(crate) fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Sees to it that no log of another file lies where a new one would look for its own: the engine would take it for that, or throw it away with what was written
/// last.
pub(crate) fn refuse_remains(path: &Path) -> Result<(), StoreError> {
    let is_there = |path: &PathBuf| path.metadata().is_ok_and(|found| found.len() > 0);
    match ["-wal", "-journal"].map(|ending| beside(path, ending)).into_iter().find(is_there) {
        None => Ok(()),
        Some(left) => Err(StoreError::Unusable(format!(
            "{} is left of a database that is gone from here; move it to where that is, under its name, or remove it",
            left.display()
        ))),
    }
}

/// Sees to it that there is a file, if the purpose lets it be made.
pub(crate) fn provide(path: &Path, purpose: Purpose) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    if purpose == Purpose::Inspect {
        return Err(StoreError::Unusable(format!("there is no database {}; name one with --database sqlite:PATH", path.display())));
    }
    refuse_remains(path)?;
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists && path.is_symlink() && !path.exists() => {
            Err(StoreError::Unusable(format!("{} is a link that leads to no file; name the file itself", path.display())))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let directory = path.parent().unwrap_or(path).display();
            Err(StoreError::Unusable(format!("{} cannot be made: there is no directory {directory}", path.display())))
        }
        Err(error) => Err(StoreError::Unusable(format!("{} cannot be made: {error}", path.display()))),
    }
}

/// The file that is in use, told apart from any other that comes to lie at its path.
pub(super) struct Identity {
    pub(super) path: PathBuf,
    device: u64,
    inode: u64,
}

impl Identity {
    pub(super) fn of(path: &Path) -> Result<Self, StoreError> {
        let found = path.metadata().map_err(|error| StoreError::Unusable(format!("{} cannot be looked at: {error}", path.display())))?;
        Ok(Self { path: path.to_owned(), device: found.dev(), inode: found.ino() })
    }

    /// What is written into a file that was removed or replaced would be lost with the last who has it open, and the engine confuses the logs of two
    /// files that have one name.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        let what = match self.path.metadata() {
            Ok(found) if (found.dev(), found.ino()) == (self.device, self.inode) => return Ok(()),
            Ok(_) => "was replaced while it was in use".to_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => "was removed while it was in use".to_owned(),
            Err(error) => format!("cannot be looked at: {error}"),
        };
        Err(StoreError::Unavailable(format!(
            "{} {what}; bring the file back, or stop the server before it is replaced",
            self.path.display()
        )))
    }
}
