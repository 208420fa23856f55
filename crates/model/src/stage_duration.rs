//! How long candidates stay in stages, from the moments at which they entered them.

use crate::clock::Timestamp;
use crate::id::StageId;

/// That a candidate entered a stage, under the name that it had then.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    pub stage_id: StageId,
    pub stage_name: String,
    pub entered_at: Timestamp,
}

/// A stay in a stage, which lasts until the next stage is entered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StageDuration {
    pub stage_id: StageId,
    pub stage_name: String,
    pub entered_at: Timestamp,
    /// Nothing for the stage that the candidate is in.
    pub left_at: Option<Timestamp>,
    /// Whole seconds, up to now for the stage that the candidate is in.
    pub seconds: i64,
}

/// All stays in one stage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StageTotal {
    pub stage_id: StageId,
    /// The name that it had when it was last entered.
    pub stage_name: String,
    pub stays: i64,
    pub seconds: i64,
}

/// The stays of a history, the oldest first.
#[must_use]
pub fn stays(history: Vec<Entry>, now: Timestamp) -> Vec<StageDuration> {
    let ends: Vec<_> =
        history.iter().skip(1).map(|next| Some(next.entered_at)).chain([None]).collect();
    let stay =
        |(Entry { stage_id, stage_name, entered_at }, left_at): (Entry, Option<Timestamp>)| {
            let millis = left_at.unwrap_or(now).millis() - entered_at.millis();
            // Another server's clock may have been ahead.
            StageDuration {
                stage_id,
                stage_name,
                entered_at,
                left_at,
                seconds: millis.max(0) / 1000,
            }
        };
    history.into_iter().zip(ends).map(stay).collect()
}

/// The stays put together by stage, in the order in which the stages were first entered.
#[must_use]
pub fn totals(stays: &[StageDuration]) -> Vec<StageTotal> {
    let mut totals: Vec<StageTotal> = Vec::new();
    for StageDuration { stage_id, stage_name, seconds, .. } in stays {
        match totals.iter_mut().find(|total| total.stage_id == *stage_id) {
            Some(total) => {
                total.stage_name.clone_from(stage_name);
                total.stays += 1;
                total.seconds += seconds;
            }
            None => totals.push(StageTotal {
                stage_id: *stage_id,
                stage_name: stage_name.clone(),
                stays: 1,
                seconds: *seconds,
            }),
        }
    }
    totals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(number: u128) -> StageId {
        StageId::at(Timestamp::from_millis(0), number)
    }

    fn entry(number: u128, name: &str, millis: i64) -> Entry {
        Entry {
            stage_id: stage(number),
            stage_name: name.to_owned(),
            entered_at: Timestamp::from_millis(millis),
        }
    }

    #[test]
    fn a_stay_lasts_until_the_next_stage_is_entered_and_the_last_until_now() {
        let history =
            vec![entry(1, "Sourced", 0), entry(2, "Offer", 61_999), entry(1, "Found", 70_000)];
        let stays = stays(history, Timestamp::from_millis(75_500));
        let seconds: Vec<_> = stays.iter().map(|stay| stay.seconds).collect();
        assert_eq!(seconds, [61, 8, 5]);
        let left: Vec<_> = stays.iter().map(|stay| stay.left_at.map(Timestamp::millis)).collect();
        assert_eq!(left, [Some(61_999), Some(70_000), None]);
        let totals: Vec<_> = totals(&stays)
            .into_iter()
            .map(|total| (total.stage_name, total.stays, total.seconds))
            .collect();
        assert_eq!(totals, [("Found".to_owned(), 2, 66), ("Offer".to_owned(), 1, 8)]);
    }

    #[test]
    fn no_stay_is_shorter_than_nothing() {
        let stays = stays(vec![entry(1, "Sourced", 5_000)], Timestamp::from_millis(1_000));
        assert_eq!(stays[0].seconds, 0);
    }

    #[test]
    fn whoever_entered_nothing_stayed_nowhere() {
        assert!(stays(Vec::new(), Timestamp::from_millis(0)).is_empty());
    }
}
