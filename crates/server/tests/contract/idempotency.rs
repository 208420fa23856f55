//! `Idempotency-Key`: a write that is sent again is answered again, and done once.

use serde_json::json;

use crate::support::{App, Engine, OPERATIONS, World, each_engine, together};

each_engine! {
    every_write_sent_again_is_answered_from_the_first_time
    a_write_sent_again_is_done_once
    another_body_or_path_under_the_same_key_is_refused
    a_refused_write_does_not_use_up_its_key
    a_read_takes_no_notice_of_the_key
    many_at_one_instant_are_done_once
    an_answer_is_kept_over_a_restart
}

fn every_write_sent_again_is_answered_from_the_first_time(app: &App) {
    let client = app.writer();
    let world = World::build(&client);
    for (number, operation) in OPERATIONS.iter().filter(|operation| operation.writes()).enumerate() {
        let client = client.with("idempotency-key", &format!("key-{number}"));
        let first = operation.send(&client, &world);
        assert!([200, 201, 202].contains(&first.status), "{first:#?}");
        assert_eq!(first.header("idempotency-replayed"), None, "{first:#?}");
        let second = operation.send(&client, &world).expect(first.status);
        assert_eq!(second.header("idempotency-replayed"), Some("true"), "{second:#?}");
        assert_eq!(second.text, first.text);
        assert_ne!(second.header("x-request-id"), first.header("x-request-id"));
        assert_eq!(second.header("content-type"), first.header("content-type"));
    }
}

fn a_write_sent_again_is_done_once(app: &App) {
    let client = app.writer();
    let once = client.with("idempotency-key", "8e03978e-40d5-43dd-bc93-6894a57f9324");
    let body = json!({ "name": "Engineer", "client_company_name": "Acme" });
    let job = once.post("/v1/jobs", &body).expect(201).id();
    client.patch(&format!("/v1/jobs/{job}"), &json!({ "name": "Changed since" })).expect(200);
    let again = once.post("/v1/jobs", &body).expect(201);
    assert_eq!((again.id(), again.string("name")), (job, "Engineer".to_owned()));
    assert_eq!(client.get("/v1/jobs").json["meta"]["total"], 1);
    client.with("idempotency-key", "another").post("/v1/jobs", &body).expect(201);
    assert_eq!(client.get("/v1/jobs").json["meta"]["total"], 2);
}

fn another_body_or_path_under_the_same_key_is_refused(app: &App) {
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    let once = client.with("idempotency-key", "same");
    let body = json!({ "name": "Ada" });
    once.post("/v1/persons", &body).expect(201);
    once.post("/v1/persons", &json!({ "name": "Grace" })).refused(409, "IDEMPOTENCY_CONFLICT");
    once.post("/v1/persons?on_duplicate=error", &body).refused(409, "IDEMPOTENCY_CONFLICT");
    once.post("/v0/persons", &body).expect(409);
    once.patch(&job.path(), &body).refused(409, "IDEMPOTENCY_CONFLICT");
    assert_eq!(client.get(&job.path()).data()["name"], "Engineer");
    let replayed = once.post("/v1/persons", &body).expect(201);
    assert_eq!(replayed.header("idempotency-replayed"), Some("true"));
}

fn a_refused_write_does_not_use_up_its_key(app: &App) {
    let client = app.writer();
    let once = client.with("idempotency-key", "same");
    once.post("/v1/persons", &json!({ "name": 7 })).refused(400, "INVALID_REQUEST");
    once.post("/v1/persons", &json!({ "name": "Ada", "job_name": "Nope" })).refused(404, "NOT_FOUND");
    let made = once.post("/v1/persons", &json!({ "name": "Ada" })).expect(201);
    assert_eq!(made.header("idempotency-replayed"), None);
    assert_eq!(once.post("/v1/persons", &json!({ "name": "Ada" })).expect(201).id(), made.id());
}

fn a_read_takes_no_notice_of_the_key(app: &App) {
    let client = app.writer();
    let once = client.with("idempotency-key", "same");
    assert_eq!(once.get("/v1/jobs").json["meta"]["total"], 0);
    client.new_job("Engineer", "Acme");
    let again = once.get("/v1/jobs").expect(200);
    assert_eq!((again.header("idempotency-replayed"), &again.json["meta"]["total"]), (None, &json!(1)));
}

fn many_at_one_instant_are_done_once(app: &App) {
    let client = app.writer();
    let once = client.with("idempotency-key", "same");
    let body = json!({ "name": "Engineer", "client_company_name": "Acme" });
    let mut ids = together(16, |_| once.post("/v1/jobs", &body).expect(201).id());
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(client.get("/v1/jobs").json["meta"]["total"], 1);
}

fn an_answer_is_kept_over_a_restart(engine: &Engine) {
    let mut app = engine.app().start();
    let body = json!({ "name": "Ada" });
    let first = app.writer().with("idempotency-key", "same").post("/v1/persons", &body).expect(201);
    app.process.kill();
    app.restart();
    let second = app.writer().with("idempotency-key", "same").post("/v1/persons", &body).expect(201);
    assert_eq!((second.text.as_str(), second.header("idempotency-replayed")), (first.text.as_str(), Some("true")));
}
