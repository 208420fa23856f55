//! What became of the candidates of a job, stage by stage.

use crate::clock::Timestamp;
use crate::id::StageId;
use crate::stage::Stage;

const MILLIS_OF_A_DAY: f64 = 86_400_000.0;

/// What became of those who entered a stage. Everybody counts once in each number, however often
/// they came by.
#[derive(Clone, PartialEq, Debug)]
pub struct StageFigures {
    pub stage: Stage,
    /// Candidates who ever entered it.
    pub entered: i64,
    /// Candidates who are in it now.
    pub current: i64,
    /// Candidates who entered it and later a stage further on that is no rejection stage.
    pub went_on: i64,
    /// Candidates who entered it and whose next stage was a rejection stage.
    pub rejected: i64,
    /// The median of all stays that have ended, in days to one decimal; nothing if none has.
    pub median_days: Option<f64>,
}

/// The figures in the making: candidates are counted one after the other.
pub struct Funnel {
    figures: Vec<StageFigures>,
    /// The stays in each stage that have ended, in milliseconds.
    stays: Vec<Vec<i64>>,
}

impl Funnel {
    /// For a job with these stages, in order.
    #[must_use]
    pub fn of(stages: Vec<Stage>) -> Self {
        let stays = vec![Vec::new(); stages.len()];
        let figures = |stage| StageFigures {
            stage,
            entered: 0,
            current: 0,
            went_on: 0,
            rejected: 0,
            median_days: None,
        };
        Self { figures: stages.into_iter().map(figures).collect(), stays }
    }

    fn place(&self, id: StageId) -> Option<usize> {
        self.figures.iter().position(|figures| figures.stage.id == id)
    }

    /// Counts a candidate that is in the stage `current` and has entered these, the oldest first. A
    /// stage that the job no longer has ends a stay and counts for nothing else.
    pub fn count(&mut self, current: StageId, history: &[(StageId, Timestamp)]) {
        if let Some(place) = self.place(current) {
            self.figures[place].current += 1;
        }
        let path: Vec<_> = history.iter().map(|(stage, at)| (self.place(*stage), *at)).collect();
        let is_rejection: Vec<_> =
            self.figures.iter().map(|figures| figures.stage.is_rejection_stage).collect();
        for (place, (figures, stays)) in self.figures.iter_mut().zip(&mut self.stays).enumerate() {
            let Some(first) = path.iter().position(|(entered, _)| *entered == Some(place)) else {
                continue;
            };
            let goes_on = |(entered, _): &(Option<usize>, Timestamp)| {
                entered.is_some_and(|later| later > place && !is_rejection[later])
            };
            let steps = || {
                path.windows(2)
                    .filter(move |step| step[0].0 == Some(place))
                    .map(|step| (step[0].1, step[1]))
            };
            figures.entered += 1;
            figures.went_on += i64::from(path[first..].iter().any(goes_on));
            figures.rejected += i64::from(
                steps().any(|(_, (next, _))| next.is_some_and(|next| is_rejection[next])),
            );
            stays.extend(steps().map(|(from, (_, to))| (to.millis() - from.millis()).max(0)));
        }
    }

    /// The figures of all stages, in order.
    #[must_use]
    pub fn finish(self) -> Vec<StageFigures> {
        let with_median = |(figures, stays): (StageFigures, Vec<i64>)| StageFigures {
            median_days: median(stays).map(in_days),
            ..figures
        };
        self.figures.into_iter().zip(self.stays).map(with_median).collect()
    }
}

/// The one in the middle, or what is halfway between the two.
fn median(mut values: Vec<i64>) -> Option<f64> {
    let middle = values.len() / 2;
    values.sort_unstable();
    let upper = *values.get(middle)? as f64;
    match values.len() % 2 {
        0 => Some((values[middle - 1] as f64 + upper) / 2.0),
        _ => Some(upper),
    }
}

