//! Making a company.

use slated_model::company::NewCompany;
use slated_model::id::WorkspaceId;
use slated_store::records::company;
use slated_store::records::company::CompanyView;
use slated_store::{Operation, OperationError, StoreError, Tx};

use crate::Actor;
use crate::companies::make;

/// Makes a company, or finds the one that has the name.
pub struct CreateCompany {
    pub actor: Actor,
    pub new: NewCompany,
}

impl Operation for CreateCompany {
    /// The company, and whether it was made just now.
    type Output = (CompanyView, bool);

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let workspace = self.actor.workspace;
        let found = company::find_by_name(tx, workspace, &self.new.name).await?;
        let id = match found {
            Some(id) => id,
            // Of two who make it at once one fails, and finds it when it runs again.
            None => make(tx, &self.actor, &self.new.name).await?,
        };
        let gone =
            || StoreError::Conflict("the company was merged into another meanwhile".to_owned());
        Ok((company::view(tx, workspace, id).await?.ok_or_else(gone)?, found.is_none()))
    }
}
