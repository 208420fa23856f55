//! Chooses the next request at random. Most are valid operations on existing records; some repeat
//! an earlier request, some are invalid.

use rand::rngs::SmallRng;
use rand::seq::IteratorRandom;
use rand::{RngExt, SeedableRng};
use serde_json::{Value, json};

use super::answers::{Answer, Request};
use super::bodies;
use super::learned::placeholder;
use super::mistakes::{self, Foreign};
use super::world::World;

/// The number of requests that may be repeated.
const REMEMBERED: usize = 60;
const MAX_PERSONS: usize = 40;
const MAX_JOBS: usize = 8;
const MAX_STAGES: usize = 10;
const MAX_STATUSES: usize = 8;

pub struct Steps {
    pub random: SmallRng,
    foreign: Foreign,
    /// Requests with an `Idempotency-Key`, refused ones included.
    keyed: Vec<Request>,
    keys: usize,
    /// Lists that have a next page: the path without its cursor, and the cursor.
    pages: Vec<(String, String)>,
}

impl Steps {
    pub fn new(seed: u64, foreign: Foreign) -> Self {
        Self {
            random: SmallRng::seed_from_u64(seed),
            foreign,
            keyed: Vec::new(),
            keys: 0,
            pages: Vec::new(),
        }
    }

    pub fn next(&mut self, world: &World) -> Request {
        let request = match self.random.random_range(0..100) {
            0..6 => self.repeat(),
            6..8 => self.reuse_key(world),
            8..15 => Some(mistakes::any(&mut self.random, world, &self.foreign)),
            15..22 => self.next_page(),
            _ => None,
        };
        if let Some(request) = request {
            return request;
        }
        let mut request = self.operation(world);
        if request.writes() && self.random.random_ratio(1, 6) {
            self.keys += 1;
            request.key = Some(format!("key-{}", self.keys));
        }
        request
    }

    /// The next request that changes a record.
    pub fn next_change(&mut self, world: &World) -> Request {
        loop {
            let request = self.next(world);
            if !world.clone().answer(&request, "").1.is_empty() {
                return request;
            }
        }
    }

    /// Remembers a request to repeat, or a page to continue.
    pub fn see(&mut self, request: &Request, answer: &Answer) {
        if request.key.is_some() && !self.keyed.contains(request) {
            self.remember(request.clone());
        }
        if let Some(cursor) = answer.next_cursor() {
            let list = request.path.split("&cursor=").next().unwrap_or_default();
            self.pages.push((list.to_owned(), cursor.to_owned()));
        }
    }

    fn remember(&mut self, request: Request) {
        if self.keyed.len() == REMEMBERED {
            let place = self.random.random_range(0..REMEMBERED);
            self.keyed.swap_remove(place);
        }
        self.keyed.push(request);
    }

    fn repeat(&mut self) -> Option<Request> {
        self.keyed.iter().choose(&mut self.random).cloned()
    }

    /// A different request under a key that has an answer.
    fn reuse_key(&mut self, world: &World) -> Option<Request> {
        let (key, kept) = world.kept.iter().choose(&mut self.random)?;
        let mut request = kept.request.clone();
        let field = if request.path.contains("/notes") { "body" } else { "name" };
        let has_field = !request.path.contains("/candidates") && !request.path.ends_with("/order");
        match request.body.as_mut().filter(|_| has_field) {
            Some(body) => {
                body[field] = json!(format!("Instead {}", self.random.random_range(0..1000)))
            }
            None => {
                request = Request::new(
                    "POST",
                    "/v1/jobs",
                    json!({ "name": "Instead", "client_company_name": "Acme" }),
                )
            }
        }
        request.key = Some(key.clone());
        Some(request)
    }

    fn next_page(&mut self) -> Option<Request> {
        if self.pages.is_empty() {
            return None;
        }
        let place = self.random.random_range(0..self.pages.len());
        let (list, cursor) = self.pages.swap_remove(place);
        let limit = self.random.random_range(1..=20);
        Some(Request::read(format!("{list}&cursor={cursor}&limit={limit}")))
    }