/// To one decimal.
fn in_days(millis: f64) -> f64 {
    (millis / MILLIS_OF_A_DAY * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DAY: i64 = 86_400_000;

    fn id(number: u128) -> StageId {
        StageId::at(Timestamp::from_millis(0), number)
    }

    /// Stages 1 to 3, and 4, where candidates are rejected.
    fn pipeline() -> Vec<Stage> {
        let stage = |number: i64| Stage {
            id: id(number.unsigned_abs().into()),
            name: format!("Stage {number}"),
            stage_order: number,
            is_rejection_stage: number == 4,
            is_interviewing_stage: false,
        };
        (1..=4).map(stage).collect()
    }

    /// Counts candidates, each of which entered these stages on these days, and is in the last of
    /// them.
    fn figures(candidates: &[&[(u128, i64)]]) -> Vec<StageFigures> {
        let mut funnel = Funnel::of(pipeline());
        for history in candidates {
            let history: Vec<_> = history
                .iter()
                .map(|(stage, day)| (id(*stage), Timestamp::from_millis(day * DAY)))
                .collect();
            funnel.count(history.last().unwrap().0, &history);
        }
        funnel.finish()
    }

    fn counts(figures: &[StageFigures]) -> Vec<[i64; 4]> {
        figures
            .iter()
            .map(|stage| [stage.entered, stage.current, stage.went_on, stage.rejected])
            .collect()
    }

    #[test]
    fn everybody_counts_in_the_stages_that_they_entered() {
        let figures = figures(&[
            &[(1, 0)],
            &[(1, 0), (2, 3), (3, 4)],
            &[(1, 0), (2, 1), (4, 6)],
            &[(1, 0), (4, 2)],
        ]);
        assert_eq!(counts(&figures), [[4, 1, 2, 1], [2, 0, 1, 1], [1, 1, 0, 0], [2, 2, 0, 0]]);
        let medians: Vec<_> = figures.iter().map(|stage| stage.median_days).collect();
        assert_eq!(medians, [Some(2.0), Some(3.0), None, None]);
    }

    #[test]
    fn who_comes_back_counts_once_and_stays_twice() {
        let figures = figures(&[&[(2, 0), (1, 1), (2, 2), (4, 5), (2, 6), (4, 8)]]);
        assert_eq!(counts(&figures), [[1, 0, 1, 0], [1, 0, 0, 1], [0, 0, 0, 0], [1, 1, 0, 0]]);
        assert_eq!(figures[1].median_days, Some(2.0));
    }

    #[test]
    fn a_stage_that_is_gone_only_ends_a_stay() {
        let figures = figures(&[&[(1, 0), (9, 4), (2, 5)]]);
        assert_eq!(counts(&figures), [[1, 0, 1, 0], [1, 1, 0, 0], [0; 4], [0; 4]]);
        assert_eq!(figures[0].median_days, Some(4.0));
    }

    #[test]
    fn days_have_one_decimal() {
        assert_eq!(median(vec![DAY, DAY * 2]).map(in_days), Some(1.5));
        assert_eq!(median(vec![DAY / 3]).map(in_days), Some(0.3));
        assert_eq!(median(Vec::new()), None);
    }

    proptest! {
        #[test]
        fn nobody_goes_on_or_is_rejected_who_did_not_enter(paths in prop::collection::vec(prop::collection::vec(1u64..=5, 1..8), 0..20)) {
            let histories: Vec<Vec<_>> = paths.iter().map(|path| path.iter().map(|stage| u128::from(*stage)).zip(0..).collect()).collect();
            let histories: Vec<_> = histories.iter().map(Vec::as_slice).collect();
            for stage in figures(&histories) {
                prop_assert!(stage.current.max(stage.went_on).max(stage.rejected) <= stage.entered,
                    "{stage:?}");
                prop_assert_eq!(stage.median_days.is_some(), histories.iter().any(|path| {
                    path.iter().rev().skip(1).any(|(entered, _)| id(*entered) == stage.stage.id)
                }));
            }
        }
    }
}
