//! Deleting a webhook. What was delivered to it goes later, bit by bit.

use slated_model::event::{EventType, Subject};
use slated_model::id::{WebhookId, WorkspaceId};
use slated_store::records::webhook;
use slated_store::{Operation, OperationError, Tx};

use super::{WebhookFields, missing};
use crate::Actor;
use crate::emit::{Empty, EventData, emit};

pub struct DeleteWebhook {
    pub actor: Actor,
    pub id: WebhookId,
}

impl Operation for DeleteWebhook {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        let before = webhook::load(tx, self.actor.workspace, self.id)
            .await?
            .ok_or_else(|| missing(self.id))?;
        webhook::delete(tx, self.actor.workspace, self.id).await?;
        let told = EventData::new(WebhookFields::of(&before), Empty {});
        emit(tx, &self.actor, EventType::WebhookDeleted, Subject::of(self.id), &told).await?;
        Ok(())
    }
}

/// Removes some of what is left of webhooks that were deleted; says whether there is more.
pub struct ClearWebhooksAway {
    pub workspace: WorkspaceId,
}

impl ClearWebhooksAway {
    const MOST: i64 = 1000;
}

impl Operation for ClearWebhooksAway {
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        let mut has_more = false;
        if let Some(id) = webhook::deleted(tx, self.workspace).await?.first() {
            webhook::clear_away(tx, self.workspace, *id, Self::MOST).await?;
            has_more = true;
        }
        Ok(has_more)
    }
}

/// The webhooks of a workspace that were deleted and are still being cleared away.
pub struct DeletedWebhooks {
    pub workspace: WorkspaceId,
}

impl Operation for DeletedWebhooks {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        Ok(!webhook::deleted(tx, self.workspace).await?.is_empty())
    }
}
