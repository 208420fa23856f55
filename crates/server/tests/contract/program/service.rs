//! What the program tells of itself: health, metrics, logs and its documentation page.

use serde_json::{Value, json};

use crate::support::{App, Engine, World, apply, each_engine};

#[apply(each_engine)]
fn it_says_that_it_is_alive_and_ready(app: &App) {
    for path in ["/healthz", "/readyz"] {
        let reply = app.anonymous().get(path).expect(200);
        assert!(reply.header("x-request-id").is_some(), "{reply:#?}");
    }
}

#[apply(each_engine)]
fn metrics_count_requests_by_route_and_status(app: &App) {
    let client = app.writer();
    let world = World::build(&client);
    for _ in 0..3 {
        client.get(&format!("/v1/persons/{}", world.person)).expect(200);
    }
    client.get("/v1/persons/per_1").expect(404);
    let text = app.anonymous().get("/metrics").expect(200).text;
    let counted = |status: &str| {
        let is_it = |line: &&str| {
            line.contains("requests_total")
                && line.contains("/v1/persons/{id}")
                && line.contains(status)
                && line.contains("GET")
        };
        let line =
            text.lines().find(is_it).unwrap_or_else(|| panic!("no count of {status} in\n{text}"));
        line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()
    };
    assert_eq!((counted("\"200\""), counted("\"404\"")), (4.0, 1.0));
    assert!(
        text.lines().any(|line| line.contains("_bucket{") && line.contains("/v1/persons/{id}")),
        "no latency histogram in\n{text}"
    );
}

#[apply(each_engine)]
fn metrics_name_neither_keys_nor_records(app: &App) {
    let client = app.writer();
    let world = World::build(&client);
    client.get(&format!("/v1/persons/{}", world.person)).expect(200);
    client.get("/v1/nope/of-this-name").expect(404);
    app.anonymous().with_key("slated_nonsense").get("/v1/jobs").expect(401);
    client.send("BREW", "/v1/jobs", None).expect(405);
    let text = app.anonymous().get("/metrics").expect(200).text;
    let key = app.key("write");
    for secret in [
        key.as_str(),
        "slated_nonsense",
        &world.person,
        &world.candidate,
        &world.job.id,
        "of-this-name",
        "BREW",
        "Lovelace",
    ] {
        assert!(!text.contains(secret), "{secret} stands in\n{text}");
    }
}

#[apply(each_engine)]
fn the_log_names_requests_and_no_keys(app: &App) {
    let client = app.writer();
    let world = World::build(&client);
    let (key, wrong) = (app.key("write"), format!("slated_{}", "x".repeat(52)));
    client
        .with("x-request-id", "trace-good")
        .get(&format!("/v1/persons/{}", world.person))
        .expect(200);
    client.with("x-request-id", "trace-bad").post("/v1/persons", &json!({ "name": 7 })).expect(400);
    app.anonymous()
        .with_key(&wrong)
        .with("x-request-id", "trace-refused")
        .get("/v1/jobs")
        .expect(401);
    let misplaced =
        client.with("x-request-id", "trace-path").get(&format!("/v1/persons/{key}")).expect(404);
    assert!(!misplaced.text.contains(&key), "{misplaced:#?}");
    app.anonymous()
        .with("x-request-id", "trace-long")
        .get(&format!("/v1/jobs/{}", "x/".repeat(20_000)))
        .expect(404);
    app.anonymous().send(&"X".repeat(20_000), "/v1/me", None).expect(401);
    client.with("x-request-id", "trace-address").get("/v1/persons/ada@engines.example").expect(404);
    for (id, status) in [
        ("trace-good", 200),
        ("trace-bad", 400),
        ("trace-refused", 401),
        ("trace-path", 404),
        ("trace-address", 404),
    ] {
        let entry = app.process.log.wait_for(id, |line| line.contains(id).then(|| line.to_owned()));
        assert!(entry.contains(&status.to_string()), "{entry}");
    }
    let log = app.process.log.text();
    for secret in [key.as_str(), &key[key.len() - 20..], &wrong, "ada@engines.example"] {
        assert!(!log.contains(secret), "{secret} stands in\n{log}");
    }
    for line in log.lines() {
        assert!(line.len() < 2_000, "{line}");
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        assert!(entry["timestamp"].is_string() && entry["level"].is_string(), "{line}");
    }
}

#[apply(each_engine)]
fn the_documentation_page_needs_nothing_from_elsewhere(app: &App) {
    let client = app.anonymous();
    let short = client.get("/docs");
    assert!(
        (300..400).contains(&short.status) && short.header("location") == Some("/docs/"),
        "{short:#?}"
    );
    let page = client.get("/docs/").expect(200);
    assert!(
        page.header("content-type").is_some_and(|kind| kind.starts_with("text/html")),
        "{page:#?}"
    );
    let quoted = |attribute: &str| {
        let start = format!("{attribute}=\"");
        let parts = page.text.split(start.as_str()).skip(1);
        parts.map(|part| part.split('"').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(!page.text.contains("<script>"), "{}", page.text);
    let policy = page.header("content-security-policy").unwrap_or_default();
    assert!(
        policy.contains("default-src 'self'") && policy.contains("frame-ancestors 'none'"),
        "{policy}"
    );
    let assets: Vec<_> = [quoted("src"), quoted("href")].concat();
    assert!(!assets.is_empty(), "{}", page.text);
    for asset in assets {
        assert!(!asset.contains("//"), "{asset} is elsewhere");
        client.get(&format!("/docs/{}", asset.trim_start_matches("./"))).expect(200);
    }
}

#[apply(each_engine)]
fn a_slow_request_can_be_broken_down_by_its_operations(engine: &Engine) {
    let app = engine.app().argument("--log=info,slated=debug").start();
    app.writer()
        .with("x-request-id", "slow-one")
        .post("/v1/jobs", &json!({ "name": "Pilot", "client_company_name": "Acme" }));
    let is_told = |operation: &str, line: &str| {
        let line: Value = serde_json::from_str(line).ok()?;
        let span = line["span"].as_str()?;
        let is_meant = span.contains("request.id=slow-one") && span.contains(operation);
        (is_meant && line["fields"]["operation.duration_ms"].as_f64()? >= 0.0).then_some(())
    };
    app.process.log.wait_for("the operation", |line| is_told("CreateJob", line));
}
