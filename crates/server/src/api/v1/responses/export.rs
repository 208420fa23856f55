use std::collections::BTreeSet;

use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::event::Event;
use slated_model::id::{CandidateId, EventId, JobId, KeyId, PersonId, StageId, WebhookId};
use slated_model::origin::{Change, Origin, field_of};
use slated_model::person::Identifier;
use slated_operations::persons::export::{Delivered, Exported};
use slated_store::records::export::KeptCandidate;
use slated_store::records::person::{PersonDetails, PersonView};
use utoipa::ToSchema;

use super::candidate::StageHistoryEntry;
use super::contact::ContactEntry;
use super::enrichment::EnrichmentRead;
use super::event::EventRead;
use super::export_enrichment::{ExportedAnswer, ExportedFieldSource, ExportedProposal};
use super::note::NoteRead;
use super::person::{CertificationEntry, EducationEntry, WorkExperienceEntry, id_or_empty};
use super::profile::ContactOfCompany;
use super::stored::StoredJson;
use super::webhook::DeliveryStatusName;

/// All data stored about a person. Every list is sorted oldest first, unless it says otherwise.
#[derive(Serialize, ToSchema)]
pub struct PersonExport {
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub exported_at: Timestamp,
    pub person: ExportedPerson,
    /// The ids of persons who were merged into this one.
    #[schema(value_type = Vec<String>, example = json!(["per_01m1v0e8k7f3vs8xq2zr6c4ybe"]))]
    pub former_ids: Vec<PersonId>,
    /// The identifiers by which a create finds the person.
    pub identifiers: Vec<ExportedIdentifier>,
    pub notes: Vec<NoteRead>,
    pub candidates: Vec<ExportedCandidate>,
    /// The companies that the person is a contact of.
    pub client_contacts: Vec<ContactOfCompany>,
    /// The events about the person, within the retention.
    #[schema(value_type = Vec<EventRead>)]
    pub events: Vec<Event>,
    /// Older changes that values of the person come from; their events have expired.
    pub earlier_changes: Vec<ExportedChange>,
    /// The sent and pending deliveries of the events.
    pub deliveries: Vec<ExportedDelivery>,
    /// The person's enrichment; null if none was requested.
    #[schema(required)]
    pub enrichment: Option<EnrichmentRead>,
    /// The last answer of each provider about the person, in the order of their names.
    pub answers: Vec<ExportedAnswer>,
    /// Values of providers that differ from the stored ones.
    pub proposals: Vec<ExportedProposal>,
    /// The values that come from providers, sorted by field name.
    pub field_sources: Vec<ExportedFieldSource>,
}

/// A person with every stored field.
#[derive(Serialize, ToSchema)]
pub struct ExportedPerson {
    #[schema(value_type = String, example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    pub id: PersonId,
    /// The number of writes of the person.
    #[schema(minimum = 1, example = 3)]
    pub version: i64,
    #[schema(example = "Ada Lovelace")]
    pub name: String,
    #[schema(example = "Ada")]
    pub first_name: String,
    #[schema(example = "Lovelace")]
    pub last_name: String,
    #[schema(example = "ada-lovelace")]
    pub social_public_id: String,
    #[schema(example = "https://social.example/in/ada-lovelace")]
    pub social_url: String,
    #[schema(example = "London")]
    pub social_location: String,
    #[schema(example = "Analyst and metaphysician")]
    pub social_headline: String,
    #[schema(example = "12 St James's Square, London")]
    pub address: String,
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
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub updated_at: Timestamp,
}

/// An identifier of the person.
#[derive(Serialize, ToSchema)]
pub struct ExportedIdentifier {
    #[schema(value_type = IdentifierField)]
    pub field: &'static str,
    /// In the form that is compared: a profile as its network and handle, an e-mail address in
    /// lower case.
    #[schema(example = "ada@example.com")]
    pub value: String,
}

/// The field of a create that contains it.
#[derive(ToSchema)]
#[schema(rename_all = "snake_case")]
pub enum IdentifierField {
    ExternalSourceId,
    SocialUrl,
    Emails,
}

/// The person on a job.
#[derive(Serialize, ToSchema)]
pub struct ExportedCandidate {
    #[schema(value_type = String, example = "cnd_01m1v0e8k7ez4gy9v5n1tq8rja")]
    pub id: CandidateId,
    #[schema(value_type = String, example = "job_01m1v0e8k7a9t6r3p5n8w2x4cz")]
    pub job_id: JobId,
    #[schema(example = "Chief Analyst")]
    pub job_name: String,
    #[schema(example = "Babbage & Co")]
    pub job_client_company_name: String,
    #[schema(example = "Screening")]
    pub current_pipeline_stage_name: String,
    #[schema(value_type = String, example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm")]
    pub current_pipeline_stage_id: StageId,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub current_pipeline_stage_date: Timestamp,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub updated_at: Timestamp,
    pub pipeline_stage_history: Vec<StageHistoryEntry>,
}

