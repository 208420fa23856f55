//! How long a read may go on: only as long as somebody waits for it, and up to a moment if it has
//! one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

pub(crate) struct Limit {
    deadline: Option<Instant>,
    is_left: AtomicBool,
}

/// Somebody who waits.
pub(crate) struct Waiting(Arc<Limit>);

impl Limit {
    pub(crate) fn is_reached(&self) -> bool {
        self.is_left.load(Ordering::Relaxed)
            || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

impl Waiting {
    pub(crate) fn at_most(longest: Option<Duration>) -> Self {
        Self(Arc::new(Limit {
            deadline: longest.map(|longest| Instant::now() + longest),
            is_left: AtomicBool::new(false),
        }))
    }

    pub(crate) fn limit(&self) -> Arc<Limit> {
        Arc::clone(&self.0)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.is_left.store(true, Ordering::Relaxed);
    }
}
