//! What a server does by itself from time to time, while it serves: words are indexed, long lists
//! counted, what is too old forgotten.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use metrics_exporter_prometheus::PrometheusHandle;
use slated_model::clock::Timestamp;
use slated_model::id::WorkspaceId;
use slated_operations::events::number::{ClearNumberedAway, NumberedRemains};
use slated_operations::events::retain::{ForgetEvents, OldestEvent};
use slated_operations::keys::TouchKeys;
use slated_operations::maintenance::{
    AnalyzeTable, CensusDue, CountAgain, ForgetAnswers, LookAgain, TakeCensus, UnknownTables,
};
use slated_operations::search::index::{IndexSome, TidyIndex, WaitingForIndex};
use slated_operations::search::segments::{self, NextToSegment};
use slated_operations::search::wiping;
use slated_operations::webhooks::delete::{ClearWebhooksAway, DeletedWebhooks};
use slated_operations::workspaces::AllWorkspaces;
use slated_store::records::analyze_tables::Unknown;
use slated_store::records::range_counts::{Closed, List};
use slated_store::{OperationError, StoreError};
use tokio::task::JoinHandle;
use tokio::time::MissedTickBehavior;

use crate::http::App;
use crate::trusted_clock::Ahead;

const MAINTENANCE_INTERVAL: Duration = Duration::from_secs(10);
const INDEX_INTERVAL: Duration = Duration::from_secs(2);
/// Persons of a workspace that are indexed in a row.
const MAX_INDEXED: usize = 5000;
const SEGMENT_INTERVAL: Duration = Duration::from_secs(2);
/// Workspaces that are looked at in a row.
const MAX_SEGMENTED: usize = 100;
const ANALYZE_INTERVAL: Duration = Duration::from_secs(1);
/// It may have found no rows because these were not committed yet.
const ANALYZE_AGAIN_INTERVAL: Duration = Duration::from_secs(20);
const CLEAR_INTERVAL: Duration = Duration::from_secs(1);
/// So many rows that are gone may lie where events wait for their numbers.
const MAX_REMAINS: i64 = 20_000;

/// Begins with all of them.
pub fn start(
    app: &Arc<App>,
    metrics: PrometheusHandle,
    event_retention: Option<i64>,
) -> Maintenance {
    Maintenance([
        tokio::spawn(keep_accounts(Arc::clone(app), metrics)),
        tokio::spawn(do_chores(Arc::clone(app), event_retention)),
        tokio::spawn(keep_index(Arc::clone(app))),
        tokio::spawn(keep_segments(Arc::clone(app))),
        tokio::spawn(keep_plans_good(Arc::clone(app))),
        tokio::spawn(keep_outbox_clear(Arc::clone(app))),
    ])
}

pub struct Maintenance([JoinHandle<()>; 6]);

impl Maintenance {
    pub async fn stop(self) {
        for chores in self.0 {
            chores.abort();
            let _ = chores.await;
        }
    }
}

/// What must not wait for anything that takes long.
async fn keep_accounts(app: Arc<App>, metrics: PrometheusHandle) {
    let mut clock = tokio::time::interval(MAINTENANCE_INTERVAL);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        clock.tick().await;
        metrics.run_upkeep();
        app.store.report();
        note_used_keys(&app).await;
    }
}

async fn do_chores(app: Arc<App>, event_retention: Option<i64>) {
    let mut clock = tokio::time::interval(MAINTENANCE_INTERVAL);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut looked_at = HashMap::new();
    loop {
        clock.tick().await;
        if let Err(failure) = take_census(&app, &mut looked_at).await {
            tracing::warn!(error = %failure, "the records of long lists could not be counted");
        }
        let forgetting = async {
            let Some(now) = what_time_it_is(&app) else { return Ok(()) };
            forget_answers(&app, now).await;
            match event_retention {
                Some(millis) => forget_events(&app, now.plus_millis(-millis)).await,
                None => Ok(()),
            }
        };
        if let Err(failure) = clear_webhooks_away(&app).await {
            tracing::warn!(error = %failure, "deleted webhooks could not be purged");
        }
        if let Err(failure) = forgetting.await {
            tracing::warn!(error = %failure, "expired events could not be deleted");
        }
    }
}

