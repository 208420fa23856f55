//! The persons whom one talks to at a client company.

use slated_model::id::{self, ClientContactId, CompanyId, WorkspaceId};
use slated_model::input::Reference;
use slated_model::listing::Page;
use slated_model::problem::Problem;
use slated_store::records::client_contact::ContactView;
use slated_store::records::pagination::PageResult;
use slated_store::records::{client_contact, person};
use slated_store::{Operation, OperationError, StoreError, Tx};

use crate::companies::{existing, hold};
use crate::emit::RecordRef;
use crate::persons::resolve_merged;
use crate::{Actor, emit};

pub struct ListContacts {
    pub workspace: WorkspaceId,
    pub company: CompanyId,
    pub page: Page<id::ClientContact>,
}

impl Operation for ListContacts {
    type Output = PageResult<ContactView>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<PageResult<ContactView>, OperationError> {
        let company = existing(tx, self.workspace, self.company).await?;
        Ok(client_contact::of_company(tx, self.workspace, company.id, &self.page).await?)
    }
}

pub struct AddContact {
    pub actor: Actor,
    pub company: CompanyId,
    pub person: Reference<id::Person>,
}

impl Operation for AddContact {
    /// The contact, and whether it was made just now.
    type Output = (ContactView, bool);

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let workspace = self.actor.workspace;
        let company = existing(tx, workspace, self.company).await?.id;
        let person =
            resolve_merged::named_to_stay(tx, workspace, &self.person, "person_id").await?;
        let name = person::name(tx, workspace, person).await?.unwrap_or_default();
        let (contact, is_new) =
            client_contact::find_or_insert(tx, workspace, company, person).await?;
        if is_new {
            emit::contact_added(
                tx,
                &self.actor,
                company,
                RecordRef { id: person, name: &name },
                contact,
            )
            .await?;
        }
        let gone =
            || StoreError::Conflict("the person or the company was merged meanwhile".to_owned());
        Ok((client_contact::view(tx, workspace, company, person).await?.ok_or_else(gone)?, is_new))
    }
}

pub struct RemoveContact {
    pub actor: Actor,
    pub company: CompanyId,
    pub contact: ClientContactId,
}

impl Operation for RemoveContact {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        let workspace = self.actor.workspace;
        // Held from those who merge: of two contacts that become one, they and this work must not
        // remove one each.
        let company = hold(tx, workspace, self.company).await?.id;
        let missing = || Problem::not_found("client contact", self.contact);
        let person = client_contact::person_of(tx, workspace, company, self.contact)
            .await?
            .ok_or_else(missing)?;
        let changed =
            || StoreError::Conflict("the person was merged into another meanwhile".to_owned());
        let name = person::load(tx, workspace, person).await?.ok_or_else(changed)?.name.whole;
        if client_contact::person_of(tx, workspace, company, self.contact).await? != Some(person) {
            return Err(changed().into());
        }
        client_contact::delete(tx, workspace, company, self.contact).await?;
        emit::contact_removed(
            tx,
            &self.actor,
            company,
            RecordRef { id: person, name: &name },
            self.contact,
        )
        .await
    }
}
