//! What was delivered to a webhook, and sending it again.

use std::collections::HashMap;

use slated_model::id::{WebhookId, WorkspaceId};
use slated_model::problem::Problem;
use slated_store::records::events::reading;
use slated_store::records::events::reading::Head;
use slated_store::records::webhook;
use slated_store::records::webhook::{Delivery, DeliveryStatus};
use slated_store::{Operation, OperationError, Tx};

use super::missing;
use crate::Actor;

/// Deliveries before a number, newest first.
pub struct ListDeliveries {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
    pub status: Option<DeliveryStatus>,
    pub before: Option<i64>,
    pub limit: i64,
}

impl Operation for ListDeliveries {
    /// With the number to go on before, if there is more.
    type Output = (Vec<(Delivery, Head)>, Option<i64>);

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let Self { workspace, id, status, before, limit } = *self;
        webhook::find(tx, workspace, id).await?.ok_or_else(|| missing(id))?;
        let mut found =
            webhook::deliveries(tx, workspace, id, status, before.unwrap_or(i64::MAX), limit + 1)
                .await?;
        let has_more = found.len() as i64 > limit;
        found.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        let next = found.last().filter(|_| has_more).map(|delivery| delivery.sequence);
        let sequences: Vec<_> = found.iter().map(|delivery| delivery.sequence).collect();
        let heads = reading::heads(tx, workspace, &sequences).await?;
        Ok((together(found, heads, |head| head.sequence), next))
    }
}

/// Puts deliveries together with what is known of the events that they deliver; those whose event
/// is forgotten go with it.
pub fn together<E>(
    deliveries: Vec<Delivery>,
    events: Vec<E>,
    sequence: impl Fn(&E) -> i64,
) -> Vec<(Delivery, E)> {
    let mut events: HashMap<i64, E> =
        events.into_iter().map(|event| (sequence(&event), event)).collect();
    deliveries
        .into_iter()
        .filter_map(|delivery| events.remove(&delivery.sequence).map(|event| (delivery, event)))
        .collect()
}

pub struct ReadDelivery {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
    pub sequence: i64,
}

impl Operation for ReadDelivery {
    type Output = (Delivery, Head);

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let Self { workspace, id, sequence } = *self;
        webhook::find(tx, workspace, id).await?.ok_or_else(|| missing(id))?;
        let delivery = webhook::find_delivery(tx, workspace, id, sequence).await?;
        let event = reading::heads(tx, workspace, &[sequence]).await?.pop();
        Ok(delivery.zip(event).ok_or_else(|| Problem::not_found("delivery", sequence))?)
    }
}

/// Sends one event again.
pub struct ResendDelivery {
    pub actor: Actor,
    pub id: WebhookId,
    pub sequence: i64,
}

impl Operation for ResendDelivery {
    type Output = (Delivery, Head);

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let workspace = self.actor.workspace;
        let mut resent =
            webhook::load(tx, workspace, self.id).await?.ok_or_else(|| missing(self.id))?;
        let delivery = webhook::find_delivery(tx, workspace, self.id, self.sequence).await?;
        let event = reading::heads(tx, workspace, &[self.sequence]).await?.pop();
        let (delivery, event) =
            delivery.zip(event).ok_or_else(|| Problem::not_found("delivery", self.sequence))?;
        let delivery = Delivery {
            status: DeliveryStatus::Pending,
            failure_count: 0,
            next_attempt_at: None,
            updated_at: tx.now(),
            ..delivery
        };
        webhook::keep_deliveries(tx, workspace, self.id, std::slice::from_ref(&delivery)).await?;
        resent.due_at = Some(tx.now());
        webhook::update(tx, workspace, &resent).await?;
        tx.notify(workspace);
        Ok((delivery, event))
    }
}
