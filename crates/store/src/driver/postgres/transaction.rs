//! One transaction. What is asked or told without waiting for the answer travels together with the
//! next statement that is waited for, so that work costs as few round trips as its own questions
//! make it wait. Of work that touches many rows it travels ahead, and the server works on it while
//! more is made ready.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use deadpool::managed::Object;
use tokio::task::yield_now;
use tokio_postgres::{Error, Row, Statement};

use crate::driver::param::Param;
use crate::driver::postgres::array_statement::{Coalescing, Outgoing, Recipient, gather};
use crate::driver::postgres::error::{classify, describe, is_gone};
use crate::driver::postgres::merged_inserts::Queued;
use crate::driver::postgres::pipeline::{
    Boxed, Pipeline, PipelineResponse, TxEnd, exchange, in_order,
};
use crate::driver::postgres::pool::{LONG_TIMEOUT, PooledConnection};
use crate::driver::postgres::value::{Number, Owned};
use crate::driver::postgres::write_slots::WriteSlot;
use crate::error::StoreError;

/// Where a write stands of which that was not said: no replica has come so far. The next write of
/// the same workspace says where both stand.
pub(crate) const UNKNOWN: i64 = i64::MAX;

/// Statements that are sent at once at most.
const MAX_TOGETHER: usize = 24;
/// The same for work that touches many rows: those of one text become one. The server works on them
/// while more gather, so it should not have to wait long for the next.
const MAX_TOGETHER_LONG: usize = 250;
/// So often at most, before the first answer is waited for.
const MAX_AHEAD: usize = 16;
/// A connection that waits less than that for an answer waits less than 150 ms for a row anyway.
const BATCH_LOCK_TIMEOUT: Duration = Duration::from_millis(188);
/// What the first answer may take even if the connection was long in coming.
const MIN_TIMEOUT: Duration = Duration::from_millis(200);
/// How far the server has come in the log of changes.
const POSITION: &str = "SELECT (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE \
    pg_current_wal_insert_lsn() END - '0/0')::bigint";

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    /// Every statement stands alone.
    Single,
    /// The same for many of them.
    Singles,
    /// All of it happens or nothing. Statements see what was committed before each of them began;
    /// what a rule rests on is locked.
    Change,
    /// The same for work that touches many rows. It waits longer for those that others hold.
    ChangeAtLength,
    /// The same for many works in one. It hardly waits for others.
    ChangeTogether,
    /// All statements see the same state, and only look.
    Snapshot,
    /// The same for statements that look at many rows, for which a plan of their own is worth its
    /// time.
    SnapshotAtLength,
}

impl Mode {
    fn beginning(self, patience: Duration) -> Option<&'static str> {
        match self {
            Self::Single | Self::Singles => None,
            Self::Change => Some("BEGIN ISOLATION LEVEL READ COMMITTED"),
            Self::ChangeTogether if patience < BATCH_LOCK_TIMEOUT => {
                Some("BEGIN ISOLATION LEVEL READ COMMITTED")
            }
            // The connection waits for longer by itself.
            Self::ChangeAtLength if patience > LONG_TIMEOUT => {
                Some("BEGIN ISOLATION LEVEL READ COMMITTED")
            }
            Self::ChangeAtLength => {
                Some("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '24s'")
            }
            Self::ChangeTogether => {
                Some("BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '150ms'")
            }
            Self::Snapshot => Some("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            Self::SnapshotAtLength => Some(
                "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SET LOCAL plan_cache_mode = \
                 force_custom_plan; \
                 SET LOCAL enable_seqscan = on; SET LOCAL enable_hashjoin = on",
            ),
        }
    }

    /// Whether many statements of one text are likely.
    const fn touches_many(self) -> bool {
        matches!(self, Self::Singles | Self::ChangeAtLength | Self::ChangeTogether)
    }
}

pub(crate) struct PostgresTx {
    connection: Option<PooledConnection>,
    /// Of work that changes something.
    place: Option<WriteSlot>,
    mode: Mode,
    is_open: bool,
    /// Whether the server may have been told to make the change durable.
    may_be_ending: bool,
    /// Whether an answer is waited for.
    is_asking: bool,
    queue: Vec<Queued>,
    /// The texts of many statements, each once.
    texts: Vec<Arc<str>>,
    /// What was sent and is not answered yet.
    ahead: VecDeque<InFlight>,
    answers: Vec<Option<Vec<Row>>>,
    patience: Duration,
    /// What is left of the patience for the first answer.
    first_patience: Option<Duration>,
    /// The server must have come so far for what it says to count.
    at_least: Option<i64>,
}

