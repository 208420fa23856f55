//! The file itself: made so that only its owner reads it, and not made by accident.

use std::fs::OpenOptions;
use std::io::ErrorKind;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::error::StoreError;
use crate::purpose::Purpose;

/// The file beside a database whose name ends so.
pub(crate) fn beside(database: &Path, ending: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Sees to it that no log of another file lies where a new one would look for its own: the engine
/// would take it for that, or throw it away with what was written last.
pub(crate) fn refuse_remains(path: &Path) -> Result<(), StoreError> {
    let is_there = |path: &PathBuf| path.metadata().is_ok_and(|found| found.len() > 0);
    match ["-wal", "-journal"].map(|ending| beside(path, ending)).into_iter().find(is_there) {
        None => Ok(()),
        Some(left) => Err(StoreError::Unusable(format!(
            "{} is left over from a database that was moved or removed; move it next to that \
             database under the matching name, or delete it",
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
        return Err(StoreError::Unusable(format!(
            "the database {} does not exist; specify one with --database sqlite:PATH",
            path.display()
        )));
    }
    refuse_remains(path)?;
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Ok(_) => Ok(()),
        Err(error)
            if error.kind() == ErrorKind::AlreadyExists && path.is_symlink() && !path.exists() =>
        {
            Err(StoreError::Unusable(format!(
                "{} is a broken symbolic link; specify the file itself",
                path.display()
            )))
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let directory = path.parent().unwrap_or(path).display();
            Err(StoreError::Unusable(format!(
                "{} cannot be created: the directory {directory} does not exist",
                path.display()
            )))
        }
        Err(error) => {
            Err(StoreError::Unusable(format!("{} cannot be created: {error}", path.display())))
        }
    }
}

/// The files that are in use, told apart from any others that come to lie at their paths.
pub(crate) struct FileIdentity {
    pub(crate) path: PathBuf,
    database: Known,
    /// Its log, and the index into that, once the engine has made them. They stay the same ones for
    /// as long as anybody has the database open.
    log: Vec<Known>,
}

struct Known {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl Known {
    fn of(path: PathBuf) -> Result<Self, StoreError> {
        match path.metadata() {
            Ok(found) => Ok(Self { path, device: found.dev(), inode: found.ino() }),
            Err(error) => Err(StoreError::Unusable(format!(
                "{} cannot be inspected: {error}",
                path.display()
            ))),
        }
    }

    fn check(&self, remedy: &str) -> Result<(), StoreError> {
        let what = match self.path.metadata() {
            Ok(found) if (found.dev(), found.ino()) == (self.device, self.inode) => return Ok(()),
            Ok(_) => "was replaced while it was in use".to_owned(),
            Err(error) if error.kind() == ErrorKind::NotFound => {
                "was removed while it was in use".to_owned()
            }
            Err(error) => format!("cannot be inspected: {error}"),
        };
        Err(StoreError::Unavailable(format!("{} {what}; {remedy}", self.path.display())))
    }
}

impl FileIdentity {
    pub(crate) fn of(path: &Path) -> Result<Self, StoreError> {
        Ok(Self { path: path.to_owned(), database: Known::of(path.to_owned())?, log: Vec::new() })
    }

    /// Takes note of the log, which lies beside the file itself, wherever a link to that is.
    pub(crate) fn with_log(self) -> Result<Self, StoreError> {
        let real = self.path.canonicalize().map_err(|error| {
            StoreError::Unusable(format!("{} cannot be inspected: {error}", self.path.display()))
        })?;
        let log = ["-wal", "-shm"].map(|ending| Known::of(beside(&real, ending)));
        Ok(Self { log: log.into_iter().collect::<Result<_, _>>()?, ..self })
    }

    /// What is written into a file that was removed or replaced would be lost with the last who has
    /// it open, and the engine confuses the logs of two files that have one name. A commit is in
    /// the log first, and processes find it by the index, so those are no less needed.
    pub(crate) fn check(&self) -> Result<(), StoreError> {
        self.check_database()?;
        let remedy = "restore it, or stop the server, which first copies the log \
            into the database";
        self.log.iter().try_for_each(|file| file.check(remedy))
    }

    /// The same of the database alone.
    pub(crate) fn check_database(&self) -> Result<(), StoreError> {
        self.database.check("restore the file, or stop the server before replacing it")
    }
}
