//! Listing the companies of a workspace.

use model::id::{self, WorkspaceId};
use model::input::Query;
use model::listing::{Page, TimeFilter};
use store::record::company::{self, CompanyFilter, CompanyView};
use store::record::listing::Listed;
use store::{Failure, Tx, Work};

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

impl Work for ListCompanies {
    type Output = Listed<CompanyView>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Listed<CompanyView>, Failure> {
        Ok(company::list(tx, self.workspace, &self.filter, &self.page).await?)
    }
}
