//! What providers know of persons: asking for one person, and for many in a run.

pub mod cancel;
pub mod list;
pub mod read;
pub mod read_run;
pub mod request;
pub mod start;
