//! What follows from what providers answered: the person is filled, and the enrichment is over or
//! waits for another try. All of it is kept together or not at all, so an answer is never half in.

use std::sync::Arc;

use serde_json::Value;
use slated_model::clock::Timestamp;
use slated_model::enrichment::{Question, Refused, State};
use slated_model::id::{LeaseId, PersonId, WorkspaceId};
use slated_model::person::Person;
use slated_store::records::enrichment::{Settled, Task};
use slated_store::records::enrichment_answer::KeptAnswer;
use slated_store::records::{company, enrichment, enrichment_answer, enrichment_run, person};
use slated_store::{Operation, OperationError, Pace, Tx};

use super::CANCELLED;
use super::apply_profile::{Filled, fill};
use super::lease::is_unwanted;

/// Nobody is taken again sooner than that, whatever was waited for.
const SOONEST_MILLIS: i64 = 50;
/// What is kept of an error.
const ERROR_CHARACTERS: usize = 500;

/// Somebody who knew the person.
#[derive(Debug)]
pub struct Found {
    pub provider: String,
    /// In the shape that [`slated_model::enrichment::profile`] reads.
    pub profile: Value,
    /// It was answered before, and nobody was asked.
    pub is_cached: bool,
}

/// What came of asking. `answers` are those that are new, to be kept.
#[derive(Debug)]
pub enum Outcome {
    /// Everybody was asked who had to be; nothing is found if nobody knew the person. `error` is of
    /// one who could not say.
    Answered {
        answers: Vec<KeptAnswer>,
        found: Option<Found>,
        error: Option<String>,
    },
    /// Somebody has to be asked later. Without an error the last one stands.
    Postponed {
        answers: Vec<KeptAnswer>,
        until: Timestamp,
        error: Option<String>,
    },
    Skipped {
        reason: String,
    },
    Failed {
        answers: Vec<KeptAnswer>,
        error: String,
    },
}

impl Outcome {
    fn answers(&self) -> &[KeptAnswer] {
        match self {
            Self::Answered { answers, .. }
            | Self::Postponed { answers, .. }
            | Self::Failed { answers, .. } => answers,
            Self::Skipped { .. } => &[],
        }
    }
}

/// Keeps what was answered while others are still to be asked.
#[derive(Clone)]
pub struct KeepAnswers {
    pub workspace: WorkspaceId,
    pub lease: LeaseId,
    pub person: PersonId,
    pub answers: Arc<Vec<KeptAnswer>>,
}

impl Operation for KeepAnswers {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        let Self { workspace, lease, person, answers } = self;
        let Some(person) = person::load(tx, *workspace, *person).await? else { return Ok(()) };
        if enrichment::held(tx, *workspace, person.id, *lease).await?.is_some() {
            for answer in answers.iter() {
                enrichment_answer::keep(tx, *workspace, person.id, answer).await?;
            }
        }
        Ok(())
    }
}

/// Keeps what came of an attempt.
#[derive(Clone)]
pub struct RecordOutcome {
    pub workspace: WorkspaceId,
    pub lease: LeaseId,
    /// As it was taken.
    pub task: Task,
    pub outcome: Arc<Outcome>,
    /// How often somebody was asked, with this time.
    pub attempts: i64,
    /// The hash of what was asked.
    pub question: [u8; 32],
}

/// How the enrichment stands now.
struct Standing<'o> {
    state: State,
    provider: Option<&'o str>,
    error: Option<String>,
    reason: Option<&'o str>,
    is_cached: bool,
    fields: Vec<&'static str>,
    refused: Vec<Refused>,
    due_at: Option<Timestamp>,
}

impl Standing<'_> {
    const fn new(state: State) -> Self {
        Self {
            state,
            provider: None,
            error: None,
            reason: None,
            is_cached: false,
            fields: Vec::new(),
            refused: Vec::new(),
            due_at: None,
        }
    }
}

/// An error as it is kept.
fn shortened(error: &str) -> String {
    error.chars().filter(|character| !character.is_control()).take(ERROR_CHARACTERS).collect()
}

