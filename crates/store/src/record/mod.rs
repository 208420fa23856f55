//! The queries, a file for each kind of record. Every one names the caller's workspace: there is no other way to a record.

pub mod candidate;
pub mod client_contact;
pub mod company;
pub mod event;
pub mod event_outbox;
pub mod field_order;
pub mod idempotency;
pub mod identifier;
pub mod job;
pub mod key;
pub mod listing;
pub mod note;
pub mod person;
pub mod stage;
pub mod status;
pub mod webhook;
pub mod workspace;
