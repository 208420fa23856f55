//! Random invalid requests: unknown ids, ids of another workspace, bad fields and bad parameters.
//! Each has one flaw, since the order of several is not documented.

use rand::RngExt;
use rand::rngs::SmallRng;
use rand::seq::{IndexedRandom, IteratorRandom};
use serde_json::{Value, json};

use super::answers::Request;
use super::learned::placeholder;
use super::world::World;
use crate::support::Client;

/// Ids of records in another workspace.
pub struct Foreign {
    person: String,
    job: String,
    pub stage: String,
    candidate: String,
    note: String,
}

impl Foreign {
    pub fn build(client: &Client) -> Self {
        let job = client.new_job("Engineer", "Acme");
        let candidate = client.new_candidate(&job, "Ada");
        let [id, person] =
            ["id", "person_id"].map(|field| candidate[field].as_str().unwrap().to_owned());
        let note = client
            .post(&format!("/v1/persons/{person}/notes"), &json!({ "body": "Elsewhere" }))
            .expect(201)
            .id();
        Self { person, stage: job.stage("Interview").to_owned(), job: job.id, candidate: id, note }
    }
}

pub fn any(random: &mut SmallRng, world: &World, foreign: &Foreign) -> Request {
    match random.random_range(0..3) {
        0 => wrong_id(random, world, foreign),
        1 => wrong_body(random, world),
        _ => wrong_query(random, world),
    }
}

/// The ids of a person, a job and a candidate; unknown ones where there are no records.
fn ids(random: &mut SmallRng, world: &World) -> (String, String, String) {
    let mut id = |kind: &str, numbers: Vec<u64>| match numbers.choose(random) {
        Some(number) => placeholder(kind, *number),
        None => format!("{kind}_00000000000000000000000000"),
    };
    let person = id("per", world.persons.keys().copied().collect());
    let job = id("job", world.jobs.keys().copied().collect());
    (person, job, id("cnd", world.candidates.keys().copied().collect()))
}

fn wrong_id(random: &mut SmallRng, world: &World, foreign: &Foreign) -> Request {
    const NOBODY: &str = "per_00000000000000000000000000";
    let (person, job, candidate) = ids(random, world);
    let Foreign {
        person: foreign_person,
        job: foreign_job,
        stage,
        candidate: foreign_candidate,
        note,
    } = foreign;
    let title = json!({ "current_job_title": "Analyst" });
    let requests = [
        Request::read(format!("/v1/persons/{NOBODY}")),
        Request::read(format!("/v1/persons/{foreign_person}")),
        Request::read(format!("/v1/persons/{job}")),
        Request::read(format!("/v1/persons/{foreign_person}/notes")),
        Request::new("PATCH", format!("/v1/persons/{foreign_person}"), title.clone()),
        Request::new("PATCH", "/v1/persons/x".to_owned(), title),
        Request::new("DELETE", format!("/v1/persons/{foreign_person}"), None),
        Request::new("POST", format!("/v1/persons/{NOBODY}/notes"), json!({ "body": "Hello" })),
        Request::new(
            "PATCH",
            format!("/v1/persons/{person}/notes/{note}"),
            json!({ "body": "Hello" }),
        ),
        Request::new("DELETE", format!("/v1/persons/{person}/notes/{note}"), None),
        Request::new("POST", "/v1/persons", json!({ "name": "Ada", "job_id": foreign_job })),
        Request::new("PATCH", format!("/v1/persons/{person}"), json!({ "job_id": person })),
        Request::read(format!("/v1/jobs/{foreign_job}")),
        Request::read(format!("/v1/jobs/{foreign_job}/candidates")),
        Request::new("PATCH", format!("/v1/jobs/{foreign_job}"), json!({ "name": "Mine" })),
        Request::new("PATCH", format!("/v1/jobs/{job}"), json!({ "job_status_name": "Nowhere" })),
        Request::new("PATCH", format!("/v1/jobs/{job}"), json!({ "client_company_id": person })),
        Request::new("POST", format!("/v1/jobs/{foreign_job}/stages"), json!({ "name": "Mine" })),
        Request::new("PATCH", format!("/v1/jobs/{job}/stages/{stage}"), json!({ "name": "Mine" })),
        Request::new("DELETE", format!("/v1/jobs/{job}/stages/{stage}"), None),
        Request::new(
            "POST",
            format!("/v1/jobs/{foreign_job}/candidates"),
            json!({ "person_id": person }),
        ),
        Request::new(
            "POST",
            format!("/v1/jobs/{job}/candidates"),
            json!({ "person_id": foreign_person }),
        ),
        Request::read(format!("/v1/candidates/{foreign_candidate}")),
        Request::new(
            "PATCH",
            format!("/v1/candidates/{foreign_candidate}"),
            json!({ "stage_id": stage }),
        ),
        Request::new("PATCH", format!("/v1/candidates/{candidate}"), json!({ "stage_id": stage })),
        Request::new(
            "PATCH",
            format!("/v1/candidates/{candidate}"),
            json!({ "stage_name": "Nowhere" }),
        ),
        Request::new("DELETE", format!("/v1/candidates/{foreign_candidate}"), None),
    ];
    requests.into_iter().choose(random).unwrap()
}

