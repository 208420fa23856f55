//! Candidates in the model: put on a job, moved, taken off and listed.

use serde_json::{Value, json};

use super::answers::{Outcome, Page, Query, Refusal, message, record};
use super::fields::{Form, check, expect_given, expect_one, fold, text};
use super::jobs::{Job, Stage};
use super::learned::{number, placeholder};
use super::world::World;

#[derive(Clone, PartialEq)]
pub struct Candidate {
    pub person: u64,
    pub job: u64,
    pub stage: u64,
    /// The stages that it entered, the current one last.
    pub history: Vec<Entry>,
    pub created: String,
}

#[derive(Clone, PartialEq)]
pub struct Entry {
    pub stage: u64,
    /// The name that the stage had then.
    pub name: String,
    pub at: String,
}

const MOVE: &[(&str, Form)] =
    &[("stage_id", Form::Line), ("stage_name", Form::Line), ("from_stage_id", Form::Line)];

impl Candidate {
    /// When it entered its current stage.
    pub fn entered(&self) -> &str {
        self.history.last().map_or("", |entry| &entry.at)
    }
}

fn stage_with_id<'j>(job: &'j Job, id: &str) -> Option<&'j Stage> {
    let number = number("stg", id)?;
    job.stages.iter().find(|stage| stage.number == number)
}

fn stages_named<'j>(job: &'j Job, name: &str) -> Vec<&'j Stage> {
    job.stages.iter().filter(|stage| fold(&stage.name) == fold(name)).collect()
}

impl World {
    fn candidate(&self, id: &str) -> Result<u64, Refusal> {
        number("cnd", id)
            .filter(|number| self.candidates.contains_key(number))
            .ok_or_else(Refusal::not_found)
    }

    /// The numbers of the candidates that fit, oldest first.
    pub fn candidates_where(&self, fits: impl Fn(&Candidate) -> bool) -> impl Iterator<Item = u64> {
        self.candidates
            .iter()
            .filter(move |(_, candidate)| fits(candidate))
            .map(|(number, _)| *number)
    }

    fn event_data(&self, candidate: &Candidate, before: &Value, after: &Value) -> Value {
        json!({
            "before": before,
            "after": after,
            "person": { "id": placeholder("per", candidate.person), "name": self.persons[&candidate.person].name.whole },
            "job": { "id": placeholder("job", candidate.job),
                "name": self.jobs[&candidate.job].name },
        })
    }

    /// The person's candidate on the job, and whether it was made just now.
    pub fn put_on_job(&mut self, person: u64, job: u64) -> (u64, bool) {
        if let Some(known) = self
            .candidates_where(|candidate| (candidate.person, candidate.job) == (person, job))
            .next()
        {
            return (known, false);
        }
        let (number, at) = (self.next(), self.moment());
        let stage = self.jobs[&job].entry().unwrap();
        let entry = Entry { stage: stage.number, name: stage.name.clone(), at: at.clone() };
        let candidate =
            Candidate { person, job, stage: stage.number, history: vec![entry], created: at };
        let data = self.event_data(&candidate, &json!({}), &self.candidate_fields(&candidate));
        self.candidates.insert(number, candidate);
        self.emit("candidate.created", placeholder("cnd", number), Some(person), data);
        (number, true)
    }

    pub fn enter_stage(&mut self, number: u64, stage: &Stage) {
        let before = self.candidates[&number].clone();
        let mut after = before.clone();
        after.stage = stage.number;
        after.history.push(Entry {
            stage: stage.number,
            name: stage.name.clone(),
            at: self.moment(),
        });
        let data = self.event_data(&after, &self.stage_fields(&before), &self.stage_fields(&after));
        self.emit("candidate.moved", placeholder("cnd", number), Some(after.person), data);
        self.candidates.insert(number, after);
    }

    pub fn read_candidate(&mut self, id: &str) -> Outcome {
        let number = self.candidate(id)?;
        record(200, self.shown_candidate(number))
    }

    pub fn add_candidate(&mut self, job: &str, body: &Value) -> Outcome {
        check(body, &[("person_id", Form::Line)])?;
        expect_given(body, "person_id")?;
        let job = self.job(job)?;
        let id = text(body, "person_id").unwrap_or_default();
        let person = self.person(&id).map_err(|refusal| match refusal.status {
            410 => refusal.about("person_id", &id),
            _ => Refusal::names_nothing("person_id"),
        })?;
        let (number, is_new) = self.put_on_job(person, job);
        record(if is_new { 201 } else { 200 }, self.shown_candidate(number))
    }

