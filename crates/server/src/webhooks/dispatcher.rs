//! Finds the webhooks that have something to be told, and sets a courier on each. One that is slow keeps its own courier busy and
//! nobody else's.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use model::clock::Timestamp;
use model::id::{LeaseId, WebhookId, WorkspaceId};
use store::Store;
use tokio::task::{JoinHandle, JoinSet};

use super::call::Caller;
use super::courier::Courier;
use super::secret::SecretKey;
use crate::events::Hub;
use crate::ops::deliver::{ClearLeases, DueWebhooks, RetryDelays};
use crate::outgoing::Targets;

/// How often somebody looks for retries that are due, and for what other servers wrote or left.
const LOOK_EVERY: Duration = Duration::from_millis(250);

type Busy = Arc<Mutex<HashSet<(WorkspaceId, WebhookId)>>>;

/// How webhooks are called.
#[derive(Clone, Default)]
pub struct Delivering {
    pub targets: Arc<Targets>,
    pub secret_key: SecretKey,
    pub delays: RetryDelays,
}

/// Runs until it is aborted, and all couriers with it.
pub fn start(store: &Arc<Store>, hub: &Arc<Hub>, delivering: &Delivering) -> Result<JoinHandle<()>, String> {
    let caller = Caller::new(Arc::clone(&delivering.targets), delivering.secret_key.clone())?;
    Ok(tokio::spawn(dispatch(Arc::clone(store), Arc::clone(hub), caller, delivering.delays.clone())))
}

async fn dispatch(store: Arc<Store>, hub: Arc<Hub>, caller: Caller, delays: RetryDelays) {
    if !store.is_shared()
        && let Err(failure) = store.write(ClearLeases).await
    {
        tracing::warn!(error = %failure, "webhooks that were being worked on have to wait");
    }
    let busy = Busy::default();
    let mut couriers = JoinSet::new();
    loop {
        let due = match store.read(DueWebhooks).await {
            Ok(due) => due,
            Err(failure) => {
                tracing::debug!(error = %failure, "could not look for webhooks that are due");
                Vec::new()
            }
        };
        for (workspace, webhook) in due {
            if !busy.lock().unwrap_or_else(PoisonError::into_inner).insert((workspace, webhook)) {
                continue;
            }
            let lease = LeaseId::at(Timestamp::now(), rand::random());
            let courier = Courier { store: Arc::clone(&store), caller: caller.clone(), delays: delays.clone(), workspace, webhook, lease };
            let (busy, hub) = (Arc::clone(&busy), Arc::clone(&hub));
            couriers.spawn(async move {
                courier.work().await;
                busy.lock().unwrap_or_else(PoisonError::into_inner).remove(&(workspace, webhook));
                // There may be something new that nobody took because it was busy.
                hub.webhooks.notify_one();
            });
        }
        while couriers.try_join_next().is_some() {}
        let _ = tokio::time::timeout(LOOK_EVERY, hub.webhooks.notified()).await;
    }
}
