//! Telling of changes: what an event says of each kind of record. Whatever changes a record tells of it here, in the same transaction.

use model::clock::Timestamp;
use model::contact::Contact;
use model::event::{EventType, Subject};
use model::id::{CandidateId, ClientContactId, CompanyId, EventId, JobId, KeyId, PersonId, StageId, StatusId};
use model::person::Person;
use model::stage::Stage;
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use store::record::event::{NewEvent, record};
use store::record::job::JobView;
use store::record::person::PersonView;
use store::{Failure, StoreError, Tx};

use super::Actor;

/// What an event says: the fields that changed, and who else is concerned.
#[derive(Serialize)]
pub struct Told<'t, B, A> {
    pub before: B,
    pub after: A,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<Named<'t, PersonId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<Named<'t, JobId>>,
}

impl<B, A> Told<'_, B, A> {
    pub const fn new(before: B, after: A) -> Self {
        Self { before, after, person: None, job: None }
    }
}

/// Nothing that was there before.
#[derive(Serialize)]
pub struct Nothing {}

#[derive(Clone, Copy, Serialize)]
pub struct Named<'n, I> {
    pub id: I,
    pub name: &'n str,
}

/// Writes the event, unless the actor's doings are not told of.
pub async fn tell(
    tx: &mut Tx,
    actor: &Actor,
    kind: EventType,
    subject: Subject,
    told: &impl Serialize,
) -> Result<Option<EventId>, Failure> {
    if actor.is_silent {
        return Ok(None);
    }
    let data = serde_json::to_string(told).map_err(|error| StoreError::Internal(error.to_string()))?;
    let new = NewEvent { kind, subject, key_id: actor.key, request_id: actor.request_id.as_deref(), data: &data };
    Ok(Some(record(tx, actor.workspace, &new).await?))
}

type Fields = Map<String, Value>;

fn to_value(value: &impl Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(|error| StoreError::Internal(error.to_string()))
}

/// The fields that differ, as they were and as they are; nothing if none does.
pub fn differences(before: &impl Serialize, after: &impl Serialize) -> Result<Option<(Fields, Fields)>, StoreError> {
    let fields = |value: serde_json::Result<Value>| match value {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(StoreError::Internal("what is told of is no record".to_owned())),
        Err(error) => Err(StoreError::Internal(error.to_string())),
    };
    let mut before = fields(serde_json::to_value(before))?;
    let mut after = fields(serde_json::to_value(after))?;
    before.retain(|name, value| after.get(name) != Some(value));
    after.retain(|name, value| before.get(name).is_some_and(|before| before != value));
    Ok((!after.is_empty()).then_some((before, after)))
}

/// A person as events show them.
#[derive(PartialEq, Serialize)]
pub struct PersonFields<'p> {
    name: &'p str,
    first_name: &'p str,
    last_name: &'p str,
    social_public_id: &'p str,
    social_url: &'p str,
    social_location: &'p str,
    social_headline: &'p str,
    address: &'p str,
    current_job_title: &'p str,
    current_company_id: IdOrEmpty,
    current_company_name: &'p str,
    external_source_id: Option<&'p str>,
    emails: &'p [Contact],
    phones: &'p [Contact],
    #[serde(skip_serializing_if = "Option::is_none")]
    notes: Option<&'p str>,
}

/// An unknown id is shown as an empty string.
#[derive(PartialEq)]
struct IdOrEmpty(Option<CompanyId>);

impl Serialize for IdOrEmpty {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Some(id) => id.serialize(serializer),
            None => serializer.serialize_str(""),
        }
    }
}

impl<'p> PersonFields<'p> {
    pub fn of(person: &'p Person, company_name: &'p str) -> Self {
        let Person { id: _, name, social, current_job_title, company_id, social_location, social_headline, address, .. } = person;
        Self {
            name: &name.whole,
            first_name: &name.first,
            last_name: &name.last,
            social_public_id: &social.handle,
            social_url: &social.url,
            social_location,
            social_headline,
            address,
            current_job_title,
            current_company_id: IdOrEmpty(*company_id),
            current_company_name: company_name,
            external_source_id: person.external_source_id.as_deref(),
            emails: person.emails.entries(),
            phones: person.phones.entries(),
            notes: None,
        }
    }

    /// The same as [`differences`], without writing down what did not change: most changes are of one field.
    fn differences(&self, after: &Self) -> Result<Option<(Fields, Fields)>, StoreError> {
        let (mut was, mut is) = (Fields::new(), Fields::new());
        macro_rules! compare {
            ($($field:ident)*) => {$(
                if self.$field != after.$field {
                    was.insert(stringify!($field).to_owned(), to_value(&self.$field)?);
                    is.insert(stringify!($field).to_owned(), to_value(&after.$field)?);
                }
            )*};
        }
        compare! {
            name first_name last_name social_public_id social_url social_location social_headline address current_job_title
            current_company_id current_company_name external_source_id emails phones
        }
        Ok((!is.is_empty()).then_some((was, is)))
    }

