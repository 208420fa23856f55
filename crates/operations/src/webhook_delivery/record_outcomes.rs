//! What follows from what an endpoint answered: what is delivered, tried again or given up, and
//! whether the webhook is failing.

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::event::{EventType, Subject};
use slated_model::id::{LeaseId, WorkspaceId};
use slated_store::records::events::{log, reading};
use slated_store::records::webhook;
use slated_store::records::webhook::{Delivery, DeliveryStatus, Webhook};
use slated_store::{Operation, OperationError, StoreError, Tx};

use super::delays::{RetryDelays, asked_for};
use super::outcome::{Attempt, Gap, MAX_WAITING, Outcome};
use super::plan::{DeliveryBatch, Lanes, PendingDelivery, Queues};
use crate::Actor;
use crate::emit::{Empty, EventData, emit};

/// Attempts of a delivery that are kept.
const ATTEMPTS_KEPT: usize = 20;
/// Rounds without any success after which a webhook is paused.
const ROUNDS_TO_PAUSE: i64 = 5;

/// Keeps what came of a turn.
pub struct RecordOutcomes {
    pub workspace: WorkspaceId,
    pub lease: LeaseId,
    pub turn: DeliveryBatch,
    /// One for each parcel, lane by lane.
    pub outcomes: Vec<Vec<Outcome>>,
    pub delays: RetryDelays,
    /// The server stops, so another has to go on.
    pub is_last: bool,
}

impl Operation for RecordOutcomes {
    /// Whether there is more to do at once.
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        let Self { workspace, lease, turn, .. } = self;
        let id = turn.webhook.id;
        let Some(mut webhook) = webhook::load(tx, *workspace, id).await? else { return Ok(false) };
        if webhook.lease.is_none_or(|(holder, _)| holder != *lease) {
            // It took too long: another server has delivered the same, or will.
            return Ok(false);
        }
        // Somebody asked for something meanwhile, by changing the webhook or sending events again.
        let was_asked = webhook.due_at != turn.webhook.due_at || webhook.url != turn.webhook.url;
        let is_failing = self.is_failing();
        let kept = self.deliveries(tx.now(), is_failing)?;
        let kept = self.unchanged(tx, kept).await?;
        let kept = self.without_the_erased(tx, kept).await?;
        let (kept, lost) = self.without_the_forgotten(tx, kept).await?;
        webhook::keep_deliveries(tx, *workspace, id, &kept).await?;
        webhook.settled_sequence = turn.settled_sequence.max(webhook.settled_sequence);
        if let Some(last) = self.successes().max() {
            webhook.last_success_at = webhook.last_success_at.max(Some(last));
            webhook.last_error.clear();
            self.note_recovery(tx, &mut webhook).await?;
        } else if turn.has_nothing_to_try {
            // With nothing left to try it with, a webhook counts as whole too.
            if Gap::in_error(&webhook.last_error).is_none() {
                webhook.last_error.clear();
            }
            self.note_recovery(tx, &mut webhook).await?;
        }
        match is_failing {
            true => self.note_failure(tx, &mut webhook).await?,
            // A webhook that is failing waits for its probe; if all that waits has a time of its
            // own, there may be something new by then.
            false if webhook.failed_rounds > 0 => {
                if let Some(next) = turn.next_due.filter(|_| turn.held.is_empty()) {
                    let delay = self.delays.before_probe(webhook.failed_rounds, rand::random());
                    webhook.due_at = Some(next.min(tx.now().plus_millis(delay)));
                }
            }
            false => {
                let waiting = webhook::waiting(tx, *workspace, id, MAX_WAITING).await?;
                let lanes = Lanes::of(tx, *workspace, &waiting, &[]).await?;
                let queues = Queues::of(&waiting, &lanes, tx.now());
                webhook.due_at =
                    if queues.due.is_empty() { queues.next_due } else { Some(tx.now()) };
            }
        }
        for gap in turn.gap.into_iter().chain(lost) {
            gap.note(&mut webhook);
        }
        if was_asked {
            webhook.due_at = Some(tx.now());
        }
        webhook::update(tx, *workspace, &webhook).await?;
        let is_due = webhook.due_at.is_some_and(|due| due <= tx.now());
        let goes_on = webhook.is_enabled
            && !turn.is_idle()
            && !self.is_last
            && (is_due || (webhook.failed_rounds == 0 && turn.has_more));
        if !goes_on {
            webhook::set_lease(tx, *workspace, id, None).await?;
        }
        Ok(goes_on)
    }
}

