//! Running operations on an engine: which share a transaction, when one is tried again, and what a
//! commit makes known.

pub mod postgres;
pub mod sqlite;
