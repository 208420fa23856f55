//! Keys, for whoever may manage the workspace.

pub mod create;
pub mod list;
pub mod read;
pub mod revoke;
pub mod rotate;

use axum::http::StatusCode;
use model::key::Secret;
use serde_json::Value;
use store::Work;

use super::shape::key::KeyRead;
use crate::http::answer::answer;
use crate::http::{Reply, Write};
use crate::ops::keys::CreatedKey;

/// Carries out what makes a key, and shows it. The answer is kept without the key, so that it stands nowhere; given again, it has none.
async fn carry_out_and_reveal<W: Work<Output = CreatedKey>>(request: Write, work: W, secret: &Secret) -> Reply {
    let without = |created: CreatedKey| answer(StatusCode::CREATED, KeyRead { key: Some(String::new()), ..KeyRead::from(&created.key) });
    let mut answer = request.carry_out(work, without).await?;
    if !answer.is_replay {
        let mut body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        body["data"]["key"] = secret.reveal().into();
        answer.body = serde_json::to_vec(&body).unwrap_or(answer.body);
    }
    Ok(answer)
}