    /// A page of a list, by offset or by cursor.
    fn list(&mut self, route: &str, filters: &[String]) -> Request {
        let sort = if self.random.random_ratio(1, 3) { "-created_at" } else { "created_at" };
        let filters: String = filters.iter().map(|filter| format!("&{filter}")).collect();
        let (limit, offset) = (self.random.random_range(1..=20), self.random.random_range(0..30));
        let start = if self.random.random_bool(0.5) {
            "cursor=".to_owned()
        } else {
            format!("offset={offset}")
        };
        Request::read(format!("{route}?sort={sort}{filters}&{start}&limit={limit}"))
    }

    /// Each of these texts with a chance of one in three.
    fn sometimes(&mut self, texts: impl IntoIterator<Item = String>) -> Vec<String> {
        texts.into_iter().filter(|_| self.random.random_ratio(1, 3)).collect()
    }

    fn operation(&mut self, world: &World) -> Request {
        let Some(person) = self.person(world) else { return self.create_person(world) };
        let Some(job) = world.jobs.keys().choose(&mut self.random).copied() else {
            return self.create_job(world);
        };
        let (person_path, job_path) =
            (format!("/v1/persons/{person}"), format!("/v1/jobs/{}", placeholder("job", job)));
        match self.random.random_range(0..100) {
            0..2 if world.persons.len() < MAX_PERSONS => Request::new("DELETE", person_path, None),
            0..9 if world.persons.len() >= MAX_PERSONS => Request::new("DELETE", person_path, None),
            0..18 => self.create_person(world),
            18..22 => Request::read(person_path),
            22..35 => {
                Request::new("PATCH", person_path, bodies::person_patch(&mut self.random, world))
            }
            35..40 => {
                let email = format!("email={}", bodies::email(&mut self.random));
                let filters = self.sometimes([email]);
                self.list("/v1/persons", &filters)
            }
            40..43 if world.jobs.len() < MAX_JOBS => self.create_job(world),
            40..47 => Request::new("PATCH", job_path, bodies::job_patch(&mut self.random, world)),
            47..49 => Request::read(job_path),
            49..52 => self.list_jobs(world),
            52..54 => self.statuses(world),
            54..61 => self.stages(world, job, &format!("{job_path}/stages")),
            61..69 => Request::new(
                "POST",
                format!("{job_path}/candidates"),
                json!({ "person_id": person }),
            ),
            69..73 => self.list_candidates(world, job, &format!("{job_path}/candidates")),
            73..75 => {
                let filters = [
                    format!("person_id={person}"),
                    format!("job_id={}", placeholder("job", job)),
                    "is_rejected=true".to_owned(),
                ];
                let filters = self.sometimes(filters);
                self.list("/v1/candidates", &filters)
            }
            75..91 => self.candidate(world).unwrap_or_else(|| self.create_person(world)),
            _ => self.notes(world, &person_path),
        }
    }

    /// The id of a person, sometimes of an erased one.
    fn person(&mut self, world: &World) -> Option<String> {
        let erased = world
            .erased
            .iter()
            .choose(&mut self.random)
            .filter(|_| self.random.random_ratio(1, 30));
        let found = erased.or_else(|| world.persons.keys().choose(&mut self.random));
        found.map(|number| placeholder("per", *number))
    }

    fn create_person(&mut self, world: &World) -> Request {
        let choice = match self.random.random_range(0..10) {
            0 => "?on_duplicate=error",
            1 => "?on_duplicate=create",
            2 => "?on_duplicate=merge",
            _ => "",
        };
        Request::new(
            "POST",
            format!("/v1/persons{choice}"),
            bodies::new_person(&mut self.random, world),
        )
    }

    fn create_job(&mut self, world: &World) -> Request {
        Request::new("POST", "/v1/jobs", bodies::new_job(&mut self.random, world))
    }

    fn list_jobs(&mut self, world: &World) -> Request {
        let status = world
            .statuses
            .iter()
            .choose(&mut self.random)
            .map(|(_, name)| format!("status={}", name.replace(' ', "%20")));
        let filters = self.sometimes(status.into_iter().chain(["is_archived=true".to_owned()]));
        self.list("/v1/jobs", &filters)
    }

    fn statuses(&mut self, world: &World) -> Request {
        let name = json!({ "name": bodies::status(&mut self.random) });
        let known = world
            .statuses
            .iter()
            .choose(&mut self.random)
            .map(|(number, _)| placeholder("sts", *number));
        match (self.random.random_range(0..3), known) {
            (0, _) => Request::read("/v1/job-statuses"),
            (1, _) if world.statuses.len() < MAX_STATUSES => {
                Request::new("POST", "/v1/job-statuses", name)
            }
            (_, known) => Request::new(
                "PATCH",
                format!("/v1/job-statuses/{}", known.unwrap_or_default()),
                name,
            ),
        }
    }

