//! The program as its operator meets it: options, files, crashes, copies and what it tells of
//! itself.

mod clock;
mod config_file;
mod copying;
mod crash;
mod descriptors;
mod full_disk;
mod schema;
mod service;
mod start;
mod tour;
