//! The way to one provider: so many calls at once, so often, and none for a while if it fails or
//! asks for that.

use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::FutureExt;
use metrics::{counter, gauge, histogram};
use slated_model::clock::Timestamp;
use slated_model::enrichment::Question;
use slated_operations::enrichment::provider_rate_limit::TakePermit;
use slated_store::Store;
use slated_store::records::provider_rate_limit::Permit;
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::breaker::{Breaker, Passage};
use super::provider::{Answer, Trouble};
use super::settings::Configured;

/// How long a call waits here for the rate; for longer it goes back into the queue.
const MAX_WAIT_MILLIS: i64 = 2_000;
/// Turns are given to those in the queue no further ahead than that, so that nobody who comes later
/// waits behind all of them.
const FURTHEST_TURN_MILLIS: i64 = 60_000;
/// A provider is left alone for no longer because it asks for that.
const MAX_REST_MILLIS: i64 = 24 * 60 * 60 * 1000;
/// When to look again if it could not be found out whether a call may be made.
const UNKNOWN_MILLIS: i64 = 5_000;

/// Why a provider was not asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NotAsked {
    /// Nobody asks it before that moment.
    Away { until: Timestamp, reason: String },
    /// It is not this call's turn before that moment.
    Later { until: Timestamp },
}

/// Gives turns to those who go back into the queue because of a rate, one after the other, so that
/// they do not all come again at once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Line {
    next: Timestamp,
}

impl Line {
    /// A turn from that moment on. `chance` is between 0 and 1.
    fn turn(&mut self, from: Timestamp, interval_millis: i64, chance: f64) -> Timestamp {
        let turn = self.next.max(from);
        if turn > from.plus_millis(FURTHEST_TURN_MILLIS) {
            return from.plus_millis((FURTHEST_TURN_MILLIS as f64 * chance) as i64);
        }
        self.next = turn.plus_millis(interval_millis);
        turn
    }
}

pub struct ProviderLimiter {
    name: String,
    calls: Semaphore,
    breaker: Mutex<Breaker>,
    /// Held by the one call that tries whether a failing provider answers again.
    trial: tokio::sync::Mutex<()>,
    /// Calls that wait for the rate, and the place of the first of them.
    waiting: AtomicUsize,
    turnstile: tokio::sync::Mutex<()>,
    line: Mutex<Line>,
}

/// A call that waits for the rate, counted for as long.
struct Waiting<'g>(&'g AtomicUsize);

