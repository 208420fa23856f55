//! All that is kept of a person, in one piece.

use std::collections::BTreeMap;

use model::clock::Timestamp;
use model::event::Event;
use model::id::{PersonId, WebhookId, WorkspaceId};
use model::origin::{Origin, Origins};
use model::person::Identifier;
use model::problem::Problem;
use store::record::client_contact::ContactOf;
use store::record::enrichment::Enrichment;
use store::record::enrichment_answer::KeptAnswer;
use store::record::event_reading::Beside;
use store::record::export::KeptCandidate;
use store::record::field_source::FieldSource;
use store::record::note::Note;
use store::record::person::{PersonDetails, PersonView};
use store::record::proposal::Proposal;
use store::record::webhook::Delivery;
use store::record::{
    client_contact, enrichment, enrichment_answer, event_reading, export, field_source, former, identifier, note, origin, person, proposal,
    webhook,
};
use store::{Failure, StoreError, Tx, Work};

use super::follow;

pub struct ExportPerson {
    pub workspace: WorkspaceId,
    pub id: PersonId,
}

pub struct Exported {
    pub exported_at: Timestamp,
    pub view: PersonView,
    pub details: PersonDetails,
    /// The ids of persons who went into this one.
    pub former_ids: Vec<PersonId>,
    pub identifiers: Vec<Identifier>,
    /// The oldest first, as everything here.
    pub notes: Vec<Note>,
    pub candidates: Vec<KeptCandidate>,
    pub client_contacts: Vec<ContactOf>,
    pub events: Vec<Event>,
    /// Changes whose events are forgotten.
    pub earlier_changes: Vec<Origin>,
    pub deliveries: Vec<Delivered>,
    pub enrichment: Option<Enrichment>,
    /// What each provider last said.
    pub answers: Vec<KeptAnswer>,
    pub proposals: Vec<Proposal>,
    /// The values that came from providers.
    pub field_sources: Vec<FieldSource>,
}

/// That an event about the person was sent somewhere, or waits to be.
pub struct Delivered {
    pub webhook: WebhookId,
    pub delivery: Delivery,
}

impl Work for ExportPerson {
    type Output = Exported;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Exported, Failure> {
        let workspace = self.workspace;
        let view = follow::view(tx, workspace, self.id).await?;
        let id = view.id;
        let details = person::details(tx, workspace, id).await?.ok_or_else(|| Problem::not_found("person", id))?;
        let former_ids = former::leading_to(tx, workspace, id).await?;
        let identifiers = identifier::of_person(tx, workspace, id).await?;
        let mut notes = note::newest(tx, workspace, id, i64::MAX).await?;
        notes.reverse();
        let candidates = export::candidates(tx, workspace, id).await?;
        let mut client_contacts = client_contact::of_person(tx, workspace, id, i64::MAX).await?;
        client_contacts.reverse();
        let events = self.events(tx, id, &former_ids).await?;
        let earlier_changes = self.earlier_changes(tx, id, &events).await?;
        let deliveries = self.deliveries(tx, &events).await?;
        let mut proposals = proposal::of_person(tx, workspace, id, i64::MAX).await?;
        proposals.reverse();
        Ok(Exported {
            exported_at: tx.now(),
            view,
            details,
            former_ids,
            identifiers,
            notes,
            candidates,
            client_contacts,
            events,
            earlier_changes,
            deliveries,
            enrichment: enrichment::find(tx, workspace, id).await?,
            answers: enrichment_answer::of_person(tx, workspace, id).await?,
            proposals,
            field_sources: field_source::of_person(tx, workspace, id).await?,
        })
    }
}

impl ExportPerson {
    /// The events about the person and their candidates, and those about all who went into them.
    async fn events(&self, tx: &mut Tx, id: PersonId, former: &[PersonId]) -> Result<Vec<Event>, StoreError> {
        let mut events = BTreeMap::new();
        for person in former.iter().chain([&id]) {
            let some = event_reading::history(tx, self.workspace, *person, Beside::EventsOfPerson).await?;
            events.extend(some.into_iter().map(|event| (event.sequence, event)));
        }
        Ok(events.into_values().collect())
    }

    /// Those that set values which no event tells of.
    async fn earlier_changes(&self, tx: &mut Tx, id: PersonId, events: &[Event]) -> Result<Vec<Origin>, StoreError> {
        let mut told = Origins::default();
        for event in events.iter().rev().filter(|event| event.subject.record == id.to_bytes()) {
            told.look_at(event);
        }
        let mut changes = told.left_of(origin::kept(tx, self.workspace, id).await?);
        changes.reverse();
        Ok(changes)
    }

    async fn deliveries(&self, tx: &mut Tx, events: &[Event]) -> Result<Vec<Delivered>, StoreError> {
        let sequences: Vec<_> = events.iter().map(|event| event.sequence).collect();
        let mut delivered = Vec::new();
        for webhook in webhook::all(tx, self.workspace).await? {
            let found = webhook::find_deliveries(tx, self.workspace, webhook.id, &sequences).await?;
            delivered.extend(found.into_iter().map(|delivery| Delivered { webhook: webhook.id, delivery }));
        }
        delivered.sort_by_key(|delivered| (delivered.delivery.sequence, delivered.webhook));
        Ok(delivered)
    }
}
