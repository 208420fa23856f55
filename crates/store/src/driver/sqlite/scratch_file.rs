use std::fs;
use std::path::PathBuf;

/// The path of a database for one test, which is removed with this.
pub(crate) struct ScratchFile {
    pub(crate) path: PathBuf,
}

impl ScratchFile {
    pub(crate) fn new(name: &str) -> Self {
        Self { path: std::env::temp_dir().join(format!("slated-{name}-{}.db", std::process::id())) }
    }
}

impl Drop for ScratchFile {
    fn drop(&mut self) {
        for ending in ["", "-wal", "-shm", ".lock"] {
            let _ = fs::remove_file(format!("{}{ending}", self.path.display()));
        }
    }
}
