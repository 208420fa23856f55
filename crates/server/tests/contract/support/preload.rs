//! Libraries that are put between the program and the system, compiled when a test needs one.

use std::collections::BTreeMap;
use std::mem;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{LazyLock, Mutex, PoisonError};

use super::database::Database;
use super::engine::Engine;

/// The library of that source, whose path begins at the directory of the tests.
pub fn preloaded(source: &'static str) -> PathBuf {
    static LIBRARIES: LazyLock<Mutex<BTreeMap<&str, PathBuf>>> = LazyLock::new(Mutex::default);
    let mut libraries = LIBRARIES.lock().unwrap_or_else(PoisonError::into_inner);
    libraries.entry(source).or_insert_with(|| compile(source)).clone()
}

fn compile(source: &str) -> PathBuf {
    let place = Database::new(Engine::Sqlite);
    let library = place.directory().join("library.so");
    // It is removed with what else is left of this process.
    mem::forget(place);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/contract").join(source);
    let built = Command::new("cc")
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&library)
        .arg(path)
        .arg("-ldl")
        .status();
    assert!(built.unwrap().success(), "{source} cannot be compiled");
    library
}