impl Operation for RecordOutcome {
    /// False if it is nobody's business any more: the person is gone, or another server has it.
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    /// What was answered may have been paid for, so it waits for whoever holds the person.
    fn pace(&self) -> Pace {
        Pace::AtLength
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        let Self { workspace, lease, task, .. } = self;
        // Whoever is filled may be written twice, their fields and their career.
        if let Outcome::Answered { found: Some(_), .. } = &*self.outcome {
            company::keep_of(tx, *workspace, &[task.person], &[]).await?;
        }
        let Some(person) = person::load(tx, *workspace, task.person).await? else {
            return Ok(false);
        };
        let Some(held) = enrichment::held(tx, *workspace, person.id, *lease).await? else {
            return Ok(false);
        };
        for answer in self.outcome.answers() {
            enrichment_answer::keep(tx, *workspace, person.id, answer).await?;
        }
        let mut standing = self.standing(tx, &person, &held).await?;
        let mut attempts = self.attempts;
        // Somebody asked for it again while it was worked on.
        if held.requested_at != task.requested_at {
            attempts = 0;
            standing =
                Standing { state: State::Queued, reason: None, due_at: Some(tx.now()), ..standing };
        }
        let error = standing.error.as_deref().map(shortened);
        let settled = Settled {
            state: standing.state,
            provider: standing.provider,
            attempts,
            last_error: error.as_deref(),
            reason: standing.reason,
            is_cached: standing.is_cached,
            fields: &standing.fields,
            refused: &standing.refused,
            due_at: standing.due_at.map(|due| due.max(tx.now().plus_millis(SOONEST_MILLIS))),
        };
        enrichment::settle(tx, *workspace, person.id, &settled).await?;
        if let (None, Some(run)) = (settled.due_at, held.run) {
            enrichment_run::count(tx, *workspace, run, standing.state).await?;
        }
        Ok(true)
    }
}

impl RecordOutcome {
    async fn standing(
        &self,
        tx: &mut Tx,
        person: &Person,
        held: &Task,
    ) -> Result<Standing<'_>, OperationError> {
        Ok(match &*self.outcome {
            Outcome::Answered { found: None, error, .. } => {
                Standing { error: error.clone(), ..Standing::new(State::Done) }
            }
            // The person is somebody else by now than who was asked about.
            Outcome::Answered { found: Some(_), .. }
                if Question::of(person, "").hash() != self.question =>
            {
                Standing { due_at: Some(tx.now()), ..Standing::new(State::Queued) }
            }
            Outcome::Answered { found: Some(found), error, .. } => {
                let Filled { fields, refused } =
                    fill(tx, self.workspace, person, &found.provider, &found.profile).await?;
                Standing {
                    provider: Some(found.provider.as_str()),
                    error: error.clone(),
                    is_cached: found.is_cached,
                    fields,
                    refused,
                    ..Standing::new(State::Done)
                }
            }
            Outcome::Postponed { until, error, .. } => {
                self.postponed(tx, held, *until, error.as_deref()).await?
            }
            Outcome::Skipped { reason } => {
                Standing { reason: Some(reason.as_str()), ..Standing::new(State::Skipped) }
            }
            Outcome::Failed { error, .. } => {
                Standing { error: Some(error.clone()), ..Standing::new(State::Failed) }
            }
        })
    }

    async fn postponed(
        &self,
        tx: &mut Tx,
        held: &Task,
        until: Timestamp,
        error: Option<&str>,
    ) -> Result<Standing<'static>, OperationError> {
        if is_unwanted(tx, self.workspace, held).await? {
            return Ok(Standing { reason: Some(CANCELLED), ..Standing::new(State::Skipped) });
        }
        let error = match error {
            Some(error) => Some(error.to_owned()),
            None => enrichment::find(tx, self.workspace, held.person)
                .await?
                .and_then(|before| before.last_error),
        };
        Ok(Standing { error, due_at: Some(until), ..Standing::new(State::Queued) })
    }
}
