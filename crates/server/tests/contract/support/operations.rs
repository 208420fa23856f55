use serde_json::{Value, json};

use super::client::{Client, Reply};
use super::records::Job;

/// One of each record in a workspace.
pub struct World {
    pub person: String,
    pub candidate: String,
    pub job: Job,
    pub employer: String,
}

impl World {
    pub fn build(client: &Client) -> Self {
        let job = client.new_job("Engineer", "Acme");
        let person = json!({
            "name": "Ada Lovelace",
            "social_url": "https://social.example/in/ada",
            "emails": ["ada@engines.example"],
            "company_name": "Analytical Engines",
            "external_source_id": "crm-1",
            "job_id": job.id,
        });
        let person = client.post("/v1/persons", &person).expect(201);
        let candidate = person.string("candidate_id");
        let person = person.id();
        let employer = client.person(&person)["current_company_id"].as_str().unwrap().to_owned();
        Self { person, candidate, job, employer }
    }

    /// The records, to see whether anything changed of them.
    pub fn records(&self, client: &Client) -> Vec<String> {
        let person = format!("/v1/persons/{}", self.person);
        let candidate = format!("/v1/candidates/{}", self.candidate);
        let paths = [person, candidate, self.job.path(), self.job.candidates_path()];
        paths.iter().map(|path| client.get(path).expect(200).text).collect()
    }

    /// All that can be read of the workspace, to see whether anything changed, but for what changes
    /// with the clock and events, which may come later.
    pub fn contents(&self, client: &Client) -> Vec<String> {
        const PASSING: [&str; 6] =
            ["/export", "/stage-times", "/funnel", "/me", "/events", "/timeline"];
        let lasting =
            |read: &&Operation| !PASSING.iter().any(|passing| read.path.ends_with(passing));
        let reads = OPERATIONS.iter().filter(|operation| operation.method == "GET").filter(lasting);
        reads.map(|read| read.send(client, self).expect(200).text).collect()
    }
}

/// An operation of the interface, with a request that it takes.
pub struct Operation {
    pub method: &'static str,
    pub path: &'static str,
    pub scope: &'static str,
    body: Option<fn(&World) -> Value>,
}

impl Operation {
    pub fn writes(&self) -> bool {
        self.scope != "read"
    }

    pub fn is_version_zero(&self) -> bool {
        self.path.starts_with("/v0")
    }

    pub fn names_a_record(&self) -> bool {
        self.path.contains("{id}")
    }

    /// The path with the id of the record that it is about.
    pub fn path_in(&self, world: &World) -> String {
        let id = match self.path.split('/').nth(2).unwrap() {
            "persons" => &world.person,
            "candidates" => &world.candidate,
            "companies" => &world.employer,
            _ => &world.job.id,
        };
        self.path.replace("{id}", id)
    }

    pub fn body_in(&self, world: &World) -> Option<Value> {
        self.body.map(|body| body(world))
    }

    pub fn send(&self, client: &Client, world: &World) -> Reply {
        client.send(self.method, &self.path_in(world), self.body_in(world).as_ref())
    }

    /// Expects a refusal in the form of the operation's version.
    #[track_caller]
    pub fn assert_refused(&self, reply: Reply, status: u16, code: &str) -> Reply {
        if !self.is_version_zero() {
            return reply.refused(status, code);
        }
        let reply = reply.expect(status);
        assert!(
            reply.json["error"].as_str().is_some_and(|sentence| !sentence.is_empty()),
            "{reply:#?}"
        );
        assert_eq!(reply.json["data"], Value::Null, "{reply:#?}");
        reply
    }
}

const fn read(path: &'static str) -> Operation {
    Operation { method: "GET", path, scope: "read", body: None }
}

/// Looks with a body.
const fn ask(path: &'static str, body: fn(&World) -> Value) -> Operation {
    Operation { method: "POST", path, scope: "read", body: Some(body) }
}

const fn write(method: &'static str, path: &'static str, body: fn(&World) -> Value) -> Operation {
    Operation { method, path, scope: "write", body: Some(body) }
}

