//! What a webhook signs its calls with.

use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::event::{EventType, Subject};
use slated_model::id::{WebhookId, WorkspaceId};
use slated_store::records::webhook;
use slated_store::records::webhook::Webhook;
use slated_store::{Operation, OperationError, StoreError, Tx};

use super::missing;
use crate::Actor;
use crate::emit::{Empty, EventData, emit};
use crate::keys::random_bytes;

/// What the secret of a webhook is made from.
pub fn new_seed() -> Result<Vec<u8>, StoreError> {
    random_bytes::<32>().map(Vec::from)
}

/// Gives the webhook a new secret; the old one signs along for a while.
pub struct RotateSecret {
    pub actor: Actor,
    pub id: WebhookId,
    pub seed: Vec<u8>,
    pub overlap_seconds: i64,
}

#[derive(Serialize)]
struct OldSecret {
    old_secret_until: Timestamp,
}

impl Operation for RotateSecret {
    type Output = Webhook;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Webhook, OperationError> {
        let workspace = self.actor.workspace;
        let mut rotated =
            webhook::load(tx, workspace, self.id).await?.ok_or_else(|| missing(self.id))?;
        let until = tx.now().plus_millis(self.overlap_seconds * 1000);
        let old = std::mem::replace(&mut rotated.secret_seed, self.seed.clone());
        rotated.old_secret = Some((old, until));
        rotated.updated_at = tx.now();
        webhook::update(tx, workspace, &rotated).await?;
        let told = EventData::new(Empty {}, OldSecret { old_secret_until: until });
        emit(tx, &self.actor, EventType::WebhookSecretRotated, Subject::of(self.id), &told).await?;
        Ok(rotated)
    }
}
