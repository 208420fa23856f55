//! How often a provider may be asked, by all servers and for all workspaces together.

use slated_model::clock::Timestamp;

use crate::error::StoreError;
use crate::params;
use crate::tx::Tx;

/// Whether a provider may be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Permit {
    Granted,
    /// Not before that moment.
    Wait(Timestamp),
    /// Not any more today: the calls of the day, in UTC, are made.
    Spent,
}

/// What is known of the calls so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Kept {
    /// When the next call is due if they come evenly.
    next_at: Timestamp,
    /// Days since 1970.
    day: i64,
    calls: i64,
}

struct Limits {
    interval_millis: Option<i64>,
    burst_millis: i64,
    daily_budget: Option<i64>,
}

impl Limits {
    /// Whether a call may be made now, and what is known then. Calls may come ahead of their time
    /// by the burst, so that some can be made at once, and not more than so many in the long run.
    fn judge(&self, kept: Kept, now: Timestamp) -> (Permit, Kept) {
        let today = now.day();
        // A server whose clock is behind must not take the count of a day back that has begun for
        // others.
        let is_current = kept.day == today || kept.day == today + 1;
        let (day, calls) = if is_current { (kept.day, kept.calls) } else { (today, 0) };
        if self.daily_budget.is_some_and(|budget| calls >= budget) {
            return (Permit::Spent, kept);
        }
        let earliest = kept.next_at.plus_millis(-self.burst_millis);
        let next_at = match self.interval_millis {
            Some(_) if earliest > now => return (Permit::Wait(earliest), kept),
            Some(interval) => kept.next_at.max(now).plus_millis(interval),
            None => kept.next_at,
        };
        (Permit::Granted, Kept { next_at, day, calls: calls + 1 })
    }
}

/// Takes a permit for one call, if there is one. Without limits nothing is written down.
pub async fn take(
    tx: &mut Tx,
    provider: &str,
    interval_millis: Option<i64>,
    burst_millis: i64,
    daily_budget: Option<i64>,
) -> Result<Permit, StoreError> {
    if interval_millis.is_none() && daily_budget.is_none() {
        return Ok(Permit::Granted);
    }
    let sql = "INSERT INTO enrichment_permit (provider, next_at, day, calls) VALUES (?1, ?2, 0, \
        0) ON CONFLICT (provider) DO NOTHING";
    tx.execute_deferred(sql, params![provider, tx.now()]).await?;
    let sql = "SELECT next_at, day, calls FROM enrichment_permit WHERE provider = ?1";
    let kept = tx
        .row_for_update(sql, params![provider], |row| {
            Ok(Kept { next_at: row.time(0)?, day: row.int(1)?, calls: row.int(2)? })
        })
        .await?;
    let kept = kept
        .ok_or_else(|| StoreError::Conflict(format!("the permits of {provider} were deleted")))?;
    let (permit, then) =
        Limits { interval_millis, burst_millis, daily_budget }.judge(kept, tx.now());
    if then != kept {
        let sql =
            "UPDATE enrichment_permit SET next_at = ?2, day = ?3, calls = ?4 WHERE provider = ?1";
        tx.execute_deferred(sql, params![provider, then.next_at, then.day, then.calls]).await?;
    }
    Ok(permit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;
    const NOON: i64 = 20_000 * DAY_MILLIS + DAY_MILLIS / 2;
    const NOTHING: Kept = Kept { next_at: Timestamp::from_millis(0), day: 0, calls: 0 };

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(NOON + millis)
    }

    /// How many of many calls at once are granted, and what the first one that is not is told.
    fn at_once(limits: &Limits, mut kept: Kept, now: Timestamp) -> (usize, Permit, Kept) {
        for granted in 0.. {
            let (permit, then) = limits.judge(kept, now);
            if permit != Permit::Granted || granted == 1000 {
                return (granted, permit, then);
            }
            kept = then;
        }
        unreachable!()
    }

    #[test]
    fn some_calls_may_be_made_at_once_and_then_one_each_interval() {
        let limits = Limits { interval_millis: Some(100), burst_millis: 400, daily_budget: None };
        let (granted, permit, kept) = at_once(&limits, NOTHING, at(0));
        assert_eq!((granted, permit), (5, Permit::Wait(at(100))));
        let (granted, permit, kept) = at_once(&limits, kept, at(100));
        assert_eq!((granted, permit), (1, Permit::Wait(at(200))));
        let (granted, permit, _) = at_once(&limits, kept, at(10_000));
        assert_eq!((granted, permit), (5, Permit::Wait(at(10_100))));
    }

    #[test]
    fn without_a_burst_each_call_waits_for_its_turn() {
        let limits = Limits { interval_millis: Some(1000), burst_millis: 0, daily_budget: None };
        let (granted, permit, kept) = at_once(&limits, NOTHING, at(0));
        assert_eq!((granted, permit), (1, Permit::Wait(at(1000))));
        assert_eq!(limits.judge(kept, at(999)), (Permit::Wait(at(1000)), kept));
        assert_eq!(limits.judge(kept, at(1000)).0, Permit::Granted);
    }

    #[test]
    fn the_calls_of_a_day_are_spent_until_the_next_one() {
        let limits = Limits { interval_millis: None, burst_millis: 0, daily_budget: Some(3) };
        let (granted, permit, kept) = at_once(&limits, NOTHING, at(0));
        assert_eq!((granted, permit, kept.calls), (3, Permit::Spent, 3));
        assert_eq!(limits.judge(kept, at(DAY_MILLIS / 2 - 1)).0, Permit::Spent);
        assert_eq!(at_once(&limits, kept, at(DAY_MILLIS / 2)).0, 3);
    }

    #[test]
    fn a_clock_that_is_behind_takes_no_count_back() {
        let limits = Limits { interval_millis: None, burst_millis: 0, daily_budget: Some(2) };
        let (_, kept) = limits.judge(NOTHING, at(DAY_MILLIS / 2));
        let (permit, kept) = limits.judge(kept, at(DAY_MILLIS / 2 - 1000));
        assert_eq!((permit, kept.calls), (Permit::Granted, 2));
        assert_eq!(limits.judge(kept, at(DAY_MILLIS / 2)).0, Permit::Spent);
    }

    #[test]
    fn no_budget_is_no_call() {
        let limits = Limits { interval_millis: None, burst_millis: 0, daily_budget: Some(0) };
        assert_eq!(limits.judge(NOTHING, at(0)), (Permit::Spent, NOTHING));
    }
}