/// Every operation on records.
pub static OPERATIONS: [Operation; 44] = [
    write(
        "POST",
        "/v0/persons",
        |_| json!({ "name": "Grace Hopper", "external_source_id": "version-0" }),
    ),
    write(
        "POST",
        "/v1/persons",
        |_| json!({ "name": "Grace Hopper", "external_source_id": "version-1" }),
    ),
    read("/v1/persons"),
    write(
        "POST",
        "/v1/persons/batch",
        |_| json!({ "persons": [{ "name": "Grace Hopper", "external_source_id": "batch" }] }),
    ),
    read("/v1/persons/{id}"),
    write("PATCH", "/v1/persons/{id}", |_| json!({ "current_job_title": "Countess" })),
    write(
        "PUT",
        "/v1/persons/{id}/history",
        |_| json!({ "certifications": [{ "name": "Bernoulli numbers" }] }),
    ),
    ask("/v1/persons/resolve", |_| json!({ "name": "Ada", "emails": ["ada@engines.example"] })),
    read("/v1/persons/duplicates"),
    read("/v1/persons/{id}/export"),
    read("/v1/persons/{id}/notes"),
    write("POST", "/v1/persons/{id}/notes", |_| json!({ "body": "Met at the fair." })),
    read("/v1/persons/{id}/proposals"),
    read("/v1/proposals"),
    read("/v1/enrichments"),
    write("POST", "/v1/enrichments", |_| json!({ "filter": { "never_enriched": true } })),
    read("/v1/candidates/{id}"),
    write(
        "PATCH",
        "/v1/candidates/{id}",
        |world| json!({ "stage_id": world.job.stage("Interview") }),
    ),
    read("/v1/jobs"),
    write("POST", "/v1/jobs", |_| json!({ "name": "Designer", "client_company_name": "Umbrella" })),
    read("/v1/jobs/{id}"),
    write("PATCH", "/v1/jobs/{id}", |_| json!({ "name": "Chief engineer" })),
    read("/v1/jobs/{id}/candidates"),
    write("POST", "/v1/jobs/{id}/candidates", |world| json!({ "person_id": world.person })),
    write(
        "POST",
        "/v1/jobs/{id}/candidates/batch",
        |world| json!({ "person_ids": [world.person] }),
    ),
    read("/v1/candidates"),
    read("/v1/candidates/{id}/stage-times"),
    read("/v1/jobs/{id}/funnel"),
    read("/v1/jobs/{id}/stages"),
    write(
        "POST",
        "/v1/jobs/{id}/stages",
        |_| json!({ "name": "Reference check", "stage_order": 2 }),
    ),
    read("/v1/job-statuses"),
    read("/v1/pipeline-templates"),
    read("/v1/companies"),
    write("POST", "/v1/companies", |_| json!({ "name": "Initech" })),
    read("/v1/companies/{id}"),
    write("PATCH", "/v1/companies/{id}", |_| json!({ "name": "Difference Engines" })),
    read("/v1/companies/{id}/jobs"),
    read("/v1/companies/{id}/contacts"),
    write("POST", "/v1/companies/{id}/contacts", |world| json!({ "person_id": world.person })),
    read("/v1/me"),
    read("/v1/events"),
    read("/v1/persons/{id}/timeline"),
    read("/v1/candidates/{id}/timeline"),
    read("/v1/jobs/{id}/timeline"),
];

/// The other operations that need a key: the stream, which does not end, those that need an
/// admin's, and those that need a record which is not in every workspace.
pub static OTHER_OPERATIONS: [(&str, &str); 40] = [
    ("GET", "/v1/events/stream"),
    ("PUT", "/v1/jobs/{id}/stages/order"),
    ("PATCH", "/v1/jobs/{id}/stages/{id}"),
    ("DELETE", "/v1/jobs/{id}/stages/{id}"),
    ("POST", "/v1/job-statuses"),
    ("PATCH", "/v1/job-statuses/{id}"),
    ("POST", "/v1/pipeline-templates"),
    ("GET", "/v1/pipeline-templates/{id}"),
    ("PATCH", "/v1/pipeline-templates/{id}"),
    ("DELETE", "/v1/pipeline-templates/{id}"),
    ("POST", "/v1/candidates/move"),
    ("DELETE", "/v1/candidates/{id}"),
    ("POST", "/v1/persons/{id}/merge"),
    ("DELETE", "/v1/persons/{id}"),
    ("PATCH", "/v1/persons/{id}/notes/{id}"),
    ("DELETE", "/v1/persons/{id}/notes/{id}"),
    ("GET", "/v1/persons/{id}/enrichment"),
    ("POST", "/v1/persons/{id}/enrichment"),
    ("GET", "/v1/enrichments/{id}"),
    ("POST", "/v1/enrichments/{id}/cancel"),
    ("POST", "/v1/proposals/{id}/accept"),
    ("POST", "/v1/proposals/{id}/reject"),
    ("POST", "/v1/companies/{id}/merge"),
    ("DELETE", "/v1/companies/{id}/contacts/{id}"),
    ("GET", "/v1/keys"),
    ("POST", "/v1/keys"),
    ("GET", "/v1/keys/{id}"),
    ("DELETE", "/v1/keys/{id}"),
    ("POST", "/v1/keys/{id}/rotate"),
    ("GET", "/v1/webhooks"),
    ("POST", "/v1/webhooks"),
    ("GET", "/v1/webhooks/{id}"),
    ("PATCH", "/v1/webhooks/{id}"),
    ("DELETE", "/v1/webhooks/{id}"),
    ("POST", "/v1/webhooks/{id}/rotate"),
    ("POST", "/v1/webhooks/{id}/test"),
    ("POST", "/v1/webhooks/{id}/replay"),
    ("GET", "/v1/webhooks/{id}/deliveries"),
    ("GET", "/v1/webhooks/{id}/deliveries/{id}"),
    ("POST", "/v1/webhooks/{id}/deliveries/{id}/resend"),
];
