//! Delivering events to a webhook, as turns: take a [`lease`], [`plan`] what is due, call, [`settle`] what came of it. All that is known of a
//! turn before it is settled is what the endpoint answered, so a server may die at any point and another goes on.

mod delays;
mod lease;
mod plan;
mod settle;

use serde::{Deserialize, Serialize};

pub use self::delays::RetryDelays;
pub use self::lease::{ClearLeases, DueWebhooks, LEASE_MILLIS, RenewLease, TakeLease};
pub use self::plan::{IsAsPlanned, Parcel, PlanTurn, Turn};
pub use self::settle::Settle;

/// Deliveries that may wait at once; new events are not looked at until some are through or given up.
const MOST_WAITING: i64 = 5000;

/// How it is said that a webhook lost events.
const FORGOTTEN: &str = "were forgotten before they could be delivered";

pub fn gap(first: i64, last: i64) -> String {
    format!("events {first} to {last} {FORGOTTEN}")
}

fn is_gap(error: &str) -> bool {
    error.ends_with(FORGOTTEN)
}

/// One call and what came of it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Attempt {
    pub at: String,
    pub duration_ms: i64,
    pub status: Option<u16>,
    pub error: String,
    /// How the answer began.
    pub answer: String,
}

/// What came of a delivery in a turn.
#[derive(Clone, Debug)]
pub enum Outcome {
    Delivered(Attempt),
    /// With the seconds that the endpoint asked to wait.
    Failed(Attempt, Option<i64>),
    /// One before it in its lane failed, or the turn was over.
    Untried,
}
