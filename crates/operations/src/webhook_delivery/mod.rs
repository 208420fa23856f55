//! Delivering events to a webhook, as turns: take a [`lease`], [`plan`] what is due, call,
//! [`record_outcomes`] what came of it. All that is known of a turn before it is settled is what the
//! endpoint answered, so a server may die at any point and another goes on.

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
