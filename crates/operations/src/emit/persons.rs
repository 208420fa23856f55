use serde::Serialize;
use serde_json::value::RawValue;
use slated_model::clock::Timestamp;
use slated_model::contact::Contact;
use slated_model::event::{EventType, Subject};
use slated_model::id::{CompanyId, PersonId};
use slated_model::person::Person;
use slated_store::records::person::PersonView;
use slated_store::{OperationError, StoreError, Tx};

use super::event_data::{Empty, EventData, Fields, RecordRef, differences, emit, to_value};
use crate::Actor;

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
        let Person {
            id: _,
            name,
            social,
            current_job_title,
            company_id,
            social_location,
            social_headline,
            address,
            ..
        } = person;
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

    /// The same as [`differences`], without writing down what did not change: most changes are of
    /// one field.
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

pub async fn person_created(
    tx: &mut Tx,
    actor: &Actor,
    person: &Person,
    company_name: &str,
    notes: Option<&str>,
) -> Result<(), OperationError> {
    let fields = PersonFields::of(person, company_name).with_notes(notes);
    emit(
        tx,
        actor,
        EventType::PersonCreated,
        Subject::of(person.id),
        &EventData::new(Empty {}, fields),
    )
    .await
    .map(|_| ())
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
) -> Result<(), OperationError> {
    let changes =
        PersonFields::of(before.0, before.1).differences(&PersonFields::of(after.0, after.1))?;
    if changes.is_none() && note.is_none() {
        return Ok(());
    }
    let (before, mut fields) = changes.unwrap_or_default();
    if let Some(note) = note {
        fields.insert("notes".to_owned(), note.into());
    }
    emit(
        tx,
        actor,
        EventType::PersonUpdated,
        Subject::of(after.0.id),
        &EventData::new(before, fields),
    )
    .await
    .map(|_| ())
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

/// What differs of a career history.
fn history_changes(
    before: &PersonView,
    after: &PersonView,
) -> Result<Option<(Fields, Fields)>, StoreError> {
    let fields =
        |view| HistoryFields::of(view).map_err(|error| StoreError::Internal(error.to_string()));
    differences(&fields(before)?, &fields(after)?)
}

/// What differs of a person, with their career history.
fn all_changes(
    before: (&Person, &PersonView),
    after: (&Person, &PersonView),
) -> Result<(Fields, Fields), StoreError> {
    let company = |view: &PersonView| view.company_name.clone().unwrap_or_default();
    let companies = (company(before.1), company(after.1));
    let changes = PersonFields::of(before.0, &companies.0)
        .differences(&PersonFields::of(after.0, &companies.1))?;
    let (mut was, mut is) = changes.unwrap_or_default();
    if let Some((history_was, history_is)) = history_changes(before.1, after.1)? {
        was.extend(history_was);
        is.extend(history_is);
    }
    Ok((was, is))
}

#[derive(Serialize)]
struct EnrichmentFields<'e> {
    provider: &'e str,
    fields: &'e [&'static str],
}

/// Tells what a person has from a provider, if that is anything.
pub async fn person_enriched(
    tx: &mut Tx,
    actor: &Actor,
    before: (&Person, &PersonView),
    after: (&Person, &PersonView),
    provider: &str,
    fields: &[&'static str],
) -> Result<(), OperationError> {
    let (was, mut is) = all_changes(before, after)?;
    if is.is_empty() {
        return Ok(());
    }
    is.insert("enrichment".to_owned(), to_value(&EnrichmentFields { provider, fields })?);
    emit(tx, actor, EventType::PersonEnriched, Subject::of(after.0.id), &EventData::new(was, is))
        .await
        .map(|_| ())
}

/// Tells of a person that another went into it, and what it has from that.
pub async fn person_merged(
    tx: &mut Tx,
    actor: &Actor,
    before: (&Person, &PersonView),
    after: (&Person, &PersonView),
    gone: RecordRef<'_, PersonId>,
) -> Result<(), OperationError> {
    let (was, mut is) = all_changes(before, after)?;
    is.insert("merged".to_owned(), to_value(&gone)?);
    let subject = Subject::of(after.0.id).with_person(gone.id);
    emit(tx, actor, EventType::PersonMerged, subject, &EventData::new(was, is)).await.map(|_| ())
}

#[derive(Serialize)]
struct ErasedFields<'e> {
    id: PersonId,
    /// All ids that the person ever had, those of merged ones too: what is kept elsewhere under
    /// them is to be erased as well.
    ids: &'e [PersonId],
    erased_at: Timestamp,
}

/// Tells that a person was erased, and nothing of who it was.
pub async fn person_erased(
    tx: &mut Tx,
    actor: &Actor,
    id: PersonId,
    ids: &[PersonId],
    erased_at: Timestamp,
) -> Result<(), OperationError> {
    let told = EventData::new(Empty {}, ErasedFields { id, ids, erased_at });
    emit(tx, actor, EventType::PersonErased, Subject::of(id), &told).await.map(|_| ())
}

pub async fn history_replaced(
    tx: &mut Tx,
    actor: &Actor,
    before: &PersonView,
    after: &PersonView,
) -> Result<(), OperationError> {
    let Some((was, is)) = history_changes(before, after)? else { return Ok(()) };
    emit(tx, actor, EventType::PersonUpdated, Subject::of(after.id), &EventData::new(was, is))
        .await
        .map(|_| ())
}