impl RecordOutcomes {
    fn tried(&self) -> impl Iterator<Item = (&PendingDelivery, &Outcome)> {
        self.turn.lanes.iter().flatten().zip(self.outcomes.iter().flatten())
    }

    /// When the calls were begun that got through.
    fn successes(&self) -> impl Iterator<Item = Timestamp> {
        self.tried().filter_map(|(_, outcome)| match outcome {
            Outcome::Delivered(attempt) => Some(attempt.begun_at()),
            _ => None,
        })
    }

    /// Whether nothing got through. Events that failed before, while others got through since, are
    /// the cause themselves: they say nothing of the endpoint, unless it is failing anyway.
    fn is_failing(&self) -> bool {
        let webhook = &self.turn.webhook;
        let is_bad = |parcel: &PendingDelivery| {
            let first = parcel.delivery.as_ref().and_then(first_attempt);
            first.is_some_and(|first| {
                webhook.last_success_at.is_some_and(|success| success >= first)
            })
        };
        let mut failed =
            self.tried().filter(|(_, outcome)| matches!(outcome, Outcome::Failed(..))).peekable();
        let any_failed = failed.peek().is_some();
        any_failed
            && self.successes().next().is_none()
            && (webhook.failed_rounds > 0 || !failed.all(|(parcel, _)| is_bad(parcel)))
    }

    /// Leaves out deliveries that somebody asked for anew since they were looked at.
    async fn unchanged(
        &self,
        tx: &mut Tx,
        kept: Vec<Delivery>,
    ) -> Result<Vec<Delivery>, StoreError> {
        let known: HashMap<i64, Timestamp> = self
            .tried()
            .filter_map(|(parcel, _)| {
                parcel.delivery.as_ref().map(|delivery| (delivery.sequence, delivery.updated_at))
            })
            .collect();
        let sequences: Vec<_> = known.keys().copied().collect();
        let now =
            webhook::find_deliveries(tx, self.workspace, self.turn.webhook.id, &sequences).await?;
        let changed: HashSet<i64> = now
            .iter()
            .filter(|delivery| known.get(&delivery.sequence) != Some(&delivery.updated_at))
            .map(|delivery| delivery.sequence)
            .collect();
        Ok(kept.into_iter().filter(|delivery| !changed.contains(&delivery.sequence)).collect())
    }

    /// Lets what was answered to events be forgotten whose contents were erased since they were
    /// sent.
    async fn without_the_erased(
        &self,
        tx: &mut Tx,
        mut kept: Vec<Delivery>,
    ) -> Result<Vec<Delivery>, StoreError> {
        let sequences: Vec<_> = kept
            .iter()
            .filter(|delivery| delivery.attempts != "[]")
            .map(|delivery| delivery.sequence)
            .collect();
        let erased = log::erased_among(tx, self.workspace, &sequences).await?;
        for delivery in kept.iter_mut().filter(|delivery| erased.contains(&delivery.sequence)) {
            "[]".clone_into(&mut delivery.attempts);
        }
        Ok(kept)
    }

    /// Leaves out deliveries of events that were forgotten since they were looked at; says which of
    /// them were not delivered.
    async fn without_the_forgotten(
        &self,
        tx: &mut Tx,
        mut kept: Vec<Delivery>,
    ) -> Result<(Vec<Delivery>, Option<Gap>), StoreError> {
        let oldest = reading::oldest(tx, self.workspace).await?;
        let is_lost = |delivery: &&Delivery| {
            delivery.sequence < oldest && delivery.status != DeliveryStatus::Delivered
        };
        let lost = || kept.iter().filter(is_lost).map(|delivery| delivery.sequence);
        let gap = lost().min().zip(lost().max()).map(|(first, last)| Gap { first, last });
        kept.retain(|delivery| delivery.sequence >= oldest);
        Ok((kept, gap))
    }

    fn deliveries(&self, now: Timestamp, is_failing: bool) -> Result<Vec<Delivery>, StoreError> {
        let mut kept = Vec::new();
        for (parcel, outcome) in self.tried() {
            let is_known = parcel.delivery.is_some();
            let delivery = parcel
                .delivery
                .clone()
                .unwrap_or_else(|| Delivery::pending(parcel.event.sequence, now));
            match outcome {
                Outcome::Delivered(attempt) => {
                    let status = DeliveryStatus::Delivered;
                    kept.push(Delivery {
                        status,
                        next_attempt_at: None,
                        ..tried(delivery, attempt, now)?
                    });
                }
                Outcome::Failed(attempt, retry_after) => kept.push(self.failed(
                    tried(delivery, attempt, now)?,
                    *retry_after,
                    now,
                    is_failing,
                )),
                Outcome::Untried if !is_known => kept.push(delivery),
                Outcome::Untried => {}
            }
        }
        kept.extend(self.turn.held.iter().map(|event| Delivery::pending(event.sequence, now)));
        Ok(kept)
    }

