use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::id::{ClientContactId, CompanyId, EventId, KeyId};
use slated_model::origin::Change;
use slated_operations::persons::profile::Profile;
use slated_store::records::client_contact::ContactOf;
use slated_store::records::person::PersonDetails;
use utoipa::ToSchema;

/// The additional data of a person with `include=profile`.
#[derive(Serialize, ToSchema)]
pub struct ProfileRead {
    #[schema(example = "https://social.example/in/ada-lovelace")]
    pub social_url: String,
    #[schema(example = "London")]
    pub social_location: String,
    #[schema(example = "Analyst and metaphysician")]
    pub social_headline: String,
    #[schema(example = "12 St James's Square, London")]
    pub address: String,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub updated_at: Timestamp,
    /// The companies that the person is a contact of, latest first; at most 100.
    pub client_contacts: Vec<ContactOfCompany>,
    /// The last change of each field. Its event can be read within the retention.
    pub sources: Vec<FieldSource>,
}

/// A company that the person is a contact of.
#[derive(Serialize, ToSchema)]
pub struct ContactOfCompany {
    #[schema(value_type = String, example = "ctc_01m1v0e8k7e1g3j5m7p9r1t3vx")]
    pub id: ClientContactId,
    #[schema(value_type = String, example = "cmp_01m1v0e8k7c5qd0m3w8x9b2hsn")]
    pub company_id: CompanyId,
    #[schema(example = "Babbage & Co")]
    pub company_name: String,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
}

/// The last change that set a field.
#[derive(Serialize, ToSchema)]
pub struct FieldSource {
    /// The field's name, as events show it.
    #[schema(value_type = String, example = "current_job_title")]
    pub field: &'static str,
    /// The key that set it; null for the command line.
    #[schema(value_type = Option<String>, required, example = "key_01m1v0e8k7c6m9r2t4w8y1a3ef")]
    pub key_id: Option<KeyId>,
    #[schema(value_type = String, example = "evt_01m1v0e8k7p5w2d8h4j6n0q3xz")]
    pub event_id: EventId,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub at: Timestamp,
}

impl From<Profile> for ProfileRead {
    fn from(profile: Profile) -> Self {
        let Profile { details, client_contacts, sources } = profile;
        let PersonDetails {
            social_url,
            social_location,
            social_headline,
            address,
            created_at,
            updated_at,
        } = details;
        Self {
            social_url,
            social_location,
            social_headline,
            address,
            created_at,
            updated_at,
            client_contacts: client_contacts.into_iter().map(Into::into).collect(),
            sources: sources.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<ContactOf> for ContactOfCompany {
    fn from(contact: ContactOf) -> Self {
        let ContactOf { id, company_id, company_name, created_at } = contact;
        Self { id, company_id, company_name, created_at }
    }
}

impl From<(&'static str, Change)> for FieldSource {
    fn from((field, change): (&'static str, Change)) -> Self {
        let Change { key_id, event_id, at, .. } = change;
        Self { field, key_id, event_id, at }
    }
}