    pub fn move_candidate(&mut self, id: &str, body: &Value) -> Outcome {
        check(body, MOVE)?;
        expect_one(body, "stage_name", "stage_id")?;
        if text(body, "stage_name").is_none() {
            expect_given(body, "stage_id")?;
        }
        let number = self.candidate(id)?;
        let current = self.candidates[&number].stage;
        let job = &self.jobs[&self.candidates[&number].job];
        let target = match (text(body, "stage_id"), text(body, "stage_name")) {
            (Some(id), _) => {
                stage_with_id(job, &id).ok_or_else(|| Refusal::names_nothing("stage_id"))?
            }
            (None, name) => match stages_named(job, &name.unwrap_or_default()).as_slice() {
                [] => return Err(Refusal::names_nothing("stage_name")),
                [only] => only,
                several => {
                    let refusal = Refusal::new(409, "AMBIGUOUS_STAGE");
                    return Err(several.iter().fold(refusal, |refusal, stage| {
                        refusal.about("stage_name", placeholder("stg", stage.number))
                    }));
                }
            },
        };
        if let Some(from) = text(body, "from_stage_id") {
            let from =
                stage_with_id(job, &from).ok_or_else(|| Refusal::names_nothing("from_stage_id"))?;
            if from.number != current {
                return Err(Refusal::new(409, "STAGE_CONFLICT")
                    .about("from_stage_id", placeholder("stg", current)));
            }
        }
        if target.number != current {
            let target = target.clone();
            self.enter_stage(number, &target);
        }
        record(200, self.shown_candidate(number))
    }

    pub fn remove_candidate(&mut self, id: &str) -> Outcome {
        let number = self.candidate(id)?;
        let candidate = self.candidates[&number].clone();
        let data = self.event_data(&candidate, &self.candidate_fields(&candidate), &json!({}));
        self.candidates.remove(&number);
        self.emit("candidate.removed", placeholder("cnd", number), Some(candidate.person), data);
        message("The candidate was removed.")
    }

    pub fn list_candidates_of_job(&mut self, job: &str, query: &Query<'_>) -> Outcome {
        let page = Page::read(query, &["stage_id", "stage_name"])?;
        let number = self.job(job)?;
        let job = &self.jobs[&number];
        let unknown = |field: &str| Refusal::flaw(field, "INVALID_VALUE");
        let by_id = query
            .get("stage_id")
            .map(|id| stage_with_id(job, id).ok_or_else(|| unknown("stage_id")))
            .transpose()?;
        let by_name = match query.get("stage_name").map(|name| stages_named(job, name)).as_deref() {
            None => None,
            Some([only]) => Some(*only),
            Some(_) => return Err(unknown("stage_name")),
        };
        let stage = by_id.or(by_name).map(|stage| stage.number);
        let fits = |candidate: &Candidate| {
            candidate.job == number && stage.is_none_or(|stage| candidate.stage == stage)
        };
        let entries = self
            .candidates_where(fits)
            .map(|candidate| (candidate, self.listed_candidate(candidate)))
            .collect();
        self.page(&page, entries, stage.is_some())
    }

    pub fn list_all_candidates(&mut self, query: &Query<'_>) -> Outcome {
        let page = Page::read(query, &["job_id", "person_id", "is_rejected"])?;
        let is_rejected =
            query.choice("is_rejected", &["true", "false"])?.map(|written| written == "true");
        let person = query
            .get("person_id")
            .map(|id| self.person(id).map_err(|_| Refusal::flaw("person_id", "INVALID_VALUE")))
            .transpose()?;
        let job = query
            .get("job_id")
            .map(|id| self.job(id).map_err(|_| Refusal::flaw("job_id", "INVALID_VALUE")))
            .transpose()?;
        let fits = |candidate: &Candidate| {
            person.is_none_or(|person| candidate.person == person)
                && job.is_none_or(|job| candidate.job == job)
                && is_rejected.is_none_or(|is| {
                    self.jobs[&candidate.job].stage(candidate.stage).is_rejection == is
                })
        };
        let entries = self
            .candidates_where(fits)
            .map(|candidate| (candidate, self.listed_candidate_of_all(candidate)))
            .collect();
        self.page(&page, entries, person.is_some() || job.is_some() || is_rejected.is_some())
    }
}
