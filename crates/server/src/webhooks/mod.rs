//! Calling webhooks. The [`dispatcher`] finds those that have something to be told and takes each
//! for a while; a [`courier`] then delivers turn by turn, with [`call`]s that are signed with a
//! [`secret`]. What is delivered in which order, and what happens when it fails, stands in
//! `ops::deliver`.

mod dispatcher;
mod request;
mod secret;
mod worker;

pub use dispatcher::{Delivering, start};
pub use secret::SecretKey;
