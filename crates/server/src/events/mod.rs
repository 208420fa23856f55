//! What happens to an event once its change is committed.
//!
//! change ──> log ──> [`publisher`]: numbers it, where that is not done yet, and wakes
//!                     ├──> streams, which wait at the [`subscribers`] and read the log
//!                     └──> webhooks, which have a module of their own
//!
//! Nothing is handed on in memory: whoever is woken reads the log from where they were. So nothing
//! is lost if a wake-up is, and a wake-up too many costs a look.

pub mod publisher;
mod subscribers;

pub use subscribers::{MAX_FOLLOWERS, Subscribers};
