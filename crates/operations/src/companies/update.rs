//! Renaming a company.

use slated_model::company::CompanyPatch;
use slated_model::id::{CompanyId, WorkspaceId};
use slated_model::problem::{ErrorCode, FieldError, Problem};
use slated_model::text::comparison_key;
use slated_store::records::company;
use slated_store::records::company::CompanyView;
use slated_store::records::search::documents;
use slated_store::{Operation, OperationError, Pace, Tx};

use crate::companies::hold;
use crate::etag::Precondition;
use crate::{Actor, emit};

pub struct UpdateCompany {
    pub actor: Actor,
    pub id: CompanyId,
    pub patch: CompanyPatch,
    pub precondition: Precondition,
}

impl Operation for UpdateCompany {
    type Output = CompanyView;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    /// All who work for a company with a new name are to be indexed anew.
    fn pace(&self) -> Pace {
        match self.patch.name {
            Some(_) => Pace::AtLength,
            None => Pace::Quick,
        }
    }

    async fn run(&self, tx: &mut Tx) -> Result<CompanyView, OperationError> {
        let workspace = self.actor.workspace;
        let before = hold(tx, workspace, self.id).await?;
        self.precondition.check(&before)?;
        let Some(name) = self.patch.name.as_ref().filter(|name| **name != before.name) else {
            return Ok(before);
        };
        // Another spelling of the name that it has is nobody else's.
        if comparison_key(name) != comparison_key(&before.name)
            && let Some(other) = company::find_by_name(tx, workspace, name).await?
        {
            let spelled = company::name(tx, workspace, other).await?;
            return Err(taken(spelled.as_deref().unwrap_or(name), other).into());
        }
        company::rename(tx, workspace, before.id, name).await?;
        documents::mark_company(tx, workspace, before.id).await?;
        emit::company_renamed(tx, &self.actor, before.id, &before.name, name).await?;
        Ok(CompanyView { name: name.clone(), updated_at: tx.now(), ..before })
    }
}

fn taken(name: &str, other: CompanyId) -> Problem {
    let message =
        format!("Company {other} is already named {name:?}; choose another name or merge them.");
    Problem::new(ErrorCode::NameTaken, message).with(FieldError::about(
        "name",
        format!("is the name of company {other}"),
        other,
    ))
}
