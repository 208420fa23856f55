//! The service: its HTTP interface, its use cases and its command line.

pub mod api;
mod chores;
pub mod cli;
pub mod config;
pub mod demo;
pub mod enrich;
mod events;
pub mod http;
pub mod ops;
mod outgoing;
pub mod progress;
mod telemetry;
pub mod trusted_clock;
mod webhooks;
