//! Version 1: a folder for each kind of record, a file for each operation.

pub mod candidates;
pub mod events;
pub mod jobs;
pub mod persons;
pub mod shape;
pub mod webhooks;
