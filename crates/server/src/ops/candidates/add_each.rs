//! Putting many persons on jobs in one transaction, each as if alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::id::{CandidateId, JobId, PersonId};
use model::problem::Problem;
use model::stage::Stage;
use store::record::{candidate, stage};
use store::{Failure, Tx};

use super::add::AddCandidate;
use super::associate::{OntoJob, put_all_on_jobs};
use crate::ops::gathering::{Gathered, Outcomes};
use crate::ops::tell::Named;

impl Gathered for AddCandidate {
    /// In which everybody holds jobs.
    type Order = (JobId, Option<PersonId>);

    fn can_go_together(&self) -> bool {
        self.person.id.is_some()
    }

    fn changes_job(&self) -> bool {
        true
    }

    fn order(&self) -> Self::Order {
        (self.job, self.person.id)
    }

    /// Nothing becomes of those about a person who is not there, or whom an earlier one puts on the same job.
    async fn run_together(tx: &mut Tx, adds: &[Arc<Self>]) -> Result<Outcomes<Self::Output>, Failure> {
        let mut outcomes: Outcomes<_> = adds.iter().map(|_| None).collect();
        let Some(workspace) = adds.first().map(|first| first.actor.workspace) else { return Ok(outcomes) };
        let mut asked = Vec::with_capacity(adds.len());
        for (number, add) in adds.iter().enumerate() {
            if let Some(person) = add.person.id {
                asked.push((number, person, candidate::ask_of_person(tx, workspace, add.job, person).await?));
            }
        }
        let stages = stages_of(tx, adds).await?;
        let mut found: Vec<(usize, CandidateId, bool)> = Vec::with_capacity(adds.len());
        let mut entering: BTreeMap<JobId, BTreeMap<PersonId, (usize, String)>> = BTreeMap::new();
        for (number, person, asked) in asked {
            let job = adds[number].job;
            match tx.answer(asked).await?.pop() {
                _ if stages[&job].is_empty() => outcomes[number] = Some(Err(Problem::not_found("job", job))),
                Some((_, Some(candidate))) => found.push((number, candidate, false)),
                Some((name, None)) => drop(entering.entry(job).or_default().entry(person).or_insert((number, name))),
                None => {}
            }
        }
        let onto: Vec<_> = entering
            .iter()
            .map(|(job, persons)| {
                let persons = persons.iter().map(|(id, (number, name))| (&adds[*number].actor, Named { id: *id, name })).collect();
                OntoJob { job: *job, stages: &stages[job], persons }
            })
            .collect();
        let made = put_all_on_jobs(tx, workspace, &onto).await?;
        let new = entering.values().flat_map(BTreeMap::values).zip(made.into_iter().flatten());
        found.extend(new.map(|((number, _), candidate)| (*number, candidate, true)));
        let ids: Vec<_> = found.iter().map(|(_, candidate, _)| *candidate).collect();
        let views = candidate::views(tx, workspace, &ids).await?;
        let views: HashMap<_, _> = views.into_iter().map(|view| (view.id, view)).collect();
        for (number, candidate, is_new) in found {
            outcomes[number] = views.get(&candidate).map(|view| Ok((view.clone(), is_new)));
        }
        Ok(outcomes)
    }
}

/// The stages of the jobs; a job that is not there has none.
async fn stages_of(tx: &mut Tx, adds: &[Arc<AddCandidate>]) -> Result<BTreeMap<JobId, Vec<Stage>>, Failure> {
    let jobs: BTreeSet<_> = adds.iter().map(|add| (add.job, add.actor.workspace)).collect();
    let mut asked = Vec::with_capacity(jobs.len());
    for (job, workspace) in jobs {
        asked.push((job, stage::ask_of_job(tx, workspace, job).await?));
    }
    let mut stages = BTreeMap::new();
    for (job, asked) in asked {
        stages.insert(job, stage::answer(tx, asked).await?);
    }
    Ok(stages)
}
