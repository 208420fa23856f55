//! Webhooks and their deliveries.

mod crash;
mod deliveries;
mod failures;
mod input;
mod management;
