//! Version 1: a file for each small resource, and for each other a folder with a file for each
//! operation.

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
