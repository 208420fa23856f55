//! The log of changes: numbering it, reading it, proving it, and how long it is kept.

pub mod number;
pub mod read;
pub mod retain;
pub mod timeline;
pub mod verify;
