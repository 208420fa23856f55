//! Looking at a company.

use slated_model::id::{CompanyId, WorkspaceId};
use slated_store::records::company::CompanyView;
use slated_store::{Operation, OperationError, Tx};

use crate::companies::existing;

/// Reads the company, or the one that it went into.
pub struct ReadCompany {
    pub workspace: WorkspaceId,
    pub id: CompanyId,
}

impl Operation for ReadCompany {
    type Output = CompanyView;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<CompanyView, OperationError> {
        existing(tx, self.workspace, self.id).await
    }
}
