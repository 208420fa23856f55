//! Listing the companies of a workspace.

use slated_model::id::{self, WorkspaceId};
use slated_model::input::Query;
use slated_model::listing::{Page, TimeFilter};
use slated_store::records::company;
use slated_store::records::company::{CompanyFilter, CompanyView};
use slated_store::records::pagination::PageResult;
use slated_store::{Operation, OperationError, Tx};

pub fn read_filter(query: &mut Query) -> CompanyFilter {
    CompanyFilter { times: TimeFilter::read(query), q: query.words("q") }
}

pub struct ListCompanies {
    pub workspace: WorkspaceId,
    pub filter: CompanyFilter,
    pub page: Page<id::Company>,
}

impl ListCompanies {
    /// True if every record is wanted, so that a page is found by its place.
    pub fn wants_all(&self) -> bool {
        self.filter == CompanyFilter::default()
    }
}

impl Operation for ListCompanies {
    type Output = PageResult<CompanyView>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<PageResult<CompanyView>, OperationError> {
        Ok(company::list(tx, self.workspace, &self.filter, &self.page).await?)
    }
}
