//! What happens in the demo, and when: jobs are opened, persons come in, candidates move from stage
//! to stage, jobs are filled. All of it lies in the months before `now`, in office hours, and is
//! told in the order of time, since that is the order of every list. Only the leads come in at
//! `now`.

use std::collections::HashSet;

use slated_model::clock::Timestamp;
use slated_model::stage::NewStage;

use super::leads::LEADS;
use super::openings::{CONTACTS, Fate, OPENINGS, OTHERS, Opening};
use super::random::Random;
use super::role::Role;

const HOUR: i64 = 60 * 60 * 1000;
const DAY: i64 = 24 * HOUR;
/// Decides all that is left to chance here.
const SEED: u64 = 2026;

/// Something that happened. Persons, leads and jobs are named by their numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Action {
    pub moment: Timestamp,
    pub step: Step,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Step {
    OpenJob(usize),
    SetStatus { job: usize, status: &'static str },
    Archive(usize),
    AddPerson { person: usize, place: Place },
    AddLead(usize),
    AddCandidate { person: usize, job: usize },
    Move { person: usize, job: usize, stage: String },
}

/// Why a person is in the database.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Place {
    Job(usize),
    Contact { client: &'static str, title: &'static str },
    Nothing,
}

impl Place {
    /// What such a person does.
    pub(super) fn role(self, person: usize) -> Role {
        match self {
            Self::Job(job) => Role::of(OPENINGS[job].track),
            Self::Contact { client, title } => {
                Role { employer: Some(client), title: Some(title), ..Role::any(person as u64) }
            }
            Self::Nothing => Role::any(person as u64),
        }
    }
}

/// All that happened until `now`, in the order of time.
pub(super) fn plan(now: Timestamp) -> Vec<Action> {
    let mut planner = Planner {
        now,
        random: Random::new(SEED),
        actions: Vec::new(),
        courses: Vec::new(),
        arrivals: Vec::new(),
        hired: HashSet::new(),
    };
    for (job, opening) in OPENINGS.iter().enumerate() {
        planner.plan_job(job, opening);
    }
    planner.plan_second_tries();
    for (client, title) in CONTACTS {
        planner.plan_person_at_any_time(Place::Contact { client, title });
    }
    for _ in 0..OTHERS {
        planner.plan_person_at_any_time(Place::Nothing);
    }
    for lead in 0..LEADS.len() {
        planner.add(now, Step::AddLead(lead));
    }
    let mut actions = planner.actions;
    actions.sort_by_key(|action| action.moment);
    actions
}

/// The life of a job: when it was opened, when it ended (if it did), and the way through its
/// stages.
struct Course {
    opened: Timestamp,
    ended: Option<Timestamp>,
    path: Vec<String>,
    rejections: Vec<String>,
}

struct Planner {
    now: Timestamp,
    random: Random,
    actions: Vec<Action>,
    courses: Vec<Course>,
    /// Why and when each person came in.
    arrivals: Vec<(Place, Timestamp)>,
    hired: HashSet<usize>,
}

impl Planner {
    fn add(&mut self, moment: Timestamp, step: Step) {
        self.actions.push(Action { moment, step });
    }

    /// Some time in office hours that many days later, on Monday in the place of a weekend.
    fn days_after(&mut self, moment: Timestamp, days: i64) -> Timestamp {
        let day = moment.millis().div_euclid(DAY) + days;
        // Day 0 was a Thursday.
        let to_monday = match (day + 3).rem_euclid(7) {
            5 => 2,
            6 => 1,
            _ => 0,
        };
        Timestamp::from_millis(
            (day + to_monday) * DAY + 8 * HOUR + self.random.between(0, 9 * HOUR),
        )
    }

    fn some_days_after(&mut self, moment: Timestamp, fewest: i64, most: i64) -> Timestamp {
        let days = self.random.between(fewest, most);
        self.days_after(moment, days)
    }

