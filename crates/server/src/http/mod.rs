//! How the service is reached: the router, who calls, what a request may look like, and how answers and refusals are told.

pub mod answer;
pub mod app;
mod body;
mod caller;
mod connections;
mod docs;
mod edge;
mod fixed;
mod front;
mod head;
mod health;
mod keyring;
pub mod listen;
mod measure;
pub mod openapi;
mod openapi_events;
mod openapi_examples;
mod openapi_fields;
mod openapi_shared;
mod peer;
mod questions;
mod refusal;
mod request;
pub mod router;
mod shares;
mod stall;
mod unread;

pub use answer::{Envelope, Followed, ListMeta, ListOf, Reply, Tryable};
pub use app::{App, Settings};
pub use caller::is_still_good;
pub use refusal::Refusal;
pub use request::{Ask, BodilessWrite, Bulk, Inspect, Manage, Read, Write};
pub use shares::Share;
