//! Companies and the persons one talks to at them.

mod contacts;
mod records;
