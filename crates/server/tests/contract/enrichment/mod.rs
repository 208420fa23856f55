//! Enrichment: providers, what they are asked, and what becomes of their answers.

mod command_provider;
mod crash;
mod directory_provider;
mod failures;
mod filling;
mod http_provider;
mod proposals;
mod records;
mod requests;
mod runs;
