pub mod add;
pub mod associate;
pub mod list_of_job;
pub mod move_stage;
