use serde::Serialize;
use serde_json::Value;
use slated_model::clock::Timestamp;
use slated_model::id::{KeyId, PersonId, ProposalId};
use slated_operations::enrichment::proposals::ProposalShown;
use utoipa::ToSchema;

use super::stored::StoredJson;

/// A value of a provider, or of a caller who pushed the person again, that differs from the stored
/// one. It can be accepted or rejected.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "id": "prp_01m1v0e8k7r4t6w8y0b2d4f6hk", "person_id": "per_01m1v0e8k7f3vs8xq2zr6c4ybd",
    "field": "current_job_title",
    "current": "Analyst", "proposed": "Chief Analyst", "provider": "people", "proposed_by": null,
    "state": "open", "created_at": "2026-11-15T09:30:00.000Z",
    "decided_at": null, "decided_by": null}))]
pub struct ProposalRead {
    #[schema(value_type = String)]
    pub id: ProposalId,
    #[schema(value_type = String)]
    pub person_id: PersonId,
    #[schema(value_type = ProposedField)]
    pub field: &'static str,
    /// The current value: a string, or the whole list of a career history in the format of a
    /// read.
    pub current: Value,
    /// The proposed value.
    #[schema(value_type = Value)]
    pub proposed: StoredJson,
    /// The provider that gave the value; empty if a caller did.
    pub provider: String,
    /// The key of the caller that sent the value; null for a value of a provider.
    #[schema(value_type = Option<String>, required)]
    pub proposed_by: Option<KeyId>,
    /// `superseded`: another value came later.
    #[schema(value_type = ProposalStateName)]
    pub state: &'static str,
    #[schema(value_type = String, format = DateTime)]
    pub created_at: Timestamp,
    /// When it was accepted, rejected or superseded; null while it is open.
    #[schema(value_type = Option<String>, required)]
    pub decided_at: Option<Timestamp>,
    /// The key that accepted or rejected it.
    #[schema(value_type = Option<String>, required)]
    pub decided_by: Option<KeyId>,
}

/// The fields that can have proposals.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum ProposedField {
    Name,
    SocialUrl,
    SocialLocation,
    SocialHeadline,
    Address,
    CurrentJobTitle,
    CurrentCompanyName,
    WorkExperience,
    EducationExperience,
    Certifications,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum ProposalStateName {
    Open,
    Accepted,
    Rejected,
    Superseded,
}

impl From<ProposalShown> for ProposalRead {
    fn from(ProposalShown { proposal, current }: ProposalShown) -> Self {
        Self {
            id: proposal.id,
            person_id: proposal.person,
            field: proposal.field.name(),
            current,
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
