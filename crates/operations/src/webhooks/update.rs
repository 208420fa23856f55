//! Changing a webhook.

use slated_model::event::{EventType, Subject};
use slated_model::id::{WebhookId, WorkspaceId};
use slated_model::webhook::WebhookPatch;
use slated_store::records::webhook;
use slated_store::records::webhook::Webhook;
use slated_store::{Operation, OperationError, Tx};

use super::{WebhookFields, missing};
use crate::Actor;
use crate::emit::{EventData, differences, emit};

pub struct UpdateWebhook {
    pub actor: Actor,
    pub id: WebhookId,
    pub patch: WebhookPatch,
}

impl Operation for UpdateWebhook {
    type Output = Webhook;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Webhook, OperationError> {
        let workspace = self.actor.workspace;
        let before =
            webhook::load(tx, workspace, self.id).await?.ok_or_else(|| missing(self.id))?;
        let WebhookPatch { url, types, description, is_enabled } = self.patch.clone();
        let mut updated = before.clone();
        updated.url = url.unwrap_or(updated.url);
        updated.types = types.unwrap_or(updated.types);
        updated.description = description.unwrap_or(updated.description);
        updated.is_enabled = is_enabled.unwrap_or(updated.is_enabled);
        let changes = differences(&WebhookFields::of(&before), &WebhookFields::of(&updated))?;
        if changes.is_none() && updated.url == before.url {
            return Ok(before);
        }
        updated.updated_at = tx.now();
        // Whatever was wrong may be mended by this, so it is tried at once.
        if updated.failed_rounds > 0 {
            updated.due_at = Some(tx.now());
        }
        webhook::update(tx, workspace, &updated).await?;
        let (was, is) = changes.unwrap_or_default();
        emit(
            tx,
            &self.actor,
            EventType::WebhookUpdated,
            Subject::of(self.id),
            &EventData::new(was, is),
        )
        .await?;
        Ok(updated)
    }
}
