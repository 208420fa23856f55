//! What all requests share.

use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;
use slated_model::clock::Timestamp;
use slated_operations::candidates::add::AddCandidate;
use slated_operations::candidates::move_stage::MoveCandidate;
use slated_operations::persons::create::CreatePerson;
use slated_operations::persons::update::UpdatePerson;
use slated_operations::write_batches::{LogAppendLocks, WriteBatcher};
use slated_store::Store;
use tokio::sync::watch;

use super::api_key_cache::ApiKeyCache;
use super::body_memory::BodyMemoryBudget;
use super::questions::Questions;
use super::readiness::Readiness;
use super::request_metrics::RouteMeasures;
use super::unread::Unread;
use crate::events::Subscribers;
use crate::trusted_clock::{Ahead, TrustedClock};
use crate::webhooks::Delivering;

#[derive(Clone, Debug)]
pub struct Settings {
    /// Requests per minute and key; none for no limit.
    pub rate_limit: Option<NonZeroU32>,
    pub head_timeout: Duration,
    pub body_timeout: Duration,
    pub max_connections: usize,
    pub max_connections_of_address: usize,
    /// Writes leave no events; only to measure what those cost.
    pub is_silent: bool,
}

pub struct App {
    pub store: Arc<Store>,
    pub creates: Arc<WriteBatcher<CreatePerson>>,
    pub updates: Arc<WriteBatcher<UpdatePerson>>,
    pub adds: Arc<WriteBatcher<AddCandidate>>,
    pub moves: Arc<WriteBatcher<MoveCandidate>>,
    pub settings: Settings,
    pub(super) api_keys: ApiKeyCache,
    pub(super) measures: RouteMeasures,
    pub(super) metrics: PrometheusHandle,
    clock: Mutex<TrustedClock>,
    pub(super) readiness: Readiness,
    pub(super) room: BodyMemoryBudget,
    pub(super) unread: Unread,
    pub(super) questions: Questions,
    /// Those that are quick to find what they read, so that they do not wait behind others.
    pub(super) large_reads: Questions,
    pub subscribers: Arc<Subscribers>,
    pub delivering: Delivering,
    /// True once the server is told to stop.
    pub stopping: watch::Receiver<bool>,
}

impl App {
    pub fn new(
        store: Arc<Store>,
        settings: Settings,
        metrics: PrometheusHandle,
        clock: TrustedClock,
        delivering: Delivering,
        stopping: watch::Receiver<bool>,
    ) -> Self {
        let api_keys = ApiKeyCache::new(settings.rate_limit);
        let turns = Arc::new(LogAppendLocks::default());
        let creates = Arc::new(WriteBatcher::new(Arc::clone(&store), Arc::clone(&turns)));
        let updates = Arc::new(WriteBatcher::new(Arc::clone(&store), Arc::clone(&turns)));
        let adds = Arc::new(WriteBatcher::new(Arc::clone(&store), Arc::clone(&turns)));
        let moves = Arc::new(WriteBatcher::new(Arc::clone(&store), turns));
        let [questions, large_reads] = [0, 1].map(|_| Questions::new(store.long_reads_at_once()));
        Self {
            store,
            creates,
            updates,
            adds,
            moves,
            settings,
            api_keys,
            measures: RouteMeasures::default(),
            metrics,
            clock: Mutex::new(clock),
            readiness: Readiness::default(),
            room: BodyMemoryBudget::default(),
            unread: Unread::default(),
            questions,
            large_reads,
            subscribers: Arc::default(),
            delivering,
            stopping,
        }
    }

    /// The time, if the clock is believed.
    pub fn trusted_time(&self) -> Result<Timestamp, Ahead> {
        self.clock().judge(TrustedClock::now())
    }

    /// The time, as far as the clock is believed.
    pub fn believed_time(&self) -> Timestamp {
        self.clock().believed(TrustedClock::now())
    }

    fn clock(&self) -> MutexGuard<'_, TrustedClock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A key was revoked or ends earlier: it is not let in any more for having been good a moment
    /// ago.
    pub fn forget_key(&self, id: slated_model::id::KeyId) {
        self.api_keys.forget(id);
    }

    /// The keys that were used since this was last asked, with the moment of their last use.
    pub fn take_used_keys(
        &self,
    ) -> Vec<(slated_model::id::WorkspaceId, slated_model::id::KeyId, Timestamp)> {
        self.api_keys.take_used()
    }
}
