use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::id::{KeyId, ProposalId};
use slated_store::records::enrichment_answer::KeptAnswer;
use slated_store::records::field_source::FieldSource;
use slated_store::records::proposal::Proposal;
use utoipa::ToSchema;

use super::proposal::{ProposalStateName, ProposedField};
use super::stored::StoredJson;

/// A provider's answer about the person.
#[derive(Serialize, ToSchema)]
pub struct ExportedAnswer {
    #[schema(example = "people")]
    pub provider: String,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub asked_at: Timestamp,
    /// Null if the provider did not know the person.
    #[schema(value_type = Value, required)]
    pub profile: Option<StoredJson>,
}

/// A value of a provider that differs from the stored one.
#[derive(Serialize, ToSchema)]
pub struct ExportedProposal {
    #[schema(value_type = String, example = "prp_01m1v0e8k7r4t6w8y0b2d4f6hk")]
    pub id: ProposalId,
    #[schema(value_type = ProposedField)]
    pub field: &'static str,
    #[schema(value_type = Value)]
    pub proposed: StoredJson,
    #[schema(example = "people")]
    pub provider: String,
    #[schema(value_type = Option<String>, required)]
    pub proposed_by: Option<KeyId>,
    #[schema(value_type = ProposalStateName)]
    pub state: &'static str,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    #[schema(value_type = Option<String>, required)]
    pub decided_at: Option<Timestamp>,
    #[schema(value_type = Option<String>, required)]
    pub decided_by: Option<KeyId>,
}

/// A value that a provider gave.
#[derive(Serialize, ToSchema)]
pub struct ExportedFieldSource {
    /// The field; an entry for each address or number of `emails` and `phones`.
    #[schema(value_type = String, example = "social_headline")]
    pub field: &'static str,
    #[schema(example = "people")]
    pub provider: String,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub set_at: Timestamp,
    /// The key that accepted it, if it was proposed.
    #[schema(value_type = Option<String>, required)]
    pub key_id: Option<KeyId>,
}

impl From<KeptAnswer> for ExportedAnswer {
    fn from(answer: KeptAnswer) -> Self {
        Self {
            provider: answer.provider,
            asked_at: answer.asked_at,
            profile: answer.profile.map(StoredJson),
        }
    }
}

impl From<Proposal> for ExportedProposal {
    fn from(proposal: Proposal) -> Self {
        Self {
            id: proposal.id,
            field: proposal.field.name(),
            proposed: StoredJson(proposal.value),
            provider: proposal.proposer.provider,
            proposed_by: proposal.proposer.key,
            state: proposal.state.name(),
            created_at: proposal.created_at,
            decided_at: proposal.decided_at,
            decided_by: proposal.key_id,
        }
    }
}

impl From<FieldSource> for ExportedFieldSource {
    fn from(source: FieldSource) -> Self {
        Self {
            field: source.field.name(),
            provider: source.provider,
            set_at: source.set_at,
            key_id: source.key_id,
        }
    }
}
