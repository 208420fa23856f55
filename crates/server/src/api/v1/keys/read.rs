use axum::http::StatusCode;

use crate::api::v1::responses::key::KeyRead;
use crate::http::response::answer;
use crate::http::{AdminReadRequest, ApiResult, Envelope};
use slated_operations::keys::ReadKey;

/// Read a key
///
/// The key with its scope, its expiry and its last use.
#[utoipa::path(get, path = "/v1/keys/{id}", operation_id = "readKey", tag = "Keys",
    params(("id" = String, Path, description = "The key's id.",
        example = "key_01m1v0e8k7c6m9r2t4w8y1a3ef")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"]))),
    responses((status = 200, description = "The key.", body = Envelope<KeyRead>)))]
pub async fn read_key(AdminReadRequest(request): AdminReadRequest) -> ApiResult {
    request.no_query()?;
    let key =
        request.app.store.read(ReadKey { workspace: request.workspace, id: request.id()? }).await?;
    Ok(answer(StatusCode::OK, KeyRead::from(&key)))
}
