//! Listing the jobs of a workspace.

use slated_model::id::{self, StatusId, WorkspaceId};
use slated_model::input::Query;
use slated_model::listing::{Page, TimeFilter};
use slated_model::problem::{FieldErrorCode, Problem};
use slated_model::text::comparison_key;
use slated_store::records::job::{JobFilter, JobView};
use slated_store::records::pagination::PageResult;
use slated_store::records::{job, status};
use slated_store::{Operation, OperationError, Tx};

use crate::companies;
use crate::filter_errors::FilterErrors;

/// The filters as the caller wrote them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct JobQuery {
    pub times: TimeFilter,
    pub status: Option<String>,
    pub is_archived: Option<bool>,
    pub client_company_id: Option<String>,
    pub q: Option<String>,
}

impl JobQuery {
    /// True if every record is wanted, so that a page is found by its place.
    pub fn wants_all(&self) -> bool {
        *self == Self::default()
    }

    pub fn read(query: &mut Query) -> Self {
        let client_company_id = query.words("client_company_id");
        Self { client_company_id, ..Self::read_of_client(query) }
    }

    /// The same for a list that has the jobs of one client only.
    pub fn read_of_client(query: &mut Query) -> Self {
        Self {
            times: TimeFilter::read(query),
            status: query.words("status"),
            is_archived: query.parsed(
                "is_archived",
                FieldErrorCode::InvalidValue,
                "true or false",
                |written| written.parse().ok(),
            ),
            client_company_id: None,
            q: query.words("q"),
        }
    }
}

pub struct ListJobs {
    pub workspace: WorkspaceId,
    pub query: JobQuery,
    pub page: Page<id::Job>,
}

impl Operation for ListJobs {
    type Output = PageResult<JobView>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<PageResult<JobView>, OperationError> {
        let JobQuery { times, status, is_archived, client_company_id, q } = &self.query;
        let mut flaws = FilterErrors::default();
        let status_id = match status {
            Some(written) => flaws.note(self.find_status(tx, written).await)?,
            None => None,
        };
        let client_company_id = match client_company_id {
            Some(written) => flaws.note(
                companies::filtered(tx, self.workspace, "client_company_id", written).await,
            )?,
            None => None,
        };
        flaws.check()?;
        let filter = JobFilter {
            times: times.clone(),
            status_id,
            is_archived: *is_archived,
            client_company_id,
            q: q.clone(),
        };
        Ok(job::list(tx, self.workspace, &filter, &self.page).await?)
    }
}

impl ListJobs {
    async fn find_status(&self, tx: &mut Tx, written: &str) -> Result<StatusId, OperationError> {
        let statuses = status::all(tx, self.workspace).await?;
        let id = StatusId::parse(written);
        let found = statuses.iter().find(|(known, name)| {
            id == Some(*known) || comparison_key(name) == comparison_key(written)
        });
        Ok(found.map(|(id, _)| *id).ok_or_else(|| {
            let names: Vec<_> = statuses.iter().map(|(_, name)| name.as_str()).collect();
            Problem::invalid(
                "status",
                FieldErrorCode::InvalidValue,
                format!("must be the id or name of a job status: {}", names.join(", ")),
            )
        })?)
    }
}
