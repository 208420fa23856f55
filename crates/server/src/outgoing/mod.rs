//! Calls out. Whoever lets others say where to call must not let them reach what only this machine or its network can: every address
//! is checked when it is written, after its name is resolved, and at every redirect.

mod client;
mod target;

pub use client::client;
pub use target::Targets;
