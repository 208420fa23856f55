//! The data of `slated serve --demo`: some 500 persons with their careers, 20 jobs at a dozen
//! clients, and a year and a half of recruiting, so that every shape of the interface can be seen
//! at once. A dozen leads are enriched as soon as it is there. It goes through the same operations
//! as a client's data, and comes out the same every time but for the dates, which end today.

mod career;
mod leads;
mod openings;
pub mod people;
mod plan;
pub mod random;
mod regions;
mod role;
mod tracks;

use std::collections::HashMap;

use slated_model::candidate::StageMove;
use slated_model::clock::Timestamp;
use slated_model::id::{CandidateId, Id, JobId, Kind, PersonId, WorkspaceId};
use slated_model::input::Reference;
use slated_model::job::{ClientReference, JobPatch, NewJob, StatusReference};
use slated_model::person::{Association, OnDuplicate};
use slated_model::problem::Problem;
use slated_operations::Actor;
use slated_operations::candidates::add::AddCandidate;
use slated_operations::candidates::move_stage::MoveCandidate;
use slated_operations::etag::Precondition;
use slated_operations::jobs::create::CreateJob;
use slated_operations::jobs::update::UpdateJob;
use slated_operations::persons::create::CreatePerson;
use slated_store::{Operation, OperationError, Tx};

use self::leads::LEADS;
use self::openings::OPENINGS;
use self::people::AddPerson;
use self::plan::{Action, Place, Step};

/// What the demo knows beyond its data: a profile on each line, as a directory of an operator's own
/// has them.
pub const DIRECTORY: &str = include_str!("directory.jsonl");

/// How much was made.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DemoSummary {
    pub persons: usize,
    pub jobs: usize,
    pub candidates: usize,
    pub client_contacts: usize,
    pub moves: usize,
}

/// Fills an empty workspace, as of the transaction's time.
pub async fn fill(tx: &mut Tx, workspace: WorkspaceId) -> Result<DemoSummary, OperationError> {
    let now = tx.now();
    let mut filling = Filling::new(Actor::program(workspace), now);
    for action in &plan::plan(now) {
        filling.execute(tx, action).await?;
    }
    tx.set_now(now);
    Ok(filling.summary)
}

/// An operation that is done as if it were another time.
pub struct At<W> {
    pub moment: Timestamp,
    pub work: W,
}

impl<W: Operation> Operation for At<W> {
    type Output = W::Output;

    async fn run(&self, tx: &mut Tx) -> Result<W::Output, OperationError> {
        tx.set_now(self.moment);
        self.work.run(tx).await
    }
}

/// The records that were made so far, by the numbers that the plan gives them.
struct Filling {
    actor: Actor,
    now: Timestamp,
    jobs: HashMap<usize, JobId>,
    persons: HashMap<usize, PersonId>,
    candidates: HashMap<(usize, usize), CandidateId>,
    summary: DemoSummary,
}

impl Filling {
    fn new(actor: Actor, now: Timestamp) -> Self {
        Self {
            actor,
            now,
            jobs: HashMap::new(),
            persons: HashMap::new(),
            candidates: HashMap::new(),
            summary: DemoSummary::default(),
        }
    }

    fn job(&self, job: usize) -> Result<JobId, Problem> {
        self.jobs.get(&job).copied().ok_or_else(|| Problem::not_found("job", job))
    }

    fn person(&self, person: usize) -> Result<PersonId, Problem> {
        self.persons.get(&person).copied().ok_or_else(|| Problem::not_found("person", person))
    }

    async fn execute(&mut self, tx: &mut Tx, action: &Action) -> Result<(), OperationError> {
        let moment = action.moment;
        match &action.step {
            Step::OpenJob(job) => self.open_job(tx, moment, *job).await,
            Step::SetStatus { job, status } => {
                let (client, status) = (
                    ClientReference::default(),
                    StatusReference { id: None, name: Some((*status).to_owned()) },
                );
                self.change_job(
                    tx,
                    moment,
                    *job,
                    JobPatch { name: None, is_archived: None, client, status },
                )
                .await
            }
            Step::Archive(job) => {
                let (client, status) = (ClientReference::default(), StatusReference::default());
                self.change_job(
                    tx,
                    moment,
                    *job,
                    JobPatch { name: None, is_archived: Some(true), client, status },
                )
                .await
            }
            Step::AddPerson { person, place } => self.add_person(tx, moment, *person, *place).await,
            Step::AddLead(lead) => self.add_lead(tx, moment, *lead).await,
            Step::AddCandidate { person, job } => {
                self.add_candidate(tx, moment, *person, *job).await
            }
            Step::Move { person, job, stage } => {
                self.move_candidate(tx, moment, (*person, *job), stage).await
            }
        }
    }

