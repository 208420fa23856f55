//! The interface, a file for each small resource or else for each operation: what it takes, what it
//! answers, and the few lines between.

pub mod v0;
pub mod v1;
