//! Delivering events to a webhook in turns: take a [`lease`], [`plan`] what is due, make the calls,
//! and [`record_outcomes`]. Nothing of a turn is stored before its outcomes are, so a server may
//! die at any point and another continues.

mod delays;
mod lease;
mod outcome;
mod plan;
mod record_outcomes;

pub use self::delays::RetryDelays;
pub use self::lease::{ClearLeases, DueWebhooks, LEASE_MILLIS, RenewLease, TakeLease};
pub use self::outcome::{Attempt, Gap, Outcome};
pub use self::plan::{DeliveryBatch, IsAsPlanned, PendingDelivery, PlanBatch};
pub use self::record_outcomes::RecordOutcomes;
