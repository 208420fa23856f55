//! Secrets of webhooks, and signing with them as Standard Webhooks say. A secret is not kept anywhere: it is made from the webhook's seed
//! and, if the operator sets one, a key that is not in the database.

use std::fmt::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use model::clock::Timestamp;
use sha2::Sha256;
use store::record::webhook::Webhook;

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
    fn derive(&self, seed: &[u8]) -> Option<[u8; 32]> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.0.as_bytes()).ok()?;
        mac.update(PURPOSE);
        mac.update(seed);
        Some(mac.finalize().into_bytes().into())
    }

    /// The secret that comes of a seed, as the owner of the webhook gets to see it, once.
    pub fn reveal(&self, seed: &[u8]) -> String {
        self.derive(seed).map_or_else(String::new, |secret| format!("{PREFIX}{}", STANDARD.encode(secret)))
    }

    /// The value of `webhook-signature`: one signature for each secret that counts.
    pub fn sign(&self, webhook: &Webhook, id: &str, timestamp: i64, body: &[u8], now: Timestamp) -> String {
        let old = webhook.old_secret.as_ref().filter(|(_, until)| now < *until).map(|(seed, _)| seed);
        let mut signatures = String::new();
        for seed in [Some(&webhook.secret_seed), old].into_iter().flatten() {
            let Some(mut mac) = self.derive(seed).and_then(|secret| Hmac::<Sha256>::new_from_slice(&secret).ok()) else { continue };
            mac.update(format!("{id}.{timestamp}.").as_bytes());
            mac.update(body);
            let space = if signatures.is_empty() { "" } else { " " };
            let _ = write!(signatures, "{space}v1,{}", STANDARD.encode(mac.finalize().into_bytes()));
        }
        signatures
    }
}
