//! Calling webhooks. The [`dispatcher`] finds those that have something to be told and takes each
//! for a while; a [`worker`] then delivers batch by batch, with [`request`]s that are signed with a
//! [`secret`]. What is delivered in which order, and what happens when it fails, stands in
//! `slated_operations::webhook_delivery`.

mod dispatcher;
mod request;
mod secret;
mod worker;

pub use dispatcher::{Delivering, start};
pub use secret::SecretKey;
