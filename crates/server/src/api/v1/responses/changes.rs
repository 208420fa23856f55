use serde::Serialize;
use serde_json::value::RawValue;
use slated_model::id::ProposalId;
use slated_model::input::Query;
use slated_model::problem::{FieldError, FieldErrorCode};
use slated_operations::persons::create::{Changes, KeptBack};
use utoipa::ToSchema;

use crate::http::response::WouldBeChange;

/// The outcome of the values that a create sent, in addition to `data`.
#[derive(Serialize, ToSchema)]
pub struct ChangesRead {
    /// The identifier by which the person was found; null for a new person.
    #[schema(value_type = Option<MatchedByName>, required)]
    pub matched_by: Option<&'static str>,
    /// The fields that were filled on an existing person, or that added to their contacts and
    /// notes.
    #[schema(value_type = Vec<String>, example = json!(["current_job_title", "emails"]))]
    pub filled: Vec<&'static str>,
    /// The values that differ from those of the person and were not stored.
    pub kept_back: Vec<KeptBackRead>,
    /// With `on_invalid=drop`: the invalid values that were left out.
    #[schema(value_type = Vec<DroppedValue>)]
    pub dropped: Vec<FieldError>,
    /// With `dry_run=true`: the events that would have been written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Vec<WouldBeChange>>, nullable = false)]
    pub events: Option<Vec<Box<RawValue>>>,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum MatchedByName {
    ExternalSourceId,
    SocialUrl,
    Email,
}

/// A value that differs from the person's.
#[derive(Serialize, ToSchema)]
pub struct KeptBackRead {
    #[schema(example = "current_job_title")]
    pub field: &'static str,
    /// The value that was sent.
    #[schema(example = "Chief Analyst")]
    pub value: String,
    /// The person's value.
    #[schema(example = "Analyst")]
    pub current: String,
    /// The proposal with the value, which is open or was rejected before. Null where nothing can be
    /// proposed.
    #[schema(value_type = Option<String>, required, example = "prp_01m1v0e8k7r4t6w8y0b2d4f6hk")]
    pub proposal_id: Option<ProposalId>,
}

/// A value that was left out.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a detail of a problem")]
pub struct DroppedValue {
    #[schema(example = "emails[1]")]
    field: String,
    #[schema(example = "INVALID_EMAIL")]
    code: String,
    #[schema(example = "must be an e-mail address, as in ada@example.com")]
    message: String,
}

impl From<Changes> for ChangesRead {
    fn from(changes: Changes) -> Self {
        let Changes { matched_by, filled, kept_back, dropped } = changes;
        let kept_back = kept_back.into_iter().map(Into::into).collect();
        Self {
            matched_by: matched_by.map(|kind| kind.name()),
            filled,
            kept_back,
            dropped,
            events: None,
        }
    }
}

impl From<KeptBack> for KeptBackRead {
    fn from(KeptBack { differing, proposal }: KeptBack) -> Self {
        Self {
            field: differing.field,
            value: differing.value,
            current: differing.current,
            proposal_id: proposal,
        }
    }
}

/// Whether a create is to say what became of the values.
pub fn read_include_changes(query: &mut Query) -> bool {
    query
        .parsed("include", FieldErrorCode::InvalidValue, "changes", |written| {
            (written == "changes").then_some(true)
        })
        .unwrap_or(false)
}
