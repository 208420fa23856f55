use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::id::{EventId, KeyId};
use slated_operations::enrichment::provenance::Provenance;
use utoipa::ToSchema;

/// The source of a field's value.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "field": "emails", "value": "ada@example.com", "source": "provider", "provider": "people",
    "key_id": null,
    "event_id": "evt_01m1v0e8k7p5w2d8h4j6n0q3xz", "at": "2026-11-15T09:30:00.000Z"}))]
pub struct ProvenanceRead {
    /// The field's name, as events show it.
    #[schema(value_type = String)]
    pub field: &'static str,
    /// The e-mail address or phone number; null for other fields.
    #[schema(required)]
    pub value: Option<String>,
    /// `provider`: enrichment set it, and it has not changed since. `caller`: a caller with the key
    /// set it. `program`: it was set without a key, as by the command line. `unknown`: the change
    /// that set it is older than the retention of events.
    #[schema(value_type = OriginName)]
    pub source: &'static str,
    /// The provider of the value.
    #[schema(required)]
    pub provider: Option<String>,
    /// The key that set it, or that accepted it when it was proposed.
    #[schema(value_type = Option<String>, required)]
    pub key_id: Option<KeyId>,
    /// The event of the change.
    #[schema(value_type = Option<String>, required)]
    pub event_id: Option<EventId>,
    #[schema(value_type = Option<String>, required)]
    pub at: Option<Timestamp>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum OriginName {
    Caller,
    Provider,
    Program,
    Unknown,
}

impl From<Provenance> for ProvenanceRead {
    fn from(provenance: Provenance) -> Self {
        let Provenance { field, value, source, provider, key_id, event_id, at } = provenance;
        Self { field, value, source: source.name(), provider, key_id, event_id, at }
    }
}
