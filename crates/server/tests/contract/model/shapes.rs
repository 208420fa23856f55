//! The shapes of persons, candidates and jobs in answers and events, with their fields in the
//! documented order.

use serde_json::{Map, Value, json};

use super::candidates::Candidate;
use super::fields::handle;
use super::jobs::{Job, Stage};
use super::learned::placeholder;
use super::persons::Person;
use super::world::World;

impl World {
    /// A person in the answer to a create.
    pub fn created_person(&self, number: u64, candidate: Option<&str>) -> Value {
        let person = &self.persons[&number];
        json!({
            "id": placeholder("per", number),
            "name": person.name.whole,
            "social_public_id": handle(&person.social_url).unwrap_or_default(),
            "current_job_title": person.title,
            "company_name": self.shown_company(person.company).0,
            "social_location": person.location,
            "emails": person.emails.show(),
            "phones": person.phones.show(),
            "candidate_id": candidate,
            "client_contact_id": null,
            "external_source_id": person.external,
        })
    }

    pub fn shown_person(&self, number: u64) -> Value {
        let person = &self.persons[&number];
        let (company_name, company_id) = self.shown_company(person.company);
        let jobs: Vec<_> = self
            .candidates_where(|candidate| candidate.person == number)
            .map(|candidate| self.association(candidate))
            .collect();
        json!({
            "id": placeholder("per", number),
            "name": person.name.whole,
            "social_public_id": handle(&person.social_url).unwrap_or_default(),
            "first_name": person.name.first,
            "last_name": person.name.last,
            "current_job_title": person.title,
            "current_company_name": company_name,
            "current_company_id": company_id,
            "external_source_id": person.external,
            "emails": person.emails.show(),
            "phones": person.phones.show(),
            "work_experience": [],
            "education_experience": [],
            "certifications": [],
            "jobs": jobs,
        })
    }

    fn association(&self, number: u64) -> Value {
        let candidate = &self.candidates[&number];
        let job = &self.jobs[&candidate.job];
        let stage = job.stage(candidate.stage);
        json!({
            "candidate_id": placeholder("cnd", number),
            "job_name": job.name,
            "job_id": placeholder("job", candidate.job),
            "job_client_company_name": self.companies[&job.client],
            "current_pipeline_stage_name": stage.name,
            "current_pipeline_stage_id": placeholder("stg", stage.number),
        })
    }

    pub fn listed_person(&self, number: u64) -> Value {
        let person = &self.persons[&number];
        let (company_name, company_id) = self.shown_company(person.company);
        json!({
            "id": placeholder("per", number),
            "name": person.name.whole,
            "first_name": person.name.first,
            "last_name": person.name.last,
            "social_public_id": handle(&person.social_url).unwrap_or_default(),
            "social_location": person.location,
            "current_job_title": person.title,
            "current_company_name": company_name,
            "current_company_id": company_id,
            "external_source_id": person.external,
            "emails": person.emails.show(),
            "phones": person.phones.show(),
            "created_at": person.created,
            "updated_at": person.updated,
            "matched_fields": [],
        })
    }

    /// The fields of a person in events.
    pub fn person_fields(&self, person: &Person) -> Value {
        let (company_name, company_id) = self.shown_company(person.company);
        json!({
            "name": person.name.whole,
            "first_name": person.name.first,
            "last_name": person.name.last,
            "social_public_id": handle(&person.social_url).unwrap_or_default(),
            "social_url": person.social_url,
            "social_location": person.location,
            "social_headline": person.headline,
            "address": person.address,
            "current_job_title": person.title,
            "current_company_id": company_id,
            "current_company_name": company_name,
            "external_source_id": person.external,
            "emails": person.emails.show(),
            "phones": person.phones.show(),
        })
    }

    /// The fields that all views of a candidate share.
    fn candidate_base(&self, number: u64) -> Map<String, Value> {
        let candidate = &self.candidates[&number];
        let person = &self.persons[&candidate.person];
        let (company_name, company_id) = self.shown_company(person.company);
        let stage = self.jobs[&candidate.job].stage(candidate.stage);
        fields(json!({
            "name": person.name.whole,
            "current_job_title": person.title,
            "current_company_name": company_name,
            "current_company_id": company_id,
            "current_pipeline_stage_name": stage.name,
            "current_pipeline_stage_id": placeholder("stg", stage.number),
        }))
    }

