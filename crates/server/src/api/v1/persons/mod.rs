pub mod create;
pub mod history;
pub mod read;
pub mod update;
