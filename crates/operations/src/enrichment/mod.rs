//! Enrichment fills a person with values from providers. [`request`] asks for it for one person,
//! and [`runs`] for many: [`enqueue_run`] puts these into the queue in batches. A worker takes a
//! [`lease`] on some rows of the queue and calls providers; [`record_outcome`] stores the result.
//! Nothing of an attempt is stored before that, so a server may die at any point and another
//! continues.
//!
//! Locks are taken in one order everywhere: the person, their enrichment, their proposals, the run.
//! Nobody puts a person into the queue without holding them, so that none slips in while the person
//! goes.

mod apply_profile;
pub mod enqueue_run;
pub mod lease;
pub mod proposals;
pub mod provenance;
pub mod provider_rate_limit;
pub mod record_outcome;
pub mod request;
pub mod runs;

use serde_json::Value;
use slated_model::contact::{Channel, Contact, Contacts};
use slated_model::enrichment::reconcile::{Current, Sourced, contact_hash, value_of};
use slated_model::enrichment::{Field, State};
use slated_model::event::EventType;
use slated_model::id::{PersonId, WorkspaceId};
use slated_model::name::PersonName;
use slated_model::origin::Change;
use slated_model::person::Person;
use slated_model::social::SocialProfile;
use slated_store::records::field_source::FieldSource;
use slated_store::records::person::{PersonDetails, PersonView};
use slated_store::records::{enrichment, enrichment_run};
use slated_store::{StoreError, Tx};

/// Why somebody is skipped who waited for a run that ended.
const CANCELLED: &str = "the run was cancelled";

/// What is kept of a person who is held.
pub(crate) fn current(person: Person, view: &PersonView) -> Current {
    Current {
        person,
        company_name: view.company_name.clone().unwrap_or_default(),
        work_experience: view.work_experience.clone(),
        education_experience: view.education_experience.clone(),
        certifications: view.certifications.clone(),
    }
}

/// The same of a person who is only looked at.
fn current_as_read(view: &PersonView, details: &PersonDetails) -> Result<Current, StoreError> {
    let person = Person {
        id: view.id,
        name: PersonName {
            whole: view.name.clone(),
            first: view.first_name.clone(),
            last: view.last_name.clone(),
        },
        social: SocialProfile {
            url: details.social_url.clone(),
            handle: view.social_public_id.clone(),
        },
        current_job_title: view.current_job_title.clone(),
        company_id: view.company_id,
        social_location: details.social_location.clone(),
        social_headline: details.social_headline.clone(),
        address: details.address.clone(),
        external_source_id: view.external_source_id.clone(),
        emails: Contacts::from_stored(Channel::Email, &view.emails),
        phones: Contacts::from_stored(Channel::Phone, &view.phones),
    };
    Ok(current(person, view))
}

/// Which list of contacts a field is, if it is one.
const fn channel_of(field: Field) -> Option<Channel> {
    match field {
        Field::Emails => Some(Channel::Email),
        Field::Phones => Some(Channel::Phone),
        _ => None,
    }
}

/// The entries of a list of contacts.
fn entries(person: &Person, channel: Channel) -> &[Contact] {
    match channel {
        Channel::Email => person.emails.entries(),
        Channel::Phone => person.phones.entries(),
    }
}

/// Whether a caller wrote the field after it had its value from a provider, be it the same value
/// again.
fn is_written_since(source: &FieldSource, change: Option<&Change>) -> bool {
    change
        .is_some_and(|change| change.kind == EventType::PersonUpdated && change.at > source.set_at)
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(entries) => entries.is_empty(),
        _ => false,
    }
}

/// A field that is no list of contacts, with the hash of its value.
fn hashed(current: &Current, field: Field) -> Sourced {
    Sourced::of(field, &value_of(current, field))
}

/// All that the person has, as it would be noted if it came from a provider.
pub(crate) fn values(current: &Current) -> Vec<Sourced> {
    let mut values = Vec::new();
    for field in Field::ALL.iter().copied() {
        match channel_of(field) {
            Some(channel) => {
                let contacts = entries(&current.person, channel).iter();
                values.extend(contacts.map(|contact| Sourced {
                    field,
                    value_hash: contact_hash(channel, &contact.value),
                }));
            }
            None if is_nothing(&value_of(current, field)) => {}
            None => values.push(hashed(current, field)),
        }
    }
    values
}

/// Puts a person who is held into the queue because somebody asks for it. Should a run have put
/// them there before, it is this request that they wait for now, whatever becomes of the run.
pub(crate) async fn ask_for(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    refresh: bool,
) -> Result<(), StoreError> {
    if enrichment::queue(tx, workspace, person, refresh).await? {
        return Ok(());
    }
    match enrichment::leave_run(tx, workspace, person).await? {
        Some(run) => enrichment_run::count(tx, workspace, run, State::Skipped).await,
        None => Ok(()),
    }
}

/// Takes away all that enrichment knows of a person who is about to go; a run that waits for them
/// waits no longer.
pub(crate) async fn forget(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<(), StoreError> {
    match enrichment::remove(tx, workspace, person).await? {
        Some(run) => enrichment_run::count(tx, workspace, run, State::Skipped).await,
        None => Ok(()),
    }
}
