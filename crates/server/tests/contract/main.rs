//! The interface from outside: each test starts the real program on a database of its own and talks HTTP to it.

mod support;

mod association;
mod auth;
mod bad_input;
mod candidates;
mod connections;
mod contacts;
mod copying;
mod crash;
mod create_person;
mod encryption;
mod errors;
mod etags;
mod filters;
mod history;
mod idempotency;
mod jobs;
mod keys;
mod limits;
mod lists;
mod matching;
mod openapi;
mod outage;
mod program;
mod races;
mod replica;
mod schema;
mod servers;
mod service;
mod shapes_of_jobs;
mod shapes_of_persons;
mod tenants;
mod update_person;
mod version_zero;