    fn add_person(&mut self, moment: Timestamp, place: Place) -> usize {
        let person = self.arrivals.len();
        self.arrivals.push((place, moment));
        self.add(moment, Step::AddPerson { person, place });
        person
    }

    fn plan_person_at_any_time(&mut self, place: Place) {
        let moment = self.some_days_after(self.now, -530, -5);
        self.add_person(moment, place);
    }

    fn plan_job(&mut self, job: usize, opening: &Opening) {
        let opened = self.days_after(self.now, -opening.days_ago);
        self.add(opened, Step::OpenJob(job));
        let (rejections, path): (Vec<_>, Vec<_>) =
            opening.pipeline.stages().into_iter().partition(|stage| stage.is_rejection_stage);
        let names = |stages: Vec<NewStage>| -> Vec<String> {
            stages.into_iter().map(|stage| stage.name).collect()
        };
        self.courses.push(Course {
            opened,
            ended: None,
            path: names(path),
            rejections: names(rejections),
        });
        let mut persons = opening.persons;
        let ended = match opening.fate {
            Fate::Open => None,
            Fate::OnHold | Fate::Closed => Some(self.days_after(opened, opening.days_ago * 2 / 3)),
            Fate::Filled => {
                persons -= 1;
                Some(self.plan_hire(job, opened))
            }
        };
        self.courses[job].ended = ended;
        if let Some(ended) = ended {
            self.add(
                ended.plus_millis(HOUR / 3),
                Step::SetStatus { job, status: opening.fate.status() },
            );
            if opening.is_archived {
                let moment = self.days_after(ended, 30);
                self.add(moment, Step::Archive(job));
            }
        }
        for _ in 0..persons {
            let days_open = (ended.unwrap_or(self.now).millis() - opened.millis()) / DAY;
            let entered = self.some_days_after(opened, 1, days_open - 3);
            let person = self.add_person(entered, Place::Job(job));
            self.plan_moves(person, job, entered);
        }
    }

    /// The person who gets the job goes all the way; says when.
    fn plan_hire(&mut self, job: usize, opened: Timestamp) -> Timestamp {
        let entered = self.some_days_after(opened, 2, 15);
        let person = self.add_person(entered, Place::Job(job));
        self.hired.insert(person);
        self.walk(person, job, entered, self.now, usize::MAX)
    }

    /// Moves the candidate up to `depth` stages on, as far as time allows; says when the last move
    /// was.
    fn walk(
        &mut self,
        person: usize,
        job: usize,
        entered: Timestamp,
        until: Timestamp,
        depth: usize,
    ) -> Timestamp {
        let mut last = entered;
        let stages: Vec<_> = self.courses[job].path.iter().skip(1).take(depth).cloned().collect();
        for stage in stages {
            let moment = self.some_days_after(last, 2, 11);
            if moment > until {
                break;
            }
            self.add(moment, Step::Move { person, job, stage });
            last = moment;
        }
        last
    }

    /// The way of a candidate who is not hired: some stages, and then perhaps a rejection.
    fn plan_moves(&mut self, person: usize, job: usize, entered: Timestamp) {
        let course = &self.courses[job];
        let (ended, deepest) = (course.ended, course.path.len().saturating_sub(2));
        let mut depth = 0;
        while depth < deepest && self.random.chance(72) {
            depth += 1;
        }
        let last = self.walk(person, job, entered, ended.unwrap_or(self.now), depth);
        let is_over = OPENINGS[job].fate != Fate::Open && OPENINGS[job].fate != Fate::OnHold;
        let is_old = last.plus_millis(60 * DAY) < self.now;
        let percent = match (is_over, is_old) {
            (true, _) => 92,
            (false, true) => 75,
            (false, false) => 25,
        };
        if self.random.chance(percent) {
            self.plan_rejection(person, job, last, ended.filter(|_| is_over));
        }
    }

