use serde_json::{Value, json};

use super::client::{Client, Reply};
use super::engine::Engine;
use super::provider::Provider;
use super::server::{App, AppBuilder};
use super::wait::eventually;

/// A configuration file with these providers, in which a failed enrichment is tried again at once,
/// and twice at most.
pub fn config(providers: &[String]) -> String {
    format!("[enrichment]\nretry_delays = [\"50ms\", \"50ms\"]\n\n{}", providers.join("\n"))
}

/// A server with that configuration, which may call this machine.
pub fn configured(engine: Engine, config: &str) -> AppBuilder {
    engine.app().environment("SLATED_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8").config(config)
}

/// A server with one provider, whose name is `people` and whose section has these settings as well.
pub fn enriching(engine: Engine, more: &str) -> (App, Provider) {
    let provider = Provider::start();
    let app = configured(engine, &config(&[provider.section("people", more)])).start();
    (app, provider)
}

/// The address of the profile with that handle.
pub fn social_url(handle: &str) -> String {
    format!("https://social.example/in/{handle}")
}

pub fn run_path(run: &str) -> String {
    format!("/v1/enrichments/{run}")
}

impl Client {
    /// Makes a person with that handle, of whom nothing else is known, and gives back the id.
    #[track_caller]
    pub fn new_handle(&self, handle: &str) -> String {
        self.new_person(&json!({ "social_url": social_url(handle) }))
    }

    pub fn ask_enrichment(&self, person: &str, body: Option<&Value>) -> Reply {
        self.send("POST", &format!("/v1/persons/{person}/enrichment"), body)
    }

    #[track_caller]
    pub fn enrichment(&self, person: &str) -> Value {
        self.get(&format!("/v1/persons/{person}/enrichment")).expect(200).data().clone()
    }

    /// Waits until the condition holds for the person's enrichment.
    #[track_caller]
    pub fn wait_enrichment(
        &self,
        person: &str,
        what: &str,
        condition: impl Fn(&Value) -> bool,
    ) -> Value {
        let mut seen = Value::Null;
        eventually(&format!("the enrichment of {person} {what}"), || {
            seen = self.enrichment(person);
            condition(&seen)
        });
        seen
    }

    /// The person's enrichment, once it neither waits nor is at work.
    #[track_caller]
    pub fn wait_enriched(&self, person: &str) -> Value {
        self.wait_enrichment(person, "ends", |seen| {
            ["done", "skipped", "failed"].iter().any(|state| seen["state"] == *state)
        })
    }

    /// Asks for the person's enrichment and gives back how it ended.
    #[track_caller]
    pub fn enrich(&self, person: &str) -> Value {
        self.ask_enrichment(person, None).expect(202);
        self.wait_enriched(person)
    }

    /// The same, with answers that are not kept ones.
    #[track_caller]
    pub fn enrich_anew(&self, person: &str) -> Value {
        self.ask_enrichment(person, Some(&json!({ "refresh": true }))).expect(202);
        self.wait_enriched(person)
    }

    /// What a read with `include=profile` shows of the person.
    #[track_caller]
    pub fn profile(&self, person: &str) -> Value {
        self.get(&format!("/v1/persons/{person}?include=profile")).expect(200).data()["profile"]
            .clone()
    }

    /// Where the values of the person come from.
    #[track_caller]
    pub fn provenance(&self, person: &str) -> Vec<Value> {
        let read = self.get(&format!("/v1/persons/{person}?include=provenance")).expect(200);
        read.data()["provenance"].as_array().unwrap_or_else(|| panic!("{read:#?}")).clone()
    }

    /// Where the value of one field comes from.
    #[track_caller]
    pub fn provenance_of(&self, person: &str, field: &str) -> Value {
        let all = self.provenance(person);
        all.iter()
            .find(|entry| entry["field"] == field)
            .unwrap_or_else(|| panic!("nothing about {field}: {all:#?}"))
            .clone()
    }

    /// The proposals of the person, newest first.
    #[track_caller]
    pub fn proposals(&self, person: &str) -> Vec<Value> {
        self.get(&format!("/v1/persons/{person}/proposals")).expect(200).entries().to_vec()
    }

    /// Starts a run and gives back its id.
    #[track_caller]
    pub fn start_run(&self, filter: &Value) -> String {
        self.post("/v1/enrichments", &json!({ "filter": filter })).expect(202).id()
    }

    #[track_caller]
    pub fn read_run(&self, run: &str) -> Value {
        self.get(&run_path(run)).expect(200).data().clone()
    }

    /// Waits until the condition holds for the run.
    #[track_caller]
    pub fn wait_run_until(
        &self,
        run: &str,
        what: &str,
        condition: impl Fn(&Value) -> bool,
    ) -> Value {
        let mut seen = Value::Null;
        eventually(&format!("the run {what}"), || {
            seen = self.read_run(run);
            condition(&seen)
        });
        seen
    }

    /// The run, once nobody of it waits.
    #[track_caller]
    pub fn wait_run(&self, run: &str) -> Value {
        self.wait_run_until(run, "ends", |seen| seen["state"] != "running")
    }
}
