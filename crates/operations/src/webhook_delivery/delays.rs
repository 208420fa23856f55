//! How long to wait before a call is made again.

/// How long to wait before each new attempt, in milliseconds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RetryDelays(pub Vec<i64>);

/// A webhook that gets nothing is tried at least so often.
const MAX_PROBE_DELAY: i64 = 60 * 60 * 1000;
/// No more than that is waited because an endpoint asks for it.
const MAX_RETRY_AFTER: i64 = 24 * 60 * 60 * 1000;

impl RetryDelays {
    /// The delay after so many attempts, a fifth more or less; none if that were enough. `chance`
    /// is between 0 and 1.
    pub fn after(&self, attempts: i64, chance: f64) -> Option<i64> {
        let place = usize::try_from(attempts - 1).unwrap_or(0);
        self.0.get(place).map(|delay| jittered(*delay, chance))
    }

    pub(super) fn before_probe(&self, failed_rounds: i64, chance: f64) -> i64 {
        let place =
            usize::try_from(failed_rounds - 1).unwrap_or(0).min(self.0.len().saturating_sub(1));
        jittered(self.0.get(place).copied().unwrap_or(MAX_PROBE_DELAY).min(MAX_PROBE_DELAY), chance)
    }
}

fn jittered(delay: i64, chance: f64) -> i64 {
    (delay as f64 * (0.8 + 0.4 * chance)) as i64
}

/// Milliseconds that an endpoint asked for in seconds.
pub(super) fn asked_for(retry_after: Option<i64>) -> i64 {
    retry_after.unwrap_or(0).saturating_mul(1000).clamp(0, MAX_RETRY_AFTER)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn delays_grow_as_they_are_given_and_come_to_an_end() {
        let delays = RetryDelays(vec![1000, 5000]);
        assert_eq!(delays.after(1, 0.5), Some(1000));
        assert_eq!(delays.after(2, 0.5), Some(5000));
        assert_eq!(delays.after(3, 0.5), None);
        assert_eq!(delays.before_probe(1, 0.5), 1000);
        assert_eq!(delays.before_probe(9, 0.5), 5000);
        assert_eq!(RetryDelays(vec![9 * MAX_PROBE_DELAY]).before_probe(1, 0.5), MAX_PROBE_DELAY);
    }

    #[test]
    fn what_an_endpoint_asks_for_is_bounded() {
        assert_eq!(asked_for(None), 0);
        assert_eq!(asked_for(Some(7)), 7000);
        assert_eq!(asked_for(Some(i64::MAX)), MAX_RETRY_AFTER);
        assert_eq!(asked_for(Some(-1)), 0);
    }

    proptest! {
        #[test]
        fn jitter_is_a_fifth_at_most(delay in 10..100_000_000i64, chance in 0.0..1.0f64) {
            let waited = jittered(delay, chance);
            prop_assert!(waited >= delay * 8 / 10 - 1 && waited <= delay * 12 / 10 + 1);
        }
    }
}
