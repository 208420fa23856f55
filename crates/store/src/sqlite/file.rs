//! The file itself: made so that only its owner reads it, and not made by accident.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::store::Purpose;

/// The file beside a database whose name ends so.
pub(crate) fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Sees to it that there is a file, if the purpose lets it be made.
pub(crate) fn provide(path: &Path, purpose: Purpose) -> Result<(), StoreError> {
    if path.exists() {
        return Ok(());
    }
    if purpose == Purpose::Inspect {
        return Err(StoreError::Unusable(format!("there is no database {}; name one with --database sqlite:PATH", path.display())));
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let directory = path.parent().unwrap_or(path).display();
            Err(StoreError::Unusable(format!("{} cannot be made: there is no directory {directory}", path.display())))
        }
        Err(error) => Err(StoreError::Unusable(format!("{} cannot be made: {error}", path.display()))),
    }
}
