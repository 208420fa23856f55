//! How the service is reached: the router, who calls, what a request may look like, and how answers
//! and refusals are told.

pub mod answer;
mod api_key_cache;
pub mod app;
mod body;
mod body_memory;
mod caller;
mod connections;
mod docs;
mod edge;
mod fixed;
mod front;
mod head;
mod health;
pub mod listen;
pub mod openapi;
mod openapi_events;
mod openapi_examples;
mod openapi_fields;
mod openapi_shared;
mod peer;
mod questions;
mod readiness;
mod refusal;
mod request;
mod request_metrics;
pub mod router;
mod shares;
mod unread;
mod write_timeout;

pub use answer::{Envelope, Followed, ListMeta, ListOf, Reply, Tryable};
pub use app::{App, Settings};
pub use caller::is_still_good;
pub use refusal::Refusal;
pub use request::{
    AdminReadRequest, AdminRequest, BodilessWriteRequest, BulkRequest, QueryRequest, ReadRequest,
    WriteRequest,
};
pub use shares::Share;
