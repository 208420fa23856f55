//! The pipeline of a job in the model: its stages are added, changed, put in order and removed.

use serde_json::{Value, json};

use super::answers::{Outcome, Page, Query, Refusal, record};
use super::fields::{Form, check, expect_given, expect_kept, text};
use super::jobs::Stage;
use super::learned::{number, placeholder};
use super::world::World;

const FIELDS: &[(&str, Form)] = &[
    ("name", Form::Line),
    ("stage_order", Form::Order),
    ("is_rejection_stage", Form::Flag),
    ("is_interviewing_stage", Form::Flag),
];

/// The place of `stage_order` among so many other stages.
fn place_in(body: &Value, count: usize) -> Option<usize> {
    let order = usize::try_from(body["stage_order"].as_u64()?).unwrap_or(usize::MAX);
    Some((order - 1).min(count))
}

fn named(stage: &Stage) -> Value {
    json!({ "id": placeholder("stg", stage.number), "name": stage.name })
}

impl World {
    fn place(&self, job: u64, id: &str) -> Option<usize> {
        let number = number("stg", id)?;
        self.jobs[&job].stages.iter().position(|stage| stage.number == number)
    }

    /// Replaces the stages of a job, and emits the change with `more` beside `before` and `after`.
    fn keep_stages(
        &mut self,
        kind: &'static str,
        job: u64,
        stages: Vec<Stage>,
        more: &[(&str, Value)],
    ) -> Result<(), Refusal> {
        let mut changed = self.jobs[&job].clone();
        let before = changed.pipeline();
        changed.stages = stages;
        if changed.entry().is_none() {
            return Err(Refusal::new(409, "LAST_STAGE"));
        }
        let after = changed.pipeline();
        if after != before {
            self.jobs.insert(job, changed);
            let mut data = json!({ "before": { "pipeline_stages": before },
                "after": { "pipeline_stages": after } });
            more.iter().for_each(|(name, value)| data[*name] = value.clone());
            self.emit(kind, placeholder("job", job), None, data);
        }
        Ok(())
    }

    fn whole_pipeline(&mut self, job: u64) -> Outcome {
        let page =
            Page { start: super::answers::Start::Offset(0), limit: 100, is_newest_first: false };
        self.page_of_stages(job, &page)
    }

    fn page_of_stages(&mut self, job: u64, page: &Page) -> Outcome {
        let entries = self.jobs[&job].stages.iter().enumerate();
        let entries =
            entries.map(|(place, stage)| (stage.number, self.counted_stage(job, place))).collect();
        self.page(page, entries, false)
    }

    pub fn list_stages(&mut self, job: &str, query: &Query<'_>) -> Outcome {
        let page = Page::read(query, &[])?;
        let job = self.job(job)?;
        self.page_of_stages(job, &page)
    }

    pub fn add_stage(&mut self, job: &str, body: &Value) -> Outcome {
        check(body, FIELDS)?;
        expect_given(body, "name")?;
        let job = self.job(job)?;
        let added = Stage { number: self.next(), ..Stage::new(body) };
        let mut stages = self.jobs[&job].stages.clone();
        let place = place_in(body, stages.len()).unwrap_or(stages.len());
        stages.insert(place, added.clone());
        self.keep_stages("job.stage_added", job, stages, &[("stage", named(&added))])?;
        record(201, self.counted_stage(job, place))
    }

    pub fn update_stage(&mut self, job: &str, stage: &str, body: &Value) -> Outcome {
        check(body, FIELDS)?;
        expect_kept(body, &["name", "stage_order", "is_rejection_stage", "is_interviewing_stage"])?;
        let job = self.job(job)?;
        let old_place = self.place(job, stage).ok_or_else(Refusal::not_found)?;
        let mut stages = self.jobs[&job].stages.clone();
        let mut stage = stages.remove(old_place);
        stage.name = text(body, "name").unwrap_or(stage.name);
        stage.is_rejection = body["is_rejection_stage"].as_bool().unwrap_or(stage.is_rejection);
        stage.is_interviewing =
            body["is_interviewing_stage"].as_bool().unwrap_or(stage.is_interviewing);
        let place = place_in(body, stages.len()).unwrap_or(old_place);
        stages.insert(place, stage.clone());
        self.keep_stages("job.stage_updated", job, stages, &[("stage", named(&stage))])?;
        record(200, self.counted_stage(job, place))
    }

    pub fn reorder_stages(&mut self, job: &str, body: &Value) -> Outcome {
        check(body, &[("stage_ids", Form::List(&Form::Line))])?;
        expect_given(body, "stage_ids")?;
        let job = self.job(job)?;
        let ids: Vec<_> =
            body["stage_ids"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        let (mut ordered, mut unknown, mut wrong): (Vec<Stage>, _, _) = (Vec::new(), None, None);
        let add = |refusal: &mut Option<Refusal>, more: Refusal| {
            *refusal = Some(refusal.take().map_or(more.clone(), |refusal| refusal.and(more)))
        };
        for (place, id) in ids.iter().enumerate() {
            let field = format!("stage_ids[{place}]");
            match self.place(job, id).map(|place| &self.jobs[&job].stages[place]) {
                None => add(&mut unknown, Refusal::names_nothing(field)),
                Some(stage) if ordered.contains(stage) => {
                    add(&mut wrong, Refusal::flaw(field, "INVALID_VALUE"))
                }
                Some(stage) => ordered.push(stage.clone()),
            }
        }
        if ordered.len() < self.jobs[&job].stages.len() {
            add(&mut wrong, Refusal::flaw("stage_ids", "TOO_FEW"));
        }
        if let Some(refusal) = unknown.or(wrong) {
            return Err(refusal);
        }
        self.keep_stages("job.stages_reordered", job, ordered, &[])?;
        self.whole_pipeline(job)
    }

    pub fn remove_stage(&mut self, job: &str, stage: &str, query: &Query<'_>) -> Outcome {
        query.expect_only(&["move_to"])?;
        let job = self.job(job)?;
        let place = self.place(job, stage).ok_or_else(Refusal::not_found)?;
        let mut stages = self.jobs[&job].stages.clone();
        let removed = stages.remove(place);
        let target = match query.get("move_to") {
            None => None,
            Some(id) if id == stage => return Err(Refusal::flaw("move_to", "CONTRADICTION")),
            Some(id) => {
                let place = self.place(job, id).ok_or_else(|| Refusal::names_nothing("move_to"))?;
                Some(self.jobs[&job].stages[place].clone())
            }
        };
        if stages.iter().all(|stage| stage.is_rejection) {
            return Err(Refusal::new(409, "LAST_STAGE"));
        }
        let occupants: Vec<_> =
            self.candidates_where(|candidate| candidate.stage == removed.number).collect();
        let mut more = vec![("stage", named(&removed))];
        if !occupants.is_empty() {
            let Some(target) = target else {
                return Err(Refusal::new(409, "STAGE_IN_USE").with("move_to", "REQUIRED"));
            };
            occupants.into_iter().for_each(|candidate| self.enter_stage(candidate, &target));
            more.push(("moved_to", named(&target)));
        }
        self.keep_stages("job.stage_removed", job, stages, &more)?;
        self.whole_pipeline(job)
    }
}
