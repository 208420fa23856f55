//! Finds the webhooks that have something to be told, and sets a worker on each. One that is slow
//! keeps its own worker busy and nobody else's.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use slated_model::clock::Timestamp;
use slated_model::id::{LeaseId, WebhookId, WorkspaceId};
use slated_operations::webhook_delivery::{ClearLeases, DueWebhooks, RetryDelays};
use slated_store::Store;
use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{Instant, sleep, timeout};

use super::request::Caller;
use super::secret::SecretKey;
use super::worker::Worker;
use crate::events::Subscribers;
use crate::outbound::AllowedAddresses;

/// How often somebody looks for retries that are due, and for what other servers wrote or left.
const POLL_INTERVAL: Duration = Duration::from_millis(250);
/// No two looks are closer than that, however much is written.
const MIN_POLL_INTERVAL: Duration = Duration::from_millis(5);
/// A webhook that a worker could do nothing for is left alone for so long.
const FAILURE_BACKOFF: Duration = Duration::from_secs(1);
/// What a server that stops waits for calls that are being made.
const STOP_TIMEOUT: Duration = Duration::from_secs(15);

/// How webhooks are called.
#[derive(Clone, Default)]
pub struct Delivering {
    pub targets: Arc<AllowedAddresses>,
    pub secret_key: SecretKey,
    pub delays: RetryDelays,
}

/// Runs until the server is told to stop, and the calls are made that were begun.
pub fn start(
    store: &Arc<Store>,
    subscribers: &Arc<Subscribers>,
    delivering: &Delivering,
    stopping: watch::Receiver<bool>,
) -> Result<JoinHandle<()>, String> {
    let caller = Caller::new(Arc::clone(&delivering.targets), delivering.secret_key.clone())?;
    let (store, subscribers, delays) =
        (Arc::clone(store), Arc::clone(subscribers), delivering.delays.clone());
    let dispatcher = Dispatcher {
        store,
        subscribers,
        caller,
        delays,
        stopping,
        busy: InFlightSet::default(),
        workers: JoinSet::new(),
    };
    Ok(tokio::spawn(dispatcher.run()))
}

/// A webhook has a worker, or rests until that moment.
type Taken = HashMap<(WorkspaceId, WebhookId), Option<Instant>>;

#[derive(Clone, Default)]
struct InFlightSet(Arc<Mutex<Taken>>);

impl InFlightSet {
    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// False if it has a worker, or rests.
    fn take(&self, webhook: (WorkspaceId, WebhookId)) -> bool {
        let mut busy = self.lock();
        busy.retain(|_, rests_until| rests_until.is_none_or(|until| until > Instant::now()));
        match busy.contains_key(&webhook) {
            true => false,
            false => busy.insert(webhook, None).is_none(),
        }
    }
}

/// A worker at work. However it ends, the webhook is free again.
struct InFlight {
    busy: InFlightSet,
    webhook: (WorkspaceId, WebhookId),
    has_worked: bool,
}

impl Drop for InFlight {
    fn drop(&mut self) {
        match self.has_worked {
            true => self.busy.lock().remove(&self.webhook),
            false => self.busy.lock().insert(self.webhook, Some(Instant::now() + FAILURE_BACKOFF)),
        };
    }
}

struct Dispatcher {
    store: Arc<Store>,
    subscribers: Arc<Subscribers>,
    caller: Caller,
    delays: RetryDelays,
    stopping: watch::Receiver<bool>,
    busy: InFlightSet,
    workers: JoinSet<()>,
}

impl Dispatcher {
    async fn run(mut self) {
        if !self.store.is_shared()
            && let Err(failure) = self.store.write(ClearLeases).await
        {
            tracing::warn!(error = %failure, "old webhook leases could not be cleared; their \
                webhooks wait until they expire");
        }
        while !*self.stopping.borrow() {
            match self.store.read(DueWebhooks).await {
                Ok(due) => due.into_iter().for_each(|webhook| self.start_worker(webhook)),
                Err(failure) => {
                    tracing::debug!(error = %failure, "due webhooks could not be queried")
                }
            }
            while self.workers.try_join_next().is_some() {}
            sleep(MIN_POLL_INTERVAL).await;
            tokio::select! {
                _ = timeout(POLL_INTERVAL, self.subscribers.webhooks.notified()) => {}
                _ = self.stopping.changed() => {}
            }
        }
        let _ = timeout(STOP_TIMEOUT, async { while self.workers.join_next().await.is_some() {} })
            .await;
    }

    fn start_worker(&mut self, (workspace, webhook): (WorkspaceId, WebhookId)) {
        if !self.busy.take((workspace, webhook)) {
            return;
        }
        let mut shift =
            InFlight { busy: self.busy.clone(), webhook: (workspace, webhook), has_worked: false };
        let worker = Worker {
            store: Arc::clone(&self.store),
            caller: self.caller.clone(),
            delays: self.delays.clone(),
            workspace,
            webhook,
            lease: LeaseId::at(Timestamp::now(), rand::random()),
            stopping: self.stopping.clone(),
        };
        let subscribers = Arc::clone(&self.subscribers);
        self.workers.spawn(async move {
            shift.has_worked = worker.work().await;
            let has_worked = shift.has_worked;
            drop(shift);
            if has_worked {
                // There may be something new that nobody took because it was busy.
                subscribers.webhooks.notify_one();
            }
        });
    }
}
