//! Listing the candidates of a job.

use slated_model::id::{self, JobId, StageId, WorkspaceId};
use slated_model::input::Query;
use slated_model::listing::{Page, TimeFilter};
use slated_model::problem::{FieldErrorCode, Problem};
use slated_model::search::Question;
use slated_model::stage::Stage;
use slated_model::text::comparison_key;
use slated_store::records::candidate::{CandidateFilter, CandidateItem};
use slated_store::records::pagination::PageResult;
use slated_store::records::{candidate, stage};
use slated_store::{Operation, OperationError, Tx};

use crate::filter_errors::FilterErrors;
use crate::persons::list::read_question;

/// The filters as the caller wrote them.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct CandidateQuery {
    pub times: TimeFilter,
    pub stage_id: Option<String>,
    pub stage_name: Option<String>,
    pub q: Option<Question>,
}

impl CandidateQuery {
    /// True if every record is wanted, so that a page is found by its place.
    pub fn wants_all(&self) -> bool {
        *self == Self::default()
    }

    pub fn read(query: &mut Query) -> Self {
        Self {
            times: TimeFilter::read(query),
            stage_id: query.words("stage_id"),
            stage_name: query.words("stage_name"),
            q: read_question(query),
        }
    }
}

pub struct ListCandidates {
    pub workspace: WorkspaceId,
    pub job: JobId,
    pub query: CandidateQuery,
    pub page: Page<id::Candidate>,
}

impl Operation for ListCandidates {
    /// The page, and the stages of the job, one of which each candidate is in.
    type Output = (PageResult<CandidateItem>, Vec<Stage>);

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let missing = || Problem::not_found("job", self.job);
        let stages = stage::of_job(tx, self.workspace, self.job).await?;
        if stages.is_empty() {
            return Err(missing().into());
        }
        let CandidateQuery { times, stage_id, stage_name, q } = &self.query;
        let mut flaws = FilterErrors::default();
        let by_id = match stage_id {
            Some(written) => {
                let id = StageId::parse(written);
                flaws.note(find(&stages, "stage_id", |stage| id == Some(stage.id)))?
            }
            None => None,
        };
        let by_name = match stage_name {
            Some(written) => {
                // Of several stages of that name the id says which one is meant.
                let is_meant =
                    |stage: &Stage| comparison_key(&stage.name) == comparison_key(written);
                flaws.note(
                    by_id
                        .filter(|stage| is_meant(stage))
                        .map_or_else(|| find(&stages, "stage_name", is_meant), Ok),
                )?
            }
            None => None,
        };
        flaws.check()?;
        if by_id.is_some() && by_name.is_some() && by_id != by_name {
            return Err(contradiction().into());
        }
        let stage_id = by_id.or(by_name).map(|stage| stage.id);
        let filter = CandidateFilter { times: times.clone(), stage_id, q: q.clone() };
        let listed = candidate::list(tx, self.workspace, self.job, &filter, &self.page)
            .await?
            .ok_or_else(missing)?;
        Ok((listed, stages))
    }
}

fn find<'s>(
    stages: &'s [Stage],
    field: &str,
    is_meant: impl Fn(&Stage) -> bool,
) -> Result<&'s Stage, Problem> {
    let mut meant = stages.iter().filter(|stage| is_meant(stage));
    match (meant.next(), meant.next()) {
        (Some(only), None) => Ok(only),
        (Some(_), Some(_)) => Err(Problem::invalid(
            field,
            FieldErrorCode::InvalidValue,
            "is the name of several stages; use stage_id",
        )),
        (None, _) => Err(no_stage_of_job(field, stages)),
    }
}

pub fn contradiction() -> Problem {
    Problem::invalid(
        "stage_name",
        FieldErrorCode::Contradiction,
        "must be the name of the stage in stage_id, or be omitted",
    )
}

pub fn no_stage_of_job(field: &str, stages: &[Stage]) -> Problem {
    let names: Vec<_> = stages.iter().map(|stage| stage.name.as_str()).collect();
    Problem::invalid(
        field,
        FieldErrorCode::InvalidValue,
        format!("must be one of the job's stages: {}", names.join(", ")),
    )
}
