use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::id::PersonId;
use slated_operations::persons::list::Found;
use utoipa::ToSchema;

use super::contact::ContactEntry;
use super::person::id_or_empty;
use super::stored::StoredJson;

/// A person as an item of a list.
#[derive(Serialize, ToSchema)]
pub struct PersonListItem {
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub id: PersonId,
    #[schema(example = "Ada Lovelace")]
    pub name: String,
    #[schema(example = "Ada")]
    pub first_name: String,
    #[schema(example = "Lovelace")]
    pub last_name: String,
    #[schema(example = "ada-lovelace")]
    pub social_public_id: String,
    #[schema(example = "London")]
    pub social_location: String,
    #[schema(example = "Analyst")]
    pub current_job_title: String,
    #[schema(example = "Analytical Engines")]
    pub current_company_name: String,
    /// Empty when the company is not known.
    #[schema(example = "cmp_01m1v0e8k7c5qd0m3w8x9b2hsn")]
    pub current_company_id: String,
    #[schema(required)]
    pub external_source_id: Option<String>,
    #[schema(value_type = Vec<ContactEntry>)]
    pub emails: StoredJson,
    #[schema(value_type = Vec<ContactEntry>)]
    pub phones: StoredJson,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub updated_at: Timestamp,
    /// The fields that contain words of `q`, most relevant first; empty without `q`.
    pub matched_fields: Vec<&'static str>,
}

impl From<Found> for PersonListItem {
    fn from((item, matched): Found) -> Self {
        Self {
            id: item.id,
            name: item.name,
            first_name: item.first_name,
            last_name: item.last_name,
            social_public_id: item.social_public_id,
            social_location: item.social_location,
            current_job_title: item.current_job_title,
            current_company_name: item.company_name.unwrap_or_default(),
            current_company_id: id_or_empty(item.company_id),
            external_source_id: item.external_source_id,
            emails: StoredJson(item.emails),
            phones: StoredJson(item.phones),
            created_at: item.created_at,
            updated_at: item.updated_at,
            matched_fields: matched.iter().map(|field| field.name()).collect(),
        }
    }
}
