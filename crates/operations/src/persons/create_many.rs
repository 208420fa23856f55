//! Creating many persons in one transaction, each as one create would: what is refused of one does
//! not keep the others from being made.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use slated_model::id::{CompanyId, JobId, PersonId, WorkspaceId};
use slated_model::person::Identifier;
use slated_model::problem::Problem;
use slated_model::text::comparison_key;
use slated_store::records::{company, job, person, range_counts};
use slated_store::{Operation, OperationError, Pace, StoreError, Tx};

use super::create::{CreatePerson, CreatedPerson, Ready, changed};
use super::deferred_steps::DeferredSteps;
use crate::write_batches::{Batchable, Outcomes};

pub struct CreatePersons {
    pub workspace: WorkspaceId,
    /// Those that could be read, and what is wrong with the others.
    pub rows: Vec<Result<CreatePerson, Problem>>,
}

impl Operation for CreatePersons {
    /// What became of each, in order.
    type Output = Vec<Result<CreatedPerson, Problem>>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        // One at a time: two that hold what the other waits for would otherwise be likely.
        range_counts::hold_batches(tx, self.workspace).await?;
        let mut ready = prepare(tx, self.rows.iter().map(Result::as_ref)).await?;
        self.load_existing(tx, &mut ready).await?;
        let mut outcomes: Outcomes<CreatedPerson> = Vec::with_capacity(self.rows.len());
        let (mut made, mut deferred) = (Made::default(), DeferredSteps::default());
        for (row, ready) in self.rows.iter().zip(ready) {
            outcomes.push(match (row, ready) {
                (Err(problem), _) => Some(Err(problem.clone())),
                // What was looked up before an earlier row made it is looked up again, once all of
                // that is done.
                (Ok(create), ready) if made.concerns(create, ready.as_ref().ok()) => {
                    made.expect(tx, create, ready.ok()).await?;
                    None
                }
                (Ok(create), Ok(ready)) => {
                    Some(made.apply(tx, create, ready, &mut deferred).await?)
                }
                (Ok(_), Err(problem)) => Some(Err(problem)),
            });
        }
        if outcomes.iter().any(Option::is_none) {
            self.hold_jobs(tx).await?;
        }
        let candidates = deferred.apply(tx, self.workspace).await?;
        outcomes
            .iter_mut()
            .flatten()
            .flatten()
            .for_each(|created| created.take_candidate(&candidates));
        self.look_again(tx, outcomes).await
    }
}

impl Batchable for CreatePerson {
    type Order = ([Option<String>; 2], Vec<Identifier>);

    fn can_go_together(&self) -> bool {
        self.is_plain()
    }

    fn job(&self) -> Option<JobId> {
        self.onto_job()
    }

    fn order(&self) -> Self::Order {
        (self.companies(), self.claims())
    }

    /// Creates those who are new; nothing becomes of those who are there already, or may be one
    /// whom an earlier one makes.
    async fn run_together(
        tx: &mut Tx,
        creates: &[Arc<Self>],
    ) -> Result<Outcomes<CreatedPerson>, OperationError> {
        let ready = prepare(tx, creates.iter().map(|create| Ok(&**create))).await?;
        let mut outcomes: Outcomes<CreatedPerson> = Vec::with_capacity(creates.len());
        let (mut made, mut deferred) = (Made::default(), DeferredSteps::default());
        for (create, ready) in creates.iter().zip(ready) {
            outcomes.push(match ready {
                Ok(ready) if ready.matched().is_some() || made.concerns(create, Some(&ready)) => {
                    None
                }
                Ok(ready) => Some(made.apply(tx, create, ready, &mut deferred).await?),
                Err(problem) => Some(Err(problem)),
            });
        }
        if let Some(workspace) = creates.first().and_then(|create| create.workspace()) {
            let candidates = deferred.apply(tx, workspace).await?;
            outcomes
                .iter_mut()
                .flatten()
                .flatten()
                .for_each(|created| created.take_candidate(&candidates));
        }
        Ok(outcomes)
    }
}

/// What earlier rows made that later ones may have looked for in vain.
#[derive(Default)]
struct Made {
    identifiers: BTreeSet<Identifier>,
    persons: HashSet<PersonId>,
    /// Companies by their folded names, as far as it is known which they are.
    companies: HashMap<String, Option<(CompanyId, String)>>,
    /// Those that rows may make which look again later.
    awaited: HashSet<String>,
}

impl Made {
    /// Whether a row has to look again: it is about somebody whom an earlier one was about, or may
    /// be, or about a company that one may make.
    fn concerns(&self, create: &CreatePerson, ready: Option<&Ready>) -> bool {
        create.claims().iter().any(|identifier| self.identifiers.contains(identifier))
            || !self.awaited.is_empty()
                && create.companies().iter().flatten().any(|name| self.awaited.contains(name))
            || ready.is_some_and(|ready| {
                ready.is_incomplete()
                    || ready.matched().is_some_and(|id| self.persons.contains(&id))
            })
    }

    /// The row looks again later. So do those behind it that may be about the same person, or name
    /// a company that it may make.
    async fn expect(
        &mut self,
        tx: &mut Tx,
        create: &CreatePerson,
        ready: Option<Ready>,
    ) -> Result<(), StoreError> {
        // What is refused makes nothing.
        let Some(ready) = ready else { return Ok(()) };
        self.identifiers.extend(create.claims());
        self.persons.extend(ready.matched());
        for name in ready.missing_companies(tx, create).await? {
            if !self.companies.contains_key(&name) {
                self.awaited.insert(name);
            }
        }
        Ok(())
    }

