//! Keeping the index of words up to date. The rules and the format of the index stand in
//! `slated_model::search`, its storage in `slated_store::records::search`.
//!
//! - `index`: the words of a person, written with the person or soon after;
//! - `segments`: segments of the index, built and merged in the background;
//! - `wiping`: an erased person leaves the segments and the files.

pub mod index;
pub mod segments;
pub mod wiping;
