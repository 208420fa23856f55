//! Keys, for whoever may manage the workspace.

pub mod create;
pub mod list;
pub mod read;
pub mod revoke;
pub mod rotate;

use axum::http::StatusCode;
use slated_model::key::Secret;
use slated_store::Operation;

use super::responses::key::KeyRead;
use crate::http::response::{answer, with_secret};
use crate::http::{ApiResult, WriteRequest};
use slated_operations::keys::CreatedKey;

/// Carries out what makes a key, and shows it. The answer is kept without the key, so that it
/// stands nowhere; given again, it has none.
async fn carry_out_and_reveal<W: Operation<Output = CreatedKey>>(
    request: WriteRequest,
    work: W,
    secret: &Secret,
) -> ApiResult {
    let without = |created: CreatedKey| {
        answer(
            StatusCode::CREATED,
            KeyRead { key: Some(String::new()), ..KeyRead::from(&created.key) },
        )
    };
    Ok(with_secret(request.carry_out(work, without).await?, "key", secret.reveal()))
}
