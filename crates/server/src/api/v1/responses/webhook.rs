use serde::Serialize;
use serde_json::value::RawValue;
use slated_model::clock::Timestamp;
use slated_store::records::events::reading::Head;
use slated_store::records::webhook::{Delivery, Webhook};
use utoipa::ToSchema;

/// A webhook.
#[derive(Serialize, ToSchema)]
pub struct WebhookRead {
    #[schema(value_type = String, example = "whk_01m1v0e8k7v2x4z6b8d0f3h5kn")]
    pub id: slated_model::id::WebhookId,
    #[schema(example = "https://hooks.example/slated")]
    pub url: String,
    #[schema(example = json!(["person.*", "candidate.moved"]))]
    pub types: Vec<String>,
    #[schema(example = "To the CRM")]
    pub description: String,
    #[schema(example = true)]
    pub is_enabled: bool,
    /// `failing`: the last call failed and is retried. `paused`: several calls in a row
    /// failed.
    #[schema(value_type = WebhookStatusName)]
    pub status: &'static str,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    pub updated_at: Timestamp,
    #[schema(value_type = Option<String>, required, example = "2026-11-15T09:31:00.000Z")]
    pub last_success_at: Option<Timestamp>,
    /// The last error, if no call has succeeded since.
    pub last_error: String,
    /// The secret that calls are signed with; only in responses that create it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, example = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=")]
    pub secret: Option<String>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum WebhookStatusName {
    Active,
    Failing,
    Paused,
    Disabled,
}

impl From<&Webhook> for WebhookRead {
    fn from(webhook: &Webhook) -> Self {
        Self {
            id: webhook.id,
            url: webhook.url.clone(),
            types: webhook.types.patterns().to_vec(),
            description: webhook.description.clone(),
            is_enabled: webhook.is_enabled,
            status: webhook.status(),
            created_at: webhook.created_at,
            updated_at: webhook.updated_at,
            last_success_at: webhook.last_success_at,
            last_error: webhook.last_error.clone(),
            secret: None,
        }
    }
}

/// The delivery of an event to a webhook.
#[derive(Serialize, ToSchema)]
pub struct DeliveryRead {
    #[schema(minimum = 1, example = 42)]
    pub sequence: i64,
    #[schema(value_type = String, example = "evt_01m1v0e8k7p5w2d8h4j6n0q3xz")]
    pub event_id: slated_model::id::EventId,
    #[schema(example = "candidate.moved")]
    pub event_type: &'static str,
    /// `failed`: the delivery was given up.
    #[schema(value_type = DeliveryStatusName)]
    pub status: &'static str,
    #[schema(minimum = 0, example = 1)]
    pub attempt_count: i64,
    /// When the next attempt is due; null if unknown or if there is none.
    #[schema(value_type = Option<String>, required, example = "2026-11-15T09:31:00.000Z")]
    pub next_attempt_at: Option<Timestamp>,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    #[schema(value_type = String, example = "2026-11-15T09:30:00.000Z")]
    pub updated_at: Timestamp,
    /// The last 20 attempts, oldest first; only when a single delivery is read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<AttemptRead>>, nullable = false)]
    pub attempts: Option<Box<RawValue>>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum DeliveryStatusName {
    Delivered,
    Pending,
    Failed,
}

/// One attempt of a delivery.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes Attempt")]
pub struct AttemptRead {
    #[schema(example = "2026-11-15T09:30:00.000Z")]
    at: String,
    #[schema(minimum = 0, example = 12)]
    duration_ms: i64,
    /// The HTTP status of the response; null if there was none.
    #[schema(required, example = 200)]
    status: Option<u16>,
    /// Why there was no response.
    error: String,
    /// The first 512 characters of the response.
    #[schema(example = "ok")]
    answer: String,
}

impl From<&(Delivery, Head)> for DeliveryRead {
    fn from((delivery, event): &(Delivery, Head)) -> Self {
        Self {
            sequence: delivery.sequence,
            event_id: event.id,
            event_type: event.kind.name(),
            status: delivery.status.name(),
            attempt_count: delivery.attempt_count,
            next_attempt_at: delivery.next_attempt_at,
            created_at: delivery.created_at,
            updated_at: delivery.updated_at,
            attempts: None,
        }
    }
}

impl DeliveryRead {
    pub fn with_attempts(delivered: &(Delivery, Head)) -> Self {
        Self {
            attempts: RawValue::from_string(delivered.0.attempts.clone()).ok(),
            ..delivered.into()
        }
    }
}

/// A page of deliveries.
#[derive(Serialize, ToSchema)]
pub struct DeliveryPage {
    #[schema(example = true)]
    pub success: bool,
    pub data: Vec<DeliveryRead>,
    pub meta: super::event::BackwardMeta,
}
