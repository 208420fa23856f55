//! Looking at a company.

use model::id::{CompanyId, WorkspaceId};
use store::record::company::CompanyView;
use store::{Failure, Tx, Work};

use crate::ops::companies::existing;

/// Reads the company, or the one that it went into.
pub struct ReadCompany {
    pub workspace: WorkspaceId,
    pub id: CompanyId,
}

impl Work for ReadCompany {
    type Output = CompanyView;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<CompanyView, Failure> {
        existing(tx, self.workspace, self.id).await
    }
}