/// Lets the database plan by what is there, before there is so much that a bad plan hurts.
async fn keep_plans_good(app: Arc<App>) {
    if !app.store.is_shared() {
        return;
    }
    let mut clock = tokio::time::interval(ANALYZE_INTERVAL);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // How big tables were when the database was last told of them. It may have found no rows, or
    // not be ours to tell.
    let mut told: HashMap<&str, (i64, Instant)> = HashMap::new();
    loop {
        clock.tick().await;
        let learning = async {
            for Unknown { table, bytes } in app.store.read(UnknownTables).await? {
                let is_due = |(before, at): &(i64, Instant)| {
                    bytes / 2 >= *before || at.elapsed() > ANALYZE_AGAIN_INTERVAL
                };
                if told.get(table).is_none_or(is_due) {
                    told.insert(table, (bytes, Instant::now()));
                    app.store.write(AnalyzeTable { table }).await?;
                }
            }
            Ok::<_, OperationError>(())
        };
        if let Err(failure) = learning.await {
            tracing::debug!(error = %failure, "new tables could not be analyzed; the database does \
                so by itself");
            // An engine that is only like PostgreSQL has tables of another kind.
            if matches!(failure, OperationError::Store(StoreError::Internal(_))) {
                return;
            }
        }
    }
}

/// Lets the database clear away what is left of events that got their numbers, before it is in the
/// way of those that wait.
async fn keep_outbox_clear(app: Arc<App>) {
    if !app.store.is_shared() {
        return;
    }
    let mut clock = tokio::time::interval(CLEAR_INTERVAL);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // What was left after the last time: somebody may still see it, it may not be ours to clear
    // away, or somebody else is about it.
    let mut left = 0;
    loop {
        clock.tick().await;
        let clearing = async {
            let remains = app.store.read(NumberedRemains).await?;
            left = left.min(remains);
            if remains > 2 * left + MAX_REMAINS {
                left = remains;
                app.store.execute_outside_transaction(ClearNumberedAway).await?;
                left = app.store.read(NumberedRemains).await?;
            }
            Ok::<_, OperationError>(())
        };
        if let Err(failure) = clearing.await {
            tracing::debug!(error = %failure, "the outbox of numbered events could not be \
                vacuumed; the database does so by itself");
            // An engine that is only like PostgreSQL does not count it.
            if matches!(failure, OperationError::Store(StoreError::Internal(_))) {
                return;
            }
        }
    }
}

/// Looks after the index of words. After an upgrade that takes a while, so it keeps no other chore
/// waiting.
async fn keep_index(app: Arc<App>) {
    let mut clock = tokio::time::interval(INDEX_INTERVAL);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        clock.tick().await;
        if let Err(failure) = index_persons(&app).await {
            tracing::warn!(error = %failure, "persons could not be indexed for search");
        }
        if app.store.is_shared()
            && let Err(failure) = app.store.write(TidyIndex).await
        {
            tracing::debug!(error = %failure, "new words could not be flushed to the index; \
                writers do so");
        }
        if let Err(failure) = wiping::merge(&app.store).await {
            tracing::warn!(error = %failure, "the word index could not be merged");
        }
        if let Err(failure) = app.store.empty_log().await {
            tracing::warn!(error = %failure, "erased persons could not be removed from the \
                write-ahead log");
        }
    }
}

/// Makes segments of the index of words.
async fn keep_segments(app: Arc<App>) {
    let mut clock = tokio::time::interval(SEGMENT_INTERVAL);
    clock.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut behind = None;
    loop {
        clock.tick().await;
        for _ in 0..MAX_SEGMENTED {
            behind = match app.store.read(NextToSegment { behind }).await {
                Ok(next) => next,
                Err(failure) => {
                    tracing::warn!(error = %failure, "the next segment of the word index could not \
                        be determined");
                    None
                }
            };
            let Some(workspace) = behind else { break };
            // One workspace in which that fails does not keep the others waiting.
            if let Err(failure) = segments::make(&app.store, workspace).await {
                tracing::warn!(error = %failure, workspace = workspace.number(), "a segment of the \
                    word index could not be built");
            }
        }
    }
}

/// Takes the words of persons that wait for it.
async fn index_persons(app: &App) -> Result<(), OperationError> {
    let mut outcome = Ok(());
    for workspace in app.store.read(WaitingForIndex).await? {
        let indexing = async {
            let (mut indexed, mut behind) = (0, None);
            // The next time goes on with it; others wait too, and new words for the index.
            while indexed < MAX_INDEXED {
                let some = app.store.write(IndexSome { workspace, behind }).await?;
                (indexed, behind) = (indexed + some.persons, some.behind);
                if some.is_all {
                    break;
                }
            }
            tracing::info!(indexed, "persons indexed for search");
            Ok(())
        };
        // One workspace in which that fails does not keep the others waiting.
        if let Err(failure) = indexing.await {
            outcome = Err(failure);
        }
    }
    outcome
}

