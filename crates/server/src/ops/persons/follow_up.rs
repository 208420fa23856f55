//! What is left to do once creates are carried out. Of many it is done for all at once.

use std::collections::{BTreeMap, HashMap};

use model::id::{CandidateId, JobId, PersonId, WorkspaceId};
use model::stage::Stage;
use store::{Failure, Tx};

use super::index;
use crate::ops::Actor;
use crate::ops::candidates::associate::put_all_on_job;
use crate::ops::tell::Named;

#[derive(Default)]
pub struct FollowUp<'c> {
    /// Persons who are to be indexed anew.
    pub stale: Vec<PersonId>,
    entering: BTreeMap<JobId, Entering<'c>>,
}

/// Persons who are to be put on a job.
struct Entering<'c> {
    stages: Vec<Stage>,
    persons: Vec<(&'c Actor, PersonId, String)>,
}

impl<'c> FollowUp<'c> {
    /// Lets somebody be put on a job who is not on it.
    pub fn put_on_job(&mut self, actor: &'c Actor, person: Named<'_, PersonId>, job: JobId, stages: Vec<Stage>) {
        let entering = self.entering.entry(job).or_insert_with(|| Entering { stages, persons: Vec::new() });
        entering.persons.push((actor, person.id, person.name.to_owned()));
    }

    /// Does all that, the jobs in the order of their ids. Gives back the candidates of those who were put on one.
    pub async fn carry_out(&mut self, tx: &mut Tx, workspace: WorkspaceId) -> Result<HashMap<PersonId, CandidateId>, Failure> {
        // Everybody changes the index in the order of ids, and holds a job no longer than needed.
        self.stale.sort_unstable();
        index::refresh_all(tx, workspace, &std::mem::take(&mut self.stale)).await?;
        let mut made = HashMap::new();
        for (job, Entering { stages, persons }) in std::mem::take(&mut self.entering) {
            let entering: Vec<_> = persons.iter().map(|(actor, id, name)| (*actor, Named { id: *id, name })).collect();
            let candidates = put_all_on_job(tx, job, &stages, &entering).await?;
            made.extend(persons.iter().map(|(_, id, _)| *id).zip(candidates));
        }
        Ok(made)
    }
}
