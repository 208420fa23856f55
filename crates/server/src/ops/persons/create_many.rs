//! Creating many persons in one transaction, each as one create would: what is refused of one does not keep the others from being made.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use model::id::WorkspaceId;
use model::person::Identifier;
use model::problem::Problem;
use store::record::{census, job, person};
use store::{Failure, Pace, Tx, Work};

use super::create::{CreatePerson, CreatedPerson, Ready};

pub struct CreatePersons {
    pub workspace: WorkspaceId,
    /// Those that could be read, and what is wrong with the others.
    pub rows: Vec<Result<CreatePerson, Problem>>,
}

impl Work for CreatePersons {
    /// What became of each, in order.
    type Output = Vec<Result<CreatedPerson, Problem>>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, Failure> {
        // One at a time: two that hold what the other waits for would otherwise be likely.
        census::hold_batches(tx, self.workspace).await?;
        let ready = prepare(tx, self.rows.iter().map(Result::as_ref)).await?;
        self.hold(tx, &ready).await?;
        let mut outcomes = Vec::with_capacity(self.rows.len());
        let mut made = Made::default();
        for (row, ready) in self.rows.iter().zip(ready) {
            let outcome = match (row, ready) {
                (Err(problem), _) => Err(Failure::Refused(problem.clone())),
                // What was looked up before an earlier row made it is looked up again.
                (Ok(create), _) if made.concerns(create) => {
                    made.note(create, true);
                    create.run(tx).await
                }
                (Ok(create), Ok(mut ready)) => {
                    made.note(create, ready.lacks_employer(tx).await?);
                    create.carry_out(tx, ready).await
                }
                (Ok(_), Err(problem)) => Err(problem.into()),
            };
            outcomes.push(refusal(outcome)?);
        }
        Ok(outcomes)
    }
}

/// Creates those of the persons who are new and have nothing to do with each other, and says what became of each of them.
pub async fn create_new(tx: &mut Tx, creates: &[Arc<CreatePerson>]) -> Result<Vec<Option<Result<CreatedPerson, Problem>>>, Failure> {
    let ready = prepare(tx, creates.iter().map(|create| Ok(&**create))).await?;
    let mut outcomes = Vec::with_capacity(creates.len());
    let mut made = Made::default();
    for (create, ready) in creates.iter().zip(ready) {
        outcomes.push(match ready {
            Ok(ready) if ready.matched().is_some() || made.concerns(create) => None,
            Ok(mut ready) => {
                made.note(create, ready.lacks_employer(tx).await?);
                Some(refusal(create.carry_out(tx, ready).await)?)
            }
            Err(problem) => Some(Err(problem)),
        });
    }
    Ok(outcomes)
}

/// What earlier rows made that later ones may have looked for in vain.
#[derive(Default)]
struct Made {
    identifiers: BTreeSet<Identifier>,
    companies: HashSet<String>,
}

impl Made {
    fn concerns(&self, create: &CreatePerson) -> bool {
        create.claims().iter().any(|identifier| self.identifiers.contains(identifier))
            || create.companies().iter().flatten().any(|name| self.companies.contains(name))
    }

    fn note(&mut self, create: &CreatePerson, makes_employer: bool) {
        self.identifiers.extend(create.claims());
        let [employer, client] = create.companies();
        self.companies.extend(employer.filter(|_| makes_employer));
        self.companies.extend(client);
    }
}

impl CreatePersons {
    /// Holds the persons and then the jobs that are concerned, each in the order of their ids, as everybody does who needs several.
    async fn hold(&self, tx: &mut Tx, ready: &[Result<Ready, Problem>]) -> Result<(), Failure> {
        let persons: BTreeSet<_> = ready.iter().flatten().filter_map(Ready::matched).collect();
        person::hold_each(tx, self.workspace, persons).await?;
        let jobs: BTreeSet<_> = self.rows.iter().flatten().filter_map(CreatePerson::job).collect();
        for job in jobs {
            job::load(tx, self.workspace, job).await?;
        }
        Ok(())
    }
}

/// Looks up all that the rows need, and whom they are about.
async fn prepare<'r>(
    tx: &mut Tx,
    rows: impl Iterator<Item = Result<&'r CreatePerson, &'r Problem>> + Send,
) -> Result<Vec<Result<Ready, Problem>>, Failure> {
    let mut looked_up = Vec::new();
    for row in rows {
        looked_up.push(match row {
            Ok(create) => Ok((create, create.look_up(tx).await?)),
            Err(problem) => Err(problem.clone()),
        });
    }
    tx.hurry().await?;
    for (create, _) in looked_up.iter().flatten() {
        create.make_ready();
    }
    let mut ready = Vec::with_capacity(looked_up.len());
    for row in looked_up {
        ready.push(match row {
            Ok((create, looked_up)) => refusal(create.find_matched(tx, looked_up).await)?,
            Err(problem) => Err(problem),
        });
    }
    Ok(ready)
}

/// What is refused is an outcome; what is broken ends the work.
fn refusal<T>(outcome: Result<T, Failure>) -> Result<Result<T, Problem>, Failure> {
    match outcome {
        Ok(done) => Ok(Ok(done)),
        Err(Failure::Refused(problem)) => Ok(Err(problem)),
        Err(broken) => Err(broken),
    }
}