    /// Carries out a row that need not look again.
    async fn apply<'c>(
        &mut self,
        tx: &mut Tx,
        create: &'c CreatePerson,
        ready: Ready,
        deferred: &mut DeferredSteps<'c>,
    ) -> Result<Result<CreatedPerson, Problem>, OperationError> {
        let ready = self.introduce(tx, create, ready).await?;
        let outcome = refusal(create.apply(tx, ready, deferred).await)?;
        if let Ok(created) = &outcome {
            self.note(create, created);
        }
        Ok(outcome)
    }

    /// Tells a create of its company, if an earlier row made it.
    async fn introduce(
        &self,
        tx: &mut Tx,
        create: &CreatePerson,
        ready: Ready,
    ) -> Result<Ready, StoreError> {
        let [employer, _] = create.companies();
        match employer.and_then(|name| self.companies.get(&name)) {
            Some(Some(company)) => Ok(ready.working_for(company.clone())),
            Some(None) => create.look_again(tx, ready).await,
            None => Ok(ready),
        }
    }

    /// What is refused makes nothing.
    fn note(&mut self, create: &CreatePerson, created: &CreatedPerson) {
        self.identifiers.extend(create.claims());
        self.persons.insert(created.person.id);
        let [employer, client] = create.companies();
        if let (Some(employer), Some(id)) = (employer, created.person.company_id)
            && comparison_key(&created.company_name) == employer
        {
            self.companies.insert(employer, Some((id, created.company_name.clone())));
        }
        if let Some(client) = client {
            self.companies.entry(client).or_default();
        }
    }
}

impl CreatePersons {
    /// Holds the persons that are concerned, in the order of their ids, as everybody does who needs
    /// several. Of several rows about one person only the first meets them; the others look again.
    async fn load_existing(
        &self,
        tx: &mut Tx,
        ready: &mut [Result<Ready, Problem>],
    ) -> Result<(), OperationError> {
        let persons: BTreeSet<_> = ready.iter().flatten().filter_map(Ready::matched).collect();
        // Rows that look again may change somebody, or add to a job, for the second time.
        let (matched, jobs): (Vec<_>, Vec<_>) =
            (persons.iter().copied().collect(), self.jobs().into_iter().collect());
        company::keep_of(tx, self.workspace, &matched, &jobs).await?;
        let wanted = persons.len();
        let existing = person::load_each(tx, self.workspace, persons).await?;
        if existing.len() < wanted {
            return Err(changed().into());
        }
        let mut existing: HashMap<_, _> =
            existing.into_iter().map(|person| (person.id, person)).collect();
        for (create, ready) in self.rows.iter().zip(ready) {
            if let (Ok(create), Ok(ready)) = (create, ready)
                && let Some(person) = ready.matched().and_then(|id| existing.remove(&id))
            {
                create.load_existing(tx, ready, person).await?;
            }
        }
        tx.flush().await?;
        Ok(())
    }

    /// Holds all jobs, in the order of their ids, since some of them are added to now, and others
    /// later.
    async fn hold_jobs(&self, tx: &mut Tx) -> Result<(), OperationError> {
        for job in self.jobs() {
            job::load(tx, self.workspace, job).await?;
        }
        Ok(())
    }

    fn jobs(&self) -> BTreeSet<JobId> {
        self.rows.iter().flatten().filter_map(CreatePerson::onto_job).collect()
    }

    /// Carries out what is left, one after the other. Most identifiers are claimed by then: whoever
    /// creates a single person claims theirs and then waits for the job, so whoever holds one had
    /// better not wait for an identifier.
    async fn look_again(
        &self,
        tx: &mut Tx,
        outcomes: Outcomes<CreatedPerson>,
    ) -> Result<Vec<Result<CreatedPerson, Problem>>, OperationError> {
        let mut all = Vec::with_capacity(outcomes.len());
        for (row, outcome) in self.rows.iter().zip(outcomes) {
            all.push(match (row, outcome) {
                (_, Some(outcome)) => outcome,
                (Ok(create), None) => refusal(create.run(tx).await)?,
                (Err(problem), None) => Err(problem.clone()),
            });
        }
        Ok(all)
    }
}

/// Looks up all that the rows need, and whom they are about.
async fn prepare<'r>(
    tx: &mut Tx,
    rows: impl Iterator<Item = Result<&'r CreatePerson, &'r Problem>> + Send,
) -> Result<Vec<Result<Ready, Problem>>, OperationError> {
    let mut looked_up = Vec::new();
    for row in rows {
        looked_up.push(match row {
            Ok(create) => Ok((create, create.prefetch(tx).await?)),
            Err(problem) => Err(problem.clone()),
        });
    }
    tx.flush().await?;
    for (create, _) in looked_up.iter().flatten() {
        create.precompute();
    }
    let mut ready = Vec::with_capacity(looked_up.len());
    for row in looked_up {
        ready.push(match row {
            Ok((create, looked_up)) => refusal(create.match_identifiers(tx, looked_up).await)?,
            Err(problem) => Err(problem),
        });
    }
    Ok(ready)
}

/// What is refused is an outcome; what is broken ends the work.
fn refusal<T>(outcome: Result<T, OperationError>) -> Result<Result<T, Problem>, OperationError> {
    match outcome {
        Ok(done) => Ok(Ok(done)),
        Err(OperationError::Rejected(problem)) => Ok(Err(problem)),
        Err(broken) => Err(broken),
    }
}
