//! The statuses that jobs may have.

pub mod create;
pub mod list;
pub mod update;
