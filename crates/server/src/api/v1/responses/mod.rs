//! The records as the interface shows them: exactly these fields, in this order.

pub mod candidate;
pub mod changes;
pub mod company;
pub mod contact;
pub mod duplicate;
pub mod enrichment;
pub mod event;
pub mod export;
pub mod export_enrichment;
pub mod job;
pub mod key;
pub mod note;
pub mod person;
pub mod person_item;
pub mod profile;
pub mod proposal;
pub mod provenance;
pub mod stage;
pub mod status;
mod stored;
pub mod template;
pub mod webhook;
