//! Who calls: the key in the Authorization header, and with it the workspace, the scope and the
//! rate limit.

use std::sync::Arc;

use axum::http::HeaderMap;
use axum::http::header::AUTHORIZATION;
use slated_model::problem::{ErrorCode, Problem};
use slated_store::OperationError;

use super::api_key_cache::{Allowance, KnownKey};
use super::app::App;

/// Finds the caller and counts the request against its limit.
pub async fn identify(
    app: &App,
    headers: &HeaderMap,
) -> Result<(Arc<KnownKey>, Option<Allowance>), OperationError> {
    let shown = bearer(headers).ok_or_else(unauthenticated)?;
    let key = app.api_keys.find(&app.store, shown).await?.ok_or_else(unauthenticated)?;
    let allowance = key.spend();
    Ok((key, allowance))
}

/// Whether the key that a caller showed a while ago still opens the door.
pub async fn is_still_good(app: &App, headers: &HeaderMap) -> bool {
    match bearer(headers) {
        // A database that is away says nothing about the key.
        Some(shown) => !app.api_keys.find(&app.store, shown).await.is_ok_and(|key| key.is_none()),
        None => false,
    }
}

/// One sentence for every reason: what is wrong with a key is nobody's business but its owner's.
fn unauthenticated() -> Problem {
    Problem::new(
        ErrorCode::Unauthenticated,
        "A valid API key is needed: send it as Authorization: Bearer <API_KEY>.",
    )
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let value = values.next()?.to_str().ok()?;
    if values.next().is_some() {
        return None;
    }
    let (scheme, key) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| key.trim())
}