/// Counts what was added to long lists, and one stretch of each workspace again: behind the one
/// that was looked at the last time.
async fn take_census(
    app: &App,
    looked_at: &mut HashMap<WorkspaceId, Closed>,
) -> Result<(), OperationError> {
    let mut outcome = Ok(());
    for (workspace, _) in app.store.read(AllWorkspaces).await? {
        let counting = async {
            for list in List::ALL {
                while app.store.read(CensusDue { workspace, list }).await? {
                    app.store.write(TakeCensus { workspace, list }).await?;
                }
            }
            let behind = looked_at.remove(&workspace);
            if let Some((closed, is_wrong)) =
                app.store.read_consistent(LookAgain { workspace, behind }).await?
            {
                looked_at.insert(workspace, closed);
                if is_wrong {
                    let wrong_by = app.store.write(CountAgain { workspace, closed }).await?;
                    tracing::warn!(
                        workspace = workspace.number(),
                        wrong_by,
                        "the count of a long list was wrong and was corrected"
                    );
                }
            }
            Ok(())
        };
        // One workspace in which that fails does not keep the others waiting.
        if let Err(failure) = counting.await {
            outcome = Err(failure);
        }
    }
    outcome
}

/// Nothing if the clock cannot be believed.
fn what_time_it_is(app: &App) -> Option<Timestamp> {
    let Ahead { believed, is_new } = match app.trusted_time() {
        Ok(moment) => return Some(moment),
        Err(ahead) => ahead,
    };
    if is_new {
        tracing::warn!(
            clock = %Timestamp::now(),
            believed = %believed,
            "the clock is far ahead of the newest record: nothing expires until \
             this has lasted for a day; if the clock is right, start with \
             --trust-clock"
        );
    }
    None
}

/// Bit by bit, so that no writer waits long, until none is left that is old.
async fn forget_answers(app: &App, now: Timestamp) {
    loop {
        match app.store.write(ForgetAnswers { now }).await {
            Ok(0) => return,
            Ok(forgotten) => tracing::debug!(forgotten, "expired idempotent responses deleted"),
            Err(failure) => {
                tracing::warn!(error = %failure, "expired idempotent responses could not be \
                    deleted");
                return;
            }
        }
    }
}

/// Bit by bit as well.
async fn forget_events(app: &App, before: Timestamp) -> Result<(), OperationError> {
    let mut outcome = Ok(());
    for (workspace, _) in app.store.read(AllWorkspaces).await? {
        let forgetting = async {
            if app
                .store
                .read(OldestEvent { workspace })
                .await?
                .is_some_and(|oldest| oldest < before)
            {
                while app.store.write(ForgetEvents { workspace, before }).await? {}
            }
            Ok(())
        };
        // One workspace in which that fails does not keep the others waiting.
        if let Err(failure) = forgetting.await {
            outcome = Err(failure);
        }
    }
    outcome
}

/// What is left of webhooks that were deleted: their deliveries, and their secrets.
async fn clear_webhooks_away(app: &App) -> Result<(), OperationError> {
    for (workspace, _) in app.store.read(AllWorkspaces).await? {
        if app.store.read(DeletedWebhooks { workspace }).await? {
            while app.store.write(ClearWebhooksAway { workspace }).await? {}
        }
    }
    Ok(())
}

/// Finishes erasures before the end, so that the files of a server that was stopped have nothing of
/// those who were erased.
pub async fn finish_erasures(app: &App) {
    match wiping::wipe_at_stop(&app.store).await {
        Ok(true) => {}
        Ok(false) => tracing::warn!(
            "words of erased persons are still in the index; the next start removes them"
        ),
        Err(failure) => {
            tracing::warn!(error = %failure, "words of erased persons may still be in the index; \
                the next start removes them")
        }
    }
}

/// Notes when keys were last used, as far as that is not noted yet.
pub async fn note_used_keys(app: &App) {
    let used = app.take_used_keys();
    if used.is_empty() {
        return;
    }
    if let Err(failure) = app.store.write(TouchKeys { used }).await {
        tracing::warn!(error = %failure, "the last use of keys could not be stored");
    }
}