fn wrong_body(random: &mut SmallRng, world: &World) -> Request {
    let (person, job, candidate) = ids(random, world);
    let long = "x".repeat(256);
    let (new, person) =
        (("POST", "/v1/persons".to_owned()), ("PATCH", format!("/v1/persons/{person}")));
    let (new_job, job, stages) = (
        ("POST", "/v1/jobs".to_owned()),
        ("PATCH", format!("/v1/jobs/{job}")),
        ("POST", format!("/v1/jobs/{job}/stages")),
    );
    let candidate = ("PATCH", format!("/v1/candidates/{candidate}"));
    let notes = ("POST", format!("{}/notes", person.1));
    let wrong: [(_, Value); 26] = [
        (&new, json!({})),
        (&new, json!({ "name": 7 })),
        (&new, json!({ "name": long })),
        (&new, json!({ "name": "Ada\u{7}Lovelace" })),
        (&new, json!({ "name": "Ada", "frist_name": "Ada" })),
        (&new, json!({ "name": "Ada", "emails": ["ada@x.example", "nowhere"] })),
        (&new, json!({ "name": "Ada", "emails": "ada@x.example" })),
        (&new, json!({ "name": "Ada", "mobile_phone": "12" })),
        (&new, json!({ "social_url": "ftp://social.example/in/ada" })),
        (&new, json!({ "social_url": "https://social.example/in/" })),
        (&new, json!({ "name": "Ada", "social_url": "n/a" })),
        (&person, json!({ "emails": ["ada@x.example"] })),
        (&person, json!({ "emails": [{ "contact_data_type": "fax", "value": "ada@x.example" }] })),
        (&person, json!({ "phone_numbers": [{ "contact_data_type": "work" }] })),
        (&person, json!({ "notes": "Hello" })),
        (&new_job, json!({ "client_company_name": "Acme" })),
        (&new_job, json!({ "name": "Engineer" })),
        (
            &new_job,
            json!({ "name": "Engineer", "client_company_name": "Acme", "client_company_id": "x" }),
        ),
        (
            &new_job,
            json!({ "name": "Engineer", "client_company_name": "Acme",
                "pipeline_stages": [{ "name": "No", "is_rejection_stage": true }] }),
        ),
        (&job, json!({ "name": null })),
        (&job, json!({ "is_archived": "yes" })),
        (&stages, json!({ "name": "Offer", "stage_order": 0 })),
        (&stages, json!({ "stage_order": 1 })),
        (&candidate, json!({})),
        (&candidate, json!({ "stage_name": "Offer", "stage_id": "x" })),
        (&notes, json!({ "body": " \n " })),
    ];
    let ((method, path), body) = wrong.into_iter().choose(random).unwrap();
    Request::new(method, path.clone(), body)
}

fn wrong_query(random: &mut SmallRng, world: &World) -> Request {
    let (person, job, _) = ids(random, world);
    let lists = ["/v1/persons".to_owned(), "/v1/jobs".to_owned(), "/v1/candidates".to_owned()];
    let lists = lists
        .into_iter()
        .chain([format!("/v1/persons/{person}/notes"), format!("/v1/jobs/{job}/candidates")]);
    let list = lists.choose(random).unwrap();
    let parameters = [
        "limit=0",
        "limit=101",
        "limit=x",
        "offset=-1",
        "offset=1.5",
        "sort=name",
        "cursor=x",
        "page=2",
    ];
    let queries = parameters.iter().map(|parameter| Request::read(format!("{list}?{parameter}")));
    let others = [
        Request::new("POST", "/v1/persons?on_duplicate=never", json!({ "name": "Ada" })),
        Request::read(format!("/v1/jobs/{job}/candidates?stage_id={person}")),
        Request::read(format!("/v1/jobs/{job}/candidates?stage_name=Nowhere")),
        Request::read("/v1/jobs?status=Nowhere"),
        Request::read(format!("/v1/candidates?job_id={person}")),
    ];
    queries.chain(others).choose(random).unwrap()
}
