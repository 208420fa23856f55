//! The connections that are open: how many there may be, in all and from one address, and which of
//! them goes first when there are too many.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use super::shares::{Full, Share, Shares};

/// Stands for a connection on which a request is under way.
const BUSY: u64 = u64::MAX;
/// When all places are taken, one in so many of the idle connections goes.
const IDLE_THAT_STAY: usize = 64;
/// How long those that were told to go have, before the next are told.
const TIME_TO_GO: Duration = Duration::from_millis(100);

pub struct Connections {
    most: usize,
    places: Arc<Semaphore>,
    of_address: Arc<Shares<IpAddr>>,
    open: Mutex<Open>,
    started: Instant,
}

#[derive(Default)]
struct Open {
    last: u64,
    by_number: HashMap<u64, Arc<Activity>>,
}

/// What a connection is doing.
pub struct Activity {
    address: IpAddr,
    started: Instant,
    /// Milliseconds behind the start, or [`BUSY`].
    idle_since: AtomicU64,
    requests: AtomicU64,
    /// Whether there is more of an answer than the client took.
    is_sending: AtomicBool,
    leaving: Notify,
}

/// A place for a connection, until it is dropped.
pub struct Place {
    pub activity: Arc<Activity>,
    connections: Arc<Connections>,
    number: u64,
    _of_address: Share<IpAddr>,
    _permit: OwnedSemaphorePermit,
}

impl Connections {
    pub fn new(most: usize, most_of_address: usize) -> Arc<Self> {
        Arc::new(Self {
            most,
            places: Arc::new(Semaphore::new(most)),
            of_address: Shares::new(usize::MAX, most_of_address),
            open: Mutex::default(),
            started: Instant::now(),
        })
    }

    /// A place for a connection from an address; none if that has its share, and a request is under
    /// way on all of them.
    pub async fn place(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let address = network(address);
        let of_address = match self.of_address.take(address, 1) {
            Ok(share) => share,
            Err(Full::All | Full::Share) if self.send_away(Some(address)) == 0 => return None,
            Err(_) => self.of_address.take_anyway(address, 1),
        };
        let permit = self.permit().await?;
        let activity = Activity::new(address, self.started);
        let mut open = self.lock();
        open.last += 1;
        let number = open.last;
        open.by_number.insert(number, Arc::clone(&activity));
        drop(open);
        Some(Place {
            activity,
            connections: Arc::clone(self),
            number,
            _of_address: of_address,
            _permit: permit,
        })
    }

    async fn permit(&self) -> Option<OwnedSemaphorePermit> {
        loop {
            let places = Arc::clone(&self.places);
            if let Ok(permit) = Arc::clone(&places).try_acquire_owned() {
                return Some(permit);
            }
            self.send_away(None);
            if let Ok(permit) = timeout(TIME_TO_GO, places.acquire_owned()).await {
                return permit.ok();
            }
        }
    }

    /// Has those go that have been idle for longest: some of all, or one of an address. Says how
    /// many.
    fn send_away(&self, address: Option<IpAddr>) -> usize {
        let open = self.lock();
        let is_meant =
            |activity: &&Arc<Activity>| address.is_none_or(|address| activity.address == address);
        let mut idle: Vec<_> = open
            .by_number
            .values()
            .filter(is_meant)
            .filter_map(|activity| Some((activity.idle_since()?, activity)))
            .collect();
        let count = match address {
            Some(_) => idle.len().min(1),
            None => idle.len().div_ceil(IDLE_THAT_STAY),
        };
        if count > 0 {
            idle.select_nth_unstable_by_key(count - 1, |(since, _)| *since);
        }
        idle.iter().take(count).for_each(|(_, activity)| activity.leave());
        count
    }

    /// Has all go as soon as what is under way on them is done, and waits until they are gone.
    pub async fn close(&self) {
        self.lock().by_number.values().for_each(|activity| activity.leave());
        let all = u32::try_from(self.most).unwrap_or(u32::MAX);
        let _ = self.places.acquire_many(all).await;
    }

    pub fn count(&self) -> usize {
        self.lock().by_number.len()
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.connections.lock().by_number.remove(&self.number);
    }
}

impl Activity {
    pub fn new(address: IpAddr, started: Instant) -> Arc<Self> {
        Arc::new(Self {
            address,
            started,
            idle_since: AtomicU64::new(milliseconds(started)),
            requests: AtomicU64::new(0),
            is_sending: AtomicBool::new(false),
            leaving: Notify::new(),
        })
    }

    pub fn set_sending(&self, is_sending: bool) {
        self.is_sending.store(is_sending, Ordering::Relaxed);
    }

    pub fn has_had_request(&self) -> bool {
        self.requests.load(Ordering::Relaxed) > 0
    }

    fn idle_since(&self) -> Option<u64> {
        let since = self.idle_since.load(Ordering::Relaxed);
        (since != BUSY && !self.is_sending.load(Ordering::Relaxed)).then_some(since)
    }

    fn leave(&self) {
        // Nobody needs to tell it again.
        self.idle_since.store(BUSY, Ordering::Relaxed);
        self.leaving.notify_one();
    }

    /// Done when the connection is to go.
    pub async fn leaving(&self) {
        self.leaving.notified().await;
    }
}

/// A request that is under way, until it is dropped.
pub struct Busy(Arc<Activity>);

impl Busy {
    pub fn begin(activity: Arc<Activity>) -> Self {
        activity.requests.fetch_add(1, Ordering::Relaxed);
        activity.idle_since.store(BUSY, Ordering::Relaxed);
        Self(activity)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.idle_since.store(milliseconds(self.0.started), Ordering::Relaxed);
    }
}

fn milliseconds(started: Instant) -> u64 {
    u64::try_from(started.elapsed().as_millis()).unwrap_or(BUSY - 1)
}

/// What one customer of a network has as a rule: an address, of version 6 the first half of it.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_one_customer_are_one() {
        let network = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(network("192.0.2.7"), "192.0.2.7");
        assert_eq!(network("::ffff:192.0.2.7"), "192.0.2.7");
        assert_eq!(network("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
    }
}
