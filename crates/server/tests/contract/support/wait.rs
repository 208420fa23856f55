use std::sync::{Mutex, Once};
use std::time::{Duration, Instant};
use std::{env, thread};

/// No condition takes this long on a machine that works at all.
pub const DEADLINE: Duration = Duration::from_secs(180);

/// How often something is done that fails once in a while: a few times with all tests, and as often
/// as it takes in their long form.
pub fn rounds(few: usize, many: usize) -> usize {
    if env::var_os("TEST_LONG").is_some() { many } else { few }
}

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

/// When the machine last stood still: a thread that wanted to look at the clock could not for
/// longer than [`STILL`].
static LAST_STILL: Mutex<Option<Instant>> = Mutex::new(None);
const STILL: Duration = Duration::from_millis(100);

/// How long something takes that can be done again, in a time in which the machine did not stand
/// still if it is longer than `limit`.
pub fn time_taken(limit: Duration, mut something: impl FnMut()) -> Duration {
    static WATCH: Once = Once::new();
    WATCH.call_once(|| {
        thread::spawn(|| {
            loop {
                let before = Instant::now();
                thread::park_timeout(BETWEEN_LOOKS);
                if before.elapsed() > STILL {
                    *LAST_STILL.lock().unwrap() = Some(Instant::now());
                }
            }
        });
    });
    loop {
        let begun = Instant::now();
        something();
        let taken = begun.elapsed();
        let stood_still = LAST_STILL.lock().unwrap().is_some_and(|moment| moment > begun);
        if taken < limit || !stood_still {
            return taken;
        }
    }
}

/// Waits until the clock shows another millisecond, so that what comes next has a later time than
/// what was before.
pub fn next_millisecond() {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(2) {
        thread::yield_now();
    }
}
