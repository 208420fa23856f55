//! The embedded engine: one file, with a log beside it.

pub mod checkpoint;
pub mod connection;
pub mod file_identity;
pub mod fts_changes;
pub mod lock;
#[cfg(test)]
pub mod scratch_file;
pub mod shortage;