    fn stages(&mut self, world: &World, job: u64, path: &str) -> Request {
        let stages = &world.jobs[&job].stages;
        let mut any = || {
            stages
                .iter()
                .choose(&mut self.random)
                .map(|stage| placeholder("stg", stage.number))
                .unwrap_or_default()
        };
        let (stage, other) = (any(), any());
        match self.random.random_range(0..10) {
            0..2 => Request::read(path),
            2..4 if stages.len() < MAX_STAGES => {
                Request::new("POST", path, bodies::new_stage(&mut self.random))
            }
            2..6 => Request::new(
                "PATCH",
                format!("{path}/{stage}"),
                bodies::stage_patch(&mut self.random),
            ),
            6..8 => {
                let mut ids: Vec<_> =
                    stages.iter().map(|stage| placeholder("stg", stage.number)).collect();
                let (one, two) = (
                    self.random.random_range(0..ids.len()),
                    self.random.random_range(0..ids.len()),
                );
                ids.swap(one, two);
                match self.random.random_range(0..8) {
                    0 => drop(ids.pop()),
                    1 => ids.push(other),
                    2 => ids[one] = self.foreign.stage.clone(),
                    _ => {}
                }
                Request::new("PUT", format!("{path}/order"), json!({ "stage_ids": ids }))
            }
            _ => {
                let target = if self.random.random_ratio(1, 4) {
                    String::new()
                } else {
                    format!("?move_to={other}")
                };
                Request::new("DELETE", format!("{path}/{stage}{target}"), None)
            }
        }
    }

    fn list_candidates(&mut self, world: &World, job: u64, path: &str) -> Request {
        let stage = world.jobs[&job].stages.iter().choose(&mut self.random);
        let filter = stage.map(|stage| match self.random.random_bool(0.5) {
            true => format!("stage_id={}", placeholder("stg", stage.number)),
            false => format!("stage_name={}", stage.name.to_uppercase().replace(' ', "%20")),
        });
        let filters = self.sometimes(filter);
        self.list(path, &filters)
    }

    fn candidate(&mut self, world: &World) -> Option<Request> {
        let (number, candidate) = world.candidates.iter().choose(&mut self.random)?;
        let path = format!("/v1/candidates/{}", placeholder("cnd", *number));
        let stages = &world.jobs[&candidate.job].stages;
        let mut target = || stages.iter().choose(&mut self.random);
        let (stage, from) = (target()?, target()?);
        let id = |number: u64| placeholder("stg", number);
        let body: Value = match self.random.random_range(0..16) {
            0..3 => return Some(Request::read(path)),
            3..5 => return Some(Request::new("DELETE", path, None)),
            5..8 => json!({ "stage_name": stage.name.to_lowercase() }),
            8..10 => json!({ "stage_id": id(stage.number), "from_stage_id": id(candidate.stage) }),
            10 => json!({ "stage_id": id(stage.number), "from_stage_id": id(from.number) }),
            11..13 => {
                json!({ "stage_id": id(stages.iter().find(|stage| stage.is_rejection)?.number) })
            }
            _ => json!({ "stage_id": id(stage.number) }),
        };
        Some(Request::new("PATCH", path, body))
    }

    fn notes(&mut self, world: &World, person_path: &str) -> Request {
        let body = json!({ "body": bodies::note(&mut self.random) });
        let known = world
            .persons
            .iter()
            .flat_map(|(person, record)| record.notes.keys().map(move |note| (*person, *note)));
        let known = known.choose(&mut self.random);
        let path = known.map(|(person, note)| {
            format!("/v1/persons/{}/notes/{}", placeholder("per", person), placeholder("nte", note))
        });
        match (self.random.random_range(0..8), path) {
            (0, Some(path)) => Request::new("DELETE", path, None),
            (1..3, Some(path)) => Request::new("PATCH", path, body),
            (3..5, _) => self.list(&format!("{person_path}/notes"), &[]),
            _ => Request::new("POST", format!("{person_path}/notes"), body),
        }
    }
}
