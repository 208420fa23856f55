//! Making a webhook.

use slated_model::event::{EventType, Subject};
use slated_model::id::WorkspaceId;
use slated_model::problem::{ErrorCode, Problem};
use slated_model::webhook::{MAX_WEBHOOKS, NewWebhook};
use slated_store::records::events::reading;
use slated_store::records::events::reading::Beside;
use slated_store::records::webhook::Webhook;
use slated_store::records::{webhook, workspace};
use slated_store::{Operation, OperationError, Tx};

use super::{WebhookFields, newest_of_all};
use crate::Actor;
use crate::emit::{Empty, EventData, emit};

pub struct CreateWebhook {
    pub actor: Actor,
    pub new: NewWebhook,
    pub seed: Vec<u8>,
}

impl Operation for CreateWebhook {
    type Output = Webhook;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Webhook, OperationError> {
        let workspace = self.actor.workspace;
        // So that two at once do not make one too many.
        workspace::lock(tx, workspace).await?;
        if webhook::all(tx, workspace).await?.len() >= MAX_WEBHOOKS {
            let message = format!(
                "The workspace has {MAX_WEBHOOKS} webhooks, which is the maximum; delete one \
                 first."
            );
            return Err(Problem::new(ErrorCode::TooManyWebhooks, message).into());
        }
        let NewWebhook { url, types, description } = self.new.clone();
        let mut created = Webhook {
            id: tx.new_id(),
            url,
            types,
            description,
            is_enabled: true,
            secret_seed: self.seed.clone(),
            old_secret: None,
            created_at: tx.now(),
            updated_at: tx.now(),
            settled_sequence: 0,
            failed_rounds: 0,
            paused_at: None,
            due_at: None,
            last_success_at: None,
            last_error: String::new(),
            lease: None,
        };
        let told = EventData::new(Empty {}, WebhookFields::of(&created));
        emit(tx, &self.actor, EventType::WebhookCreated, Subject::of(created.id), &told).await?;
        // That is the first event that it gets.
        let newest = newest_of_all(tx, workspace).await?;
        let (events, _) =
            reading::timeline(tx, workspace, created.id, Beside::Nothing, i64::MAX, 1).await?;
        created.settled_sequence = events.first().map_or(newest, |event| event.sequence - 1);
        webhook::insert(tx, workspace, &created).await?;
        Ok(created)
    }
}