impl<'g> Waiting<'g> {
    fn begin(count: &'g AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ProviderLimiter {
    pub fn new(configured: &Configured) -> Self {
        let pause_millis = i64::try_from(configured.breaker_pause.as_millis()).unwrap_or(i64::MAX);
        Self {
            name: configured.name.clone(),
            calls: Semaphore::new(configured.concurrency.max(1)),
            breaker: Mutex::new(Breaker::new(configured.breaker_failures, pause_millis)),
            trial: tokio::sync::Mutex::default(),
            waiting: AtomicUsize::new(0),
            turnstile: tokio::sync::Mutex::default(),
            line: Mutex::default(),
        }
    }

    /// From now on nobody is asked who is not being asked already: the server stops.
    pub fn close(&self) {
        self.calls.close();
    }

    /// Asks, as soon as it may be done and if that is soon.
    pub async fn ask(
        &self,
        store: &Store,
        configured: &Configured,
        question: &Question,
        call: &str,
    ) -> Result<Result<Answer, Trouble>, NotAsked> {
        self.pass()?;
        let Ok(_place) = self.calls.acquire().await else {
            return Err(NotAsked::Later { until: Timestamp::now() });
        };
        let trial = match self.pass()? {
            Passage::Trial => Some(self.trial.lock().await),
            _ => None,
        };
        // Whoever tried before this one may have found out.
        let _trial = match self.pass()? {
            Passage::Trial => trial,
            _ => {
                drop(trial);
                None
            }
        };
        self.take_permit(store, configured).await?;
        let answered = self.call(configured, question, call).await;
        self.note(&answered);
        Ok(answered)
    }

    fn breaker(&self) -> MutexGuard<'_, Breaker> {
        self.breaker.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn pass(&self) -> Result<Passage, NotAsked> {
        let passage = self.breaker().passage(Timestamp::now());
        let Passage::Paused { until, is_rest } = passage else { return Ok(passage) };
        let reason = match is_rest {
            true => format!("{} asked for a pause", self.name),
            false => {
                format!("{} is paused because it failed repeatedly", self.name)
            }
        };
        Err(NotAsked::Away { until, reason })
    }

    /// Waits a moment for the provider's rate, if a moment is enough.
    async fn take_permit(&self, store: &Store, configured: &Configured) -> Result<(), NotAsked> {
        let Some(interval) = configured.interval_millis else {
            return match configured.daily_budget {
                Some(_) => self.try_permit(store, configured).await.map(|_| ()),
                None => Ok(()),
            };
        };
        // Who waits here does so behind others, of whom only the first looks whether a call may be
        // made.
        let ahead = i64::try_from(self.waiting.load(Ordering::Relaxed))
            .unwrap_or(i64::MAX)
            .saturating_mul(interval);
        if ahead > MAX_WAIT_MILLIS {
            return Err(self.later(Timestamp::now().plus_millis(ahead), interval));
        }
        let _waiting = Waiting::begin(&self.waiting);
        let _first = self.turnstile.lock().await;
        let deadline = Timestamp::now().plus_millis(MAX_WAIT_MILLIS);
        while let Some(from) = self.try_permit(store, configured).await? {
            if from > deadline {
                return Err(self.later(from, interval));
            }
            let millis = (from.millis() - Timestamp::now().millis()).max(1);
            sleep(Duration::from_millis(millis.unsigned_abs())).await;
        }
        Ok(())
    }

    /// Nothing if a call may be made now, else when.
    async fn try_permit(
        &self,
        store: &Store,
        configured: &Configured,
    ) -> Result<Option<Timestamp>, NotAsked> {
        let Configured { interval_millis, burst_millis, daily_budget, .. } = *configured;
        let work =
            TakePermit { provider: self.name.clone(), interval_millis, burst_millis, daily_budget };
        match store.write(work).await {
            Ok(Permit::Granted) => Ok(None),
            Ok(Permit::Wait(from)) => Ok(Some(from)),
            Ok(Permit::Spent) => {
                let reason = format!("the daily budget of {} is used up", self.name);
                Err(NotAsked::Away { until: Timestamp::now().next_day(), reason })
            }
            Err(failure) => {
                tracing::warn!(provider = self.name, error = %failure, "the rate limit and budget \
                    of a provider could not be checked");
                Err(NotAsked::Later { until: Timestamp::now().plus_millis(UNKNOWN_MILLIS) })
            }
        }
    }

    fn later(&self, from: Timestamp, interval: i64) -> NotAsked {
        let mut line = self.line.lock().unwrap_or_else(PoisonError::into_inner);
        NotAsked::Later { until: line.turn(from, interval, rand::random()) }
    }

    async fn call(
        &self,
        configured: &Configured,
        question: &Question,
        call: &str,
    ) -> Result<Answer, Trouble> {
        counter!("slated_enrichment_asked_total", "provider" => self.name.clone()).increment(1);
        let started = Instant::now();
        // What a provider trips over is its own trouble, and nobody else's.
        let asking = AssertUnwindSafe(configured.provider.ask(question, call)).catch_unwind();
        let answered = match timeout(configured.timeout, asking).await {
            Ok(Ok(answered)) => answered,
            Ok(Err(_)) => Err(Trouble::Failed(
                "its answer could not be processed; the log has the cause".to_owned(),
            )),
            Err(_) => Err(Trouble::Failed(format!(
                "it did not answer within {} seconds",
                configured.timeout.as_secs_f64()
            ))),
        };
        histogram!("slated_enrichment_seconds", "provider" => self.name.clone())
            .record(started.elapsed().as_secs_f64());
        answered
    }

    /// Shows whether the provider is left alone.
    pub fn report(&self) {
        let is_paused = matches!(self.breaker().passage(Timestamp::now()), Passage::Paused { .. });
        gauge!("slated_enrichment_paused", "provider" => self.name.clone())
            .set(f64::from(u8::from(is_paused)));
    }

    /// Remembers how the provider does, and counts.
    fn note(&self, answered: &Result<Answer, Trouble>) {
        let now = Timestamp::now();
        let mut breaker = self.breaker();
        match answered {
            // A refusal is an answer too.
            Ok(_) | Err(Trouble::Refused(_)) => breaker.succeeded(),
            Err(Trouble::Busy { retry_after, .. }) if rest_millis(*retry_after) > 0 => {
                breaker.rest(now.plus_millis(rest_millis(*retry_after)));
            }
            Err(Trouble::Busy { .. } | Trouble::Failed(_)) => breaker.failed(now),
        }
        drop(breaker);
        let outcome = match answered {
            Ok(Answer { profile: Some(_), .. }) => "found",
            Ok(_) => "empty",
            Err(_) => "failed",
        };
        counter!("slated_enrichment_answers_total",
            "provider" => self.name.clone(), "outcome" => outcome)
        .increment(1);
        if let Ok(Answer { cost: Some(cost), .. }) = answered {
            gauge!("slated_enrichment_cost_total", "provider" => self.name.clone())
                .increment(*cost);
        }
        if let Err(trouble) = answered {
            tracing::debug!(
                provider = self.name,
                reason = trouble.reason(),
                "a provider call failed"
            );
        }
    }
}

/// How long a provider asked to be left alone, as far as it is heeded.
pub fn rest_millis(retry_after: Option<Duration>) -> i64 {
    retry_after
        .map_or(0, |rest| i64::try_from(rest.as_millis()).unwrap_or(i64::MAX).min(MAX_REST_MILLIS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(1_700_000_000_000 + millis)
    }

    #[test]
    fn those_who_wait_get_a_turn_each() {
        let mut line = Line::default();
        assert_eq!(line.turn(at(0), 100, 0.5), at(0));
        assert_eq!(line.turn(at(0), 100, 0.5), at(100));
        assert_eq!(line.turn(at(50), 100, 0.5), at(200));
        assert_eq!(line.turn(at(5000), 100, 0.5), at(5000));
    }

    #[test]
    fn turns_are_not_given_too_far_ahead() {
        let mut line = Line::default();
        for _ in 0..10 {
            assert!(line.turn(at(0), 10_000, 0.5) <= at(FURTHEST_TURN_MILLIS));
        }
        assert_eq!(line.turn(at(0), 10_000, 0.5), at(FURTHEST_TURN_MILLIS / 2));
        assert_eq!(line.turn(at(20_000), 10_000, 0.5), at(70_000));
    }

    #[test]
    fn what_a_provider_asks_for_is_bounded() {
        assert_eq!(rest_millis(None), 0);
        assert_eq!(rest_millis(Some(Duration::from_secs(2))), 2000);
        assert_eq!(rest_millis(Some(Duration::from_secs(u64::MAX))), MAX_REST_MILLIS);
    }
}
