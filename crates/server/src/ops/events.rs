//! Looking at the log of changes, and keeping it.

use model::clock::Timestamp;
use model::event::{Event, Hash, TypeFilter};
use model::id::{CandidateId, JobId, PersonId, WorkspaceId};
use model::problem::{Code, Detail, Flaw, Problem};
use store::record::event_reading::{Beside, Gone, Most, Page};
use store::record::{candidate, event, event_outbox, event_reading, job, origin, person, webhook, workspace};
use store::{Failure, Tx, Work};

use super::former::survivor;

/// Where in the log to begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// The oldest that is kept.
    Oldest,
    /// Behind all that there is.
    Newest,
    After(i64),
}

/// A page of the log.
pub struct ReadEvents {
    pub workspace: WorkspaceId,
    pub position: Position,
    pub types: TypeFilter,
    pub most: Most,
}

impl Work for ReadEvents {
    type Output = Page;

    /// Whoever was woken because the log has grown must not read it where that is not known yet. A position to begin at, though, must not
    /// be ahead of the records that are read next.
    fn workspace(&self) -> Option<WorkspaceId> {
        (self.position == Position::Newest).then_some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Page, Failure> {
        let after = match self.position {
            Position::Oldest => None,
            Position::After(after) => Some(after),
            Position::Newest => {
                let next_after = event::newest(tx, self.workspace).await?;
                return Ok(Page { events: Vec::new(), next_after, has_more: false });
            }
        };
        event_reading::page(tx, self.workspace, after, &self.types, self.most).await?.map_err(|gone| forgotten(&gone).into())
    }
}

pub fn forgotten(gone: &Gone) -> Problem {
    let Gone { oldest } = gone;
    let message = format!(
        "Events behind that position were forgotten; the oldest that is kept is {oldest}. Read the records anew and go on from the newest \
         event, with after=latest."
    );
    Problem::new(Code::EventsGone, message).with(Detail::new("after", Flaw::OutOfRange, format!("must be at least {}", oldest - 1)))
}

/// The number of the newest event, for whoever waits for the next.
pub struct NewestEvent {
    pub workspace: WorkspaceId,
}

impl Work for NewestEvent {
    type Output = i64;

    async fn run(&self, tx: &mut Tx) -> Result<i64, Failure> {
        Ok(event::newest(tx, self.workspace).await?)
    }
}

/// Whose timeline is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Timeline {
    Person(PersonId),
    Candidate(CandidateId),
    Job(JobId),
}

/// What happened to a record, newest first, before a number.
pub struct ReadTimeline {
    pub workspace: WorkspaceId,
    pub of: Timeline,
    pub before: Option<i64>,
    pub limit: i64,
}

impl Work for ReadTimeline {
    /// With the number to go on before, if there is more.
    type Output = (Vec<Event>, Option<i64>);

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, Failure> {
        let Self { workspace, limit, .. } = *self;
        let before = self.before.unwrap_or(i64::MAX);
        let (events, has_more) = match self.of {
            Timeline::Person(id) => {
                if person::name(tx, workspace, id).await?.is_none() {
                    // One who went into another keeps what happened before.
                    survivor(tx, workspace, id).await?;
                }
                event_reading::timeline(tx, workspace, id, Beside::EventsOfPerson, before, limit).await?
            }
            Timeline::Candidate(id) => {
                if candidate::job_of(tx, workspace, id).await?.is_none() {
                    survivor(tx, workspace, id).await?;
                }
                event_reading::timeline(tx, workspace, id, Beside::Nothing, before, limit).await?
            }
            Timeline::Job(id) => {
                job::places(tx, workspace, id).await?.ok_or_else(|| Problem::not_found("job", id))?;
                event_reading::timeline(tx, workspace, id, Beside::EventsOfJob, before, limit).await?
            }
        };
        let next = events.last().filter(|_| has_more).map(|event| event.sequence);
        Ok((events, next))
    }
}

/// Gives committed events of a workspace their numbers, some at a time; says whether there may be more.
pub struct NumberEvents {
    pub workspace: WorkspaceId,
}

impl Work for NumberEvents {
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, Failure> {
        Ok(event_outbox::number(tx, self.workspace).await?)
    }
}

/// The workspaces with events that have no number yet.
pub struct UnnumberedEvents;

impl Work for UnnumberedEvents {
    type Output = Vec<WorkspaceId>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<WorkspaceId>, Failure> {
        Ok(event_outbox::waiting(tx).await?)
    }
}

