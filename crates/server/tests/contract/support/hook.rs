use serde_json::{Value, json};

use super::client::{Client, Reply};
use super::engine::Engine;
use super::receiver::Receiver;
use super::server::App;
use super::shared;
use super::wait::eventually;
use super::workspace::Workspace;

/// Delays between attempts for a test that waits for the next one, and for a test that wants no
/// next one.
pub const SOON: &str = "50ms,50ms,50ms,50ms,50ms,50ms,50ms,50ms";
pub const NEVER: &str = "1h";

fn calling(delays: &str) -> [(&'static str, &str); 2] {
    [("SLATED_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8"), ("SLATED_WEBHOOK_RETRY_DELAYS", delays)]
}

/// A server of its own that may call this machine, and tries again after these delays.
pub fn calling_app(engine: Engine, delays: &str) -> App {
    calling(delays)
        .into_iter()
        .fold(engine.app(), |builder, (name, value)| builder.environment(name, value))
        .start()
}

/// Such a server, and a receiver with a webhook.
pub fn hooked_app(engine: Engine, delays: &str) -> (App, Receiver, Hook) {
    let app = calling_app(engine, delays);
    let receiver = Receiver::start();
    let hook = Hook::new(&app, &receiver.url());
    (app, receiver, hook)
}

/// A workspace on a server that may call this machine, and tries again after these delays.
pub fn calling_workspace(engine: Engine, delays: &str) -> Workspace {
    shared::workspace(engine, &calling(delays))
}

/// Such a workspace, and a receiver with a webhook.
pub fn hooked(engine: Engine, delays: &str) -> (Workspace, Receiver, Hook) {
    let workspace = calling_workspace(engine, delays);
    let receiver = Receiver::start();
    let hook = Hook::new(&workspace, &receiver.url());
    (workspace, receiver, hook)
}

/// A webhook that a test made.
pub struct Hook {
    pub id: String,
    pub secret: String,
    pub client: Client,
}

impl Hook {
    /// A webhook for what happens to records, not to keys and webhooks.
    pub fn new(workspace: &Workspace, url: &str) -> Self {
        Self::of_types(workspace, url, &["person.*", "candidate.*", "job.*", "company.*"])
    }

    pub fn of_types(workspace: &Workspace, url: &str, types: &[&str]) -> Self {
        let client = workspace.client("admin");
        let made = client.post("/v1/webhooks", &json!({ "url": url, "types": types })).expect(201);
        Self { id: made.id(), secret: made.string("secret"), client }
    }

    pub fn path(&self, rest: &str) -> String {
        format!("/v1/webhooks/{}{rest}", self.id)
    }

    pub fn read(&self) -> Value {
        self.client.get(&self.path("")).expect(200).data().clone()
    }

    pub fn change(&self, body: &Value) {
        self.client.patch(&self.path(""), body).expect(200);
    }

    pub fn post(&self, rest: &str, body: &Value) -> Reply {
        self.client.post(&self.path(rest), body)
    }

    pub fn deliveries(&self, query: &str) -> Vec<Value> {
        self.client.get(&self.path(&format!("/deliveries{query}"))).expect(200).entries().to_vec()
    }

    pub fn delivery(&self, sequence: &Value) -> Value {
        self.client.get(&self.path(&format!("/deliveries/{sequence}"))).expect(200).data().clone()
    }

    #[track_caller]
    pub fn wait_delivered(&self, count: usize) {
        eventually(&format!("{count} are delivered"), || {
            self.deliveries("?status=delivered").len() == count
        });
    }

    #[track_caller]
    pub fn wait_status(&self, status: &str) {
        eventually(&format!("the webhook is {status}"), || self.read()["status"] == status);
    }

    /// All events of these types in the feed.
    pub fn events(&self, types: &str) -> Vec<Value> {
        let (mut events, mut after) = (Vec::new(), 0);
        loop {
            let page = self
                .client
                .get(&format!("/v1/events?after={after}&types={types}&limit=1000"))
                .expect(200);
            events.extend_from_slice(page.entries());
            if page.json["meta"]["has_more"] == false {
                return events;
            }
            after = page.json["meta"]["next_after"].as_u64().unwrap();
        }
    }
}
