pub mod create;
pub mod list;
pub mod read;
pub mod update;
