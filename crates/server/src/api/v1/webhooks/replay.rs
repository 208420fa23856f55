use axum::http::StatusCode;
use serde::Serialize;
use slated_model::listing::MAX_OFFSET;
use slated_operations::webhooks::replay::ReplayEvents;
use utoipa::ToSchema;

use crate::http::response::answer;
use crate::http::{AdminRequest, ApiResult, Envelope};

/// The events to send again: those after number `after`, up to `until`.
#[derive(ToSchema)]
#[schema(example = json!({"after": 0, "until": 42}))]
#[expect(dead_code, reason = "describes what is read")]
pub struct ReplayBody {
    after: i64,
    /// The last event to send; the newest if absent.
    until: Option<i64>,
}

/// The events that are sent again.
#[derive(Serialize, ToSchema)]
pub struct Replayed {
    /// The number of events.
    #[schema(minimum = 0, maximum = 10000, example = 12)]
    count: usize,
}

/// Replay events
///
/// Sends again the events in a range that have the webhook's types: of the first 10,000 after
/// `after`. Replay a longer range in parts.
#[utoipa::path(post, path = "/v1/webhooks/{id}/replay", operation_id = "replayEvents",
    tag = "Webhooks",
    params(("id" = String, Path, description = "The webhook's id.",
        example = "whk_01m1v0e8k7v2x4z6b8d0f3h5kn")),
    request_body = ReplayBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "EVENTS_GONE"]))),
    responses((status = 202, description = "The deliveries are pending.", body = Envelope<Replayed>)))]
pub async fn replay(AdminRequest(request): AdminRequest) -> ApiResult {
    request.no_query()?;
    let (after, until) = request.read(|fields| {
        let after = fields.needed_count("after", MAX_OFFSET);
        (after.unwrap_or(0), fields.count("until", MAX_OFFSET))
    })?;
    let work = ReplayEvents { actor: request.actor.clone(), id: request.id()?, after, until };
    request.execute(work, |count| answer(StatusCode::ACCEPTED, Replayed { count })).await
}
