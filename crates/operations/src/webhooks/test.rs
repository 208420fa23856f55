//! Trying a webhook out.

use serde::Serialize;
use slated_model::event::{Event, EventType, Subject};
use slated_model::id::{WebhookId, WorkspaceId};
use slated_store::records::events::reading;
use slated_store::records::events::reading::Beside;
use slated_store::records::webhook;
use slated_store::{Operation, OperationError, StoreError, Tx};

use super::{missing, newest_of_all};
use crate::Actor;
use crate::emit::{Empty, EventData, emit};

/// Writes an event that only this webhook gets.
pub struct TestWebhook {
    pub actor: Actor,
    pub id: WebhookId,
}

#[derive(Serialize)]
struct TestFields {
    message: &'static str,
}

impl Operation for TestWebhook {
    type Output = Event;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        // Whoever numbers events holds them before a webhook.
        newest_of_all(tx, self.actor.workspace).await?;
        let mut tested = webhook::load(tx, self.actor.workspace, self.id)
            .await?
            .ok_or_else(|| missing(self.id))?;
        if tested.failed_rounds > 0 {
            tested.due_at = Some(tx.now());
            webhook::update(tx, self.actor.workspace, &tested).await?;
        }
        let told = EventData::new(
            Empty {},
            TestFields { message: "If you can read this, the webhook works." },
        );
        let told =
            emit(tx, &self.actor, EventType::WebhookTest, Subject::of(self.id), &told).await?;
        newest_of_all(tx, self.actor.workspace).await?;
        let (events, _) =
            reading::timeline(tx, self.actor.workspace, self.id, Beside::Nothing, i64::MAX, 1)
                .await?;
        let event = events.into_iter().find(|event| Some(event.id) == told);
        Ok(event.ok_or_else(|| {
            StoreError::Conflict("other events were recorded in between".to_owned())
        })?)
    }
}
