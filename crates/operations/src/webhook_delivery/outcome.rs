//! What came of a call, and what a webhook lost.

use std::fmt;

use serde::{Deserialize, Serialize};
use slated_model::clock::Timestamp;
use slated_store::records::webhook::Webhook;

/// Deliveries that may wait at once; new events are not looked at until some are through or given
/// up.
pub(super) const MAX_WAITING: i64 = 5000;

/// Events that a webhook lost: they were forgotten before they could be delivered. Some in between
/// may have been delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gap {
    pub first: i64,
    pub last: i64,
}

const FORGOTTEN: &str = " were forgotten before they could be delivered";

impl fmt::Display for Gap {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, last } = self;
        write!(formatter, "events {first} to {last}{FORGOTTEN}")
    }
}

impl Gap {
    /// That which the error of a webhook tells of, if it does.
    pub(super) fn in_error(error: &str) -> Option<Self> {
        let (first, last) =
            error.strip_prefix("events ")?.strip_suffix(FORGOTTEN)?.split_once(" to ")?;
        Some(Self { first: first.parse().ok()?, last: last.parse().ok()? })
    }

    /// Lets the webhook say so, together with what it had lost before.
    pub fn note(self, webhook: &mut Webhook) {
        tracing::warn!(webhook.id = %webhook.id, gap = %self, "a webhook misses events");
        let known = Self::in_error(&webhook.last_error).unwrap_or(self);
        webhook.last_error =
            Self { first: known.first.min(self.first), last: known.last.max(self.last) }
                .to_string();
    }
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

impl Attempt {
    pub(super) fn begun_at(&self) -> Timestamp {
        Timestamp::parse(&self.at).unwrap_or(Timestamp::from_millis(0))
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_found_again_in_what_is_said_of_it() {
        let gap = Gap { first: 3, last: 17 };
        assert_eq!(Gap::in_error(&gap.to_string()), Some(gap));
        for other in [
            "",
            "it answered 500",
            "events 3 to 17",
            "events three to 17 were forgotten before they could be delivered",
        ] {
            assert_eq!(Gap::in_error(other), None, "{other}");
        }
    }
}
