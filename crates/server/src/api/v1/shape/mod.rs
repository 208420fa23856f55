//! The records as the interface shows them: exactly these fields, in this order.

pub mod candidate;
pub mod contact;
pub mod event;
pub mod job;
pub mod person;
mod stored;
pub mod webhook;
