//! Webhooks, for whoever may manage the workspace.

pub mod create;
pub mod delete;
pub mod deliveries;
pub mod list;
pub mod read;
pub mod replay;
pub mod resend;
pub mod rotate;
pub mod test;
pub mod update;

use std::sync::Arc;

use axum::http::StatusCode;
use model::id::WebhookId;
use model::webhook::UrlRule;
use reqwest::Url;
use serde_json::Value;
use store::Work;
use store::record::webhook::Webhook;

use super::shape::webhook::WebhookRead;
use crate::http::answer::answer;
use crate::http::{Reply, Write};
use crate::ops::idempotency::Answer;
use crate::ops::webhooks::ReadWebhook;
use crate::outgoing::Targets;

impl UrlRule for Targets {
    fn check(&self, url: &str) -> Result<(), String> {
        let url = Url::parse(url).map_err(|_| "must be a URL such as https://example.com/hooks".to_owned())?;
        self.check(&url)
    }
}

fn shown(status: StatusCode, webhook: &Webhook) -> Answer {
    answer(status, WebhookRead::from(webhook))
}

/// Carries out what gives a webhook a secret, and shows it. The answer is kept without the secret, so that it stands nowhere.
async fn carry_out_and_reveal<W: Work<Output = Webhook>>(request: Write, work: W, status: StatusCode) -> Reply {
    let app = Arc::clone(&request.app);
    let workspace = request.actor.workspace;
    let without = move |webhook: Webhook| answer(status, WebhookRead { secret: Some(String::new()), ..WebhookRead::from(&webhook) });
    let mut answer = request.carry_out(work, without).await?;
    let mut body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    if let Some(id) = body["data"]["id"].as_str().and_then(WebhookId::parse) {
        let webhook = app.store.read(ReadWebhook { workspace, id }).await?;
        body["data"]["secret"] = app.delivering.secret_key.reveal(&webhook).into();
        answer.body = serde_json::to_vec(&body).unwrap_or(answer.body);
    }
    Ok(answer)
}