/// A change whose event has expired.
#[derive(Serialize, ToSchema)]
pub struct ExportedChange {
    #[schema(value_type = String, example = "evt_01m1v0e8k7p5w2d8h4j6n0q3xz")]
    pub event_id: EventId,
    #[serde(rename = "type")]
    #[schema(value_type = String, example = "person.created")]
    pub kind: &'static str,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    /// Null if no caller made it.
    #[schema(value_type = Option<String>, required)]
    pub key_id: Option<KeyId>,
    /// The provider of the values, if it was an enrichment.
    #[schema(required)]
    pub provider: Option<String>,
    /// The fields that have a value from it.
    #[schema(example = json!(["name", "emails"]))]
    pub fields: BTreeSet<String>,
}

/// The delivery of an event about the person to a webhook.
#[derive(Serialize, ToSchema)]
pub struct ExportedDelivery {
    #[schema(value_type = String, example = "whk_01m1v0e8k7v2x4z6b8d0f3h5kn")]
    pub webhook_id: WebhookId,
    /// The number of the event.
    #[schema(minimum = 1, example = 42)]
    pub sequence: i64,
    #[schema(value_type = DeliveryStatusName)]
    pub status: &'static str,
    #[schema(minimum = 0, example = 1)]
    pub attempt_count: i64,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub updated_at: Timestamp,
}

/// Without notes and events, which may be many.
impl From<Exported> for PersonExport {
    fn from(exported: Exported) -> Self {
        let enrichment = exported.enrichment.map(|enrichment| {
            let proposals = enrichment.those_that_came_of_it(&exported.proposals);
            EnrichmentRead::new(enrichment, proposals)
        });
        Self {
            exported_at: exported.exported_at,
            person: ExportedPerson::new(exported.view, exported.details),
            former_ids: exported.former_ids,
            identifiers: exported.identifiers.into_iter().map(Into::into).collect(),
            notes: Vec::new(),
            candidates: exported.candidates.into_iter().map(Into::into).collect(),
            client_contacts: exported.client_contacts.into_iter().map(Into::into).collect(),
            events: Vec::new(),
            earlier_changes: exported.earlier_changes.into_iter().map(Into::into).collect(),
            deliveries: exported.deliveries.iter().map(Into::into).collect(),
            enrichment,
            answers: exported.answers.into_iter().map(Into::into).collect(),
            proposals: exported.proposals.into_iter().map(Into::into).collect(),
            field_sources: exported.field_sources.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<Origin> for ExportedChange {
    fn from(origin: Origin) -> Self {
        let Change { event_id, kind, at, key_id, provider } = origin.change;
        let fields = origin.values.iter().map(|name| field_of(name).to_owned()).collect();
        Self { event_id, kind: kind.name(), created_at: at, key_id, provider, fields }
    }
}

impl ExportedPerson {
    fn new(view: PersonView, details: PersonDetails) -> Self {
        Self {
            id: view.id,
            version: view.version,
            name: view.name,
            first_name: view.first_name,
            last_name: view.last_name,
            social_public_id: view.social_public_id,
            social_url: details.social_url,
            social_location: details.social_location,
            social_headline: details.social_headline,
            address: details.address,
            current_job_title: view.current_job_title,
            current_company_name: view.company_name.unwrap_or_default(),
            current_company_id: id_or_empty(view.company_id),
            external_source_id: view.external_source_id,
            emails: StoredJson(view.emails),
            phones: StoredJson(view.phones),
            work_experience: StoredJson(view.work_experience),
            education_experience: StoredJson(view.education_experience),
            certifications: StoredJson(view.certifications),
            created_at: details.created_at,
            updated_at: details.updated_at,
        }
    }
}

impl From<Identifier> for ExportedIdentifier {
    fn from(identifier: Identifier) -> Self {
        Self { field: identifier.kind.field(), value: identifier.shown() }
    }
}

impl From<KeptCandidate> for ExportedCandidate {
    fn from(candidate: KeptCandidate) -> Self {
        Self {
            id: candidate.id,
            job_id: candidate.job_id,
            job_name: candidate.job_name,
            job_client_company_name: candidate.client_company_name,
            current_pipeline_stage_name: candidate.stage_name,
            current_pipeline_stage_id: candidate.stage_id,
            current_pipeline_stage_date: candidate.stage_entered_at,
            created_at: candidate.created_at,
            updated_at: candidate.updated_at,
            pipeline_stage_history: candidate.history.into_iter().map(Into::into).collect(),
        }
    }
}

impl From<&Delivered> for ExportedDelivery {
    fn from(Delivered { webhook, delivery }: &Delivered) -> Self {
        Self {
            webhook_id: *webhook,
            sequence: delivery.sequence,
            status: delivery.status.name(),
            attempt_count: delivery.attempt_count,
            created_at: delivery.created_at,
            updated_at: delivery.updated_at,
        }
    }
}
