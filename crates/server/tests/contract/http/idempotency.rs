//! `Idempotency-Key`: a write that is sent again is answered again, and done once.

use serde_json::{Value, json};

use crate::support::{
    App, Engine, MAIN, OPERATIONS, Reply, Workspace, World, apply, each_engine, together,
};

#[apply(each_engine)]
fn every_write_sent_again_is_answered_from_the_first_time(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    for (number, operation) in OPERATIONS.iter().filter(|operation| operation.writes()).enumerate()
    {
        let client = client.with("idempotency-key", &format!("key-{number}"));
        let first = operation.send(&client, &world);
        assert!([200, 201, 202].contains(&first.status), "{first:#?}");
        assert_eq!(first.header("idempotency-replayed"), None, "{first:#?}");
        let second = operation.send(&client, &world).expect(first.status);
        assert_eq!(second.header("idempotency-replayed"), Some("true"), "{second:#?}");
        assert_eq!(second.text, first.text);
        assert_ne!(second.header("x-request-id"), first.header("x-request-id"));
        for header in ["content-type", "etag"] {
            assert_eq!(second.header(header), first.header(header), "{header}: {second:#?}");
        }
    }
}

/// Invariant 11.
#[apply(each_engine)]
fn a_write_sent_again_is_done_once(workspace: &Workspace) {
    let client = workspace.writer();
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

#[apply(each_engine)]
fn another_body_or_path_under_the_same_key_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
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

#[apply(each_engine)]
fn a_refused_write_does_not_use_up_its_key(workspace: &Workspace) {
    let client = workspace.writer();
    let once = client.with("idempotency-key", "same");
    once.post("/v1/persons", &json!({ "name": 7 })).refused(400, "INVALID_REQUEST");
    once.post("/v1/persons", &json!({ "name": "Ada", "job_name": "Nope" }))
        .refused(404, "NOT_FOUND");
    let made = once.post("/v1/persons", &json!({ "name": "Ada" })).expect(201);
    assert_eq!(made.header("idempotency-replayed"), None);
    assert_eq!(once.post("/v1/persons", &json!({ "name": "Ada" })).expect(201).id(), made.id());
}

#[apply(each_engine)]
fn a_read_takes_no_notice_of_the_key(workspace: &Workspace) {
    let client = workspace.writer();
    let once = client.with("idempotency-key", "same");
    assert_eq!(once.get("/v1/jobs").json["meta"]["total"], 0);
    client.new_job("Engineer", "Acme");
    let again = once.get("/v1/jobs").expect(200);
    assert_eq!(
        (again.header("idempotency-replayed"), &again.json["meta"]["total"]),
        (None, &json!(1))
    );
}

/// Invariant 11.
#[apply(each_engine)]
fn many_at_one_instant_are_done_once(workspace: &Workspace) {
    let client = workspace.writer();
    let once = client.with("idempotency-key", "same");
    let body = json!({ "name": "Engineer", "client_company_name": "Acme" });
    let mut ids = together(16, |_| once.post("/v1/jobs", &body).expect(201).id());
    ids.dedup();
    assert_eq!(ids.len(), 1, "{ids:?}");
    assert_eq!(client.get("/v1/jobs").json["meta"]["total"], 1);
}

#[apply(each_engine)]
fn who_repeats_at_the_same_instant_is_not_refused_for_what_the_first_did(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let (sourced, interview) = (job.stage("Sourced"), job.stage("Interview"));
    for number in 0..8 {
        let new = |name: &str| client.new_candidate(&job, &format!("{name} {number}"));
        let (moved, removed, merged, survivor) =
            (new("Moved"), new("Removed"), new("Merged"), new("Survivor"));
        let stage = client
            .post(&job.stages_path(), &json!({ "name": format!("Stage {number}") }))
            .expect(201);
        let companies = ["Kept", "Gone"].map(|name| {
            client
                .post("/v1/companies", &json!({ "name": format!("{name} {number}") }))
                .expect(201)
                .id()
        });
        let id = |candidate: &Value, field: &str| candidate[field].as_str().unwrap().to_owned();
        let requests = [
            (
                "PATCH",
                format!("/v1/candidates/{}", id(&moved, "id")),
                Some(json!({ "stage_id": interview, "from_stage_id": sourced })),
            ),
            ("DELETE", format!("/v1/candidates/{}", id(&removed, "id")), None),
            (
                "POST",
                format!("/v1/persons/{}/merge", id(&survivor, "person_id")),
                Some(json!({ "person_id": id(&merged, "person_id") })),
            ),
            (
                "POST",
                "/v1/pipeline-templates".to_owned(),
                Some(json!({ "name": format!("T{number}"),
                        "pipeline_stages": [{ "name": "Applied" }] })),
            ),
            ("DELETE", format!("{}/{}", job.stages_path(), stage.id()), None),
            (
                "POST",
                format!("/v1/companies/{}/merge", companies[0]),
                Some(json!({ "company_id": companies[1] })),
            ),
            ("DELETE", format!("/v1/persons/{}", id(&moved, "person_id")), None),
        ];
        for (place, (method, path, body)) in requests.iter().enumerate() {
            let once = client
                .with_key(&workspace.key("admin"))
                .with("idempotency-key", &format!("{number}-{place}"));
            let replies = together(6, |_| once.send(method, path, body.as_ref()));
            let is_done =
                |reply: &Reply| [200, 201].contains(&reply.status) && reply.text == replies[0].text;
            assert!(replies.iter().all(is_done), "{replies:#?}");
            let replayed = replies
                .iter()
                .filter(|reply| reply.header("idempotency-replayed") == Some("true"))
                .count();
            assert_eq!(replayed, 5, "{replies:#?}");
        }
    }
}

#[apply(each_engine)]
fn an_answer_is_kept_over_a_restart(engine: &Engine) {
    let mut app = engine.app().start();
    let body = json!({ "name": "Ada" });
    let first = app.writer().with("idempotency-key", "same").post("/v1/persons", &body).expect(201);
    app.process.kill();
    app.restart();
    let second =
        app.writer().with("idempotency-key", "same").post("/v1/persons", &body).expect(201);
    assert_eq!(
        (second.text.as_str(), second.header("idempotency-replayed")),
        (first.text.as_str(), Some("true"))
    );
}

#[apply(each_engine)]
fn a_key_that_has_not_its_form_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "name": "Ada" });
    for key in ["", " ", "two words", "schlüssel", &"k".repeat(256)] {
        for path in ["/v1/persons", "/v1/persons?dry_run=true", "/v1/persons/resolve"] {
            client.with("idempotency-key", key).post(path, &body).refused(400, "INVALID_REQUEST");
        }
    }
    let twice = client.with("idempotency-key", "one").with_also("idempotency-key", "two");
    twice.post("/v1/persons", &body).refused(400, "INVALID_REQUEST");
    assert_eq!(client.get("/v1/persons").json["meta"]["total"], 0);
    client.with("idempotency-key", &"k".repeat(255)).post("/v1/persons", &body).expect(201);
}

#[apply(each_engine)]
fn keys_of_a_workspace_share_what_is_kept(app: &App) {
    let body = json!({ "name": "Ada" });
    let made = app.writer().with("idempotency-key", "same").post("/v1/persons", &body).expect(201);
    let other =
        app.anonymous().with_key(&app.new_key(MAIN, "write")).with("idempotency-key", "same");
    let again = other.post("/v1/persons", &body).expect(201);
    assert_eq!(
        (again.text.as_str(), again.header("idempotency-replayed")),
        (made.text.as_str(), Some("true"))
    );
}