    /// A rejection soon after the last move, or else soon after the job was over.
    fn plan_rejection(
        &mut self,
        person: usize,
        job: usize,
        last: Timestamp,
        over: Option<Timestamp>,
    ) {
        let decided = match over {
            Some(over) if self.random.chance(50) => over.max(last),
            _ => last,
        };
        let moment = self.some_days_after(decided, 1, 9);
        if moment <= self.now {
            let stage = self.random.pick(&self.courses[job].rejections).clone();
            self.add(moment, Step::Move { person, job, stage });
        }
    }

    /// Some who were not hired for one job are tried on a later one of the same kind.
    fn plan_second_tries(&mut self) {
        for (job, opening) in OPENINGS.iter().enumerate() {
            let (opened, ended) = (self.courses[job].opened, self.courses[job].ended);
            for person in 0..self.arrivals.len() {
                let (place, arrived) = self.arrivals[person];
                let fits = matches!(place,
                    Place::Job(first) if first < job && OPENINGS[first].track == opening.track);
                if !fits || self.hired.contains(&person) || !self.random.chance(12) {
                    continue;
                }
                let entered = self.some_days_after(opened.max(arrived), 2, 30);
                if entered < ended.unwrap_or(self.now) {
                    self.add(entered, Step::AddCandidate { person, job });
                    self.plan_moves(person, job, entered);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    fn now() -> Timestamp {
        Timestamp::parse("2026-11-15T09:30:00Z").unwrap()
    }

    #[test]
    fn the_same_moment_gives_the_same_plan() {
        assert_eq!(plan(now()), plan(now()));
    }

    #[test]
    fn all_is_in_order_and_in_the_past_whenever_the_demo_is_started() {
        for hours in 0..14 * 24 {
            let now = now().plus_millis(hours * HOUR);
            let plan = plan(now);
            assert!(plan.iter().all(|action| action.moment <= now));
            assert!(plan.windows(2).all(|pair| pair[0].moment <= pair[1].moment));
        }
    }

    #[test]
    fn nobody_moves_before_they_came_in() {
        let mut jobs = HashSet::new();
        let mut candidates = HashMap::new();
        for Action { moment, step } in plan(now()) {
            match step {
                Step::OpenJob(job) => assert!(jobs.insert(job)),
                Step::SetStatus { job, .. } | Step::Archive(job) => assert!(jobs.contains(&job)),
                Step::AddPerson { person, place: Place::Job(job) }
                | Step::AddCandidate { person, job } => {
                    assert!(jobs.contains(&job));
                    assert_eq!(candidates.insert((person, job), moment), None);
                }
                Step::AddPerson { .. } | Step::AddLead(_) => {}
                Step::Move { person, job, .. } => {
                    let last = candidates.insert((person, job), moment);
                    assert!(last.is_some_and(|last| last < moment), "{person} on {job}");
                }
            }
        }
    }

    #[test]
    fn every_stage_has_somebody_in_it() {
        let mut current = HashMap::new();
        for action in plan(now()) {
            match action.step {
                Step::AddPerson { person, place: Place::Job(job) }
                | Step::AddCandidate { person, job } => {
                    current.insert((person, job), OPENINGS[job].pipeline.stages()[0].name.clone());
                }
                Step::Move { person, job, stage } => {
                    current.insert((person, job), stage);
                }
                _ => {}
            }
        }
        let taken: HashSet<_> = current.into_values().collect();
        for stage in slated_model::stage::default_pipeline() {
            assert!(taken.contains(&stage.name), "{}", stage.name);
        }
    }

    #[test]
    fn histories_are_several_entries_long() {
        let mut moves: HashMap<_, usize> = HashMap::new();
        for action in plan(now()) {
            if let Step::Move { person, job, .. } = action.step {
                *moves.entry((person, job)).or_default() += 1;
            }
        }
        assert!(moves.len() > 300);
        assert!(moves.values().filter(|count| **count >= 3).count() > 150);
    }
}
