//! Where the data is kept. A [`Store`] runs an [`Operation`] in one transaction: the same work,
//! with the same SQL text, on every engine. The queries stand in [`record`], a file for each kind
//! of record, and each of them takes the workspace first.

mod commit_notifier;
pub mod copy;
mod error;
mod limit;
mod lines;
mod migrations;
mod postgres;
pub mod record;
mod row;
mod sqlite;
mod store;
mod tx;

pub use self::store::{Location, Operation, Options, Pace, Purpose, Store};
pub use commit_notifier::{CommitNotifier, Committed};
pub use error::{OperationError, StoreError};
pub use lines::{Lines, Place};
pub use migrations::distribute::distribute;
pub use postgres::Address;
pub use row::{Param, Row};
pub use tx::{Asked, Tried, Tx};
