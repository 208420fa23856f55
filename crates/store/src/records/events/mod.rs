//! Events: the log of a workspace, the outbox in which they wait for their number, and reading
//! them.

pub(crate) mod entry;
pub mod log;
pub mod outbox;
pub mod reading;
