//! Letting a company go into another.

use slated_model::id::{self, CompanyId, WorkspaceId};
use slated_model::input::Reference;
use slated_model::problem::{ErrorCode, FieldError, Problem};
use slated_store::records::company::CompanyView;
use slated_store::records::range_counts;
use slated_store::records::range_counts::List;
use slated_store::records::search::documents;
use slated_store::records::{client_contact, company, merged_ids, person};
use slated_store::{Operation, OperationError, Pace, StoreError, Tx};

use crate::companies::{existing, find};
use crate::emit::RecordRef;
use crate::{Actor, emit};

/// Lets `other` go into the company `id`, with its jobs, its persons and its contacts.
pub struct MergeCompany {
    pub actor: Actor,
    pub id: CompanyId,
    pub other: Reference<id::Company>,
}

impl Operation for MergeCompany {
    /// The company that is left.
    type Output = CompanyView;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<CompanyView, OperationError> {
        let workspace = self.actor.workspace;
        let into = existing(tx, workspace, self.id).await?.id;
        let named = self.other.resolve("company_id")?;
        let from =
            find(tx, workspace, named).await?.ok_or_else(|| self.other.not_found("company_id"))?.id;
        if from == into {
            return Err(same(named, into).into());
        }
        // The older one first, so that of two who merge the same companies none waits for the other
        // for ever.
        let older = self.hold(tx, from.min(into), from).await?;
        let newer = self.hold(tx, from.max(into), from).await?;
        let (survivor, merged) = if older.id == into { (older, newer) } else { (newer, older) };
        range_counts::removed(tx, workspace, List::Companies, from).await?;
        company::hold_persons_and_jobs(tx, workspace, from).await?;
        documents::mark_company(tx, workspace, from).await?;
        // Persons before their contacts, as everybody does who holds both.
        company::hand_over(tx, workspace, from, into).await?;
        self.drop_contacts(tx, from, into).await?;
        company::remove_into(tx, workspace, from, into).await?;
        merged_ids::insert(tx, workspace, from, Some(into)).await?;
        emit::company_merged(tx, &self.actor, into, RecordRef { id: from, name: &merged.name })
            .await?;
        Ok(CompanyView { updated_at: tx.now(), ..survivor })
    }
}

impl MergeCompany {
    /// Who is a contact of both stays one contact, that of the company that stays.
    async fn drop_contacts(
        &self,
        tx: &mut Tx,
        from: CompanyId,
        into: CompanyId,
    ) -> Result<(), OperationError> {
        let workspace = self.actor.workspace;
        for (contact, person) in
            client_contact::delete_shared_by_companies(tx, workspace, from, into).await?
        {
            let name = person::name(tx, workspace, person).await?.unwrap_or_default();
            emit::contact_removed(
                tx,
                &self.actor,
                from,
                RecordRef { id: person, name: &name },
                contact,
            )
            .await?;
        }
        Ok(())
    }

    /// Keeps a company from others until the work is done; nobody may even begin to point at the
    /// one that goes.
    async fn hold(
        &self,
        tx: &mut Tx,
        id: CompanyId,
        going: CompanyId,
    ) -> Result<CompanyView, OperationError> {
        let gone =
            || StoreError::Conflict("the company was merged into another meanwhile".to_owned());
        if id == going {
            company::lock_for_delete(tx, self.actor.workspace, id).await?;
        }
        Ok(company::load(tx, self.actor.workspace, id).await?.ok_or_else(gone)?)
    }
}

fn same(named: CompanyId, into: CompanyId) -> Problem {
    let message = match named == into {
        true => "A company cannot be merged into itself; give another company_id.".to_owned(),
        false => format!("The company {named} was already merged into {into}."),
    };
    Problem::new(ErrorCode::InvalidMerge, message).with(FieldError::about(
        "company_id",
        format!("is {into}, the company to merge into"),
        into,
    ))
}
