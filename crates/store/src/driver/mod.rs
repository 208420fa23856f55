//! The engines below a transaction: connections, values and errors. An [`executor`] runs operations
//! on them.
//!
//! [`executor`]: crate::executor

pub mod param;
pub mod postgres;
pub mod row;
pub mod sqlite;
