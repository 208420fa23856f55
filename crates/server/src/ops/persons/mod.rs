pub mod create;
pub mod history;
pub mod update;
