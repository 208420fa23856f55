//! Where the data is kept. A [`Store`] runs an [`Operation`] in one transaction: the same work,
//! with the same SQL text, on every engine. The queries stand in [`records`], a file for each kind
//! of record, and each of them takes the workspace first.
//!
//! From the top down, and nothing imports from above it:
//!
//! - [`store`], which opens a database, and [`copy`], which moves one to another engine;
//! - `executor`, which runs operations on an engine: groups, retries, commits;
//! - [`records`] with the queries, and [`operation`];
//! - [`tx`], one transaction, and `migrations` with the schema;
//! - `driver`, an engine's connections, values and errors;
//! - what imports nothing of the store.

mod batch_queue;
mod buffered_event;
mod commit_notifier;
pub mod copy;
mod driver;
mod error;
mod executor;
mod limit;
mod migrations;
mod operation;
mod options;
mod purpose;
pub mod records;
mod schema;
mod store;
mod tx;

pub use batch_queue::{BatchQueue, BatchSlot};
pub use commit_notifier::{CommitNotifier, Committed};
pub use driver::param::Param;
pub use driver::postgres::address::Address;
pub use driver::row::Row;
pub use error::{OperationError, StoreError};
pub use migrations::distribute::distribute;
pub use operation::{Operation, Pace};
pub use options::Options;
pub use purpose::Purpose;
pub use store::{Location, Store};
pub use tx::{Asked, Tried, Tx};
