//! Persons: created, matched, changed, merged, found among others and erased.

mod association;
mod batch;
mod contacts;
mod create;
mod duplicates;
mod erasure;
mod export;
mod history;
mod identity;
mod list;
mod matching;
mod merging;
mod notes;
mod profile;
mod resolve;
mod shapes;
mod update;
mod version_zero;
