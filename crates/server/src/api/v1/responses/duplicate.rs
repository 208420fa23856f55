use serde::Serialize;
use slated_model::contact::Contact;
use slated_model::duplicate::{Profile, Reason};
use slated_model::id::PersonId;
use slated_operations::persons::duplicates::Pair;
use utoipa::ToSchema;

use super::contact::ContactEntry;
use super::person::id_or_empty;

/// Two persons who are likely the same.
#[derive(Serialize, ToSchema)]
pub struct DuplicateRead {
    /// The two persons, lower id first.
    #[schema(value_type = Vec<DuplicatePerson>, min_items = 2, max_items = 2, example = json!([
        {"id": "per_01m1v0e8k7f3vs8xq2zr6c4ybd", "name": "Ada Lovelace",
            "social_public_id": "ada-lovelace", "current_job_title": "Analyst",
         "current_company_name": "Analytical Engines",
         "current_company_id": "cmp_01m1v0e8k7c5qd0m3w8x9b2hsn",
         "emails": [{"contact_data_type": "work", "value": "ada@example.com"}],
         "phones": [{"contact_data_type": "mobile", "value": "+44 20 7946 0000"}]},
        {"id": "per_01m1v0e8k7g5wt9yr3as7d5zce", "name": "A. Lovelace", "social_public_id": "",
            "current_job_title": "", "current_company_name": "",
         "current_company_id": "", "emails": [],
         "phones": [{"contact_data_type": "work", "value": "+44 (20) 79460000"}]}]))]
    pub persons: [DuplicatePerson; 2],
    /// Why they are likely the same.
    #[schema(min_items = 1)]
    pub reasons: Vec<DuplicateReason>,
}

/// One of two persons who are likely the same.
#[derive(Serialize, ToSchema)]
pub struct DuplicatePerson {
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub id: PersonId,
    #[schema(example = "Ada Lovelace")]
    pub name: String,
    #[schema(example = "ada-lovelace")]
    pub social_public_id: String,
    #[schema(example = "Analyst")]
    pub current_job_title: String,
    #[schema(example = "Analytical Engines")]
    pub current_company_name: String,
    /// Empty when the company is not known.
    #[schema(example = "cmp_01m1v0e8k7c5qd0m3w8x9b2hsn")]
    pub current_company_id: String,
    #[schema(value_type = Vec<ContactEntry>)]
    pub emails: Vec<Contact>,
    #[schema(value_type = Vec<ContactEntry>)]
    pub phones: Vec<Contact>,
}

/// Something that two persons have in common.
#[derive(Serialize, ToSchema)]
pub struct DuplicateReason {
    #[schema(value_type = DuplicateReasonKind)]
    pub kind: &'static str,
    /// The network and the handle of the profile, the e-mail address in lower case, the phone
    /// number as the first of the two has it, the name of the company, or the handle.
    #[schema(example = "+44 20 7946 0000")]
    pub value: String,
}

#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum DuplicateReasonKind {
    SameSocialProfile,
    SameEmail,
    SamePhone,
    SameNameAndCompany,
    SimilarNameAndHandle,
}

/// A page of pairs.
#[derive(Serialize, ToSchema)]
pub struct DuplicatePage {
    #[schema(example = true)]
    pub success: bool,
    pub data: Vec<DuplicateRead>,
    pub meta: DuplicateMeta,
}

/// The end of a page of pairs.
#[derive(Serialize, ToSchema)]
pub struct DuplicateMeta {
    #[schema(minimum = 1, maximum = 100)]
    pub limit: i64,
    /// The `cursor` of the next page; null once all persons were examined.
    #[schema(required)]
    pub next_cursor: Option<String>,
}

impl From<Pair> for DuplicateRead {
    fn from(pair: Pair) -> Self {
        Self {
            persons: pair.persons.map(Into::into),
            reasons: pair.reasons.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Profile> for DuplicatePerson {
    fn from(profile: Profile) -> Self {
        Self {
            id: profile.id,
            name: profile.name,
            social_public_id: profile.social.handle,
            current_job_title: profile.current_job_title,
            current_company_name: profile.company_name,
            current_company_id: id_or_empty(profile.company_id),
            emails: profile.emails.into_entries(),
            phones: profile.phones.into_entries(),
        }
    }
}

impl From<Reason> for DuplicateReason {
    fn from(reason: Reason) -> Self {
        Self { kind: reason.kind.name(), value: reason.value }
    }
}
