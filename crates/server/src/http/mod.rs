//! What every request has in common: who calls, what it may look like, and how answers and errors
//! are written. The router stands above the handlers, in `router`.

mod api_key_cache;
pub mod app;
pub mod body;
mod body_memory;
mod caller;
mod connections;
pub mod docs;
pub mod error_response;
pub mod fixed;
pub mod front;
mod head;
pub mod health;
pub mod listen;
mod peer;
mod questions;
mod readiness;
pub mod request;
pub mod request_context;
mod request_metrics;
pub mod response;
mod shares;
mod unread;
mod write_timeout;

pub use app::{App, Settings};
pub use caller::is_still_good;
pub use error_response::ErrorResponse;
pub use request::{
    AdminReadRequest, AdminRequest, BodilessWriteRequest, BulkRequest, QueryRequest, ReadRequest,
    WriteRequest,
};
pub use response::{ApiResult, Envelope, ListMeta, ListOf, MaybeMerged, WithDryRunChanges};
pub use shares::Share;
