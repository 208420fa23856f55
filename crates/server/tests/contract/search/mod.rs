//! Finding persons by words.

mod filtered;
mod words;
