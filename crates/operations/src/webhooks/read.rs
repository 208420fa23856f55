//! Looking at webhooks.

use slated_model::id::{WebhookId, WorkspaceId};
use slated_store::records::webhook;
use slated_store::records::webhook::Webhook;
use slated_store::{Operation, OperationError, Tx};

use super::missing;

pub struct ListWebhooks {
    pub workspace: WorkspaceId,
}

impl Operation for ListWebhooks {
    type Output = Vec<Webhook>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Webhook>, OperationError> {
        Ok(webhook::all(tx, self.workspace).await?)
    }
}

pub struct ReadWebhook {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
}

impl Operation for ReadWebhook {
    type Output = Webhook;

    async fn run(&self, tx: &mut Tx) -> Result<Webhook, OperationError> {
        Ok(webhook::find(tx, self.workspace, self.id).await?.ok_or_else(|| missing(self.id))?)
    }
}
