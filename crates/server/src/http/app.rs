//! What all requests share.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use metrics_exporter_prometheus::PrometheusHandle;
use store::Store;

use super::keyring::Keyring;
use super::measure::RouteMeasures;

#[derive(Clone, Debug)]
pub struct Settings {
    /// Requests per minute and key; none for no limit.
    pub rate_limit: Option<NonZeroU32>,
    pub head_timeout: Duration,
    pub body_timeout: Duration,
    pub max_connections: usize,
}

pub struct App {
    pub store: Arc<Store>,
    pub settings: Settings,
    pub(super) keyring: Keyring,
    pub(super) measures: RouteMeasures,
    pub(super) metrics: PrometheusHandle,
}

impl App {
    pub fn new(store: Arc<Store>, settings: Settings, metrics: PrometheusHandle) -> Self {
        let keyring = Keyring::new(settings.rate_limit);
        Self { store, settings, keyring, measures: RouteMeasures::default(), metrics }
    }

    /// The keys that were used since this was last asked, with the moment of their last use.
    pub fn take_used_keys(&self) -> Vec<(model::id::WorkspaceId, model::id::KeyId, model::clock::Timestamp)> {
        self.keyring.take_used()
    }
}
