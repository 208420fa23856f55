pub mod create;
pub mod list;
pub mod stages;
pub mod update;
