use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::id::{ClientContactId, CompanyId, PersonId};
use slated_store::records::client_contact::ContactView;
use slated_store::records::company::CompanyView;
use utoipa::ToSchema;

use super::contact::ContactEntry;
use super::stored::StoredJson;

/// A company: an employer of persons, a client with jobs, or both.
#[derive(Serialize, ToSchema)]
pub struct CompanyRead {
    #[schema(value_type = String, example = "cmp_01m1v0e8k7d2r9w4t6y8p1q3sk")]
    pub id: CompanyId,
    #[schema(example = "Babbage & Co")]
    pub name: String,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    /// When it was last renamed, or another company was merged into it.
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub updated_at: Timestamp,
}

impl From<CompanyView> for CompanyRead {
    fn from(view: CompanyView) -> Self {
        Self {
            id: view.id,
            name: view.name,
            created_at: view.created_at,
            updated_at: view.updated_at,
        }
    }
}

/// A contact person at a client company.
#[derive(Serialize, ToSchema)]
pub struct ClientContactRead {
    #[schema(value_type = String, example = "ctc_01m1v0e8k7n4q6s8v0x2z5b7df")]
    pub id: ClientContactId,
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub person_id: PersonId,
    #[schema(example = "Ada Lovelace")]
    pub name: String,
    #[schema(example = "Analyst")]
    pub current_job_title: String,
    #[schema(value_type = Vec<ContactEntry>)]
    pub emails: StoredJson,
    #[schema(value_type = Vec<ContactEntry>)]
    pub phones: StoredJson,
    /// When the person became a contact.
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
}

impl From<ContactView> for ClientContactRead {
    fn from(view: ContactView) -> Self {
        Self {
            id: view.id,
            person_id: view.person_id,
            name: view.name,
            current_job_title: view.current_job_title,
            emails: StoredJson(view.emails),
            phones: StoredJson(view.phones),
            created_at: view.created_at,
        }
    }
}
