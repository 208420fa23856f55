//! Calls out. Whoever lets others say where to call must not let them reach what only this machine
//! or its network can: every address is checked when it is written, after its name is resolved, and
//! at every redirect.

mod allowed_addresses;
mod answer;
mod client;

pub use allowed_addresses::AllowedAddresses;
pub use answer::{explain, retry_after};
pub use client::{Redirects, client};