/// How many rows of events that got their numbers are still to be cleared away.
pub struct NumberedRemains;

impl Work for NumberedRemains {
    type Output = i64;

    async fn run(&self, tx: &mut Tx) -> Result<i64, Failure> {
        Ok(event_outbox::remains(tx).await?)
    }
}

/// Clears them away. There must be no transaction around it.
pub struct ClearNumberedAway;

impl Work for ClearNumberedAway {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<(), Failure> {
        Ok(event_outbox::clear_away(tx).await?)
    }
}

/// All workspaces, with their names.
pub struct AllWorkspaces;

impl Work for AllWorkspaces {
    type Output = Vec<(WorkspaceId, String)>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, Failure> {
        Ok(workspace::all(tx).await?)
    }
}

/// Forgets events of a workspace that are older than the retention, with their deliveries, and keeps which change each value of a person
/// comes from. Says whether there may be more.
pub struct ForgetEvents {
    pub workspace: WorkspaceId,
    pub kept_for_millis: i64,
}

impl ForgetEvents {
    /// So many at a time, so that no writer waits long behind it.
    const MOST: usize = 1000;
}

impl Work for ForgetEvents {
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, Failure> {
        let before = tx.now().plus_millis(-self.kept_for_millis);
        let (mut count, mut end) = (0, None);
        while count < Self::MOST {
            let forgotten = event::forget(tx, self.workspace, before).await?;
            let Some(last) = forgotten.last() else { break };
            (count, end) = (count + forgotten.len(), Some(last.sequence));
            origin::keep(tx, self.workspace, &forgotten).await?;
        }
        if let Some(end) = end {
            webhook::forget_deliveries(tx, self.workspace, end).await?;
        }
        Ok(end.is_some())
    }
}

/// When the oldest event was written, if there are others behind it.
pub struct OldestEvent {
    pub workspace: WorkspaceId,
}

impl Work for OldestEvent {
    type Output = Option<Timestamp>;

    async fn run(&self, tx: &mut Tx) -> Result<Option<Timestamp>, Failure> {
        Ok(event::oldest_of_several(tx, self.workspace).await?)
    }
}

/// How far a log is proved: the last entry that was looked at.
#[derive(Clone, Copy, Debug)]
pub struct Proved {
    pub first: i64,
    pub sequence: i64,
    pub hash: Hash,
}

/// Checks the entries behind those that are proved, some at a time.
pub struct VerifyEvents {
    pub workspace: WorkspaceId,
    pub proved: Option<Proved>,
}

/// What is wrong with the log, and where.
pub struct Broken {
    pub sequence: i64,
    pub reason: &'static str,
}

impl VerifyEvents {
    const SOME: i64 = 1000;

    fn check(proved: Option<Proved>, proof: &event::Proof) -> Result<Proved, &'static str> {
        let Some(entry) = &proof.entry else { return Err("it cannot be read") };
        match proved {
            _ if proof.sequence < 1 => return Err("numbers begin with 1"),
            Some(last) if proof.sequence != last.sequence + 1 => return Err("entries before it are missing"),
            Some(last) if entry.previous_hash != last.hash => return Err("it does not follow from the entry before it"),
            None if proof.sequence == 1 && entry.previous_hash != Hash::NONE => return Err("the first entry follows from another"),
            _ => {}
        }
        if !entry.has_its_content {
            return Err("its contents were changed, or taken out although nobody was erased");
        }
        if !entry.is_whole {
            return Err("it was changed");
        }
        Ok(Proved { first: proved.map_or(proof.sequence, |last| last.first), sequence: proof.sequence, hash: entry.hash })
    }
}

impl Work for VerifyEvents {
    /// How far the log is proved now, and whether there is more; or what is wrong.
    type Output = Result<(Option<Proved>, bool), Broken>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, Failure> {
        let after = self.proved.map_or(i64::MIN, |proved| proved.sequence);
        let proofs = event::proofs(tx, self.workspace, after, Self::SOME).await?;
        let mut proved = self.proved;
        for proof in &proofs {
            match Self::check(proved, proof) {
                Ok(next) => proved = Some(next),
                Err(reason) => return Ok(Err(Broken { sequence: proof.sequence, reason })),
            }
        }
        Ok(Ok((proved, proofs.len() as i64 == Self::SOME)))
    }
}
