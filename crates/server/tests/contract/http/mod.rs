//! What holds for every request: errors, limits, lists, tags, retries and the document of the
//! interface.

mod bad_input;
mod connections;
mod crowding;
mod dry_run;
mod errors;
mod etags;
mod filters;
mod heads;
mod idempotency;
mod limits;
mod lists;
mod odd_values;
mod openapi;
mod pages;
mod read_races;
mod write_races;
