//! Listing the candidates of all jobs.

use slated_model::clock::Timestamp;
use slated_model::id::{self, JobId, PersonId, StageId, WorkspaceId};
use slated_model::input::Query;
use slated_model::listing::{Page, TimeFilter};
use slated_model::problem::{FieldErrorCode, Problem};
use slated_model::search::Question;
use slated_model::stage::Stage;
use slated_model::text::comparison_key;
use slated_store::records::candidate::{AllCandidatesFilter, CandidateOnJob};
use slated_store::records::pagination::PageResult;
use slated_store::records::{candidate, stage};
use slated_store::{Operation, OperationError, Tx};

use super::list_of_job::{contradiction, no_stage_of_job};
use crate::filter_errors::FilterErrors;
use crate::jobs;
use crate::persons::list::read_question;
use crate::persons::resolve_merged;

/// The filters as the caller wrote them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct AllCandidatesQuery {
    pub times: TimeFilter,
    pub job_id: Option<String>,
    pub person_id: Option<String>,
    pub stage_id: Option<String>,
    pub stage_name: Option<String>,
    pub is_rejected: Option<bool>,
    pub entered_stage_after: Option<Timestamp>,
    pub entered_stage_before: Option<Timestamp>,
    pub q: Option<Question>,
}

impl AllCandidatesQuery {
    /// True if every record is wanted, so that a page is found by its place.
    pub fn wants_all(&self) -> bool {
        *self == Self::default()
    }

    pub fn read(query: &mut Query) -> Self {
        Self {
            times: TimeFilter::read(query),
            job_id: query.words("job_id"),
            person_id: query.words("person_id"),
            stage_id: query.words("stage_id"),
            stage_name: query.words("stage_name"),
            is_rejected: query.parsed(
                "is_rejected",
                FieldErrorCode::InvalidValue,
                "true or false",
                |written| written.parse().ok(),
            ),
            entered_stage_after: query.after("entered_stage_after"),
            entered_stage_before: query.before("entered_stage_before"),
            q: read_question(query),
        }
    }
}

pub struct ListAllCandidates {
    pub workspace: WorkspaceId,
    pub query: AllCandidatesQuery,
    pub page: Page<id::Candidate>,
}

impl Operation for ListAllCandidates {
    type Output = PageResult<CandidateOnJob>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let query = &self.query;
        let mut filter = AllCandidatesFilter {
            times: query.times.clone(),
            is_rejected: query.is_rejected,
            entered_stage_after: query.entered_stage_after,
            entered_stage_before: query.entered_stage_before,
            q: query.q.clone(),
            ..AllCandidatesFilter::default()
        };
        let mut flaws = FilterErrors::default();
        filter.person_id = flaws.note(self.person(tx).await)?.flatten();
        if let Some(job) = flaws.note(self.job(tx).await)? {
            filter.job_id = job;
            (filter.stage_id, filter.stage_names) =
                flaws.note(self.stage(tx, job).await)?.unwrap_or_default();
        }
        flaws.check()?;
        Ok(candidate::list_all(tx, self.workspace, &filter, &self.page).await?)
    }
}

impl ListAllCandidates {
    async fn person(&self, tx: &mut Tx) -> Result<Option<PersonId>, OperationError> {
        let Some(written) = &self.query.person_id else { return Ok(None) };
        let unknown = || {
            Problem::invalid(
                "person_id",
                FieldErrorCode::InvalidValue,
                format!("there is no person {written}"),
            )
        };
        let id = PersonId::parse(written).ok_or_else(unknown)?;
        match resolve_merged::current(tx, self.workspace, id).await {
            Err(OperationError::Rejected(_)) => Err(unknown().into()),
            found => found.map(Some),
        }
    }

    /// The job that is wanted, which a stage stands for too.
    async fn job(&self, tx: &mut Tx) -> Result<Option<JobId>, OperationError> {
        if let Some(written) = &self.query.job_id {
            return jobs::filtered(tx, self.workspace, written).await.map(Some);
        }
        let Some(written) = &self.query.stage_id else { return Ok(None) };
        let unknown = || {
            Problem::invalid(
                "stage_id",
                FieldErrorCode::InvalidValue,
                format!("there is no pipeline stage {written}"),
            )
        };
        let id = StageId::parse(written).ok_or_else(unknown)?;
        Ok(Some(stage::job_of(tx, self.workspace, id).await?.ok_or_else(unknown)?))
    }

    /// The stage of the job, if its id is given, or else the ways in which its name is written.
    async fn stage(
        &self,
        tx: &mut Tx,
        job: Option<JobId>,
    ) -> Result<(Option<StageId>, Option<Vec<String>>), OperationError> {
        let stages = match job
            .filter(|_| self.query.stage_id.is_some() || self.query.stage_name.is_some())
        {
            Some(job) => stage::of_job(tx, self.workspace, job).await?,
            None => Vec::new(),
        };
        match (&self.query.stage_id, &self.query.stage_name) {
            (Some(written), name) => {
                let id = StageId::parse(written);
                let found = stages
                    .iter()
                    .find(|stage| id == Some(stage.id))
                    .ok_or_else(|| no_stage_of_job("stage_id", &stages))?;
                match name
                    .as_ref()
                    .is_some_and(|name| comparison_key(name) != comparison_key(&found.name))
                {
                    true => Err(contradiction().into()),
                    false => Ok((Some(found.id), None)),
                }
            }
            (None, Some(written)) => Ok((None, Some(self.spellings(tx, written, &stages).await?))),
            (None, None) => Ok((None, None)),
        }
    }

    /// The ways in which the name is written, on the one job that has these stages or on any.
    async fn spellings(
        &self,
        tx: &mut Tx,
        written: &str,
        stages: &[Stage],
    ) -> Result<Vec<String>, OperationError> {
        let mut names = match stages {
            [] => stage::names(tx, self.workspace).await?,
            stages => stages.iter().map(|stage| stage.name.clone()).collect(),
        };
        names.retain(|name| comparison_key(name) == comparison_key(written));
        match (names.is_empty(), stages) {
            (false, _) => Ok(names),
            (true, []) => Err(Problem::invalid(
                "stage_name",
                FieldErrorCode::InvalidValue,
                "must be the name of an existing stage",
            )
            .into()),
            (true, stages) => Err(no_stage_of_job("stage_name", stages).into()),
        }
    }
}
