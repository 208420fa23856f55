//! What is true of recruiting data, whoever asks and wherever it is kept: the records, the rules
//! that make them valid, and the catalogue of errors. Nothing here knows HTTP, SQL or an async
//! runtime.

pub mod candidate;
pub mod career;
pub mod clock;
pub mod company;
pub mod contact;
pub mod digest;
pub mod duplicate;
pub mod enrichment;
pub mod event;
pub mod funnel;
pub mod id;
pub mod input;
pub mod job;
pub mod json;
pub mod key;
pub mod listing;
pub mod matched;
pub mod merge;
pub mod name;
pub mod note;
pub mod origin;
pub mod patch;
pub mod person;
pub mod problem;
pub mod profile;
pub mod search;
pub mod social;
pub mod stage;
pub mod stage_duration;
pub mod status;
pub mod template;
pub mod text;
pub mod webhook;
