//! What happened to one record.

use slated_model::event::Event;
use slated_model::id::{CandidateId, JobId, PersonId, WorkspaceId};
use slated_model::problem::Problem;
use slated_store::records::events::reading;
use slated_store::records::events::reading::Beside;
use slated_store::records::{candidate, job, person};
use slated_store::{Operation, OperationError, Tx};

use crate::merged_ids::resolve_merged_id;

/// Whose timeline is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timeline {
    Person(PersonId),
    Candidate(CandidateId),
    Job(JobId),
}

/// What happened to a record, newest first, before a number.
pub struct ReadTimeline {
    pub workspace: WorkspaceId,
    pub of: Timeline,
    pub before: Option<i64>,
    pub limit: i64,
}

impl Operation for ReadTimeline {
    /// With the number to go on before, if there is more.
    type Output = (Vec<Event>, Option<i64>);

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let Self { workspace, limit, .. } = *self;
        let before = self.before.unwrap_or(i64::MAX);
        let (events, has_more) = match self.of {
            Timeline::Person(id) => {
                if person::name(tx, workspace, id).await?.is_none() {
                    // One who went into another keeps what happened before.
                    resolve_merged_id(tx, workspace, id).await?;
                }
                reading::timeline(tx, workspace, id, Beside::EventsOfPerson, before, limit).await?
            }
            Timeline::Candidate(id) => {
                if candidate::job_of(tx, workspace, id).await?.is_none() {
                    resolve_merged_id(tx, workspace, id).await?;
                }
                reading::timeline(tx, workspace, id, Beside::Nothing, before, limit).await?
            }
            Timeline::Job(id) => {
                job::places(tx, workspace, id)
                    .await?
                    .ok_or_else(|| Problem::not_found("job", id))?;
                reading::timeline(tx, workspace, id, Beside::EventsOfJob, before, limit).await?
            }
        };
        let next = events.last().filter(|_| has_more).map(|event| event.sequence);
        Ok((events, next))
    }
}
