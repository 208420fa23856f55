//! One transaction. What is asked or told without waiting for the answer travels together with the next statement that is waited for,
//! so that work costs as few round trips as its own questions make it wait.

use std::time::Duration;

use deadpool::managed::Object;
use futures_util::future::{join, join_all, join3};
use futures_util::{TryStreamExt, pin_mut};
use tokio_postgres::{Client, Error, Row, Statement};

use super::alike::{Sent, gather};
use super::connection::Lent;
use super::failure::{describe, judge};
use super::together::Queued;
use super::value::{Number, Owned};
use crate::error::StoreError;
use crate::row::Param;

/// Statements that are sent at once at most.
const MOST_TOGETHER: usize = 24;
/// The same for work that touches many rows: those of one text become one.
const MOST_TOGETHER_AT_LENGTH: usize = 4000;
/// What the first answer may take even if the connection was long in coming.
const LEAST_PATIENCE: Duration = Duration::from_millis(200);
/// How far the server has come in the log of changes.
const POSITION: &str =
    "SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_insert_lsn() END - '0/0')::bigint";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mode {
    /// Every statement stands alone.
    Single,
    /// All of it happens or nothing. Statements see what was committed before each of them began; what a rule rests on is locked.
    Change,
    /// The same for work that touches many rows. It waits longer for those that others hold.
    ChangeAtLength,
    /// All statements see the same state, and only look.
    Snapshot,
    /// The same for statements that look at many rows, for which a plan of their own is worth its time.
    SnapshotAtLength,
}

impl Mode {
    const fn beginning(self) -> Option<&'static str> {
        match self {
            Self::Single => None,
            Self::Change => Some("BEGIN ISOLATION LEVEL READ COMMITTED"),
            Self::ChangeAtLength => Some("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '24s'"),
            Self::Snapshot => Some("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Self::SnapshotAtLength => Some(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL plan_cache_mode = force_custom_plan; \
                 SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on",
            ),
        }
    }
}

pub(crate) struct PostgresTx {
    connection: Option<Lent>,
    mode: Mode,
    is_open: bool,
    queue: Vec<Queued>,
    answers: Vec<Option<Vec<Row>>>,
    patience: Duration,
    /// What is left of the patience for the first answer.
    first_patience: Option<Duration>,
    /// The server must have come so far for what it says to count.
    at_least: Option<i64>,
}

impl PostgresTx {
    /// `waited` is how long it took to get the connection: a caller waits for that and the first answer together.
    pub(super) fn new(connection: Lent, mode: Mode, patience: Duration, waited: Duration, at_least: Option<i64>) -> Self {
        Self {
            connection: Some(connection),
            mode,
            is_open: false,
            queue: Vec::new(),
            answers: Vec::new(),
            patience,
            first_patience: Some(patience.saturating_sub(waited).max(LEAST_PATIENCE)),
            at_least,
        }
    }

