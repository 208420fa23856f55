//! Trying a write out: the answer that it would have given, what it would have changed, and nothing
//! kept.

use serde_json::{Value, json};

use crate::support::{Client, Log, Reply, Workspace, World, apply, each_engine, is_id, strings};

const PATH: &str = "/v1/persons?dry_run=true";

fn changes(reply: &Reply) -> &Value {
    let keys: Vec<_> = reply.json.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["success", "data", "changes"], "{reply:#?}");
    &reply.json["changes"]
}

/// Everything that can be seen of a workspace.
fn state(client: &Client, world: &World, log: &mut Log) -> Vec<String> {
    let contents = world.records(client);
    assert_eq!(log.new_events(), Vec::<Value>::new());
    contents
}

#[apply(each_engine)]
fn a_create_that_is_tried_out_makes_nobody(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let mut log = Log::begin(&client);
    let before = state(&client, &world, &mut log);
    let body = json!({
        "name": "Grace Hopper", "emails": ["grace@x.example"], "company_name": "Navy",
        "job_id": world.job.id, "notes": "Met at sea.",
    });
    let reply = client.post(PATH, &body).expect(201);
    let changes = changes(&reply);
    assert_eq!(
        strings(changes, "type"),
        ["company.created", "person.created", "candidate.created"]
    );
    assert_eq!(changes[1]["record_id"], reply.data()["id"]);
    assert_eq!(changes[2]["record_id"], reply.data()["candidate_id"]);
    assert_eq!(changes[0]["data"], json!({ "before": {}, "after": { "name": "Navy" } }));
    assert_eq!(
        [&changes[1]["data"]["after"]["name"], &changes[1]["data"]["after"]["notes"]],
        ["Grace Hopper", "Met at sea."]
    );
    assert_eq!(
        changes[2]["data"]["person"],
        json!({ "id": reply.data()["id"], "name": "Grace Hopper" })
    );
    for change in changes.as_array().unwrap() {
        assert_eq!(
            change.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["type", "record_id", "data"]
        );
        assert!(change["record_id"].as_str().is_some_and(is_id), "{change}");
    }
    assert_eq!(reply.data()["name"], "Grace Hopper");
    client.get(&format!("/v1/persons/{}", reply.id())).refused(404, "NOT_FOUND");
    assert_eq!(state(&client, &world, &mut log), before);
    client.new_person(&body);
}

#[apply(each_engine)]
fn a_match_that_is_tried_out_fills_nothing(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let mut log = Log::begin(&client);
    let before = state(&client, &world, &mut log);
    let reply = client
        .post(
            PATH,
            &json!({ "name": "Ada", "external_source_id": "crm-1",
            "current_job_title": "Countess" }),
        )
        .expect(200);
    assert_eq!(
        (reply.id(), &reply.data()["current_job_title"]),
        (world.person.clone(), &json!("Countess"))
    );
    let data = json!({ "before": { "current_job_title": "" },
        "after": { "current_job_title": "Countess" } });
    assert_eq!(
        changes(&reply),
        &json!([{ "type": "person.updated", "record_id": world.person, "data": data }])
    );
    assert_eq!(state(&client, &world, &mut log), before);
}

/// Invariant 12.
#[apply(each_engine)]
fn an_update_that_is_tried_out_changes_nothing(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let mut log = Log::begin(&client);
    let before = state(&client, &world, &mut log);
    let path = format!("/v1/persons/{}", world.person);
    let tag = client.get(&path).expect(200).etag().to_owned();
    let tried = client
        .with("if-match", &tag)
        .patch(&format!("{path}?dry_run=true"), &json!({ "address": "London", "emails": [] }))
        .expect(200);
    assert_eq!(tried.data()["message"], "The person was updated.");
    let change = &changes(&tried)[0];
    assert_eq!([&change["type"], &change["record_id"]], ["person.updated", world.person.as_str()]);
    assert_eq!(change["data"]["after"], json!({ "address": "London", "emails": [] }));
    assert_eq!(state(&client, &world, &mut log), before);
    assert_eq!(client.get(&path).expect(200).etag(), tag);
    // Not even the identifier is free.
    assert_eq!(
        client
            .post("/v1/persons", &json!({ "name": "Ada", "emails": ["ada@engines.example"] }))
            .expect(200)
            .id(),
        world.person
    );
}

#[apply(each_engine)]
fn what_would_be_refused_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    client.new_person(&json!({ "name": "Grace", "emails": ["grace@x.example"] }));
    let ada = json!({ "name": "Ada", "external_source_id": "crm-1" });
    client.post(&format!("{PATH}&on_duplicate=error"), &ada).refused(409, "DUPLICATE_PERSON");
    let both = json!({ "name": "Ada", "emails": ["grace@x.example", "ada@engines.example"] });
    client.post(PATH, &both).refused(409, "IDENTIFIER_CONFLICT");
    client.post(PATH, &json!({ "name": "Ada", "job_name": "Nope" })).refused(404, "NOT_FOUND");
    client.post(PATH, &json!({ "name": 7 })).refused(400, "INVALID_REQUEST");
    let path = format!("/v1/persons/{}?dry_run=true", world.person);
    client
        .patch(&path, &json!({ "work_email": "grace@x.example" }))
        .refused(409, "IDENTIFIER_CONFLICT");
    client
        .with("if-match", "\"0\"")
        .patch(&path, &json!({ "address": "London" }))
        .refused(412, "PRECONDITION_FAILED");
    client
        .patch("/v1/persons/per_00000000000000000000000000?dry_run=true", &json!({}))
        .refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn what_would_change_nothing_has_no_changes(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let path = format!("/v1/persons/{}?dry_run=true", world.person);
    assert_eq!(
        changes(&client.patch(&path, &json!({ "name": "Ada Lovelace" })).expect(200)),
        &json!([])
    );
    assert_eq!(
        changes(
            &client
                .post(PATH, &json!({ "name": "Ada", "external_source_id": "crm-1" }))
                .expect(200)
        ),
        &json!([])
    );
}

