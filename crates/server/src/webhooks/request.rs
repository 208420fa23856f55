//! One call of a webhook.

use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::header::CONTENT_TYPE;
use reqwest::{Client, Response, Url};
use slated_model::clock::Timestamp;
use slated_model::event::Event;
use slated_operations::webhook_delivery::{Attempt, Outcome};
use slated_store::records::webhook::Webhook;

use super::secret::SecretKey;
use crate::outbound::{AllowedAddresses, Redirects, client, explain, retry_after};

const TIMEOUT: Duration = Duration::from_secs(10);
/// What is read of an answer, and what is kept of that.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;
const CHARACTERS_KEPT: usize = 512;

#[derive(Clone)]
pub struct Caller {
    client: Client,
    targets: Arc<AllowedAddresses>,
    secret_key: SecretKey,
}

impl Caller {
    pub fn new(targets: Arc<AllowedAddresses>, secret_key: SecretKey) -> Result<Self, String> {
        Ok(Self { client: client(&targets, TIMEOUT, Redirects::Followed)?, targets, secret_key })
    }

    pub async fn deliver(&self, webhook: &Webhook, event: &Event) -> Outcome {
        let now = Timestamp::now();
        let started = Instant::now();
        let called = self.call(webhook, event, now).await;
        let duration_ms = i64::try_from(started.elapsed().as_millis()).unwrap_or(i64::MAX);
        let attempt = |status, error, answer| Attempt {
            at: now.to_string(),
            duration_ms,
            status,
            error,
            answer,
        };
        match called {
            Ok((status, answer, _)) if (200..300).contains(&status) => {
                Outcome::Delivered(attempt(Some(status), String::new(), answer))
            }
            Ok((status, answer, retry_after)) => {
                Outcome::Failed(attempt(Some(status), String::new(), answer), retry_after)
            }
            Err(error) => Outcome::Failed(attempt(None, error, String::new()), None),
        }
    }

    async fn call(
        &self,
        webhook: &Webhook,
        event: &Event,
        now: Timestamp,
    ) -> Result<(u16, String, Option<i64>), String> {
        let url = Url::parse(&webhook.url).map_err(|error| error.to_string())?;
        self.targets.check(&url).map_err(|reason| format!("the URL {reason}"))?;
        let body = serde_json::to_vec(event).map_err(|error| error.to_string())?;
        let id = event.id.to_string();
        let timestamp = now.millis() / 1000;
        let signature = self.secret_key.sign(webhook, &id, timestamp, &body, now);
        let request = self
            .client
            .post(url)
            .header(CONTENT_TYPE, "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", timestamp.to_string())
            .header("webhook-signature", signature)
            .body(body);
        let response = request.send().await.map_err(|error| explain(error, TIMEOUT))?;
        let status = response.status().as_u16();
        let retry_after = retry_after(response.headers(), now);
        Ok((status, beginning(response).await, retry_after))
    }
}

/// How the answer begins. What cannot be read of it does not matter: the status says what counts.
async fn beginning(mut response: Response) -> String {
    let mut read = Vec::new();
    while let Ok(Some(chunk)) = response.chunk().await {
        read.extend_from_slice(&chunk);
        if read.len() >= MAX_RESPONSE_BYTES {
            break;
        }
    }
    let text = String::from_utf8_lossy(&read);
    text.chars().filter(|character| *character != '\0').take(CHARACTERS_KEPT).collect()
}
