//! Putting many persons on a job in one transaction, each as if alone.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use slated_model::id::{CandidateId, JobId, PersonId};
use slated_model::problem::Problem;
use slated_store::records::{candidate, job, stage};
use slated_store::{OperationError, Tx};

use super::add::AddCandidate;
use super::associate::{OntoJob, put_all_on_jobs};
use crate::emit::RecordRef;
use crate::write_batches::{Batchable, Outcomes};

impl Batchable for AddCandidate {
    type Order = Option<PersonId>;

    fn can_go_together(&self) -> bool {
        self.person.id.is_some()
    }

    fn job(&self) -> Option<JobId> {
        Some(self.job)
    }

    fn order(&self) -> Self::Order {
        self.person.id
    }

    /// Nothing becomes of those about a person who is not there, or whom an earlier one puts on the
    /// job.
    async fn run_together(
        tx: &mut Tx,
        adds: &[Arc<Self>],
    ) -> Result<Outcomes<Self::Output>, OperationError> {
        let mut outcomes: Outcomes<_> = adds.iter().map(|_| None).collect();
        let Some((workspace, job)) = adds.first().map(|first| (first.actor.workspace, first.job))
        else {
            return Ok(outcomes);
        };
        // While the job is held nobody else is put on it, so who is not there now will not be.
        if job::load(tx, workspace, job).await?.is_none() {
            return Ok(adds.iter().map(|_| Some(Err(Problem::not_found("job", job)))).collect());
        }
        let stages = stage::ask_of_job(tx, workspace, job).await?;
        let mut asked = Vec::with_capacity(adds.len());
        for (number, add) in adds.iter().enumerate() {
            if let Some(person) = add.person.id {
                asked.push((
                    number,
                    person,
                    candidate::ask_of_person(tx, workspace, job, person).await?,
                ));
            }
        }
        let stages = stage::answer(tx, stages).await?;
        let mut found: Vec<(usize, CandidateId, bool)> = Vec::with_capacity(adds.len());
        let mut new: BTreeMap<PersonId, (usize, String)> = BTreeMap::new();
        for (number, person, asked) in asked {
            match tx.answer(asked).await?.pop() {
                Some((_, Some(candidate))) => found.push((number, candidate, false)),
                Some((name, None)) => drop(new.entry(person).or_insert((number, name))),
                None => {}
            }
        }
        let persons: Vec<_> = new
            .iter()
            .map(|(id, (number, name))| (&adds[*number].actor, RecordRef { id: *id, name }))
            .collect();
        let onto = (!persons.is_empty()).then_some(OntoJob { job, stages: &stages, persons });
        let made = put_all_on_jobs(tx, workspace, onto.as_slice()).await?;
        found.extend(
            new.values()
                .zip(made.into_iter().flatten())
                .map(|((number, _), candidate)| (*number, candidate, true)),
        );
        let ids: Vec<_> = found.iter().map(|(_, candidate, _)| *candidate).collect();
        let views = candidate::views(tx, workspace, &ids).await?;
        let views: HashMap<_, _> = views.into_iter().map(|view| (view.id, view)).collect();
        for (number, candidate, is_new) in found {
            outcomes[number] = views.get(&candidate).map(|view| Ok((view.clone(), is_new)));
        }
        Ok(outcomes)
    }
}
