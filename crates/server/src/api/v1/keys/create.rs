use slated_model::clock::Timestamp;
use slated_model::key::{NewKey, Secret};
use utoipa::ToSchema;

use super::carry_out_and_reveal;
use crate::api::v1::responses::key::KeyRead;
use crate::http::{AdminRequest, ApiResult, Envelope};
use slated_operations::keys::{AddKey, random_bytes};

/// A key to create.
#[derive(ToSchema)]
#[schema(example = json!({"name": "importer", "scope": "write",
    "expires_at": "2127-01-31T00:00:00Z"}))]
#[expect(dead_code, reason = "describes what NewKey reads")]
pub struct CreateKeyBody {
    /// A name that says what the key is for.
    name: String,
    /// What the key may do; each scope includes those before it.
    scope: String,
    /// When the key expires, which must be in the future; never if absent. A date means 00:00 UTC
    /// on that day.
    expires_at: Option<String>,
}

/// Create a key
///
/// The response contains the key itself, which is not shown again. The key works at once.
#[utoipa::path(post, path = "/v1/keys", operation_id = "createKey", tag = "Keys",
    request_body = CreateKeyBody,
    extensions(("x-errors" = json!(["TOO_MANY"]))),
    responses((status = 201, description = "The key, with its secret.",
        body = Envelope<KeyRead>)))]
pub async fn create_key(AdminRequest(request): AdminRequest) -> ApiResult {
    request.no_query()?;
    let new = request.read(|fields| NewKey::read(fields, Timestamp::now()))?;
    let secret = Secret::new(request.actor.workspace, random_bytes()?);
    let work = AddKey { actor: request.actor.clone(), new, secret: secret.clone() };
    carry_out_and_reveal(request, work, &secret).await
}
