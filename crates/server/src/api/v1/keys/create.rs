use slated_model::clock::Timestamp;
use slated_model::key::{NewKey, Secret};
use utoipa::ToSchema;

use super::carry_out_and_reveal;
use crate::api::v1::responses::key::KeyRead;
use crate::http::{AdminRequest, ApiResult, Envelope};
use slated_operations::keys::{AddKey, random_bytes};

/// A key to make.
#[derive(ToSchema)]
#[schema(example = json!({"name": "importer", "scope": "write",
    "expires_at": "2127-01-31T00:00:00Z"}))]
#[expect(dead_code, reason = "describes what NewKey reads")]
pub struct CreateKeyBody {
    /// What the key is for, so that it can be told from others.
    name: String,
    /// What the key may do; each scope includes those before it.
    scope: String,
    /// When the key stops working, which must be in the future; never if absent. A date is its
    /// first moment in UTC.
    expires_at: Option<String>,
}

/// Make a key
///
/// The answer holds the key itself; it is not shown again. It works at once.
#[utoipa::path(post, path = "/v1/keys", operation_id = "createKey", tag = "Keys",
    request_body = CreateKeyBody,
    extensions(("x-errors" = json!(["TOO_MANY"]))),
    responses((status = 201, description = "The key, with what opens the door.",
        body = Envelope<KeyRead>)))]
pub async fn create_key(AdminRequest(request): AdminRequest) -> ApiResult {
    request.no_query()?;
    let new = request.read(|fields| NewKey::read(fields, Timestamp::now()))?;
    let secret = Secret::new(request.actor.workspace, random_bytes()?);
    let work = AddKey { actor: request.actor.clone(), new, secret: secret.clone() };
    carry_out_and_reveal(request, work, &secret).await
}
