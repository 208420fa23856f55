//! Looks of one statement each, by many at the same time. Those of one text that come while others
//! are under way go together in one round trip, and if they are many as one statement: a statement
//! costs more than the row that it is about, and a round trip more than either.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;
use std::time::Instant;

use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::timeout;
use tokio_postgres::Row;

use crate::batch_queue::{BatchQueue, BatchSlot};
use crate::driver::param::Param;
use crate::driver::postgres::pool::Connections;
use crate::driver::postgres::transaction::{Mode, PostgresTx, too_late};
use crate::driver::postgres::value::Owned;
use crate::error::StoreError;

/// Looks that go together at most: more would let each wait for all the others.
const MAX_IN_ONE: usize = 32;
/// While one statement is under way, another is made ready.
const MIN_AT_WORK: usize = 2;

pub(crate) struct ReadBatcher {
    connections: Connections,
    lines: Arc<BatchQueue<Arc<str>, PendingRead>>,
    /// Looks become one statement on PostgreSQL itself only. Elsewhere they would be answered one
    /// after the other.
    is_worth_it: AtomicBool,
}

struct PendingRead {
    since: Instant,
    params: Vec<Owned>,
    answer: oneshot::Sender<Result<Vec<Row>, StoreError>>,
}

type Turn = BatchSlot<Arc<str>, PendingRead>;

impl ReadBatcher {
    pub(crate) fn new(connections: Connections) -> Self {
        // As many of one text as can be seen to at once, and not all connections.
        let cores = available_parallelism().map_or(MIN_AT_WORK, NonZero::get);
        let most_at_work = cores.min(connections.most() / 2).max(MIN_AT_WORK);
        Self {
            connections,
            lines: BatchQueue::new(most_at_work, MAX_IN_ONE),
            is_worth_it: AtomicBool::new(true),
        }
    }

    /// The rows that a statement finds.
    pub(crate) async fn look(
        self: &Arc<Self>,
        sql: &str,
        params: &[Param<'_>],
    ) -> Result<Vec<Row>, StoreError> {
        let sql = Arc::<str>::from(sql);
        let (since, params) = (Instant::now(), params.iter().map(Owned::from).collect());
        if !self.is_worth_it.load(Ordering::Relaxed) {
            return self.ask_one(&sql, params, since).await;
        }
        if let Some(turn) = self.lines.enter(&sql) {
            let _leaving = Leaving { batcher: self, turn: Some(turn) };
            return self.ask_one(&sql, params, since).await;
        }
        let (answer, answered) = oneshot::channel();
        if let Some(turn) = self.lines.enqueue(&sql, PendingRead { since, params, answer }) {
            self.pass_on(turn);
        }
        match timeout(self.connections.patience, answered).await {
            Ok(answer) => answer.unwrap_or_else(|_| {
                Err(StoreError::Unavailable("the operation was aborted".to_owned()))
            }),
            Err(_) => Err(too_late()),
        }
    }

    /// Lets those who wait be seen to, if there are any.
    fn pass_on(self: &Arc<Self>, mut turn: Turn) {
        if let (Some(looks), Ok(runtime)) = (turn.take(), Handle::try_current()) {
            runtime.spawn(Arc::clone(self).drain(turn, looks));
        }
    }

    async fn drain(self: Arc<Self>, mut turn: Turn, first: Vec<PendingRead>) {
        let mut next = Some(first);
        while let Some(looks) = next {
            self.answer(turn.kind(), looks).await;
            next = turn.take();
        }
    }

    async fn answer(&self, sql: &Arc<str>, looks: Vec<PendingRead>) {
        let waited_for: Vec<_> =
            looks.into_iter().filter(|look| !look.answer.is_closed()).collect();
        // Nobody waits longer than they may, whatever the others do: so the time that is left to
        // the last of them counts.
        let Some(since) = waited_for.last().map(|look| look.since) else { return };
        let (params, answers): (Vec<_>, Vec<_>) =
            waited_for.into_iter().map(|look| (look.params, look.answer)).unzip();
        let mut outcome = self.ask(sql, params.clone(), since).await;
        // Each try takes a connection that is of no use any more out of the pool.
        for _ in 0..self.connections.most() {
            if !matches!(outcome, Err(StoreError::Lost(_))) {
                break;
            }
            outcome = self.ask(sql, params.clone(), since).await;
        }
        match outcome {
            Ok(found) => answers
                .into_iter()
                .zip(found)
                .for_each(|(answer, rows)| drop(answer.send(Ok(rows)))),
            Err(error) => {
                answers.into_iter().for_each(|answer| drop(answer.send(Err(error.clone()))))
            }
        }
    }

    async fn ask_one(
        &self,
        sql: &Arc<str>,
        params: Vec<Owned>,
        since: Instant,
    ) -> Result<Vec<Row>, StoreError> {
        let found = self.ask(sql, vec![params], since).await?.pop();
        found.ok_or_else(|| StoreError::Internal("a query was not answered".to_owned()))
    }

    async fn ask(
        &self,
        sql: &Arc<str>,
        params: Vec<Vec<Owned>>,
        since: Instant,
    ) -> Result<Vec<Vec<Row>>, StoreError> {
        let connection = self.connections.lend().await?;
        self.is_worth_it.store(connection.is_plain_postgres, Ordering::Relaxed);
        let mut tx = PostgresTx::new(
            connection,
            Mode::Singles,
            self.connections.patience,
            since.elapsed(),
            None,
            None,
        );
        tx.ask_all(sql, params).await
    }
}

/// Who was seen to at once leaves, or gave up waiting: those who came meanwhile are next.
struct Leaving<'c> {
    batcher: &'c Arc<ReadBatcher>,
    turn: Option<Turn>,
}

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        if let Some(turn) = self.turn.take() {
            self.batcher.pass_on(turn);
        }
    }
}
