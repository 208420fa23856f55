//! Version 1.

pub mod add_candidate;
pub mod create_job;
pub mod create_person;
pub mod list_candidates;
pub mod list_jobs;
pub mod move_candidate;
pub mod read_candidate;
pub mod read_job;
pub mod read_person;
pub mod replace_history;
pub mod shape;
pub mod update_job;
pub mod update_person;