#[apply(each_engine)]
fn an_idempotency_key_is_not_used_up(workspace: &Workspace) {
    let client = workspace.writer().with("idempotency-key", "try-1");
    let body = json!({ "name": "Ada", "external_source_id": "crm-1" });
    for _ in 0..2 {
        let reply = client.post(PATH, &body).expect(201);
        assert_eq!(reply.header("idempotency-replayed"), None);
    }
    let made = client.post("/v1/persons", &body).expect(201);
    assert_eq!(made.header("idempotency-replayed"), None);
    assert_eq!(
        client.post("/v1/persons", &body).expect(201).header("idempotency-replayed"),
        Some("true")
    );
    // Nor does an answer that is kept stand in for a trial.
    assert_eq!(client.post(PATH, &body).expect(200).id(), made.id());
}

/// Invariant 12.
#[apply(each_engine)]
fn what_was_foretold_comes_true(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let mut log = Log::begin(&client);
    let path = format!("/v1/persons/{}", world.person);
    let patch = json!({ "company_name": "Navy", "current_job_title": "Admiral",
        "phone_numbers": [{ "value": "030 1234" }] });
    let tried = client.patch(&format!("{path}?dry_run=true"), &patch).expect(200);
    client.patch(&path, &patch).expect(200);
    let events = log.new_events();
    assert_eq!(strings(changes(&tried), "type"), strings(&json!(events), "type"));
    assert_eq!(changes(&tried)[0]["data"], events[0]["data"]);
    let mut foretold = changes(&tried)[1]["data"].clone();
    // The company that was tried out is not the one that was made.
    foretold["after"]["current_company_id"] =
        events[1]["data"]["after"]["current_company_id"].clone();
    assert_eq!(foretold, events[1]["data"]);
}

#[apply(each_engine)]
fn without_it_nothing_is_told_beside_the_data(workspace: &Workspace) {
    let client = workspace.writer();
    for path in ["/v1/persons", "/v1/persons?dry_run=false"] {
        let reply = client.post(path, &json!({ "name": "Ada" })).expect(201);
        assert_eq!(reply.json.as_object().unwrap().keys().collect::<Vec<_>>(), ["success", "data"]);
        let updated = client
            .patch(
                &format!("/v1/persons/{}?dry_run=false", reply.id()),
                &json!({ "address": "London" }),
            )
            .expect(200);
        assert_eq!(
            updated.json.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["success", "data"]
        );
    }
}

#[apply(each_engine)]
fn any_other_value_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    for wrong in ["", "1", "yes", "True", "null"] {
        for reply in [
            client.post(&format!("/v1/persons?dry_run={wrong}"), &json!({ "name": "Grace" })),
            client.patch(
                &format!("/v1/persons/{person}?dry_run={wrong}"),
                &json!({ "address": "London" }),
            ),
        ] {
            let reply = reply.refused(400, "INVALID_REQUEST");
            assert_eq!(
                (reply.detail_fields(), reply.flaw("dry_run")),
                (vec!["dry_run"], "INVALID_VALUE"),
                "{wrong}"
            );
        }
    }
}

#[apply(each_engine)]
fn only_two_operations_can_be_tried_out(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let person = format!("/v1/persons/{}", world.person);
    client.post("/v0/persons?dry_run=true", &json!({ "name": "Grace" })).expect(400);
    for reply in [
        client.get(&format!("{person}?dry_run=true")),
        client.put(&format!("{person}/history?dry_run=true"), &json!({ "certifications": [] })),
        client.post(&format!("{person}/notes?dry_run=true"), &json!({ "body": "One" })),
        client.patch(
            &format!("/v1/candidates/{}?dry_run=true", world.candidate),
            &json!({ "stage_name": "Offer" }),
        ),
    ] {
        assert_eq!(reply.refused(400, "INVALID_REQUEST").flaw("dry_run"), "UNKNOWN_FIELD");
    }
}

#[apply(each_engine)]
fn it_needs_the_scope_of_the_write(workspace: &Workspace) {
    let person = workspace.writer().new_person(&json!({ "name": "Ada" }));
    let reader = workspace.client("read");
    reader.post(PATH, &json!({ "name": "Grace" })).refused(403, "FORBIDDEN");
    reader
        .patch(&format!("/v1/persons/{person}?dry_run=true"), &json!({ "address": "London" }))
        .refused(403, "FORBIDDEN");
}