    pub fn shown_candidate(&self, number: u64) -> Value {
        let candidate = &self.candidates[&number];
        let history = candidate.history.iter();
        let history: Vec<_> = history
            .map(|entry| {
                json!({ "stage_id": placeholder("stg", entry.stage),
                "stage_name": entry.name, "stage_date": entry.at })
            })
            .collect();
        let ids = json!({ "id": placeholder("cnd", number),
            "person_id": placeholder("per", candidate.person), "job_id": placeholder("job",
                candidate.job) });
        let times = json!({
            "current_pipeline_stage_date": candidate.entered(),
            "created_at": candidate.created,
            "pipeline_stage_history": history,
        });
        joined([fields(ids), self.candidate_base(number), fields(times)])
    }

    /// A candidate in the list of its job.
    pub fn listed_candidate(&self, number: u64) -> Value {
        let candidate = &self.candidates[&number];
        let ids = json!({ "id": placeholder("cnd", number),
            "person_id": placeholder("per", candidate.person) });
        joined([
            fields(ids),
            self.candidate_base(number),
            fields(json!({ "created_at": candidate.created })),
        ])
    }

    /// A candidate in the list of all.
    pub fn listed_candidate_of_all(&self, number: u64) -> Value {
        let candidate = &self.candidates[&number];
        let ids = json!({ "id": placeholder("cnd", number),
            "person_id": placeholder("per", candidate.person) });
        let rest = json!({
            "current_pipeline_stage_date": candidate.entered(),
            "job_id": placeholder("job", candidate.job),
            "job_name": self.jobs[&candidate.job].name,
            "created_at": candidate.created,
            "updated_at": candidate.entered(),
        });
        joined([fields(ids), self.candidate_base(number), fields(rest)])
    }

    /// The fields of a candidate in `candidate.created` and `candidate.removed`.
    pub fn candidate_fields(&self, candidate: &Candidate) -> Value {
        let ids = json!({ "person_id": placeholder("per", candidate.person), "job_id": placeholder("job", candidate.job) });
        let stage = self.stage_fields(candidate);
        joined([fields(ids), fields(stage), fields(json!({ "created_at": candidate.created }))])
    }

    /// The fields of a candidate in `candidate.moved`.
    pub fn stage_fields(&self, candidate: &Candidate) -> Value {
        let stage = self.jobs[&candidate.job].stage(candidate.stage);
        json!({
            "current_pipeline_stage_id": placeholder("stg", stage.number),
            "current_pipeline_stage_name": stage.name,
            "current_pipeline_stage_date": candidate.entered(),
        })
    }

    /// A job in a list.
    pub fn listed_job(&self, number: u64) -> Value {
        let job = &self.jobs[&number];
        let base = json!({ "id": placeholder("job", number), "name": job.name,
            "created_at": job.created, "is_archived": job.is_archived });
        let rest = fields(self.job_fields(job))
            .into_iter()
            .filter(|(name, _)| !["name", "is_archived"].contains(&name.as_str()))
            .collect();
        let count = self.candidates_where(|candidate| candidate.job == number).count();
        joined([fields(base), rest, fields(json!({ "candidate_count": count }))])
    }

    pub fn shown_job(&self, number: u64) -> Value {
        let mut shown = self.listed_job(number);
        shown["pipeline_stages"] = self.jobs[&number].pipeline();
        shown
    }

    /// The fields of a job in events, without its pipeline.
    pub fn job_fields(&self, job: &Job) -> Value {
        let (client_name, client_id) = self.shown_company(Some(job.client));
        let status = self.statuses.iter().find(|(number, _)| *number == job.status);
        json!({
            "name": job.name,
            "is_archived": job.is_archived,
            "client_company_name": client_name,
            "client_company_id": client_id,
            "job_status_name": status.map(|(_, name)| name),
            "job_status_id": placeholder("sts", job.status),
        })
    }

    /// A stage with the number of candidates in it.
    pub fn counted_stage(&self, job: u64, place: usize) -> Value {
        let stage = &self.jobs[&job].stages[place];
        let count = self.candidates_where(|candidate| candidate.stage == stage.number).count();
        joined([fields(stage.show(place)), fields(json!({ "candidate_count": count }))])
    }
}

impl Job {
    pub fn pipeline(&self) -> Value {
        self.stages.iter().enumerate().map(|(place, stage)| stage.show(place)).collect()
    }
}

impl Stage {
    fn show(&self, place: usize) -> Value {
        json!({
            "id": placeholder("stg", self.number),
            "name": self.name,
            "stage_order": place + 1,
            "is_rejection_stage": self.is_rejection,
            "is_interviewing_stage": self.is_interviewing,
        })
    }
}

fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn joined<const PARTS: usize>(parts: [Map<String, Value>; PARTS]) -> Value {
    parts.into_iter().flatten().collect()
}
