//! Reading a person with more than a read always shows.

use slated_model::id::{PersonId, WorkspaceId};
use slated_model::origin::{Change, FIELDS};
use slated_model::problem::Problem;
use slated_model::profile::Include;
use slated_store::records::client_contact::ContactOf;
use slated_store::records::note::Note;
use slated_store::records::person::{PersonDetails, PersonView};
use slated_store::records::{client_contact, note, person, person_origin};
use slated_store::{Operation, OperationError, StoreError, Tx};

use super::resolve_merged;
use crate::enrichment::provenance::{self, Provenance};

/// Notes, and companies that the person is a contact of, that are shown with a person.
const MAX_SHOWN: i64 = 100;

pub struct ReadPersonWith {
    pub workspace: WorkspaceId,
    pub id: PersonId,
    pub include: Include,
}

/// A person with what was asked for. Whatever changes of it changes its tag.
#[derive(Hash, Debug)]
pub struct PersonWith {
    pub view: PersonView,
    pub profile: Option<Profile>,
    /// The newest first.
    pub notes: Option<Vec<Note>>,
    pub provenance: Option<Vec<Provenance>>,
}

#[derive(Hash, Debug)]
pub struct Profile {
    pub details: PersonDetails,
    pub client_contacts: Vec<ContactOf>,
    /// The fields whose last change is known, with it.
    pub sources: Vec<(&'static str, Change)>,
}

impl Operation for ReadPersonWith {
    type Output = PersonWith;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<PersonWith, OperationError> {
        let Self { workspace, id, include } = *self;
        let view = resolve_merged::view(tx, workspace, id).await?;
        let id = view.id;
        let profile = match include.profile {
            true => Some(Profile {
                details: person::details(tx, workspace, id)
                    .await?
                    .ok_or_else(|| Problem::not_found("person", id))?,
                client_contacts: client_contact::of_person(tx, workspace, id, MAX_SHOWN).await?,
                sources: sources(tx, workspace, id).await?,
            }),
            false => None,
        };
        let notes = match include.notes {
            true => Some(note::newest(tx, workspace, id, MAX_SHOWN).await?),
            false => None,
        };
        let provenance = match include.provenance {
            true => {
                let details = person::details(tx, workspace, id)
                    .await?
                    .ok_or_else(|| Problem::not_found("person", id))?;
                Some(provenance::of_person(tx, workspace, &view, &details).await?)
            }
            false => None,
        };
        Ok(PersonWith { view, profile, notes, provenance })
    }
}

async fn sources(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
) -> Result<Vec<(&'static str, Change)>, StoreError> {
    let origins = person_origin::of_person(tx, workspace, id, &FIELDS).await?;
    Ok(FIELDS.into_iter().filter_map(|field| Some((field, origins.of(field)?.clone()))).collect())
}
