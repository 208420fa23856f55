use std::thread;
use std::time::{Duration, Instant};

/// No condition takes this long on a machine that works at all.
pub const DEADLINE: Duration = Duration::from_secs(60);

const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Looks again and again until the condition holds.
#[track_caller]
pub fn eventually(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < DEADLINE, "still waiting after {DEADLINE:?}: {what}");
        thread::park_timeout(BETWEEN_LOOKS);
    }
}

/// Waits until the clock shows another millisecond, so that what comes next has a later time than what was before.
pub fn next_millisecond() {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(2) {
        thread::yield_now();
    }
}
