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

use axum::http::StatusCode;
use reqwest::Url;
use slated_model::webhook::UrlRule;
use slated_store::Operation;
use slated_store::records::webhook::Webhook;

use super::responses::webhook::WebhookRead;
use crate::http::response::ApiResponse;
use crate::http::response::{answer, with_secret};
use crate::http::{ApiResult, WriteRequest};
use crate::outbound::AllowedAddresses;

impl UrlRule for AllowedAddresses {
    fn check(&self, url: &str) -> Result<(), String> {
        let url = Url::parse(url)
            .map_err(|_| "must be a URL such as https://example.com/hooks".to_owned())?;
        self.check(&url)
    }
}

fn shown(status: StatusCode, webhook: &Webhook) -> ApiResponse {
    answer(status, WebhookRead::from(webhook))
}

/// Carries out what gives a webhook a secret, and shows it. The answer is kept without the secret,
/// so that it stands nowhere; given again, it has none.
async fn execute_and_reveal<W: Operation<Output = Webhook>>(
    request: WriteRequest,
    work: W,
    status: StatusCode,
    seed: &[u8],
) -> ApiResult {
    let secret = request.app.delivering.secret_key.reveal(seed);
    let without = move |webhook: Webhook| {
        answer(status, WebhookRead { secret: Some(String::new()), ..WebhookRead::from(&webhook) })
    };
    Ok(with_secret(request.execute(work, without).await?, "secret", &secret))
}
