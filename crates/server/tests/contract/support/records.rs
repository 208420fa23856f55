use std::sync::Barrier;
use std::thread;

use serde_json::{Value, json};

use super::client::Client;

/// A job that a test made, with what it needs to know of it.
pub struct Job {
    pub id: String,
    pub client_company: String,
    stages: Vec<(String, String)>,
}

impl Job {
    pub fn from_data(data: &Value) -> Self {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let stages = data["pipeline_stages"].as_array().unwrap();
        Self {
            id: text(&data["id"]),
            client_company: text(&data["client_company_id"]),
            stages: stages.iter().map(|stage| (text(&stage["name"]), text(&stage["id"]))).collect(),
        }
    }

    /// The id of the stage with that name.
    #[track_caller]
    pub fn stage(&self, name: &str) -> &str {
        &self
            .stages
            .iter()
            .find(|(known, _)| known == name)
            .unwrap_or_else(|| panic!("no stage {name}"))
            .1
    }

    pub fn path(&self) -> String {
        format!("/v1/jobs/{}", self.id)
    }

    pub fn stages_path(&self) -> String {
        format!("/v1/jobs/{}/stages", self.id)
    }

    pub fn stage_path(&self, name: &str) -> String {
        format!("/v1/jobs/{}/stages/{}", self.id, self.stage(name))
    }

    pub fn candidates_path(&self) -> String {
        format!("/v1/jobs/{}/candidates", self.id)
    }
}

impl Client {
    /// Makes a person, who must be new, and gives back the id.
    #[track_caller]
    pub fn new_person(&self, body: &Value) -> String {
        self.post("/v1/persons", body).expect(201).id()
    }

    #[track_caller]
    pub fn person(&self, id: &str) -> Value {
        self.get(&format!("/v1/persons/{id}")).expect(200).data().clone()
    }

    /// Changes a person and gives back what is read of them afterwards.
    #[track_caller]
    pub fn update_person(&self, id: &str, patch: &Value) -> Value {
        self.patch(&format!("/v1/persons/{id}"), patch).expect(200);
        self.person(id)
    }

    #[track_caller]
    pub fn new_job(&self, name: &str, client: &str) -> Job {
        self.new_job_with(&json!({ "name": name, "client_company_name": client }))
    }

    #[track_caller]
    pub fn new_job_with(&self, body: &Value) -> Job {
        Job::from_data(self.post("/v1/jobs", body).expect(201).data())
    }

    /// Puts a new person of that name on the job and gives back the candidate.
    #[track_caller]
    pub fn new_candidate(&self, job: &Job, name: &str) -> Value {
        let person = self.new_person(&json!({ "name": name }));
        self.post(&job.candidates_path(), &json!({ "person_id": person }))
            .expect(201)
            .data()
            .clone()
    }

    #[track_caller]
    pub fn candidate(&self, id: &str) -> Value {
        self.get(&format!("/v1/candidates/{id}")).expect(200).data().clone()
    }
}

/// One string field of each entry of an array.
#[track_caller]
pub fn strings(entries: &Value, field: &str) -> Vec<String> {
    let text = |entry: &Value| {
        entry[field].as_str().unwrap_or_else(|| panic!("no {field} in {entry}")).to_owned()
    };
    entries
        .as_array()
        .unwrap_or_else(|| panic!("not an array: {entries}"))
        .iter()
        .map(text)
        .collect()
}

/// Does the same thing in many threads at one instant; each is told its number.
pub fn together<T: Send>(threads: usize, action: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let barrier = &Barrier::new(threads);
    let action = &action;
    thread::scope(|scope| {
        let start = |number| {
            scope.spawn(move || {
                barrier.wait();
                action(number)
            })
        };
        let running: Vec<_> = (0..threads).map(start).collect();
        running.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}
