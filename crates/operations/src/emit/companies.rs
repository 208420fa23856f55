use serde::Serialize;
use slated_model::event::{EventType, Subject};
use slated_model::id::{ClientContactId, CompanyId, PersonId};
use slated_store::{OperationError, Tx};

use super::event_data::{Empty, EventData, RecordRef, emit};
use crate::Actor;

#[derive(Serialize)]
struct CompanyFields<'c> {
    name: &'c str,
}

pub async fn company_created(
    tx: &mut Tx,
    actor: &Actor,
    id: CompanyId,
    name: &str,
) -> Result<(), OperationError> {
    let told = EventData::new(Empty {}, CompanyFields { name });
    emit(tx, actor, EventType::CompanyCreated, Subject::of(id), &told).await.map(|_| ())
}

pub async fn company_renamed(
    tx: &mut Tx,
    actor: &Actor,
    id: CompanyId,
    before: &str,
    after: &str,
) -> Result<(), OperationError> {
    let told = EventData::new(CompanyFields { name: before }, CompanyFields { name: after });
    emit(tx, actor, EventType::CompanyUpdated, Subject::of(id), &told).await.map(|_| ())
}

#[derive(Serialize)]
struct MergedCompany<'c> {
    merged: RecordRef<'c, CompanyId>,
}

pub async fn company_merged(
    tx: &mut Tx,
    actor: &Actor,
    into: CompanyId,
    merged: RecordRef<'_, CompanyId>,
) -> Result<(), OperationError> {
    let told = EventData::new(Empty {}, MergedCompany { merged });
    emit(tx, actor, EventType::CompanyMerged, Subject::of(into), &told).await.map(|_| ())
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
    person: RecordRef<'_, PersonId>,
    contact: ClientContactId,
) -> Result<(), OperationError> {
    let after = ContactFields { client_contact_id: contact, person_id: person.id };
    let told = EventData { before: Empty {}, after, person: Some(person), job: None };
    emit(
        tx,
        actor,
        EventType::CompanyContactAdded,
        Subject::of(company).with_person(person.id),
        &told,
    )
    .await
    .map(|_| ())
}

pub async fn contact_removed(
    tx: &mut Tx,
    actor: &Actor,
    company: CompanyId,
    person: RecordRef<'_, PersonId>,
    contact: ClientContactId,
) -> Result<(), OperationError> {
    let before = ContactFields { client_contact_id: contact, person_id: person.id };
    let told = EventData { before, after: Empty {}, person: Some(person), job: None };
    emit(
        tx,
        actor,
        EventType::CompanyContactRemoved,
        Subject::of(company).with_person(person.id),
        &told,
    )
    .await
    .map(|_| ())
}