    async fn open_job(
        &mut self,
        tx: &mut Tx,
        moment: Timestamp,
        job: usize,
    ) -> Result<(), OperationError> {
        let opening = &OPENINGS[job];
        let new = NewJob {
            name: opening.name.to_owned(),
            client: ClientReference { id: None, name: Some(opening.client.to_owned()) },
            status: StatusReference::default(),
            stages: opening.pipeline.own_stages(),
            template: None,
        };
        let (view, _) =
            At { moment, work: CreateJob { actor: self.actor.clone(), new } }.run(tx).await?;
        self.jobs.insert(job, view.id);
        self.summary.jobs += 1;
        Ok(())
    }

    async fn change_job(
        &self,
        tx: &mut Tx,
        moment: Timestamp,
        job: usize,
        patch: JobPatch,
    ) -> Result<(), OperationError> {
        let work = UpdateJob {
            actor: self.actor.clone(),
            id: self.job(job)?,
            patch,
            precondition: Precondition::None,
        };
        At { moment, work }.run(tx).await.map(|_| ())
    }

    async fn add_person(
        &mut self,
        tx: &mut Tx,
        moment: Timestamp,
        person: usize,
        place: Place,
    ) -> Result<(), OperationError> {
        let mut profile = people::person_as(person as u64, &place.role(person), self.now);
        profile.new.association = match place {
            Place::Job(job) => {
                Association { job_id: Some(reference(self.job(job)?)), ..Association::default() }
            }
            Place::Contact { client, .. } => {
                Association { client_name: Some(client.to_owned()), ..Association::default() }
            }
            Place::Nothing => Association::default(),
        };
        let created =
            At { moment, work: AddPerson { actor: self.actor.clone(), profile } }.run(tx).await?;
        self.persons.insert(person, created.person.id);
        self.summary.persons += 1;
        self.summary.client_contacts += usize::from(created.client_contact_id.is_some());
        if let (Some(candidate), Place::Job(job)) = (created.candidate_id, place) {
            self.candidates.insert((person, job), candidate);
            self.summary.candidates += 1;
        }
        Ok(())
    }

    async fn add_lead(
        &mut self,
        tx: &mut Tx,
        moment: Timestamp,
        lead: usize,
    ) -> Result<(), OperationError> {
        let work =
            CreatePerson::new(self.actor.clone(), LEADS[lead].new_person(), OnDuplicate::Merge);
        At { moment, work }.run(tx).await?;
        self.summary.persons += 1;
        Ok(())
    }

    async fn add_candidate(
        &mut self,
        tx: &mut Tx,
        moment: Timestamp,
        person: usize,
        job: usize,
    ) -> Result<(), OperationError> {
        let work = AddCandidate {
            actor: self.actor.clone(),
            job: self.job(job)?,
            person: reference(self.person(person)?),
        };
        let (view, _) = At { moment, work }.run(tx).await?;
        self.candidates.insert((person, job), view.id);
        self.summary.candidates += 1;
        Ok(())
    }

    async fn move_candidate(
        &mut self,
        tx: &mut Tx,
        moment: Timestamp,
        place: (usize, usize),
        stage: &str,
    ) -> Result<(), OperationError> {
        let id = *self
            .candidates
            .get(&place)
            .ok_or_else(|| Problem::not_found("candidate", format!("{place:?}")))?;
        let to =
            StageMove { stage_id: None, stage_name: Some(stage.to_owned()), from_stage_id: None };
        At {
            moment,
            work: MoveCandidate {
                actor: self.actor.clone(),
                id,
                to,
                precondition: Precondition::None,
            },
        }
        .run(tx)
        .await?;
        self.summary.moves += 1;
        Ok(())
    }
}

fn reference<K: Kind>(id: Id<K>) -> Reference<K> {
    Reference { written: id.to_string(), id: Some(id) }
}

#[cfg(test)]
mod tests;
