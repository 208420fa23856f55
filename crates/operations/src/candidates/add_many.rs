//! Putting many persons on a job at once: all of them or none.

use std::collections::{HashMap, HashSet};

use slated_model::id::{self, CandidateId, JobId, PersonId, WorkspaceId};
use slated_model::input::Reference;
use slated_model::problem::{FieldErrorCode, Problem};
use slated_store::records::{candidate, job, merged_ids, stage};
use slated_store::{Operation, OperationError, Pace, StoreError, Tx};

use super::associate::{OntoJob, put_all_on_jobs};
use crate::Actor;
use crate::emit::RecordRef;
use crate::merged_ids::{erased_too, refusal_of};
use crate::references::all_known;

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

impl Operation for AddCandidates {
    /// In the order of the request.
    type Output = Vec<Added>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Added>, OperationError> {
        let workspace = self.actor.workspace;
        // While the job is held nobody else is put on it, so who is not there now will not be.
        let job = job::load(tx, workspace, self.job)
            .await?
            .ok_or_else(|| Problem::not_found("job", self.job))?;
        let stages = stage::of_job(tx, workspace, job.id).await?;
        let persons = self.look_up(tx).await?;
        let new = persons.iter().filter(|person| person.candidate.is_none());
        let entering: Vec<_> = new
            .map(|person| (&self.actor, RecordRef { id: person.id, name: &person.name }))
            .collect();
        let onto = (!entering.is_empty()).then_some(OntoJob {
            job: job.id,
            stages: &stages,
            persons: entering,
        });
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
    async fn look_up(&self, tx: &mut Tx) -> Result<Vec<Wanted>, OperationError> {
        let named: Vec<_> = self.persons.iter().filter_map(|reference| reference.id).collect();
        let mut known = self.known(tx, &named).await?;
        // Who is not there may have gone into another.
        let missing: Vec<_> = named.iter().copied().filter(|id| !known.contains_key(id)).collect();
        let gone: HashMap<_, _> =
            merged_ids::gone_of(tx, self.actor.workspace, &missing).await?.into_iter().collect();
        let survivors: Vec<_> =
            gone.values().flatten().copied().filter(|id| !known.contains_key(id)).collect();
        known.extend(self.known(tx, &survivors).await?);
        if survivors.iter().any(|id| !known.contains_key(id)) {
            return Err(StoreError::Conflict(
                "a person was merged into another meanwhile".to_owned(),
            )
            .into());
        }

        let mut found: Vec<Option<Wanted>> = Vec::with_capacity(self.persons.len());
        let mut met = HashSet::with_capacity(self.persons.len());
        let mut erased = None;
        for (place, reference) in self.persons.iter().enumerate() {
            let id = match reference.id.map(|id| (id, gone.get(&id))) {
                Some((id, Some(None))) => {
                    let refused = match erased.take() {
                        Some(refused) => refused,
                        None => refusal_of(tx, self.actor.workspace, id).await?,
                    };
                    erased = Some(erased_too(refused, &format!("person_ids[{place}]"), id));
                    None
                }
                Some((_, Some(Some(survivor)))) => Some(*survivor),
                Some((id, None)) => Some(id),
                None => None,
            };
            let wanted = id.and_then(|id| {
                known.get(&id).map(|(name, candidate)| Wanted {
                    id,
                    name: name.clone(),
                    candidate: *candidate,
                })
            });
            if let Some(wanted) = wanted.as_ref().filter(|wanted| !met.insert(wanted.id)) {
                let message = format!("refers to {}, who is already in the list", wanted.id);
                return Err(Problem::invalid(
                    format!("person_ids[{place}]"),
                    FieldErrorCode::Contradiction,
                    message,
                )
                .into());
            }
            found.push(wanted);
        }
        if let Some(erased) = erased {
            return Err(erased.into());
        }
        Ok(all_known("person_ids", &self.persons, found)?)
    }

    /// Those of the persons who are there, with their names, and their candidates if they are on
    /// the job.
    async fn known(
        &self,
        tx: &mut Tx,
        ids: &[PersonId],
    ) -> Result<HashMap<PersonId, (String, Option<CandidateId>)>, StoreError> {
        let mut asked = Vec::with_capacity(ids.len());
        for id in ids {
            asked.push((
                *id,
                candidate::ask_of_person(tx, self.actor.workspace, self.job, *id).await?,
            ));
        }
        let mut known = HashMap::with_capacity(ids.len());
        for (id, asked) in asked {
            known.extend(tx.answer(asked).await?.pop().map(|of_person| (id, of_person)));
        }
        Ok(known)
    }
}
