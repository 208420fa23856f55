//! Jobs in the model, and the statuses that they have.

use serde_json::{Value, json};

use super::answers::{Outcome, Page, Query, Refusal, record};
use super::fields::{Form, check, expect_given, expect_kept, expect_one, fold, text};
use super::learned::{number, placeholder};
use super::world::World;

#[derive(Clone, PartialEq)]
pub struct Job {
    pub name: String,
    pub client: u64,
    pub status: u64,
    pub is_archived: bool,
    /// In their order.
    pub stages: Vec<Stage>,
    pub created: String,
}

#[derive(Clone, PartialEq)]
pub struct Stage {
    pub number: u64,
    pub name: String,
    pub is_rejection: bool,
    pub is_interviewing: bool,
}

const NEW_STAGES: Form = Form::Entries(&[
    ("name", Form::Line),
    ("is_rejection_stage", Form::Flag),
    ("is_interviewing_stage", Form::Flag),
]);
const CREATED: &[(&str, Form)] = &[
    ("name", Form::Line),
    ("client_company_name", Form::Line),
    ("client_company_id", Form::Line),
    ("job_status_name", Form::Line),
    ("pipeline_stages", NEW_STAGES),
];
const UPDATED: &[(&str, Form)] = &[
    ("name", Form::Line),
    ("job_status_name", Form::Line),
    ("job_status_id", Form::Line),
    ("is_archived", Form::Flag),
    ("client_company_name", Form::Line),
    ("client_company_id", Form::Line),
];
const STANDARD: [&str; 8] = [
    "Sourced",
    "Contacted",
    "Screening",
    "Interview",
    "Final interview",
    "Offer",
    "Hired",
    "Rejected",
];

impl Job {
    pub fn stage(&self, number: u64) -> &Stage {
        self.stages.iter().find(|stage| stage.number == number).unwrap()
    }

    /// The stage that new candidates enter.
    pub fn entry(&self) -> Option<&Stage> {
        self.stages.iter().find(|stage| !stage.is_rejection)
    }
}

/// The stages of a new job, without numbers.
fn new_stages(body: &Value) -> Result<Vec<Stage>, Refusal> {
    let Some(entries) = body["pipeline_stages"].as_array() else {
        let standard = STANDARD.map(|name| Stage {
            number: 0,
            name: name.to_owned(),
            is_rejection: name == "Rejected",
            is_interviewing: name.to_lowercase().contains("interview"),
        });
        return Ok(standard.into());
    };
    let stages: Vec<_> = entries.iter().map(Stage::new).collect();
    if stages.iter().all(|stage| stage.is_rejection) {
        Err(Refusal::flaw("pipeline_stages", "TOO_FEW"))
    } else {
        Ok(stages)
    }
}

impl Stage {
    /// The stage that a body describes, without a number.
    pub fn new(body: &Value) -> Self {
        let flag = |field: &str| body[field].as_bool().unwrap_or(false);
        Self {
            number: 0,
            name: text(body, "name").unwrap_or_default(),
            is_rejection: flag("is_rejection_stage"),
            is_interviewing: flag("is_interviewing_stage"),
        }
    }
}

impl World {
    pub fn job(&self, id: &str) -> Result<u64, Refusal> {
        number("job", id)
            .filter(|number| self.jobs.contains_key(number))
            .ok_or_else(Refusal::not_found)
    }

    pub fn job_in(&self, body: &Value) -> Result<Option<u64>, Refusal> {
        let found = text(body, "job_id").map(|id| self.job(&id)).transpose();
        found.map_err(|_| Refusal::names_nothing("job_id"))
    }

    /// The client that a body names. A new name makes a company.
    fn client_in(&mut self, body: &Value) -> Result<Option<u64>, Refusal> {
        if let Some(id) = text(body, "client_company_id") {
            let known = number("cmp", &id).filter(|number| self.companies.contains_key(number));
            return known.map(Some).ok_or_else(|| Refusal::names_nothing("client_company_id"));
        }
        Ok(text(body, "client_company_name").map(|name| self.find_or_make_company(&name)))
    }

    fn status_in(&self, body: &Value) -> Result<Option<u64>, Refusal> {
        let by_id = text(body, "job_status_id").map(|id| ("job_status_id", self.status(&id).ok()));
        let by_name =
            text(body, "job_status_name").map(|name| ("job_status_name", self.status_named(&name)));
        let Some((field, found)) = by_id.or(by_name) else { return Ok(None) };
        found.map(Some).ok_or_else(|| Refusal::names_nothing(field))
    }

    pub fn create_job(&mut self, body: &Value) -> Outcome {
        check(body, CREATED)?;
        expect_given(body, "name")?;
        expect_one(body, "client_company_name", "client_company_id")?;
        if text(body, "client_company_id").is_none() {
            expect_given(body, "client_company_name")?;
        }
        let mut stages = new_stages(body)?;
        let status = self.status_in(body)?.unwrap_or(self.statuses[0].0);
        let Some(client) = self.client_in(body)? else {
            return Err(Refusal::flaw("client_company_name", "REQUIRED"));
        };
        let (number, created) = (self.next(), self.moment());
        stages.iter_mut().for_each(|stage| stage.number = self.next());
        let name = text(body, "name").unwrap_or_default();
        let job = Job { name, client, status, is_archived: false, stages, created };
        let mut after = self.job_fields(&job);
        (after["pipeline_stages"], after["created_at"]) = (job.pipeline(), json!(job.created));
        self.jobs.insert(number, job);
        self.emit(
            "job.created",
            placeholder("job", number),
            None,
            json!({ "before": {}, "after": after }),
        );
        record(201, self.shown_job(number))
    }

