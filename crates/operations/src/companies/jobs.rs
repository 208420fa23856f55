//! Listing the jobs of a company.

use slated_model::id::{self, CompanyId, WorkspaceId};
use slated_model::listing::Page;
use slated_store::records::job::JobView;
use slated_store::records::pagination::PageResult;
use slated_store::{Operation, OperationError, Tx};

use crate::companies::existing;
use crate::jobs::list::{JobQuery, ListJobs};

pub struct ListJobsOfCompany {
    pub workspace: WorkspaceId,
    pub company: CompanyId,
    pub query: JobQuery,
    pub page: Page<id::Job>,
}

impl Operation for ListJobsOfCompany {
    type Output = PageResult<JobView>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<PageResult<JobView>, OperationError> {
        let company = existing(tx, self.workspace, self.company).await?;
        let query =
            JobQuery { client_company_id: Some(company.id.to_string()), ..self.query.clone() };
        ListJobs { workspace: self.workspace, query, page: self.page.clone() }.run(tx).await
    }
}
