//! The keys that were seen lately. A key is looked up once and remembered for a few seconds, so a
//! key that is revoked elsewhere is refused here within that time.

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicI64, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, RwLock};
use std::time::{Duration, Instant};

use governor::clock::{Clock, DefaultClock};
use governor::middleware::StateInformationMiddleware;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use slated_model::clock::Timestamp;
use slated_model::id::{KeyId, WorkspaceId};
use slated_model::key::{KeyHash, Scope, workspace_of};
use slated_operations::keys::FindKey;
use slated_store::records::key::KeyRecord;
use slated_store::{OperationError, Store};

const MAX_AGE: Duration = Duration::from_secs(3);
/// A key that was not shown for so long has its whole limit again, and its last use is written
/// down.
const AT_REST_AFTER: Duration = Duration::from_secs(63);
/// Past that many, those at rest are forgotten.
const MAX_REMEMBERED: usize = 10_000;

type Limiter = RateLimiter<NotKeyed, InMemoryState, DefaultClock, StateInformationMiddleware>;

/// A key that is good, and what it has used up of its limit.
pub struct KnownKey {
    pub workspace: WorkspaceId,
    pub id: KeyId,
    pub scope: Scope,
    expires_at: Option<Timestamp>,
    found_at: Instant,
    limiter: Option<Arc<Limiter>>,
    used_at: AtomicI64,
}

/// What is left of a key's rate limit.
#[derive(Clone, Copy, Debug)]
pub struct Allowance {
    pub limit: u32,
    pub remaining: u32,
    /// Seconds until the whole limit is there again.
    pub reset: u64,
    /// Seconds to wait, if this request came too early.
    pub retry_after: Option<u64>,
}

pub struct ApiKeyCache {
    rate_limit: Option<NonZeroU32>,
    known: RwLock<HashMap<[u8; 32], Arc<KnownKey>>>,
    /// How often a key was forgotten: what was looked up before that is not remembered after it.
    forgotten: AtomicU64,
    /// With so many it is looked again for some that are at rest.
    tidied_at: AtomicUsize,
    /// When keys were used last that were forgotten since.
    left: Mutex<Vec<Use>>,
}

type Use = (WorkspaceId, KeyId, Timestamp);

impl ApiKeyCache {
    pub fn new(rate_limit: Option<NonZeroU32>) -> Self {
        Self {
            rate_limit,
            known: RwLock::default(),
            forgotten: AtomicU64::new(0),
            tidied_at: AtomicUsize::new(MAX_REMEMBERED),
            left: Mutex::default(),
        }
    }

    /// The key that a caller showed, if it is good.
    pub async fn find(
        &self,
        store: &Store,
        shown: &str,
    ) -> Result<Option<Arc<KnownKey>>, OperationError> {
        let Some(workspace) = workspace_of(shown) else { return Ok(None) };
        let hash = KeyHash::of(shown);
        let now = Timestamp::now();
        let remembered =
            self.known.read().map_or(None, |known| known.get(hash.as_bytes()).cloned());
        if let Some(key) = &remembered
            && key.found_at.elapsed() < MAX_AGE
        {
            key.used_at.store(now.millis(), Ordering::Relaxed);
            return Ok(remembered.filter(|key| key.expires_at.is_none_or(|expiry| now < expiry)));
        }
        let forgotten = self.forgotten.load(Ordering::SeqCst);
        let found = store.read(FindKey { workspace, hash }).await?.filter(|key| key.is_usable(now));
        let Some(found) = found else {
            if let Ok(mut known) = self.known.write() {
                self.leave(known.remove(hash.as_bytes()));
            }
            return Ok(None);
        };
        let key = self.recognise(workspace, &found, now, remembered.as_deref());
        self.remember(hash, &key, forgotten);
        Ok(Some(key))
    }

    /// The key that was found, which goes on with the limit that it had.
    fn recognise(
        &self,
        workspace: WorkspaceId,
        found: &KeyRecord,
        now: Timestamp,
        earlier: Option<&KnownKey>,
    ) -> Arc<KnownKey> {
        let limiter = match earlier {
            Some(earlier) => earlier.limiter.clone(),
            None => self.rate_limit.map(|limit| {
                Arc::new(
                    RateLimiter::direct(Quota::per_minute(limit))
                        .with_middleware::<StateInformationMiddleware>(),
                )
            }),
        };
        Arc::new(KnownKey {
            workspace,
            id: found.id,
            scope: found.scope,
            expires_at: found.expires_at,
            found_at: Instant::now(),
            limiter,
            used_at: AtomicI64::new(now.millis()),
        })
    }

    fn remember(&self, hash: KeyHash, key: &Arc<KnownKey>, forgotten: u64) {
        let Ok(mut known) = self.known.write() else { return };
        if self.forgotten.load(Ordering::SeqCst) != forgotten {
            return;
        }
        if known.len() >= self.tidied_at.load(Ordering::Relaxed) {
            known.retain(|_, key| key.found_at.elapsed() < AT_REST_AFTER);
            // If most of them are in use, looking through all of them each time would be in
            // everybody's way.
            self.tidied_at.store(MAX_REMEMBERED.max(2 * known.len()), Ordering::Relaxed);
        }
        known.insert(*hash.as_bytes(), Arc::clone(key));
    }

    /// Lets the key be looked up again the next time that it is shown.
    pub fn forget(&self, id: KeyId) {
        if let Ok(mut known) = self.known.write() {
            self.forgotten.fetch_add(1, Ordering::SeqCst);
            self.leave(known.extract_if(|_, key| key.id == id).map(|(_, key)| key));
        }
    }

    fn leave(&self, keys: impl IntoIterator<Item = Arc<KnownKey>>) {
        let gone = keys.into_iter().filter_map(|key| key.take_use());
        if let Ok(mut left) = self.left.lock() {
            left.extend(gone);
        }
    }

    /// When keys were used since this was last asked.
    pub fn take_used(&self) -> Vec<Use> {
        let mut used =
            self.left.lock().map(|mut left| std::mem::take(&mut *left)).unwrap_or_default();
        if let Ok(known) = self.known.read() {
            used.extend(known.values().filter_map(|key| key.take_use()));
        }
        used
    }
}

impl KnownKey {
    fn take_use(&self) -> Option<Use> {
        match self.used_at.swap(0, Ordering::Relaxed) {
            0 => None,
            millis => Some((self.workspace, self.id, Timestamp::from_millis(millis))),
        }
    }

    /// Counts one request; none if there is no limit.
    pub fn spend(&self) -> Option<Allowance> {
        let limiter = self.limiter.as_ref()?;
        let allowance = |quota: Quota, remaining: u32, retry_after| {
            let limit = quota.burst_size().get();
            let missing = quota.replenish_interval() * (limit - remaining.min(limit));
            Allowance { limit, remaining, reset: whole_seconds(missing), retry_after }
        };
        Some(match limiter.check() {
            Ok(state) => allowance(state.quota(), state.remaining_burst_capacity(), None),
            Err(early) => {
                let wait =
                    whole_seconds(early.wait_time_from(DefaultClock::default().now())).max(1);
                allowance(early.quota(), 0, Some(wait))
            }
        })
    }
}

fn whole_seconds(duration: Duration) -> u64 {
    duration.as_secs() + u64::from(duration.subsec_nanos() > 0)
}
