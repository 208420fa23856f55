//! The service: its HTTP interface, its workers and its command line.

pub mod api;
pub mod cli;
pub mod config;
pub mod demo;
pub mod enrich;
mod events;
pub mod http;
mod maintenance;
mod outbound;
pub mod progress;
pub mod router;
mod telemetry;
pub mod trusted_clock;
mod webhooks;
