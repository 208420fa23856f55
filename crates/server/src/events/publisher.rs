//! Numbers committed events that have no number yet, and wakes who waits for them: at once for what
//! was written through this server, and soon for what others wrote.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use slated_model::id::WorkspaceId;
use slated_operations::events::number::{NumberEvents, UnnumberedEvents};
use slated_operations::events::read::NewestEvent;
use slated_store::{Committed, OperationError, Store};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval, sleep, sleep_until};

use super::Subscribers;

/// How long events gather before they are numbered and announced together.
const GATHER: Duration = Duration::from_millis(3);
/// While more and more is written, events are announced that often: the more at once, the less each
/// costs.
const NUMBER_INTERVAL: Duration = Duration::from_millis(20);
/// How often somebody looks for what a server left without a number.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);
/// How often somebody looks for what others wrote: on a shared database other servers, else the
/// command line.
const SHARED_POLL_INTERVAL: Duration = Duration::from_millis(40);
const POLL_INTERVAL: Duration = Duration::from_secs(1);

/// Runs until it is aborted.
pub fn start(store: &Arc<Store>, subscribers: &Arc<Subscribers>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    tasks.spawn(follow_bell(Arc::clone(store), Arc::clone(subscribers)));
    tasks.spawn(look_for_others(Arc::clone(store), Arc::clone(subscribers)));
    if store.is_shared() {
        tasks.spawn(sweep(Arc::clone(store), Arc::clone(subscribers)));
    }
    tasks
}

async fn follow_bell(store: Arc<Store>, subscribers: Arc<Subscribers>) {
    loop {
        store.bell().wait().await;
        sleep(GATHER).await;
        let begun = Instant::now();
        let told = store.bell().take();
        announce(&store, &subscribers, told).await;
        sleep_until(begun + NUMBER_INTERVAL).await;
    }
}

async fn announce(store: &Store, subscribers: &Subscribers, told: Vec<(WorkspaceId, Committed)>) {
    for (workspace, news) in told {
        if news == Committed::Unnumbered
            && let Err(failure) = number(store, workspace).await
        {
            tracing::warn!(error = %failure, "events could not be numbered yet");
        }
        subscribers.wake(workspace);
    }
}

async fn number(store: &Store, workspace: WorkspaceId) -> Result<(), OperationError> {
    while store.write(NumberEvents { workspace }).await? {}
    Ok(())
}

/// Numbers all that waits for it, in every workspace.
pub async fn number_all(store: &Store) -> Result<Vec<WorkspaceId>, OperationError> {
    let workspaces = store.read(UnnumberedEvents).await?;
    let mut outcome = Ok(());
    for workspace in &workspaces {
        // One workspace in which that fails does not keep the others waiting.
        if let Err(failure) = number(store, *workspace).await {
            outcome = Err(failure);
        }
    }
    outcome.map(|()| workspaces)
}

/// Finds events whose server died, or was a command, before it numbered them.
async fn sweep(store: Arc<Store>, subscribers: Arc<Subscribers>) {
    let mut clock = interval(SWEEP_INTERVAL);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        clock.tick().await;
        match number_all(&store).await {
            Ok(workspaces) => {
                workspaces.into_iter().for_each(|workspace| subscribers.wake(workspace))
            }
            Err(failure) => {
                tracing::debug!(error = %failure, "events without a number could not be queried")
            }
        }
    }
}

/// Wakes those who wait for a workspace when its log has grown, whoever wrote to it.
async fn look_for_others(store: Arc<Store>, subscribers: Arc<Subscribers>) {
    let mut clock = interval(if store.is_shared() { SHARED_POLL_INTERVAL } else { POLL_INTERVAL });
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut seen: HashMap<WorkspaceId, i64> = HashMap::new();
    loop {
        clock.tick().await;
        let awaited = subscribers.awaited();
        seen.retain(|workspace, _| awaited.contains(workspace));
        for workspace in awaited {
            let Ok(newest) = store.read(NewestEvent { workspace }).await else { continue };
            if seen.insert(workspace, newest) != Some(newest) {
                subscribers.wake(workspace);
            }
        }
    }
}
