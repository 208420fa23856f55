//! The service: its HTTP interface, its use cases and its command line.

pub mod api;
pub mod cli;
pub mod demo;
pub mod http;
pub mod ops;
pub mod progress;
mod telemetry;