    /// When it is tried again, if it is. While nothing gets through at all, nothing is given up.
    fn failed(
        &self,
        delivery: Delivery,
        retry_after: Option<i64>,
        now: Timestamp,
        is_failing: bool,
    ) -> Delivery {
        if is_failing {
            return Delivery { next_attempt_at: None, ..delivery };
        }
        let delivery = Delivery { failure_count: delivery.failure_count + 1, ..delivery };
        match self.delays.after(delivery.failure_count, rand::random()) {
            None => Delivery { status: DeliveryStatus::Failed, next_attempt_at: None, ..delivery },
            Some(delay) => Delivery {
                next_attempt_at: Some(now.plus_millis(delay.max(asked_for(retry_after)))),
                ..delivery
            },
        }
    }

    fn last_error(&self) -> Option<String> {
        self.outcomes.iter().flatten().rev().find_map(|outcome| match outcome {
            Outcome::Failed(attempt, _) => Some(match attempt.status {
                Some(status) => format!("it answered {status}"),
                None => attempt.error.clone(),
            }),
            _ => None,
        })
    }

    async fn note_recovery(
        &self,
        tx: &mut Tx,
        webhook: &mut Webhook,
    ) -> Result<(), OperationError> {
        webhook.failed_rounds = 0;
        if let Some(paused_at) = webhook.paused_at.take() {
            let told =
                EventData::new(Pause { paused_at: Some(paused_at) }, Pause { paused_at: None });
            emit(
                tx,
                &Actor::program(self.workspace),
                EventType::WebhookResumed,
                Subject::of(webhook.id),
                &told,
            )
            .await?;
        }
        Ok(())
    }

    async fn note_failure(&self, tx: &mut Tx, webhook: &mut Webhook) -> Result<(), OperationError> {
        webhook.failed_rounds += 1;
        webhook.last_error = self.last_error().unwrap_or_default();
        let asked = self.outcomes.iter().flatten().filter_map(|outcome| match outcome {
            Outcome::Failed(_, retry_after) => Some(asked_for(*retry_after)),
            _ => None,
        });
        let delay = self
            .delays
            .before_probe(webhook.failed_rounds, rand::random())
            .max(asked.max().unwrap_or(0));
        webhook.due_at = Some(tx.now().plus_millis(delay));
        if webhook.failed_rounds == ROUNDS_TO_PAUSE {
            webhook.paused_at = Some(tx.now());
            let told = EventData::new(
                Empty {},
                Paused { paused_at: tx.now(), last_error: &webhook.last_error },
            );
            emit(
                tx,
                &Actor::program(self.workspace),
                EventType::WebhookPaused,
                Subject::of(webhook.id),
                &told,
            )
            .await?;
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct Pause {
    paused_at: Option<Timestamp>,
}

#[derive(Serialize)]
struct Paused<'w> {
    paused_at: Timestamp,
    last_error: &'w str,
}

/// When it was first tried, as far as that is kept; nothing if it was not.
fn first_attempt(delivery: &Delivery) -> Option<Timestamp> {
    let attempts: Vec<Attempt> = serde_json::from_str(&delivery.attempts).unwrap_or_default();
    (delivery.attempt_count > 0)
        .then(|| attempts.first().map_or(delivery.created_at, Attempt::begun_at))
}

fn tried(
    mut delivery: Delivery,
    attempt: &Attempt,
    now: Timestamp,
) -> Result<Delivery, StoreError> {
    let broken = |error: serde_json::Error| StoreError::Internal(error.to_string());
    let mut attempts: Vec<Attempt> = serde_json::from_str(&delivery.attempts).map_err(broken)?;
    attempts.push(attempt.clone());
    let from = attempts.len().saturating_sub(ATTEMPTS_KEPT);
    let attempts = serde_json::to_string(&attempts[from..]).map_err(broken)?;
    delivery.attempt_count += 1;
    delivery.attempts = attempts;
    delivery.updated_at = now;
    Ok(delivery)
}
