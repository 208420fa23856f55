use axum::http::StatusCode;
use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::id::KeyId;
use slated_operations::keys::ReadCaller;
use utoipa::ToSchema;

use crate::api::v1::responses::key::ScopeName;
use crate::http::response::answer;
use crate::http::{ApiResult, Envelope, ReadRequest};

/// The caller's key, workspace and remaining rate limit.
#[derive(Serialize, ToSchema)]
pub struct MeRead {
    key: CallerKey,
    workspace: CallerWorkspace,
    /// Null if the operator set no limit.
    #[schema(required)]
    rate_limit: Option<RateLimitRead>,
}

/// The key of the caller.
#[derive(Serialize, ToSchema)]
pub struct CallerKey {
    #[schema(value_type = String, example = "key_01m1v0e8k7c6m9r2t4w8y1a3ef")]
    id: KeyId,
    #[schema(example = "importer")]
    name: String,
    #[schema(value_type = ScopeName)]
    scope: &'static str,
    /// When the key expires; null for never.
    #[schema(value_type = Option<String>, required)]
    expires_at: Option<Timestamp>,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    created_at: Timestamp,
}

/// The workspace that the key belongs to.
#[derive(Serialize, ToSchema)]
pub struct CallerWorkspace {
    /// The 13 characters that all keys of the workspace contain.
    #[schema(min_length = 13, max_length = 13, example = "4mnwxjwpdv3re")]
    id: String,
    #[schema(example = "default")]
    name: String,
}

/// The rest of the key's rate limit on this server, also in the headers of the response.
#[derive(Serialize, ToSchema)]
pub struct RateLimitRead {
    /// Requests per minute.
    #[schema(minimum = 1, example = 60000)]
    limit: u32,
    /// Requests that remain now.
    #[schema(minimum = 0, example = 59999)]
    remaining: u32,
    /// Seconds until the whole limit is available again.
    #[schema(minimum = 0, example = 1)]
    reset_seconds: u64,
}

/// Read the caller's key
///
/// The key of the request, its workspace and the rest of its rate limit.
#[utoipa::path(get, path = "/v1/me", operation_id = "readMe", tag = "Keys",
    extensions(("x-errors" = json!(["INVALID_REQUEST"]))),
    responses((status = 200, description = "The caller.", body = Envelope<MeRead>)))]
pub async fn read_me(request: ReadRequest) -> ApiResult {
    request.no_query()?;
    let (key, workspace_name) = request
        .app
        .store
        .read(ReadCaller { workspace: request.workspace, id: request.key })
        .await?;
    let rate_limit = request.allowance().map(|allowance| RateLimitRead {
        limit: allowance.limit,
        remaining: allowance.remaining,
        reset_seconds: allowance.reset,
    });
    let key = CallerKey {
        id: key.id,
        name: key.name,
        scope: key.scope.name(),
        expires_at: key.expires_at,
        created_at: key.created_at,
    };
    let workspace = CallerWorkspace { id: request.workspace.to_string(), name: workspace_name };
    Ok(answer(StatusCode::OK, MeRead { key, workspace, rate_limit }))
}