    pub const fn with_notes(self, notes: Option<&'p str>) -> Self {
        Self { notes, ..self }
    }
}

pub async fn person_created(tx: &mut Tx, actor: &Actor, person: &Person, company_name: &str, notes: Option<&str>) -> Result<(), Failure> {
    let fields = PersonFields::of(person, company_name).with_notes(notes);
    tell(tx, actor, EventType::PersonCreated, Subject::of(person.id), &Told::new(Nothing {}, fields)).await.map(|_| ())
}

/// A person and the name of their company.
pub type Employed<'p> = (&'p Person, &'p str);

/// Tells what changed of a person, and the note that came with it.
pub async fn person_updated(
    tx: &mut Tx,
    actor: &Actor,
    before: Employed<'_>,
    after: Employed<'_>,
    note: Option<&str>,
) -> Result<(), Failure> {
    let changes = PersonFields::of(before.0, before.1).differences(&PersonFields::of(after.0, after.1))?;
    if changes.is_none() && note.is_none() {
        return Ok(());
    }
    let (before, mut fields) = changes.unwrap_or_default();
    if let Some(note) = note {
        fields.insert("notes".to_owned(), note.into());
    }
    tell(tx, actor, EventType::PersonUpdated, Subject::of(after.0.id), &Told::new(before, fields)).await.map(|_| ())
}

#[derive(Serialize)]
struct HistoryFields<'h> {
    work_experience: &'h RawValue,
    education_experience: &'h RawValue,
    certifications: &'h RawValue,
}

impl<'h> HistoryFields<'h> {
    fn of(person: &'h PersonView) -> serde_json::Result<Self> {
        Ok(Self {
            work_experience: serde_json::from_str(&person.work_experience)?,
            education_experience: serde_json::from_str(&person.education_experience)?,
            certifications: serde_json::from_str(&person.certifications)?,
        })
    }
}

pub async fn history_replaced(tx: &mut Tx, actor: &Actor, before: &PersonView, after: &PersonView) -> Result<(), Failure> {
    let fields = |view| HistoryFields::of(view).map_err(|error| StoreError::Internal(error.to_string()));
    let Some((was, is)) = differences(&fields(before)?, &fields(after)?)? else { return Ok(()) };
    tell(tx, actor, EventType::PersonUpdated, Subject::of(after.id), &Told::new(was, is)).await.map(|_| ())
}

/// The stage that a candidate is in, as events show it.
#[derive(Serialize)]
struct StageFields<'s> {
    current_pipeline_stage_id: StageId,
    current_pipeline_stage_name: &'s str,
    current_pipeline_stage_date: Timestamp,
}

#[derive(Serialize)]
struct NewCandidateFields<'s> {
    person_id: PersonId,
    job_id: JobId,
    #[serde(flatten)]
    stage: StageFields<'s>,
    created_at: Timestamp,
}

/// A candidate with the person and the job that it stands for.
#[derive(Clone, Copy)]
pub struct Concerned<'c> {
    pub candidate: CandidateId,
    pub person: Named<'c, PersonId>,
    pub job: Named<'c, JobId>,
}

impl<'c> Concerned<'c> {
    async fn tell(
        &self,
        tx: &mut Tx,
        actor: &Actor,
        kind: EventType,
        before: impl Serialize,
        after: impl Serialize,
    ) -> Result<(), Failure> {
        let subject = Subject::candidate(self.candidate, self.person.id, self.job.id);
        let told = Told { before, after, person: Some(self.person), job: Some(self.job) };
        tell(tx, actor, kind, subject, &told).await.map(|_| ())
    }

    pub async fn created(&self, tx: &mut Tx, actor: &Actor, stage: &Stage) -> Result<(), Failure> {
        let at = self.candidate.moment();
        let after = NewCandidateFields { person_id: self.person.id, job_id: self.job.id, stage: in_stage(stage, at), created_at: at };
        self.tell(tx, actor, EventType::CandidateCreated, Nothing {}, after).await
    }

    pub async fn moved(&self, tx: &mut Tx, actor: &Actor, from: (&Stage, Timestamp), to: (&Stage, Timestamp)) -> Result<(), Failure> {
        self.tell(tx, actor, EventType::CandidateMoved, in_stage(from.0, from.1), in_stage(to.0, to.1)).await
    }
}

fn in_stage(stage: &Stage, since: Timestamp) -> StageFields<'_> {
    StageFields { current_pipeline_stage_id: stage.id, current_pipeline_stage_name: &stage.name, current_pipeline_stage_date: since }
}

/// A job as events show it.
#[derive(Serialize)]
struct JobFields<'j> {
    name: &'j str,
    is_archived: bool,
    client_company_name: &'j str,
    client_company_id: CompanyId,
    job_status_name: &'j str,
    job_status_id: StatusId,
}

#[derive(Serialize)]
struct NewJobFields<'j> {
    #[serde(flatten)]
    fields: JobFields<'j>,
    pipeline_stages: Vec<JobStage<'j>>,
    created_at: Timestamp,
}

