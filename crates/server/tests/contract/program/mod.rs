//! The program as its operator meets it: options, files, crashes, copies and what it tells of itself.

mod config_file;
mod copying;
mod crash;
mod schema;
mod service;
mod start;
