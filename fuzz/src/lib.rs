//! The whole service in one process, with a record of each kind, for fuzzers.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use http_body_util::BodyExt;
use metrics_exporter_prometheus::PrometheusBuilder;
use serde_json::Value;
use slated::http::{App, Settings};
use slated::router::router;
use slated::trusted_clock::TrustedClock;
use slated_model::key::Scope;
use slated_operations::keys::CreateKey;
use slated_store::{Location, Options, Purpose, Store};
use tokio::runtime::Runtime;
use tower::ServiceExt;

pub struct Service {
    runtime: Runtime,
    router: Router,
    key: String,
    /// The writes that take a body, with the ids of records that there are.
    pub routes: Vec<(&'static str, String)>,
}

impl Service {
    #[must_use]
    pub fn start() -> Self {
        let directory = std::env::temp_dir().join(format!("slated-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let (location, options) =
            (Location::Sqlite(directory.join("slated.db")), Options::default());
        let store =
            Arc::new(runtime.block_on(Store::open(&location, Purpose::Serve, &options)).unwrap());
        let work = CreateKey {
            workspace: "fuzz".to_owned(),
            name: "fuzz".to_owned(),
            scope: Scope::Write,
            expires_at: None,
        };
        let key = runtime.block_on(store.write(work)).unwrap().secret.reveal().to_owned();
        let second = Duration::from_secs(1);
        let settings = Settings {
            rate_limit: None,
            head_timeout: second,
            body_timeout: second,
            max_connections: 1,
            max_connections_of_address: 1,
            is_silent: false,
        };
        let metrics = PrometheusBuilder::new().build_recorder().handle();
        let clock = TrustedClock::start(None, true, TrustedClock::now());
        let stopping = tokio::sync::watch::channel(false).1;
        let router = router(Arc::new(App::new(
            store,
            settings,
            metrics,
            clock,
            Default::default(),
            stopping,
        )));
        let mut service = Self { runtime, router, key, routes: Vec::new() };
        let job =
            service.make("/v1/jobs", r#"{"name":"Fuzzer","client_company_name":"Fuzz & Co"}"#);
        let person = service
            .make("/v1/persons", r#"{"name":"Ada Lovelace","work_email":"ada@example.com"}"#);
        let candidate = service
            .make(&format!("/v1/jobs/{job}/candidates"), &format!(r#"{{"person_id":"{person}"}}"#));
        service.routes = vec![
            ("POST", "/v1/persons".to_owned()),
            ("POST", "/v0/persons".to_owned()),
            ("PATCH", format!("/v1/persons/{person}")),
            ("PUT", format!("/v1/persons/{person}/history")),
            ("POST", "/v1/jobs".to_owned()),
            ("PATCH", format!("/v1/jobs/{job}")),
            ("POST", format!("/v1/jobs/{job}/candidates")),
            ("PATCH", format!("/v1/candidates/{candidate}")),
            ("POST", "/v1/persons/batch".to_owned()),
            ("POST", format!("/v1/persons/{person}/notes")),
            ("POST", format!("/v1/persons/{person}/enrichment")),
            ("POST", "/v1/enrichments".to_owned()),
        ];
        service
    }

    fn make(&self, path: &str, body: &str) -> String {
        let (status, answer) = self.send("POST", path, body.as_bytes());
        assert_eq!(status, 201, "{answer}");
        answer["data"]["id"].as_str().unwrap().to_owned()
    }

    pub fn send(&self, method: &str, path: &str, body: &[u8]) -> (u16, Value) {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", "slated.example")
            .header("authorization", format!("Bearer {}", self.key))
            .header("content-type", "application/json")
            .body(Body::from(body.to_vec()))
            .unwrap();
        self.runtime.block_on(async {
            let response = self.router.clone().oneshot(request).await.unwrap();
            let status = response.status().as_u16();
            let bytes = response.into_body().collect().await.unwrap().to_bytes();
            (status, serde_json::from_slice(&bytes).expect("an answer is JSON"))
        })
    }
}
