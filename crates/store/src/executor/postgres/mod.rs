//! PostgreSQL: many connections, any number of servers like this one beside us, perhaps a replica
//! to read from.

pub mod replica;

use std::sync::Arc;
use std::time::{Duration, Instant};

use metrics::{gauge, histogram};
use slated_model::clock::Timestamp;

use self::replica::Replica;
use crate::commit_notifier::CommitNotifier;
use crate::driver::postgres::address::Address;
use crate::driver::postgres::pool::{Connections, LONG_TIMEOUT};
use crate::driver::postgres::read_batcher::ReadBatcher;
use crate::driver::postgres::transaction::{Mode, PostgresTx};
use crate::driver::postgres::write_slots::{WriteSlot, WriteSlots};
use crate::error::{OperationError, StoreError};
use crate::operation::{Operation, Pace};
use crate::options::Options;
use crate::tx::{Connection, Tx};

/// How often work is tried again that another transaction got in the way of.
const MAX_CONFLICTS: u32 = 50;
/// How often work is tried again on another connection.
const MAX_LOSSES: u32 = 5;
/// An operation that began longer ago is done again rather than committed: its ids are from then,
/// and others may have taken the lists that they belong to for settled. What touches many rows may
/// need as long; if it comes too late, the lists are counted again by and by.
const OLDEST_CHANGE: Duration = Duration::from_secs(40);

pub(crate) struct Postgres {
    primary: Connections,
    write_slots: Arc<WriteSlots>,
    batcher: Arc<ReadBatcher>,
    replica: Option<Replica>,
    bell: Arc<CommitNotifier>,
}

impl Postgres {
    pub(crate) fn new(
        address: &Address,
        options: &Options,
        bell: Arc<CommitNotifier>,
    ) -> Result<Self, StoreError> {
        let replica = match &options.read_from {
            Some(address) => Some(Replica::new(Connections::new(
                address,
                options.connections,
                options.patience,
            )?)),
            None => None,
        };
        let primary = Connections::new(address, options.connections, options.patience)?;
        let write_slots = WriteSlots::new(options.connections);
        Ok(Self {
            batcher: Arc::new(ReadBatcher::new(primary.clone())),
            primary,
            write_slots,
            replica,
            bell,
        })
    }

    pub(crate) async fn write<W: Operation>(&self, work: &W) -> Result<W::Output, OperationError> {
        let started = Instant::now();
        let output = match work.pace() {
            Pace::Together => self.change(work).await,
            Pace::Quick | Pace::AtLength | Pace::Trial | Pace::Probe => {
                retried(|| self.change(work)).await
            }
        };
        histogram!("slated_store_commit_seconds").record(started.elapsed().as_secs_f64());
        output
    }

    async fn change<W: Operation>(&self, work: &W) -> Result<W::Output, OperationError> {
        let (mode, patience) = match work.pace() {
            Pace::Quick | Pace::Trial | Pace::Probe => (Mode::Change, self.primary.patience),
            Pace::Together => (Mode::ChangeTogether, self.primary.patience),
            Pace::AtLength => (Mode::ChangeAtLength, self.primary.patience.max(LONG_TIMEOUT)),
        };
        let asked = Instant::now();
        let place = match work.pace() {
            Pace::Probe => self.write_slots.none(),
            Pace::Together => self.write_slots.take_if_scarce(self.primary.patience).await?,
            Pace::Quick | Pace::AtLength | Pace::Trial => {
                self.write_slots.take(self.primary.patience).await?
            }
        };
        let mut tx = begin(&self.primary, mode, patience, None, Some(place), asked).await?;
        let begun = Instant::now();
        let output = work.run(&mut tx).await?;
        if tx.has_buffered_events() {
            return Err(StoreError::Internal("buffered events were not appended".to_owned()).into());
        }
        let age = Timestamp::now().millis() - tx.real_now().millis();
        let is_old = begun.elapsed() > OLDEST_CHANGE || age > OLDEST_CHANGE.as_millis() as i64;
        if is_old && work.pace() != Pace::AtLength {
            return Err(StoreError::Conflict(
                "this server was paused during the transaction".to_owned(),
            )
            .into());
        }
        let told = tx.take_changed_workspaces();
        let mark =
            tx.into_postgres()?.commit(self.replica.is_some() && work.replicas_must_show()).await?;
        if let (Some(replica), Some(mark)) = (&self.replica, mark) {
            replica.note_write(work.workspace(), mark);
        }
        self.bell.ring(&told);
        Ok(output)
    }

    /// One statement, with no transaction around it.
    pub(crate) async fn read<W: Operation>(&self, work: &W) -> Result<W::Output, OperationError> {
        self.look(work, Mode::Single, self.primary.patience).await
    }

