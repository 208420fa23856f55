//! Events: what each kind of record puts into one. Every operation that changes a record emits an
//! event here, in the same transaction.

mod candidates;
mod companies;
mod event_data;
mod jobs;
mod keys;
mod persons;

pub use self::candidates::*;
pub use self::companies::*;
pub use self::event_data::*;
pub use self::jobs::*;
pub use self::keys::*;
pub use self::persons::*;
