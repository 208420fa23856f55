//! Filling in what others know of a person. A [`worker`] takes those who wait, and for each of them
//! a [`chain`] asks the [`provider`]s in the order of the [`settings`], each through its [`gate`],
//! which keeps its limits. What is asked and what becomes of an answer stands in
//! `model::enrichment`, and who waits in `ops::enrichment`.

mod breaker;
pub mod provider;
mod provider_chain;
mod provider_limiter;
pub mod settings;
mod worker;

pub use worker::start;
