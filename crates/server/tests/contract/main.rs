//! The interface from outside: each test starts the real program, or shares one, and talks HTTP to
//! it.

mod access;
mod candidates;
mod companies;
mod disk;
mod enrichment;
mod events;
mod http;
mod jobs;
mod model;
mod persons;
mod postgres;
mod program;
mod search;
mod support;
mod webhooks;
