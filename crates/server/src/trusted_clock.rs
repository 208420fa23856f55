//! The clock that says what is old enough to be forgotten. One that jumps ahead, for seconds even,
//! must not destroy what cannot be had again: it is believed as far as time has passed since the
//! newest record, and else only when it has said the same for a day.

use std::time::{Duration, Instant};

use slated_model::clock::Timestamp;

/// What clocks that are set right may differ by.
const TOLERANCE: Duration = Duration::from_secs(60 * 60);
/// How long a clock has to say the same until it is believed whatever it says.
const CONFIRMED_AFTER: Duration = Duration::from_secs(24 * 60 * 60);

pub struct TrustedClock {
    /// A moment that was believed, and when that was.
    known: (Timestamp, Instant),
    /// Since when the clock has been ahead of what is believed.
    ahead_since: Option<Instant>,
}

/// Why a clock is not believed.
#[derive(PartialEq, Eq, Debug)]
pub struct Ahead {
    /// What it should say at most.
    pub believed: Timestamp,
    /// Whether nobody was told of it yet.
    pub is_new: bool,
}

impl TrustedClock {
    /// What the clock says, and where time stands that only goes on.
    pub fn now() -> (Timestamp, Instant) {
        (Timestamp::now(), Instant::now())
    }

    /// With the time of the newest record, if there is one. An operator may say that the clock is
    /// right.
    pub fn start(
        newest_record: Option<Timestamp>,
        is_confirmed: bool,
        now: (Timestamp, Instant),
    ) -> Self {
        let (said, at) = now;
        let known = match newest_record {
            Some(newest) if !is_confirmed && said > after(newest, CONFIRMED_AFTER) => newest,
            _ => said,
        };
        Self { known: (known, at), ahead_since: None }
    }

    /// What the clock says, or as much of it as is believed.
    pub fn believed(&self, (said, at): (Timestamp, Instant)) -> Timestamp {
        let believed = self.expected(at);
        if said > after(believed, TOLERANCE) { believed } else { said }
    }

    /// What time has passed to since it was known.
    fn expected(&self, at: Instant) -> Timestamp {
        let (known, known_at) = self.known;
        after(known, at.duration_since(known_at))
    }

    /// What the clock says, if it is believed.
    pub fn judge(&mut self, now: (Timestamp, Instant)) -> Result<Timestamp, Ahead> {
        let (said, at) = now;
        let believed = self.expected(at);
        if said > after(believed, TOLERANCE) {
            let is_new = self.ahead_since.is_none();
            let since = *self.ahead_since.get_or_insert(at);
            if at.duration_since(since) < CONFIRMED_AFTER {
                return Err(Ahead { believed, is_new });
            }
        }
        self.ahead_since = None;
        self.known = (said, at);
        Ok(said)
    }
}

fn after(moment: Timestamp, time: Duration) -> Timestamp {
    moment.plus_millis(i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(60 * 60);
    const DAY: Duration = Duration::from_secs(24 * 60 * 60);

    /// A clock that says `ahead` more than the time that has passed.
    struct Scene {
        began: Instant,
        passed: Duration,
        ahead: Duration,
    }

    impl Scene {
        fn new() -> Self {
            Self { began: Instant::now(), passed: Duration::ZERO, ahead: Duration::ZERO }
        }

        fn now(&self) -> (Timestamp, Instant) {
            (
                after(Timestamp::from_millis(0), 1000 * DAY + self.passed + self.ahead),
                self.began + self.passed,
            )
        }
    }

    #[test]
    fn a_clock_that_goes_is_believed() {
        let mut scene = Scene::new();
        let mut clock = TrustedClock::start(Some(scene.now().0), false, scene.now());
        for _ in 0..100 {
            scene.passed += HOUR;
            assert_eq!(clock.judge(scene.now()), Ok(scene.now().0));
        }
    }

    #[test]
    fn one_that_jumps_ahead_is_not_and_when_it_is_back_it_is() {
        let mut scene = Scene::new();
        let mut clock = TrustedClock::start(None, false, scene.now());
        scene.ahead = 400 * DAY;
        assert!(clock.judge(scene.now()).unwrap_err().is_new);
        scene.passed += HOUR;
        assert!(!clock.judge(scene.now()).unwrap_err().is_new);
        scene.ahead = Duration::ZERO;
        assert!(clock.judge(scene.now()).is_ok());
    }

    #[test]
    fn one_that_stays_ahead_for_a_day_is_believed() {
        let mut scene = Scene::new();
        let mut clock = TrustedClock::start(None, false, scene.now());
        scene.ahead = 400 * DAY;
        assert!(clock.judge(scene.now()).is_err());
        scene.passed += DAY - HOUR;
        assert!(clock.judge(scene.now()).is_err());
        scene.passed += HOUR;
        assert!(clock.judge(scene.now()).is_ok());
        scene.passed += HOUR;
        assert!(clock.judge(scene.now()).is_ok());
    }

    #[test]
    fn at_the_start_the_newest_record_is_asked_and_the_operator_counts_more() {
        let scene = Scene::new();
        let long_ago = after(scene.now().0, Duration::ZERO).plus_millis(-400 * 24 * 60 * 60 * 1000);
        assert!(
            TrustedClock::start(Some(long_ago), false, scene.now()).judge(scene.now()).is_err()
        );
        assert!(TrustedClock::start(Some(long_ago), true, scene.now()).judge(scene.now()).is_ok());
        assert!(TrustedClock::start(None, false, scene.now()).judge(scene.now()).is_ok());
    }
}
