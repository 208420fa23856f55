//! Filling in what others know of a person. A [`worker`] takes those who wait, and for each of them
//! a [`provider_chain`] asks the [`provider`]s in the order of the [`settings`], each through its
//! [`provider_limiter`]. What is asked and what becomes of an answer stands in
//! `slated_model::enrichment`, and who waits in `slated_operations::enrichment`.

mod breaker;
pub mod provider;
mod provider_chain;
mod provider_limiter;
pub mod settings;
mod worker;

pub use worker::start;
