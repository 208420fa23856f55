//! Values of providers that differ from what is kept, for somebody to decide.

pub mod decide;
pub mod list;
pub mod of_person;