    pub(crate) async fn query(&mut self, sql: &str, params: &[Param<'_>]) -> Result<(Vec<Row>, u64), StoreError> {
        self.queue(sql, params, None);
        Ok(self.send(Ending::None).await?.unwrap_or_default())
    }

    /// Sends the statement with the next one that is waited for; the ticket gets its answer.
    pub(crate) async fn ask(&mut self, sql: &str, params: &[Param<'_>]) -> Result<usize, StoreError> {
        let ticket = self.answers.len();
        self.answers.push(None);
        self.queue(sql, params, Some(ticket));
        self.make_room().await?;
        Ok(ticket)
    }

    pub(crate) async fn tell(&mut self, sql: &str, params: &[Param<'_>]) -> Result<(), StoreError> {
        self.queue(sql, params, None);
        self.make_room().await
    }

    pub(crate) async fn answer(&mut self, ticket: usize) -> Result<Vec<Row>, StoreError> {
        if self.answers.get(ticket).is_some_and(Option::is_none) {
            self.send(Ending::None).await?;
        }
        let answer = self.answers.get_mut(ticket).and_then(Option::take);
        answer.ok_or_else(|| StoreError::Internal("an answer was taken twice".to_owned()))
    }

    fn queue(&mut self, sql: &str, params: &[Param<'_>], ticket: Option<usize>) {
        self.queue.push(Queued { sql: sql.to_owned(), params: params.iter().map(Owned::from).collect(), ticket });
    }

    async fn make_room(&mut self) -> Result<(), StoreError> {
        let most = if self.mode == Mode::ChangeAtLength { MOST_TOGETHER_AT_LENGTH } else { MOST_TOGETHER };
        match self.queue.len() < most {
            true => Ok(()),
            false => self.send(Ending::None).await.map(|_| ()),
        }
    }

    /// Makes the change durable. With `mark`, says how far the log of changes is then.
    pub(super) async fn commit(mut self, mark: bool) -> Result<Option<i64>, StoreError> {
        if !self.is_open && self.queue.is_empty() {
            return Ok(None);
        }
        let ending = if mark { Ending::CommitAndMark } else { Ending::Commit };
        let last = self.send(ending).await?;
        match (mark, last) {
            (true, Some((rows, _))) => rows.first().map(position).transpose(),
            _ => Ok(None),
        }
    }

    /// Sends all that waits and takes the answers; gives back that of the last statement. A connection that cannot be used any more is
    /// not given back.
    async fn send(&mut self, ending: Ending) -> Result<Option<(Vec<Row>, u64)>, StoreError> {
        let sent = self.exchange(ending).await;
        if matches!(sent, Err(StoreError::Lost(_))) {
            self.give_up(ending);
        }
        sent
    }

    /// Gives each question its rows, which end with its number.
    fn hand_out(&mut self, tickets: &[Option<usize>], rows: Vec<Row>) -> Result<(), StoreError> {
        for ticket in tickets.iter().flatten() {
            self.answers[*ticket] = Some(Vec::new());
        }
        for row in rows {
            let Number(number) = row.try_get(row.len() - 1).map_err(|error| judge(&error))?;
            let ticket = usize::try_from(number - 1).ok().and_then(|place| tickets.get(place).copied().flatten());
            if let Some(answers) = ticket.and_then(|ticket| self.answers[ticket].as_mut()) {
                answers.push(row);
            }
        }
        Ok(())
    }

    fn give_up(&mut self, ending: Ending) {
        if let Some(connection) = self.connection.take() {
            Object::take(connection).abandon(ending == Ending::None);
        }
    }

    async fn exchange(&mut self, ending: Ending) -> Result<Option<(Vec<Row>, u64)>, StoreError> {
        let beginning = if self.is_open { None } else { self.mode.beginning() };
        let at_least = self.at_least.take();
        // Whoever waits for the last one without a ticket wants its rows; with the end of the transaction nobody does.
        let queue = gather(std::mem::take(&mut self.queue), ending == Ending::None, self.mode == Mode::ChangeAtLength);
        let Some(connection) = &mut self.connection else {
            return Err(StoreError::Lost("the connection is gone".to_owned()));
        };
        metrics::counter!("slated_store_round_trips_total").increment(1);
        let patience = self.first_patience.take().unwrap_or(self.patience);
        let preparing = async {
            let mut statements = Vec::with_capacity(queue.len());
            for sent in &queue {
                statements.push(match sent {
                    Sent::One(one) => (connection.prepare(&one.sql).await?, one.params.as_slice()),
                    Sent::Many(many) => {
                        let one = connection.prepare(many.sql()).await?;
                        (connection.prepare(&many.over_arrays(one.params())).await?, many.columns.as_slice())
                    }
                });
            }
            let position = match at_least.is_some() || ending == Ending::CommitAndMark {
                true => Some(connection.prepare(POSITION).await?),
                false => None,
            };
            Ok((statements, position))
        };
        let Ok(prepared) = tokio::time::timeout(patience, preparing).await else {
            self.give_up(Ending::None);
            return Err(too_late());
        };
        let (statements, position) = prepared.map_err(|error: Error| judge(&error))?;
        if let Some((_, sent)) = statements.iter().zip(&queue).find(|((statement, params), _)| !fits(statement, params)) {
            return Err(StoreError::Internal(format!("the parameters do not fit into {}", sent.sql())));
        }
        // Whoever waits for this may give up at any moment: what was sent by then has to be undone.
        self.is_open |= beginning.is_some();
        let exchanging = exchange(&connection.client, beginning, &statements, ending, at_least.and(position.as_ref()), position.as_ref());
        let Ok(exchanged) = tokio::time::timeout(patience, exchanging).await else {
            // Whatever it still says would be taken for the answer to something else.
            self.give_up(ending);
            return Err(if ending == Ending::None { too_late() } else { uncertain("it did not answer in time") });
        };
        let Exchanged { position, began, answers, ended, mark } = exchanged;
        if let (Some(at_least), Some(position)) = (at_least, position)
            && position.map_err(|error| judge(&error))?.first().map_or(Ok(0), self::position)? < at_least
        {
            return Err(StoreError::Conflict("the replica has not come so far yet".to_owned()));
        }
        began.map_err(|error| judge(&error))?;
        let mut last = None;
        for (sent, answer) in queue.iter().zip(answers) {
            let (rows, touched) = answer.map_err(|error| blame(&error, ending))?;
            match sent {
                Sent::One(Queued { ticket: Some(ticket), .. }) => self.answers[*ticket] = Some(rows),
                Sent::One(_) => last = Some((rows, touched)),
                Sent::Many(many) => self.hand_out(&many.tickets, rows)?,
            }
        }
        if ending == Ending::None {
            return Ok(last);
        }
        ended.map_err(|error| blame(&error, ending))?;
        self.is_open = false;
        // That the change is durable is sure by now; how far the log is can only be missing.
        Ok(mark.and_then(Result::ok).map(|rows| (rows, 0)))
    }
}

/// Once the end was sent, a connection that breaks leaves open whether the change was made.
fn blame(error: &Error, ending: Ending) -> StoreError {
    match judge(error) {
        StoreError::Lost(reason) if ending != Ending::None && error.code().is_none() => uncertain(&reason),
        judged => judged,
    }
}

fn too_late() -> StoreError {
    StoreError::Unavailable("it did not answer in time".to_owned())
}

fn uncertain(reason: &str) -> StoreError {
    StoreError::Unavailable(format!("the connection broke while the change was committed, which may or may not have been made: {reason}"))
}

fn fits(statement: &Statement, params: &[Owned]) -> bool {
    statement.params().len() == params.len() && statement.params().iter().zip(params).all(|(ty, param)| param.fits(ty))
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ending {
    None,
    Commit,
    CommitAndMark,
}

type Answer = Result<(Vec<Row>, u64), Error>;

struct Exchanged {
    position: Option<Result<Vec<Row>, Error>>,
    began: Result<(), Error>,
    answers: Vec<Answer>,
    ended: Result<(), Error>,
    mark: Option<Result<Vec<Row>, Error>>,
}

/// Sends everything in this order before it waits for the first answer: each of these futures sends when it is first polled, and
/// joined ones are polled from the first to the last.
async fn exchange(
    client: &Client,
    beginning: Option<&str>,
    statements: &[(Statement, &[Owned])],
    ending: Ending,
    before: Option<&Statement>,
    after: Option<&Statement>,
) -> Exchanged {
    let look = |statement: Option<&Statement>| {
        let statement = statement.cloned();
        async move {
            match statement {
                Some(statement) => Some(client.query(&statement, &[]).await),
                None => None,
            }
        }
    };
    let simply = async |sql: Option<&str>| match sql {
        Some(sql) => client.batch_execute(sql).await,
        None => Ok(()),
    };
    let begin = join(look(before), simply(beginning));
    let middle = join_all(statements.iter().map(|(statement, params)| answer(client, statement, params)));
    let commit = simply((ending != Ending::None).then_some("COMMIT"));
    let end = join(commit, look(if ending == Ending::CommitAndMark { after } else { None }));
    let ((position, began), answers, (ended, mark)) = join3(begin, middle, end).await;
    Exchanged { position, began, answers, ended, mark }
}

async fn answer(client: &Client, statement: &Statement, params: &[Owned]) -> Answer {
    let stream = client.query_raw(statement, params).await?;
    pin_mut!(stream);
    let mut rows = Vec::new();
    while let Some(row) = stream.try_next().await? {
        rows.push(row);
    }
    Ok((rows, stream.rows_affected().unwrap_or(0)))
}

fn position(row: &Row) -> Result<i64, StoreError> {
    row.try_get::<_, Option<Number>>(0).map(|number| number.map_or(0, |number| number.0)).map_err(|error| judge(&error))
}

/// Work that was refused, failed or given up leaves a transaction open; it is undone while nobody waits.
impl Drop for PostgresTx {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if !self.is_open || connection.client.is_closed() {
            return;
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            Object::take(connection).abandon(false);
            return;
        };
        let patience = self.patience;
        runtime.spawn(async move {
            let undone = tokio::time::timeout(patience, connection.client.batch_execute("ROLLBACK")).await;
            if let Ok(Err(error)) = &undone {
                tracing::debug!(error = describe(error), "a transaction could not be rolled back; its connection is closed");
            }
            if !matches!(undone, Ok(Ok(()))) {
                Object::take(connection).abandon(true);
            }
        });
    }
}
