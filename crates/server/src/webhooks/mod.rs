//! Calling webhooks. The [`dispatcher`] finds those that have something to be told and takes each
//! for a while; a [`courier`] then delivers turn by turn, with [`call`]s that are signed with a
//! [`secret`]. What is delivered in which order, and what happens when it fails, stands in
//! `ops::deliver`.

mod call;
mod courier;
mod dispatcher;
mod secret;

pub use dispatcher::{Delivering, start};
pub use secret::SecretKey;
