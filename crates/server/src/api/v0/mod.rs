//! Version 0: creating a person, as it was before version 1. It stays as long as version 1 does.

pub mod create_person;
