use serde::Serialize;
use slated_model::contact::Contact;
use slated_model::id::{CandidateId, ClientContactId, CompanyId, JobId, PersonId, StageId};
use slated_operations::persons::create::CreatedPerson;
use slated_operations::persons::profile::PersonWith;
use slated_store::records::person::{PersonJob, PersonView};
use utoipa::ToSchema;

use super::contact::ContactEntry;
use super::note::NoteRead;
use super::profile::ProfileRead;
use super::provenance::ProvenanceRead;
use super::stored::StoredJson;

/// A person in the format of a create.
#[derive(Serialize, ToSchema)]
pub struct PersonCreated {
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub id: PersonId,
    #[schema(example = "Ada Lovelace")]
    pub name: String,
    /// The public handle in `social_url`.
    #[schema(example = "ada-lovelace")]
    pub social_public_id: String,
    #[schema(example = "Analyst")]
    pub current_job_title: String,
    #[schema(example = "Analytical Engines")]
    pub company_name: String,
    #[schema(example = "London")]
    pub social_location: String,
    #[schema(value_type = Vec<ContactEntry>)]
    pub emails: Vec<Contact>,
    #[schema(value_type = Vec<ContactEntry>)]
    pub phones: Vec<Contact>,
    /// Set if this request added the person to a job.
    #[schema(value_type = Option<String>, required, example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")]
    pub candidate_id: Option<CandidateId>,
    /// Set if this request made the person a contact of a client.
    #[schema(value_type = Option<String>, required)]
    pub client_contact_id: Option<ClientContactId>,
    #[schema(required)]
    pub external_source_id: Option<String>,
}

impl From<CreatedPerson> for PersonCreated {
    fn from(created: CreatedPerson) -> Self {
        let CreatedPerson {
            is_new: _,
            person,
            company_name,
            candidate_id,
            client_contact_id,
            changes: _,
        } = created;
        Self {
            id: person.id,
            name: person.name.whole,
            social_public_id: person.social.handle,
            current_job_title: person.current_job_title,
            company_name,
            social_location: person.social_location,
            emails: person.emails.into_entries(),
            phones: person.phones.into_entries(),
            candidate_id,
            client_contact_id,
            external_source_id: person.external_source_id,
        }
    }
}

/// A person in the format of a read.
#[derive(Serialize, ToSchema)]
pub struct PersonRead {
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub id: PersonId,
    #[schema(example = "Ada Lovelace")]
    pub name: String,
    #[schema(example = "ada-lovelace")]
    pub social_public_id: String,
    #[schema(example = "Ada")]
    pub first_name: String,
    #[schema(example = "Lovelace")]
    pub last_name: String,
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
    #[schema(value_type = Vec<WorkExperienceEntry>)]
    pub work_experience: StoredJson,
    #[schema(value_type = Vec<EducationEntry>)]
    pub education_experience: StoredJson,
    #[schema(value_type = Vec<CertificationEntry>)]
    pub certifications: StoredJson,
    pub jobs: Vec<JobAssociation>,
    /// Only with `include=profile`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ProfileRead)]
    pub profile: Option<ProfileRead>,
    /// The newest 100, newest first; only with `include=notes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<NoteRead>)]
    pub notes: Option<Vec<NoteRead>>,
    /// The source of each contact and each field that is not empty; only with
    /// `include=provenance`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Vec<ProvenanceRead>)]
    pub provenance: Option<Vec<ProvenanceRead>>,
}

impl From<PersonWith> for PersonRead {
    fn from(person: PersonWith) -> Self {
        let PersonWith { view, profile, notes, provenance } = person;
        let notes = notes.map(|notes| notes.into_iter().map(NoteRead::from).collect());
        let provenance =
            provenance.map(|fields| fields.into_iter().map(ProvenanceRead::from).collect());
        Self { profile: profile.map(ProfileRead::from), notes, provenance, ..Self::from(view) }
    }
}

impl From<PersonView> for PersonRead {
    fn from(view: PersonView) -> Self {
        Self {
            id: view.id,
            name: view.name,
            social_public_id: view.social_public_id,
            first_name: view.first_name,
            last_name: view.last_name,
            current_job_title: view.current_job_title,
            current_company_name: view.company_name.unwrap_or_default(),
            current_company_id: id_or_empty(view.company_id),
            external_source_id: view.external_source_id,
            emails: StoredJson(view.emails),
            phones: StoredJson(view.phones),
            work_experience: StoredJson(view.work_experience),
            education_experience: StoredJson(view.education_experience),
            certifications: StoredJson(view.certifications),
            jobs: view.jobs.into_iter().map(Into::into).collect(),
            profile: None,
            notes: None,
            provenance: None,
        }
    }
}

pub fn id_or_empty(company: Option<CompanyId>) -> String {
    company.map(|id| id.to_string()).unwrap_or_default()
}

/// A job that the person is a candidate for.
#[derive(Serialize, ToSchema)]
pub struct JobAssociation {
    #[schema(value_type = String, example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")]
    pub candidate_id: CandidateId,
    #[schema(example = "Chief Analyst")]
    pub job_name: String,
    #[schema(value_type = String, example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")]
    pub job_id: JobId,
    #[schema(example = "Babbage & Co")]
    pub job_client_company_name: String,
    #[schema(example = "Screening")]
    pub current_pipeline_stage_name: String,
    #[schema(value_type = String, example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm")]
    pub current_pipeline_stage_id: StageId,
}

impl From<PersonJob> for JobAssociation {
    fn from(job: PersonJob) -> Self {
        Self {
            candidate_id: job.candidate_id,
            job_name: job.job_name,
            job_id: job.job_id,
            job_client_company_name: job.client_company_name,
            current_pipeline_stage_name: job.stage_name,
            current_pipeline_stage_id: job.stage_id,
        }
    }
}

/// The employment at one company.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes JSON that is stored as it is shown")]
pub struct WorkExperienceEntry {
    positions: Vec<PositionEntry>,
    /// The months in which one of the positions was held.
    #[schema(minimum = 0, maximum = 12000)]
    duration_in_months: i64,
    company_name: String,
    company_social_url: String,
    #[schema(minimum = 0)]
    company_social_id: i64,
    #[schema(required)]
    company_id: Option<String>,
}

/// One position at a company.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes JSON that is stored as it is shown")]
pub struct PositionEntry {
    title: String,
    /// `YYYY-MM-DD`, empty when it is not known.
    start_date: String,
    /// `YYYY-MM-DD`, null while the position is held.
    #[schema(required)]
    end_date: Option<String>,
    #[schema(minimum = 0, maximum = 12000)]
    duration_in_months: i64,
    description: String,
    location: String,
    position_type: String,
}

/// The education at one school.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes JSON that is stored as it is shown")]
pub struct EducationEntry {
    company_name: String,
    start_date: String,
    end_date: String,
    description: String,
    degree: String,
    company_social_url: String,
    #[schema(minimum = 0)]
    company_social_id: i64,
    #[schema(required)]
    company_id: Option<String>,
}

/// A certificate and who issued it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes JSON that is stored as it is shown")]
pub struct CertificationEntry {
    name: String,
    credential_id: String,
    start_date: String,
    end_date: String,
    company_name: String,
    company_social_url: String,
    #[schema(minimum = 0)]
    company_social_id: i64,
    #[schema(required)]
    company_id: Option<String>,
}
