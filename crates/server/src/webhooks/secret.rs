//! Secrets of webhooks, and signing with them as Standard Webhooks say. A secret is not kept
//! anywhere: it is made from the webhook's seed and, if the operator sets one, a key that is not in
//! the database.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use ring::hmac::{Context, HMAC_SHA256, Key, Tag};
use slated_model::clock::Timestamp;
use slated_store::records::webhook::Webhook;

const PREFIX: &str = "whsec_";
const PURPOSE: &[u8] = b"slated webhook secret\0";

/// What the operator adds to every secret.
#[derive(Clone, Default)]
pub struct SecretKey(String);

impl From<String> for SecretKey {
    fn from(key: String) -> Self {
        Self(key)
    }
}

impl SecretKey {
    fn derive(&self, seed: &[u8]) -> Tag {
        authenticate(self.0.as_bytes(), &[PURPOSE, seed])
    }

    /// The secret that comes of a seed, as the owner of the webhook gets to see it, once.
    pub fn reveal(&self, seed: &[u8]) -> String {
        format!("{PREFIX}{}", STANDARD.encode(self.derive(seed)))
    }

    /// The value of `webhook-signature`: one signature for each secret that counts.
    pub fn sign(
        &self,
        webhook: &Webhook,
        id: &str,
        timestamp: i64,
        body: &[u8],
        now: Timestamp,
    ) -> String {
        let old =
            webhook.old_secret.as_ref().filter(|(_, until)| now < *until).map(|(seed, _)| seed);
        let mut signatures = String::new();
        for seed in [Some(&webhook.secret_seed), old].into_iter().flatten() {
            let signature = authenticate(
                self.derive(seed).as_ref(),
                &[format!("{id}.{timestamp}.").as_bytes(), body],
            );
            let space = if signatures.is_empty() { "" } else { " " };
            let _ = write!(signatures, "{space}v1,{}", STANDARD.encode(signature));
        }
        signatures
    }
}

/// What proves that somebody who knows the secret said all the parts, one behind the other.
fn authenticate(secret: &[u8], parts: &[&[u8]]) -> Tag {
    let mut context = Context::with_key(&Key::new(HMAC_SHA256, secret));
    parts.iter().for_each(|part| context.update(part));
    context.sign()
}
