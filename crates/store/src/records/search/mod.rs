//! Where search keeps its words. What a word is and how much it weighs is decided in
//! `slated_model::search`; the operations of `slated_operations::search` keep the index up to date.
//!
//! - `documents`: the words of each person, in FTS5 on SQLite, as vectors on PostgreSQL;
//! - `segments`: blocks of the words that very many persons have, read as a whole;
//! - `segment_build`: new segments, made in the background from the tail of what changed;
//! - `found`: the join of either engine to the words of some persons;
//! - `persons`: the question of a caller, answered from both.

pub mod documents;
pub(crate) mod found;
pub mod persons;
pub mod segment_build;
mod segments;
