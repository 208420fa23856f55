pub mod add;
pub mod list_of_job;
pub mod move_stage;
pub mod read;
