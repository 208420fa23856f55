//! Sending a webhook again what happened.

use slated_model::event::EventType;
use slated_model::id::{WebhookId, WorkspaceId};
use slated_store::records::events::reading;
use slated_store::records::webhook;
use slated_store::records::webhook::Delivery;
use slated_store::{Operation, OperationError, Tx};

use super::missing;
use crate::Actor;
use crate::events::read::forgotten;

/// Events that one replay sends again at most.
const MAX_REPLAYED: i64 = 10_000;

/// Sends the events of a range again that the webhook wants; says how many.
pub struct ReplayEvents {
    pub actor: Actor,
    pub id: WebhookId,
    pub after: i64,
    pub until: Option<i64>,
}

impl Operation for ReplayEvents {
    type Output = usize;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize, OperationError> {
        let workspace = self.actor.workspace;
        let mut replayed =
            webhook::load(tx, workspace, self.id).await?.ok_or_else(|| missing(self.id))?;
        // What comes behind is not settled yet, and will be delivered anyway.
        let until = self.until.unwrap_or(i64::MAX).min(replayed.settled_sequence);
        // Tests are for the moment, and for one webhook.
        let types = replayed.types.without(EventType::WebhookTest);
        let wanted =
            reading::numbers(tx, workspace, self.after, until, &types, MAX_REPLAYED).await?;
        let wanted = wanted.map_err(|gone| forgotten(&gone))?;
        let deliveries: Vec<_> =
            wanted.into_iter().map(|sequence| Delivery::pending(sequence, tx.now())).collect();
        webhook::keep_deliveries(tx, workspace, self.id, &deliveries).await?;
        if !deliveries.is_empty() {
            replayed.due_at = Some(tx.now());
            webhook::update(tx, workspace, &replayed).await?;
            tx.notify(workspace);
        }
        Ok(deliveries.len())
    }
}
