//! Version 1: a folder for each kind of record, a file for each operation.

pub mod candidates;
pub mod companies;
pub mod enrichment;
pub mod events;
pub mod jobs;
pub mod keys;
pub mod me;
pub mod persons;
pub mod proposals;
pub mod responses;
pub mod stages;
pub mod statuses;
pub mod templates;
pub mod webhooks;