impl PostgresTx {
    /// `waited` is how long it took to get the connection: a caller waits for that and the first
    /// answer together.
    pub(crate) fn new(
        connection: PooledConnection,
        mode: Mode,
        patience: Duration,
        waited: Duration,
        at_least: Option<i64>,
        place: Option<WriteSlot>,
    ) -> Self {
        // Those who go together have waited before, most of them a quarter as long at most.
        let waited = if mode == Mode::ChangeTogether { waited + patience / 4 } else { waited };
        Self {
            connection: Some(connection),
            place,
            mode,
            is_open: false,
            may_be_ending: false,
            is_asking: false,
            queue: Vec::new(),
            texts: Vec::new(),
            ahead: VecDeque::new(),
            answers: Vec::new(),
            patience,
            first_patience: Some(patience.saturating_sub(waited).max(MIN_TIMEOUT)),
            at_least,
        }
    }

    pub(crate) async fn query(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<(Vec<Row>, u64), StoreError> {
        self.queue(sql, params, None);
        Ok(self.send(TxEnd::None).await?.unwrap_or_default())
    }

    /// Sends the statement with the next one that is waited for; the ticket gets its answer.
    pub(crate) async fn ask(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<usize, StoreError> {
        let ticket = self.answers.len();
        self.answers.push(None);
        self.queue(sql, params, Some(ticket));
        self.make_room().await?;
        Ok(ticket)
    }

    /// Asks the same with different parameters; gives back the rows for each of them.
    pub(crate) async fn ask_all(
        &mut self,
        sql: &Arc<str>,
        params: Vec<Vec<Owned>>,
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        self.answers.resize_with(params.len(), || None);
        let queued = params.into_iter().enumerate();
        self.queue = queued
            .map(|(ticket, params)| Queued { sql: Arc::clone(sql), params, ticket: Some(ticket) })
            .collect();
        self.send(TxEnd::None).await?;
        let answers: Option<Vec<_>> = std::mem::take(&mut self.answers).into_iter().collect();
        answers.ok_or_else(|| StoreError::Internal("a query was not answered".to_owned()))
    }

    pub(crate) async fn execute_deferred(
        &mut self,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<(), StoreError> {
        self.queue(sql, params, None);
        self.make_room().await
    }

    pub(crate) async fn answer(&mut self, ticket: usize) -> Result<Vec<Row>, StoreError> {
        if self.answers.get(ticket).is_some_and(Option::is_none) {
            self.send(TxEnd::None).await?;
        }
        let answer = self.answers.get_mut(ticket).and_then(Option::take);
        answer.ok_or_else(|| StoreError::Internal("an answer was taken twice".to_owned()))
    }

    fn queue(&mut self, sql: &str, params: &[Param<'_>], ticket: Option<usize>) {
        let sql = match self.mode.touches_many() {
            true => self.text(sql),
            false => Arc::from(sql),
        };
        self.queue.push(Queued { sql, params: params.iter().map(Owned::from).collect(), ticket });
    }

    fn text(&mut self, sql: &str) -> Arc<str> {
        if let Some(known) = self.texts.iter().find(|known| &***known == sql) {
            return Arc::clone(known);
        }
        let text = Arc::<str>::from(sql);
        self.texts.push(Arc::clone(&text));
        text
    }

    /// Lets the server begin with what waits.
    pub(crate) async fn flush(&mut self) -> Result<(), StoreError> {
        if !self.mode.touches_many() || self.queue.is_empty() {
            return Ok(());
        }
        let sent = self.send_ahead().await;
        self.give_up_if_lost(sent, TxEnd::None)
    }

    /// Lets the server begin with what waits, in work that touches many rows, and waits until it
    /// has done all that it was sent.
    pub(crate) async fn flush_and_wait(&mut self) -> Result<(), StoreError> {
        self.flush().await?;
        let patience = self.first_patience.unwrap_or(self.patience);
        let landed = self.await_all(TxEnd::None, patience).await.map(|_| ());
        self.give_up_if_lost(landed, TxEnd::None)
    }

    async fn make_room(&mut self) -> Result<(), StoreError> {
        let most = match self.mode.touches_many() {
            true => MAX_TOGETHER_LONG,
            false => MAX_TOGETHER,
        };
        if self.queue.len() < most {
            return Ok(());
        }
        let made = match self.mode.touches_many() {
            true => self.send_ahead().await,
            false => self.exchange(TxEnd::None).await.map(|_| ()),
        };
        self.give_up_if_lost(made, TxEnd::None)
    }

    /// Makes the change durable. With `mark`, says how far the log of changes is then.
    pub(crate) async fn commit(mut self, mark: bool) -> Result<Option<i64>, StoreError> {
        if !self.is_open && self.queue.is_empty() {
            return Ok(None);
        }
        let ending = if mark { TxEnd::CommitAndMark } else { TxEnd::Commit };
        let last = self.send(ending).await?;
        let marked =
            last.as_ref().and_then(|(rows, _)| rows.first()).and_then(|row| position(row).ok());
        // That the change is durable is sure by now; how far the log is can only be missing.
        Ok(mark.then(|| marked.unwrap_or(UNKNOWN)))
    }

    /// Sends all that waits and takes the answers; gives back that of the last statement.
    async fn send(&mut self, ending: TxEnd) -> Result<Option<(Vec<Row>, u64)>, StoreError> {
        let sent = self.exchange(ending).await;
        self.give_up_if_lost(sent, ending)
    }

    /// A connection that cannot be used any more is not given back.
    fn give_up_if_lost<T>(
        &mut self,
        outcome: Result<T, StoreError>,
        ending: TxEnd,
    ) -> Result<T, StoreError> {
        if matches!(outcome, Err(StoreError::Lost(_))) {
            self.discard_connection(ending);
        }
        outcome
    }

    /// Gives each question its rows, which end with its number.
    fn distribute_rows(
        &mut self,
        tickets: &[Vec<usize>],
        rows: Vec<Row>,
    ) -> Result<(), StoreError> {
        for ticket in tickets.iter().flatten() {
            self.answers[*ticket] = Some(Vec::new());
        }
        for row in rows {
            let Number(number) = row.try_get(row.len() - 1).map_err(|error| classify(&error))?;
            let asked_by = usize::try_from(number - 1).ok().and_then(|place| tickets.get(place));
            let Some((last, others)) = asked_by.and_then(|tickets| tickets.split_last()) else {
                continue;
            };
            for ticket in others {
                self.answers[*ticket].get_or_insert_default().push(row.clone());
            }
            self.answers[*last].get_or_insert_default().push(row);
        }
        Ok(())
    }

    fn discard_connection(&mut self, ending: TxEnd) {
        if let Some(connection) = self.connection.take() {
            Object::take(connection).abandon(ending == TxEnd::None);
        }
    }

    async fn exchange(&mut self, ending: TxEnd) -> Result<Option<(Vec<Row>, u64)>, StoreError> {
        let patience = self.first_patience.take().unwrap_or(self.patience);
        // Whoever waits for the last one without a ticket wants its rows; with the end of the
        // transaction nobody does.
        let flight = self.prepare(ending, ending == TxEnd::None, patience).await?;
        self.ahead.push_back(flight);
        self.await_all(ending, patience).await
    }

    /// Waits for all that was sent; gives back the answer of the last statement.
    async fn await_all(
        &mut self,
        ending: TxEnd,
        patience: Duration,
    ) -> Result<Option<(Vec<Row>, u64)>, StoreError> {
        let flights = std::mem::take(&mut self.ahead).into_iter();
        let (exchanges, recipients): (Vec<_>, Vec<_>) =
            flights.map(|flight| (flight.exchange, flight.recipients)).unzip();
        let mut answered: Boxed<'static, _> = Box::pin(in_order(exchanges));
        self.is_asking = true;
        let Ok(exchanged) = tokio::time::timeout(patience, &mut answered).await else {
            // Whatever it still says would be taken for the answer to something else.
            if ending != TxEnd::None
                && let Some(place) = self.place.take()
                && let Some(connection) = self.connection.take()
            {
                place.keep(connection, answered);
            }
            self.discard_connection(ending);
            return Err(if ending == TxEnd::None {
                too_late()
            } else {
                uncertain("it did not answer in time")
            });
        };
        self.first_patience = None;
        self.is_asking = false;
        let mut last = None;
        for (recipients, exchanged) in recipients.iter().zip(exchanged) {
            last = self.accept_response(recipients, exchanged, ending)?;
        }
        Ok(last)
    }

    /// Sends all that waits without waiting for the answers, unless many are waited for already.
    async fn send_ahead(&mut self) -> Result<(), StoreError> {
        let patience = self.first_patience.unwrap_or(self.patience);
        if self.ahead.len() >= MAX_AHEAD
            && let Some(first) = self.ahead.pop_front()
        {
            self.first_patience = None;
            let Ok(exchanged) = tokio::time::timeout(patience, first.exchange).await else {
                self.discard_connection(TxEnd::None);
                return Err(too_late());
            };
            self.accept_response(&first.recipients, exchanged, TxEnd::None)?;
        }
        let mut flight = self.prepare(TxEnd::None, false, patience).await?;
        match poll_fn(|context| Poll::Ready(flight.exchange.as_mut().poll(context))).await {
            Poll::Ready(exchanged) => {
                self.accept_response(&flight.recipients, exchanged, TxEnd::None).map(|_| ())
            }
            Poll::Pending => {
                self.ahead.push_back(flight);
                // What drives the connection would else wait until this work waits for something.
                yield_now().await;
                Ok(())
            }
        }
    }

    /// Makes all that waits ready to be sent.
    async fn prepare(
        &mut self,
        ending: TxEnd,
        keeps_last: bool,
        patience: Duration,
    ) -> Result<InFlight, StoreError> {
        let beginning = if self.is_open { None } else { self.mode.beginning(self.patience) };
        let at_least = self.at_least.take();
        let joining = match &self.connection {
            Some(connection) if connection.is_plain_postgres && self.mode.touches_many() => {
                Coalescing::Alike
            }
            Some(connection) if connection.is_plain_postgres => Coalescing::Inserts,
            _ => Coalescing::Nothing,
        };
        let queue = gather(std::mem::take(&mut self.queue), keeps_last, joining);
        let asks_position = at_least.is_some() || ending == TxEnd::CommitAndMark;
        let is_prepared = |connection: &PooledConnection| {
            queue.iter().all(|sent| sent.is_prepared(connection))
                && (!asks_position || connection.prepared(POSITION).is_some())
        };
        // A statement that is prepared is waited for, and its answer comes behind those of all that
        // was sent before.
        if !self.ahead.is_empty()
            && self.connection.as_ref().is_some_and(|connection| !is_prepared(connection))
        {
            self.await_all(TxEnd::None, patience).await?;
        }
        let Some(connection) = &mut self.connection else {
            return Err(StoreError::Lost("the connection is gone".to_owned()));
        };
        if !queue.is_empty() || ending != TxEnd::None {
            metrics::counter!("slated_store_round_trips_total").increment(1);
        }
        let preparing = async {
            let mut statements = Vec::with_capacity(queue.len());
            for sent in &queue {
                statements.push(match sent {
                    Outgoing::One(one) => connection.prepare(&one.sql).await?,
                    Outgoing::ArrayStatement(many) => {
                        let one = connection.prepare(many.sql()).await?;
                        connection.prepare(&many.over_arrays(one.params())).await?
                    }
                });
            }
            let position = match asks_position {
                true => Some(connection.prepare(POSITION).await?),
                false => None,
            };
            Ok((statements, position))
        };
        let Ok(prepared) = tokio::time::timeout(patience, preparing).await else {
            self.discard_connection(TxEnd::None);
            return Err(too_late());
        };
        let (prepared, position) = prepared.map_err(|error: Error| classify(&error))?;
        let mut statements = Vec::with_capacity(queue.len());
        let mut to = Vec::with_capacity(queue.len());
        for (statement, sent) in prepared.into_iter().zip(queue) {
            if !fits(&statement, sent.params()) {
                return Err(StoreError::Internal(format!(
                    "the parameters do not match {}",
                    sent.sql()
                )));
            }
            let (params, recipient) = sent.into_parts();
            statements.push((statement, params));
            to.push(recipient);
        }
        // Whoever waits for this may give up at any moment: what was sent by then has to be undone.
        self.is_open |= beginning.is_some();
        self.may_be_ending |= ending != TxEnd::None;
        let exchange = exchange(
            Arc::clone(&connection.client),
            Pipeline { beginning, statements, ending, position, at_least },
        );
        Ok(InFlight { exchange: Box::pin(exchange), recipients: Recipients { to, at_least } })
    }

    /// Gives the answers to those who wait for them; the last that nobody has a ticket for is given
    /// back.
    fn accept_response(
        &mut self,
        recipients: &Recipients,
        exchanged: PipelineResponse,
        ending: TxEnd,
    ) -> Result<Option<(Vec<Row>, u64)>, StoreError> {
        let PipelineResponse { position, began, answers, ended, mark } = exchanged;
        if let (Some(at_least), Some(position)) = (recipients.at_least, position)
            && position
                .map_err(|error| classify_after_commit(&error, ending))?
                .first()
                .map_or(Ok(0), self::position)?
                < at_least
        {
            return Err(StoreError::Conflict("the replica lags behind this read".to_owned()));
        }
        began.map_err(|error| classify_after_commit(&error, ending))?;
        let mut last = None;
        for (recipient, answer) in recipients.to.iter().zip(answers) {
            let (rows, touched) = answer.map_err(|error| classify_after_commit(&error, ending))?;
            match recipient {
                Recipient::One(Some(ticket)) => self.answers[*ticket] = Some(rows),
                Recipient::One(None) => last = Some((rows, touched)),
                Recipient::Many(tickets) => self.distribute_rows(tickets, rows)?,
            }
        }
        let Some(ended) = ended else { return Ok(last) };
        ended.map_err(|error| classify_after_commit(&error, ending))?;
        self.is_open = false;
        Ok(mark.and_then(Result::ok).map(|rows| (rows, 0)))
    }
}

/// What was sent together, and who waits for the answers.
struct InFlight {
    exchange: Boxed<'static, PipelineResponse>,
    recipients: Recipients,
}

struct Recipients {
    to: Vec<Recipient>,
    at_least: Option<i64>,
}

/// Once the end was sent, a connection that breaks leaves open whether the change was made.
fn classify_after_commit(error: &Error, ending: TxEnd) -> StoreError {
    match classify(error) {
        StoreError::Lost(reason)
            if ending != TxEnd::None && error.code().is_none_or(|state| is_gone(error, state)) =>
        {
            uncertain(&reason)
        }
        judged => judged,
    }
}

pub(crate) fn too_late() -> StoreError {
    StoreError::Unavailable("it did not answer in time".to_owned())
}

fn uncertain(reason: &str) -> StoreError {
    StoreError::Unavailable(format!(
        "the connection was lost during the commit; the change may or may not have been \
         saved: {reason}"
    ))
}

fn fits(statement: &Statement, params: &[Owned]) -> bool {
    statement.params().len() == params.len()
        && statement.params().iter().zip(params).all(|(ty, param)| param.fits(ty))
}

fn position(row: &Row) -> Result<i64, StoreError> {
    row.try_get::<_, Option<Number>>(0)
        .map(|number| number.map_or(0, |number| number.0))
        .map_err(|error| classify(&error))
}

/// An operation that was refused, failed or given up leaves a transaction open; it is undone while
/// nobody waits.
impl Drop for PostgresTx {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        if !self.is_open || connection.client.is_closed() {
            return;
        }
        // Nobody waits for the answer any more, and it may be long in coming.
        if self.is_asking && self.mode == Mode::SnapshotAtLength {
            return Object::take(connection).abandon(true);
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            Object::take(connection).abandon(false);
            return;
        };
        let (patience, may_be_ending, place) =
            (self.patience, self.may_be_ending, self.place.take());
        runtime.spawn(async move {
            let _place = place;
            let undone =
                tokio::time::timeout(patience, connection.client.batch_execute("ROLLBACK")).await;
            if let Ok(Err(error)) = &undone {
                tracing::debug!(
                    error = describe(error),
                    "a transaction could not be rolled back; its connection is closed"
                );
            }
            if !matches!(undone, Ok(Ok(()))) {
                Object::take(connection).abandon(!may_be_ending);
            }
        });
    }
}
