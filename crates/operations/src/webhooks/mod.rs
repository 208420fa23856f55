//! Webhooks: made, changed, tried, and what was delivered to them.

pub mod create;
pub mod delete;
pub mod deliveries;
pub mod read;
pub mod replay;
pub mod secret;
pub mod test;
pub mod update;

use serde::Serialize;
use slated_model::id::{WebhookId, WorkspaceId};
use slated_model::problem::Problem;
use slated_store::records::events::{log, outbox};
use slated_store::records::webhook::Webhook;
use slated_store::{StoreError, Tx};
use url::Url;

/// A webhook as events show it. Of its URL only the host: the rest may be nobody else's business.
#[derive(Serialize)]
struct WebhookFields<'w> {
    host: String,
    types: &'w [String],
    description: &'w str,
    is_enabled: bool,
}

impl<'w> WebhookFields<'w> {
    fn of(webhook: &'w Webhook) -> Self {
        let host = Url::parse(&webhook.url)
            .ok()
            .and_then(|url| url.host_str().map(str::to_owned))
            .unwrap_or_default();
        Self {
            host,
            types: webhook.types.patterns(),
            description: &webhook.description,
            is_enabled: webhook.is_enabled,
        }
    }
}

fn missing(id: WebhookId) -> Problem {
    Problem::not_found("webhook", id)
}

/// The number of the newest event, once all that were told of have one.
async fn newest_of_all(tx: &mut Tx, workspace: WorkspaceId) -> Result<i64, StoreError> {
    while outbox::number(tx, workspace).await? {}
    log::newest(tx, workspace).await
}
