//! When a provider is left alone: after failures in a row, or because it asks for that. After a
//! pause one call tries whether it answers.

use slated_model::clock::Timestamp;

/// What became of the calls so far.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Breaker {
    /// Failures in a row after which the provider is left alone; 0 for never.
    limit: u32,
    pause_millis: i64,
    failures: u32,
    open_until: Timestamp,
    /// The provider asked for that itself.
    rests_until: Timestamp,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Passage {
    Free,
    /// One call may try whether it answers again.
    Trial,
    Paused {
        until: Timestamp,
        is_rest: bool,
    },
}

impl Breaker {
    pub(super) const fn new(limit: u32, pause_millis: i64) -> Self {
        let never = Timestamp::from_millis(0);
        Self { limit, pause_millis, failures: 0, open_until: never, rests_until: never }
    }

    const fn is_broken(&self) -> bool {
        self.limit > 0 && self.failures >= self.limit
    }

    pub(super) fn passage(&self, now: Timestamp) -> Passage {
        let until = self.open_until.max(self.rests_until);
        match (until > now, self.is_broken()) {
            (true, _) => Passage::Paused { until, is_rest: self.rests_until >= self.open_until },
            (false, true) => Passage::Trial,
            (false, false) => Passage::Free,
        }
    }

    pub(super) const fn succeeded(&mut self) {
        self.failures = 0;
    }

    pub(super) const fn failed(&mut self, now: Timestamp) {
        self.failures = self.failures.saturating_add(1);
        if self.is_broken() {
            self.open_until = now.plus_millis(self.pause_millis);
        }
    }

    pub(super) fn rest(&mut self, until: Timestamp) {
        self.rests_until = self.rests_until.max(until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + millis)
    }

    #[test]
    fn failures_in_a_row_break_it() {
        let mut breaker = Breaker::new(3, 1000);
        breaker.failed(at(0));
        breaker.failed(at(10));
        assert_eq!(breaker.passage(at(10)), Passage::Free);
        breaker.succeeded();
        breaker.failed(at(20));
        breaker.failed(at(30));
        assert_eq!(breaker.passage(at(30)), Passage::Free);
        breaker.failed(at(40));
        assert_eq!(breaker.passage(at(40)), Passage::Paused { until: at(1040), is_rest: false });
        assert_eq!(breaker.passage(at(1039)), Passage::Paused { until: at(1040), is_rest: false });
    }

    #[test]
    fn after_the_pause_one_call_tries_and_decides() {
        let mut breaker = Breaker::new(1, 1000);
        breaker.failed(at(0));
        assert_eq!(breaker.passage(at(1000)), Passage::Trial);
        breaker.failed(at(1100));
        assert_eq!(breaker.passage(at(1100)), Passage::Paused { until: at(2100), is_rest: false });
        assert_eq!(breaker.passage(at(2100)), Passage::Trial);
        breaker.succeeded();
        assert_eq!(breaker.passage(at(2100)), Passage::Free);
    }

    #[test]
    fn a_provider_may_ask_for_rest_whatever_it_did_before() {
        let mut breaker = Breaker::new(2, 1000);
        breaker.rest(at(500));
        assert_eq!(breaker.passage(at(499)), Passage::Paused { until: at(500), is_rest: true });
        breaker.rest(at(300));
        assert_eq!(breaker.passage(at(499)), Passage::Paused { until: at(500), is_rest: true });
        assert_eq!(breaker.passage(at(500)), Passage::Free);
        breaker.failed(at(600));
        breaker.failed(at(600));
        assert_eq!(breaker.passage(at(600)), Passage::Paused { until: at(1600), is_rest: false });
        breaker.rest(at(2000));
        assert_eq!(breaker.passage(at(1700)), Passage::Paused { until: at(2000), is_rest: true });
        assert_eq!(breaker.passage(at(2000)), Passage::Trial);
    }

    #[test]
    fn without_a_limit_nothing_breaks() {
        let mut breaker = Breaker::new(0, 1000);
        for number in 0..100 {
            breaker.failed(at(number));
        }
        assert_eq!(breaker.passage(at(100)), Passage::Free);
    }
}
