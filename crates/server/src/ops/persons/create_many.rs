//! Creating many persons in one transaction, each as one create would: what is refused of one does not keep the others from being made.

use std::collections::HashSet;

use model::id::WorkspaceId;
use model::problem::Problem;
use store::record::census::{self, List};
use store::{Failure, Pace, Tx, Work};

use super::create::{CreatePerson, CreatedPerson};

/// Persons that are looked up at once.
const LOOKED_UP_AT_ONCE: usize = 100;

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
        census::hold(tx, self.workspace, List::Persons).await?;
        let mut outcomes = Vec::with_capacity(self.rows.len());
        for rows in self.rows.chunks(LOOKED_UP_AT_ONCE) {
            let mut looked_up = Vec::with_capacity(rows.len());
            for row in rows {
                looked_up.push(match row {
                    Ok(create) => Some(create.look_up(tx).await?),
                    Err(_) => None,
                });
            }
            let mut made = HashSet::new();
            for (row, looked_up) in rows.iter().zip(looked_up) {
                let (create, looked_up) = match (row, looked_up) {
                    (Ok(create), Some(looked_up)) => (create, looked_up),
                    (Err(problem), _) => {
                        outcomes.push(Err(problem.clone()));
                        continue;
                    }
                    (Ok(_), None) => continue,
                };
                let makes = create.makes();
                // What was looked up before an earlier row made it is looked up again.
                let is_outdated = makes.iter().any(|name| made.contains(name));
                let outcome = match is_outdated {
                    true => create.run(tx).await,
                    false => create.carry_out(tx, looked_up).await,
                };
                made.extend(makes);
                outcomes.push(match outcome {
                    Ok(created) => Ok(created),
                    Err(Failure::Refused(problem)) => Err(problem),
                    Err(broken) => return Err(broken),
                });
            }
        }
        Ok(outcomes)
    }
}
