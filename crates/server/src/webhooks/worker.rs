//! Works on one webhook for as long as there is something to do and nobody else has it.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::{Either, select};
use futures_util::{StreamExt, stream};
use metrics::counter;
use slated_model::id::{LeaseId, WebhookId, WorkspaceId};
use slated_operations::webhook_delivery::{
    IsAsPlanned, LEASE_MILLIS, Outcome, PendingDelivery, PlanBatch, RecordOutcomes, RenewLease,
    RetryDelays, TakeLease,
};
use slated_store::records::webhook::Webhook;
use slated_store::{OperationError, Store};
use tokio::sync::watch;
use tokio::time::Instant;

use super::request::Caller;

/// Lanes that are worked on beside each other.
const CALLS_AT_ONCE: usize = 32;
/// When no new call is begun any more in a turn, so that what was done is kept soon.
const MAX_TURN: Duration = Duration::from_secs(3);
/// How often a worker looks whether it still should.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// When no new call is begun any more.
struct StopSignal {
    at: Instant,
    at_once: AtomicBool,
}

impl StopSignal {
    fn is_over(&self) -> bool {
        self.at_once.load(Ordering::Relaxed) || Instant::now() >= self.at
    }
}

pub struct Worker {
    pub store: Arc<Store>,
    pub caller: Caller,
    pub delays: RetryDelays,
    pub workspace: WorkspaceId,
    pub webhook: WebhookId,
    pub lease: LeaseId,
    pub stopping: watch::Receiver<bool>,
}

impl Worker {
    /// Works until there is nothing to do for now; says whether anything was.
    pub async fn work(&self) -> bool {
        let mut has_worked = false;
        while !*self.stopping.borrow() {
            match self.turn().await {
                Ok(Some(true)) => has_worked = true,
                Ok(Some(false)) => return true,
                Ok(None) => return has_worked,
                Err(failure) => {
                    tracing::warn!(webhook.id = %self.webhook, error = %failure, "deliveries could \
                        not be stored; they are repeated");
                    return false;
                }
            }
        }
        has_worked
    }

    /// Whether there is more to do at once; nothing if there was nothing.
    async fn turn(&self) -> Result<Option<bool>, OperationError> {
        let Self { workspace, webhook: id, lease, .. } = *self;
        if !self.store.write(TakeLease { workspace, id, lease }).await? {
            return Ok(None);
        }
        let Some(turn) = self.store.read_consistent(PlanBatch { workspace, id }).await? else {
            return Ok(None);
        };
        let is_idle = turn.is_idle();
        let outcomes = tokio::select! {
            outcomes = self.deliver_all(&turn.webhook, &turn.lanes) => outcomes,
            () = self.keep_lease() => return Ok(None),
        };
        let (delays, is_last) = (self.delays.clone(), *self.stopping.borrow());
        let goes_on = self
            .store
            .write(RecordOutcomes { workspace, lease, turn, outcomes, delays, is_last })
            .await?;
        Ok((!is_idle).then_some(goes_on))
    }

    async fn deliver_all(
        &self,
        webhook: &Webhook,
        lanes: &[Vec<PendingDelivery>],
    ) -> Vec<Vec<Outcome>> {
        let halt = StopSignal { at: Instant::now() + MAX_TURN, at_once: AtomicBool::new(false) };
        let calls: Vec<_> = lanes
            .iter()
            .enumerate()
            .map(async |(place, lane)| (place, self.deliver_lane(webhook, lane, &halt).await))
            .collect();
        let delivering = stream::iter(calls).buffer_unordered(CALLS_AT_ONCE).collect();
        let mut outcomes: Vec<_> =
            match select(pin!(delivering), pin!(self.watch(webhook, &halt))).await {
                Either::Left((outcomes, _)) => outcomes,
                Either::Right(((), delivering)) => delivering.await,
            };
        outcomes.sort_unstable_by_key(|(place, _)| *place);
        outcomes.into_iter().map(|(_, outcomes)| outcomes).collect()
    }

    /// Ends the turn when somebody switched the webhook off or sent it elsewhere.
    async fn watch(&self, webhook: &Webhook, halt: &StopSignal) {
        let (workspace, id) = (self.workspace, webhook.id);
        loop {
            tokio::time::sleep(POLL_INTERVAL).await;
            if let Ok(false) =
                self.store.read(IsAsPlanned { workspace, id, url: webhook.url.clone() }).await
            {
                halt.at_once.store(true, Ordering::Relaxed);
                return;
            }
        }
    }

    /// One after the other, until one fails.
    async fn deliver_lane(
        &self,
        webhook: &Webhook,
        lane: &[PendingDelivery],
        halt: &StopSignal,
    ) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(lane.len());
        for parcel in lane {
            if halt.is_over() || matches!(outcomes.last(), Some(Outcome::Failed(..))) {
                break;
            }
            let outcome = self.caller.deliver(webhook, &parcel.event).await;
            match &outcome {
                Outcome::Failed(attempt, _) => {
                    counter!("slated_webhook_calls_total", "outcome" => "failed").increment(1);
                    tracing::debug!(webhook.id = %webhook.id,
                        event.sequence = parcel.event.sequence, http.status = attempt.status,
                        error = attempt.error, "a webhook call failed");
                }
                _ => counter!("slated_webhook_calls_total", "outcome" => "delivered").increment(1),
            }
            outcomes.push(outcome);
        }
        outcomes.resize(lane.len(), Outcome::Untried);
        outcomes
    }

    /// Comes back only when another server has the webhook.
    async fn keep_lease(&self) {
        let Self { workspace, webhook: id, lease, .. } = *self;
        loop {
            tokio::time::sleep(Duration::from_millis(LEASE_MILLIS.unsigned_abs() / 4)).await;
            match self.store.write(RenewLease { workspace, id, lease }).await {
                Ok(true) => {}
                Ok(false) => return,
                Err(failure) => {
                    tracing::warn!(webhook.id = %id, error = %failure, "a lease could not be \
                        renewed")
                }
            }
        }
    }
}