    pub fn read_job(&mut self, id: &str) -> Outcome {
        let number = self.job(id)?;
        record(200, self.shown_job(number))
    }

    pub fn update_job(&mut self, id: &str, body: &Value) -> Outcome {
        check(body, UPDATED)?;
        expect_kept(
            body,
            &[
                "name",
                "job_status_name",
                "job_status_id",
                "client_company_name",
                "client_company_id",
                "is_archived",
            ],
        )?;
        expect_one(body, "client_company_name", "client_company_id")?;
        expect_one(body, "job_status_name", "job_status_id")?;
        let number = self.job(id)?;
        let status = self.status_in(body)?;
        let client = self.client_in(body)?;
        let before = self.job_fields(&self.jobs[&number]);
        let mut job = self.jobs[&number].clone();
        job.name = text(body, "name").unwrap_or(job.name);
        job.status = status.unwrap_or(job.status);
        job.client = client.unwrap_or(job.client);
        job.is_archived = body["is_archived"].as_bool().unwrap_or(job.is_archived);
        let kind = if job.is_archived { "job.archived" } else { "job.restored" };
        let after = self.job_fields(&job);
        self.jobs.insert(number, job);
        let [(was, was_archived), (is, is_archived)] = [&before, &after].map(apart);
        self.emit_change("job.updated", placeholder("job", number), None, &was, &is);
        self.emit_change(kind, placeholder("job", number), None, &was_archived, &is_archived);
        record(200, self.shown_job(number))
    }

    pub fn list_jobs(&mut self, query: &Query<'_>) -> Outcome {
        let page = Page::read(query, &["status", "is_archived"])?;
        let is_archived =
            query.choice("is_archived", &["true", "false"])?.map(|written| written == "true");
        let unknown = || Refusal::flaw("status", "INVALID_VALUE");
        let by_name = |written| {
            self.status(written).ok().or_else(|| self.status_named(written)).ok_or_else(unknown)
        };
        let status = query.get("status").map(by_name).transpose()?;
        let fits = |job: &Job| {
            status.is_none_or(|status| job.status == status)
                && is_archived.is_none_or(|is| job.is_archived == is)
        };
        let fitting = self.jobs.iter().filter(|(_, job)| fits(job));
        let entries = fitting.map(|(number, _)| (*number, self.listed_job(*number))).collect();
        self.page(&page, entries, status.is_some() || is_archived.is_some())
    }

    fn status(&self, id: &str) -> Result<u64, Refusal> {
        let known = number("sts", id)
            .filter(|number| self.statuses.iter().any(|(known, _)| known == number));
        known.ok_or_else(Refusal::not_found)
    }

    fn status_named(&self, name: &str) -> Option<u64> {
        self.statuses.iter().find(|(_, known)| fold(known) == fold(name)).map(|(number, _)| *number)
    }

    fn show_status(&self, status: u64) -> Value {
        let place = self.statuses.iter().position(|(number, _)| *number == status).unwrap();
        json!({ "id": placeholder("sts", status), "name": self.statuses[place].1,
            "position": place + 1 })
    }

    pub fn list_statuses(&mut self, query: &Query<'_>) -> Outcome {
        let page = Page::read(query, &[])?;
        let entries =
            self.statuses.iter().map(|(number, _)| (*number, self.show_status(*number))).collect();
        self.page(&page, entries, false)
    }

    pub fn add_status(&mut self, body: &Value) -> Outcome {
        check(body, &[("name", Form::Line)])?;
        expect_given(body, "name")?;
        let name = text(body, "name").unwrap_or_default();
        self.expect_free(&name, None)?;
        let number = self.next();
        self.statuses.push((number, name));
        let shown = self.show_status(number);
        let after = json!({ "name": shown["name"], "position": shown["position"] });
        self.emit(
            "status.created",
            placeholder("sts", number),
            None,
            json!({ "before": {}, "after": after }),
        );
        record(201, shown)
    }

    pub fn rename_status(&mut self, id: &str, body: &Value) -> Outcome {
        check(body, &[("name", Form::Line)])?;
        expect_kept(body, &["name"])?;
        let status = self.status(id)?;
        let Some(name) = text(body, "name") else { return record(200, self.show_status(status)) };
        self.expect_free(&name, Some(status))?;
        let known = self.statuses.iter_mut().find(|(number, _)| *number == status).unwrap();
        let old = std::mem::replace(&mut known.1, name.clone());
        self.emit_change(
            "status.updated",
            placeholder("sts", status),
            None,
            &json!({ "name": old }),
            &json!({ "name": name }),
        );
        record(200, self.show_status(status))
    }

    fn expect_free(&self, name: &str, but: Option<u64>) -> Result<(), Refusal> {
        match self.status_named(name).filter(|holder| Some(*holder) != but) {
            Some(holder) => {
                Err(Refusal::new(409, "NAME_TAKEN").about("name", placeholder("sts", holder)))
            }
            None => Ok(()),
        }
    }
}

/// The fields of a job without `is_archived`, and that alone: it has events of its own.
fn apart(fields: &Value) -> (Value, Value) {
    let (archived, others): (Vec<_>, Vec<_>) = fields
        .as_object()
        .into_iter()
        .flatten()
        .map(|(name, value)| (name.clone(), value.clone()))
        .partition(|(name, _)| name == "is_archived");
    (others.into_iter().collect(), archived.into_iter().collect())
}