    /// The same for a statement that may take long, and goes together with none.
    pub(crate) async fn execute_outside_transaction<W: Operation>(
        &self,
        work: &W,
    ) -> Result<W::Output, OperationError> {
        let mut tx = begin(
            &self.primary,
            Mode::Single,
            self.primary.patience.max(LONG_TIMEOUT),
            None,
            None,
            Instant::now(),
        )
        .await?;
        work.run(&mut tx).await
    }

    pub(crate) async fn read_consistent<W: Operation>(
        &self,
        work: &W,
    ) -> Result<W::Output, OperationError> {
        self.look(work, Mode::Snapshot, self.primary.patience).await
    }

    pub(crate) async fn read_consistent_slow<W: Operation>(
        &self,
        work: &W,
    ) -> Result<W::Output, OperationError> {
        self.look(work, Mode::SnapshotAtLength, self.primary.patience.max(LONG_TIMEOUT)).await
    }

    async fn look<W: Operation>(
        &self,
        work: &W,
        mode: Mode,
        patience: Duration,
    ) -> Result<W::Output, OperationError> {
        let started = Instant::now();
        let mut output = None;
        if let (Some(replica), Some(workspace)) = (&self.replica, work.workspace())
            && replica.may_be_asked()
        {
            output = self
                .look_at_replica(replica, work, mode, patience, replica.last_write(workspace))
                .await;
        }
        let output = match output {
            Some(output) => output,
            None => {
                retried(|| async {
                    let mut tx = match mode {
                        Mode::Single => begun(Connection::Batched(Arc::clone(&self.batcher))),
                        _ => {
                            begin(&self.primary, mode, patience, None, None, Instant::now()).await?
                        }
                    };
                    work.run(&mut tx).await
                })
                .await
            }
        };
        histogram!("slated_store_read_seconds").record(started.elapsed().as_secs_f64());
        output
    }

    /// Nothing if the replica cannot say, or does not know yet what was written here before.
    async fn look_at_replica<W: Operation>(
        &self,
        replica: &Replica,
        work: &W,
        mode: Mode,
        patience: Duration,
        at_least: Option<i64>,
    ) -> Option<Result<W::Output, OperationError>> {
        let outcome =
            match begin(&replica.connections, mode, patience, at_least, None, Instant::now()).await
            {
                Ok(mut tx) => work.run(&mut tx).await,
                Err(failure) => Err(failure),
            };
        match outcome {
            Err(OperationError::Store(error)) => {
                tracing::debug!(error = %error, "read from the primary instead of the replica");
                match error {
                    // It answered, and is behind or busy with what it takes over.
                    StoreError::Conflict(_) => replica.note_answer(),
                    error => replica.rest(&error),
                }
                None
            }
            outcome => {
                replica.note_answer();
                Some(outcome)
            }
        }
    }

    /// How long an answer may take.
    pub(crate) const fn patience(&self) -> Duration {
        self.primary.patience
    }

    /// Shows how many connections there are.
    pub(crate) fn report(&self) {
        let (open, idle) = self.primary.count();
        gauge!("slated_store_connections", "state" => "open").set(open as f64);
        gauge!("slated_store_connections", "state" => "idle").set(idle as f64);
    }
}

/// On a connection that is waited for since then.
async fn begin(
    connections: &Connections,
    mode: Mode,
    patience: Duration,
    at_least: Option<i64>,
    place: Option<WriteSlot>,
    asked: Instant,
) -> Result<Tx, OperationError> {
    let connection = connections.lend().await?;
    Ok(begun(Connection::Postgres(Box::new(PostgresTx::new(
        connection,
        mode,
        patience,
        asked.elapsed(),
        at_least,
        place,
    )))))
}

fn begun(arm: Connection) -> Tx {
    let mut tx = Tx::new(arm);
    tx.start_work();
    tx
}

/// Runs work again when other transactions got in its way, or its connection broke before anything
/// was committed.
async fn retried<T, F: Future<Output = Result<T, OperationError>>>(
    run: impl Fn() -> F,
) -> Result<T, OperationError> {
    let (mut conflicts, mut losses) = (0, 0);
    loop {
        let error = match run().await {
            Err(OperationError::Store(
                error @ (StoreError::Conflict(_) | StoreError::Lost(_) | StoreError::Held(_)),
            )) => error,
            outcome => return outcome,
        };
        match error {
            StoreError::Conflict(_) if conflicts < MAX_CONFLICTS => conflicts += 1,
            StoreError::Lost(_) if losses < MAX_LOSSES => losses += 1,
            error => return Err(StoreError::Unavailable(error.to_string()).into()),
        }
        metrics::counter!("slated_store_retries_total").increment(1);
        // The first try again is at once; then the others get time to end, each a different one.
        let most = (conflicts + losses - 1).min(10) * 4;
        tokio::time::sleep(Duration::from_millis(rand::random_range(0..=u64::from(most)))).await;
    }
}
