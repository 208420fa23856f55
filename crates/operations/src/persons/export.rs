//! All that is kept of a person. Notes and events may be many: they are read in pages, while the
//! document is sent.

use std::collections::BTreeMap;

use slated_model::clock::Timestamp;
use slated_model::event::Event;
use slated_model::id::{NoteId, PersonId, WebhookId, WorkspaceId};
use slated_model::origin::{Origin, Origins};
use slated_model::person::Identifier;
use slated_model::problem::Problem;
use slated_store::records::client_contact::ContactOf;
use slated_store::records::enrichment::Enrichment;
use slated_store::records::enrichment_answer::KeptAnswer;
use slated_store::records::events::reading;
use slated_store::records::events::reading::{Beside, Size};
use slated_store::records::export::KeptCandidate;
use slated_store::records::field_source::FieldSource;
use slated_store::records::note::Note;
use slated_store::records::person::{PersonDetails, PersonView};
use slated_store::records::proposal::Proposal;
use slated_store::records::webhook::Delivery;
use slated_store::records::{
    client_contact, enrichment, enrichment_answer, export, field_source, identifier, merged_ids,
    note, person, person_origin, proposal, webhook,
};
use slated_store::{Operation, OperationError, StoreError, Tx};

use super::resolve_merged;

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
    pub candidates: Vec<KeptCandidate>,
    pub client_contacts: Vec<ContactOf>,
    pub events: Vec<Size>,
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

impl Operation for ExportPerson {
    type Output = Exported;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Exported, OperationError> {
        let workspace = self.workspace;
        let view = resolve_merged::view(tx, workspace, self.id).await?;
        let id = view.id;
        let details = person::details(tx, workspace, id)
            .await?
            .ok_or_else(|| Problem::not_found("person", id))?;
        let former_ids = merged_ids::leading_to(tx, workspace, id).await?;
        let identifiers = identifier::of_person(tx, workspace, id).await?;
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
    async fn events(
        &self,
        tx: &mut Tx,
        id: PersonId,
        former: &[PersonId],
    ) -> Result<Vec<Size>, StoreError> {
        let mut events = BTreeMap::new();
        for person in former.iter().chain([&id]) {
            let some =
                reading::history(tx, self.workspace, *person, Beside::EventsOfPerson).await?;
            events.extend(some.into_iter().map(|size| (size.sequence, size)));
        }
        Ok(events.into_values().collect())
    }

    /// Those that set values which no event tells of.
    async fn earlier_changes(
        &self,
        tx: &mut Tx,
        id: PersonId,
        events: &[Size],
    ) -> Result<Vec<Origin>, StoreError> {
        let mut told = Origins::default();
        let newest_first: Vec<_> = events.iter().rev().copied().collect();
        for page in pages(&newest_first) {
            for event in read_events(tx, self.workspace, page)
                .await?
                .iter()
                .rev()
                .filter(|event| event.subject.record == id.to_bytes())
            {
                told.look_at(event);
            }
        }
        let mut changes = told.left_of(person_origin::kept(tx, self.workspace, id).await?);
        changes.reverse();
        Ok(changes)
    }

    async fn deliveries(&self, tx: &mut Tx, events: &[Size]) -> Result<Vec<Delivered>, StoreError> {
        let sequences: Vec<_> = events.iter().map(|event| event.sequence).collect();
        let mut delivered = Vec::new();
        for webhook in webhook::all(tx, self.workspace).await? {
            let found =
                webhook::find_deliveries(tx, self.workspace, webhook.id, &sequences).await?;
            delivered.extend(
                found.into_iter().map(|delivery| Delivered { webhook: webhook.id, delivery }),
            );
        }
        delivered.sort_by_key(|delivered| (delivered.delivery.sequence, delivered.webhook));
        Ok(delivered)
    }
}

/// How much of the events is read at once.
const MAX_BYTES: i64 = 1 << 20;
/// So many notes, which are as much together.
const NOTES_PER_PAGE: i64 = 16;

/// Events, page by page.
pub fn pages(mut events: &[Size]) -> impl Iterator<Item = &[Size]> {
    std::iter::from_fn(move || {
        let (page, others) = events.split_at(reading::fitting(events, MAX_BYTES).len());
        events = others;
        (!page.is_empty()).then_some(page)
    })
}

async fn read_events(
    tx: &mut Tx,
    workspace: WorkspaceId,
    page: &[Size],
) -> Result<Vec<Event>, StoreError> {
    let sequences: Vec<_> = page.iter().map(|size| size.sequence).collect();
    reading::find_all(tx, workspace, &sequences).await
}

/// A page of the events of an export.
#[derive(Clone)]
pub struct ExportEvents {
    pub workspace: WorkspaceId,
    pub page: Vec<Size>,
}

impl Operation for ExportEvents {
    type Output = Vec<Event>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Event>, OperationError> {
        Ok(read_events(tx, self.workspace, &self.page).await?)
    }
}

/// A page of the notes of an export.
#[derive(Clone)]
pub struct ExportNotes {
    pub workspace: WorkspaceId,
    pub person: PersonId,
    pub behind: Option<NoteId>,
}

impl Operation for ExportNotes {
    type Output = Vec<Note>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Note>, OperationError> {
        Ok(note::behind(tx, self.workspace, self.person, self.behind, NOTES_PER_PAGE).await?)
    }
}
