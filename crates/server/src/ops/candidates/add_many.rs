//! Putting many persons on a job at once: all of them or none.

use model::id::{self, CandidateId, JobId, PersonId, WorkspaceId};
use model::input::Reference;
use model::problem::{Code, Flaw, Problem};
use store::record::{candidate, job, stage};
use store::{Failure, Pace, Tx, Work};

use super::associate::{OntoJob, put_all_on_jobs};
use super::batch::all_known;
use crate::ops::Actor;
use crate::ops::persons::follow;
use crate::ops::tell::Named;

pub struct AddCandidates {
    pub actor: Actor,
    pub job: JobId,
    pub persons: Vec<Reference<id::Person>>,
}

/// A person on the job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Added {
    pub person_id: PersonId,
    pub candidate_id: CandidateId,
    /// False if they were on the job already.
    pub is_new: bool,
}

impl Work for AddCandidates {
    /// In the order of the request.
    type Output = Vec<Added>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Added>, Failure> {
        let workspace = self.actor.workspace;
        // While the job is held nobody else is put on it, so who is not there now will not be.
        let job = job::load(tx, workspace, self.job).await?.ok_or_else(|| Problem::not_found("job", self.job))?;
        let stages = stage::of_job(tx, workspace, job.id).await?;
        let persons = self.look_up(tx).await?;
        let new = persons.iter().filter(|person| person.candidate.is_none());
        let entering: Vec<_> = new.map(|person| (&self.actor, Named { id: person.id, name: &person.name })).collect();
        let onto = (!entering.is_empty()).then_some(OntoJob { job: job.id, stages: &stages, persons: entering });
        let mut made = put_all_on_jobs(tx, workspace, onto.as_slice()).await?.into_iter().flatten();
        let added = persons.iter().filter_map(|person| {
            let candidate_id = person.candidate.or_else(|| made.next())?;
            Some(Added { person_id: person.id, candidate_id, is_new: person.candidate.is_none() })
        });
        Ok(added.collect())
    }
}

/// A person who is to be on the job, with their candidate if they are already.
struct Wanted {
    id: PersonId,
    name: String,
    candidate: Option<CandidateId>,
}

impl AddCandidates {
    async fn look_up(&self, tx: &mut Tx) -> Result<Vec<Wanted>, Failure> {
        let mut asked = Vec::with_capacity(self.persons.len());
        for reference in &self.persons {
            asked.push(match reference.id {
                Some(id) => Some((id, candidate::ask_of_person(tx, self.actor.workspace, self.job, id).await?)),
                None => None,
            });
        }
        let mut found: Vec<Option<Wanted>> = Vec::with_capacity(asked.len());
        for (place, asked) in asked.into_iter().enumerate() {
            let wanted = match asked {
                Some((id, asked)) => match tx.answer(asked).await?.pop() {
                    Some((name, candidate)) => Some(Wanted { id, name, candidate }),
                    None => self.survivor(tx, id).await?,
                },
                None => None,
            };
            if let Some(wanted) = &wanted
                && found.iter().flatten().any(|other| other.id == wanted.id)
            {
                let message = format!("leads to {}, who stands in the list already", wanted.id);
                return Err(Problem::invalid(format!("person_ids[{place}]"), Flaw::Contradiction, message).into());
            }
            found.push(wanted);
        }
        Ok(all_known("person_ids", &self.persons, found)?)
    }

    /// The person that one went into who is not there, if there is one.
    async fn survivor(&self, tx: &mut Tx, id: PersonId) -> Result<Option<Wanted>, Failure> {
        let workspace = self.actor.workspace;
        let id = match follow::current(tx, workspace, id).await {
            Err(Failure::Refused(problem)) if problem.code == Code::NotFound => return Ok(None),
            found => found?,
        };
        let asked = candidate::ask_of_person(tx, workspace, self.job, id).await?;
        Ok(tx.answer(asked).await?.pop().map(|(name, candidate)| Wanted { id, name, candidate }))
    }
}