#[derive(Serialize)]
struct JobStage<'j> {
    id: StageId,
    name: &'j str,
    stage_order: i64,
    is_rejection_stage: bool,
    is_interviewing_stage: bool,
}

impl<'j> JobStage<'j> {
    fn of(stage: &'j Stage) -> Self {
        let Stage { id, name, stage_order, is_rejection_stage, is_interviewing_stage } = stage;
        Self {
            id: *id,
            name,
            stage_order: *stage_order,
            is_rejection_stage: *is_rejection_stage,
            is_interviewing_stage: *is_interviewing_stage,
        }
    }
}

fn job_fields(job: &JobView) -> JobFields<'_> {
    JobFields {
        name: &job.name,
        is_archived: job.is_archived,
        client_company_name: &job.client_company_name,
        client_company_id: job.client_company_id,
        job_status_name: &job.status_name,
        job_status_id: job.status_id,
    }
}

pub async fn job_created(tx: &mut Tx, actor: &Actor, job: &JobView, stages: &[Stage]) -> Result<(), Failure> {
    let after =
        NewJobFields { fields: job_fields(job), pipeline_stages: stages.iter().map(JobStage::of).collect(), created_at: job.created_at };
    tell(tx, actor, EventType::JobCreated, Subject::of(job.id), &Told::new(Nothing {}, after)).await.map(|_| ())
}

/// Tells what changed of a job: that it was archived or restored is an event of its own.
pub async fn job_updated(tx: &mut Tx, actor: &Actor, before: &JobView, after: &JobView) -> Result<(), Failure> {
    const ARCHIVED: &str = "is_archived";
    let Some((mut was, mut is)) = differences(&job_fields(before), &job_fields(after))? else { return Ok(()) };
    let subject = Subject::of(after.id);
    let archived = (was.shift_remove(ARCHIVED), is.shift_remove(ARCHIVED));
    if !is.is_empty() {
        tell(tx, actor, EventType::JobUpdated, subject, &Told::new(was, is)).await?;
    }
    if let (Some(was), Some(is)) = archived {
        let kind = if after.is_archived { EventType::JobArchived } else { EventType::JobRestored };
        let only = |value| Map::from_iter([(ARCHIVED.to_owned(), value)]);
        tell(tx, actor, kind, subject, &Told::new(only(was), only(is))).await?;
    }
    Ok(())
}

#[derive(Serialize)]
struct CompanyFields<'c> {
    name: &'c str,
}

pub async fn company_created(tx: &mut Tx, actor: &Actor, id: CompanyId, name: &str) -> Result<(), Failure> {
    let told = Told::new(Nothing {}, CompanyFields { name });
    tell(tx, actor, EventType::CompanyCreated, Subject::of(id), &told).await.map(|_| ())
}

#[derive(Serialize)]
struct ContactFields {
    client_contact_id: ClientContactId,
    person_id: PersonId,
}

pub async fn contact_added(
    tx: &mut Tx,
    actor: &Actor,
    company: CompanyId,
    person: Named<'_, PersonId>,
    contact: ClientContactId,
) -> Result<(), Failure> {
    let after = ContactFields { client_contact_id: contact, person_id: person.id };
    let told = Told { before: Nothing {}, after, person: Some(person), job: None };
    tell(tx, actor, EventType::CompanyContactAdded, Subject::of(company).with_person(person.id), &told).await.map(|_| ())
}

#[derive(Serialize)]
pub struct KeyFields<'k> {
    pub name: &'k str,
    pub scope: &'static str,
    pub expires_at: Option<Timestamp>,
}

pub async fn key_created(tx: &mut Tx, actor: &Actor, id: KeyId, fields: KeyFields<'_>) -> Result<(), Failure> {
    tell(tx, actor, EventType::KeyCreated, Subject::of(id), &Told::new(Nothing {}, fields)).await.map(|_| ())
}

#[derive(Serialize)]
struct KeyEnd {
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<KeyId>,
}

pub async fn key_rotated(
    tx: &mut Tx,
    actor: &Actor,
    id: KeyId,
    ended: Option<Timestamp>,
    ends: Timestamp,
    replaced_by: KeyId,
) -> Result<(), Failure> {
    let before = KeyEnd { expires_at: ended, replaced_by: None };
    let after = KeyEnd { expires_at: Some(ends), replaced_by: Some(replaced_by) };
    tell(tx, actor, EventType::KeyRotated, Subject::of(id), &Told::new(before, after)).await.map(|_| ())
}

#[derive(Serialize)]
struct Revoked {
    revoked_at: Timestamp,
}

pub async fn key_revoked(tx: &mut Tx, actor: &Actor, id: KeyId) -> Result<(), Failure> {
    let told = Told::new(Nothing {}, Revoked { revoked_at: tx.now() });
    tell(tx, actor, EventType::KeyRevoked, Subject::of(id), &told).await.map(|_| ())
}
