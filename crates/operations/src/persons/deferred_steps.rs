//! What is left to do once creates are carried out. Of many it is done for all at once.

use std::collections::{BTreeMap, HashMap};

use slated_model::id::{CandidateId, JobId, PersonId, WorkspaceId};
use slated_model::stage::Stage;
use slated_store::{OperationError, Tx};

use crate::Actor;
use crate::candidates::associate::{OntoJob, put_all_on_jobs};
use crate::emit::RecordRef;
use crate::search::index;

#[derive(Default)]
pub struct DeferredSteps<'c> {
    /// Persons who are to be indexed anew.
    pub stale: Vec<PersonId>,
    entering: BTreeMap<JobId, Entering<'c>>,
}

/// Persons who are to be put on a job.
struct Entering<'c> {
    stages: Vec<Stage>,
    persons: Vec<(&'c Actor, PersonId, String)>,
}

impl<'c> DeferredSteps<'c> {
    /// Lets somebody be put on a job who is not on it.
    pub fn put_on_job(
        &mut self,
        actor: &'c Actor,
        person: RecordRef<'_, PersonId>,
        job: JobId,
        stages: Vec<Stage>,
    ) {
        let entering =
            self.entering.entry(job).or_insert_with(|| Entering { stages, persons: Vec::new() });
        entering.persons.push((actor, person.id, person.name.to_owned()));
    }

    /// Does all that, the jobs in the order of their ids. Gives back the candidates of those who
    /// were put on one.
    pub async fn apply(
        &mut self,
        tx: &mut Tx,
        workspace: WorkspaceId,
    ) -> Result<HashMap<PersonId, CandidateId>, OperationError> {
        // Everybody changes the index in the order of ids, and holds a job no longer than needed.
        self.stale.sort_unstable();
        index::refresh_all(tx, workspace, &std::mem::take(&mut self.stale)).await?;
        let entering = std::mem::take(&mut self.entering);
        let onto: Vec<_> = entering
            .iter()
            .map(|(job, Entering { stages, persons })| {
                let persons = persons
                    .iter()
                    .map(|(actor, id, name)| (*actor, RecordRef { id: *id, name }))
                    .collect();
                OntoJob { job: *job, stages, persons }
            })
            .collect();
        let made = put_all_on_jobs(tx, workspace, &onto).await?;
        let persons =
            entering.values().flat_map(|entering| entering.persons.iter().map(|(_, id, _)| *id));
        Ok(persons.zip(made.into_iter().flatten()).collect())
    }
}
