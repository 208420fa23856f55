//! Whether a person is there already: what a create would match, without creating anybody.

use serde_json::{Value, json};

use crate::support::{Log, Workspace, World, apply, each_engine, shape};

const PATH: &str = "/v1/persons/resolve";

#[apply(each_engine)]
fn nobody_is_there(workspace: &Workspace) {
    let reply = workspace
        .writer()
        .post(PATH, &json!({ "name": "Ada", "emails": ["ada@x.example"] }))
        .expect(200);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": {
        "outcome": "create",
        "matches": [],
        "others": []
      }
    }
    "#);
}

#[apply(each_engine)]
fn one_person_is_there(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada Lovelace", "emails": ["ada@x.example"] }));
    let reply = client
        .post(PATH, &json!({ "name": "A. L.", "emails": ["new@x.example", "ADA@x.example"] }))
        .expect(200);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": {
        "outcome": "match",
        "matches": [
          {
            "person_id": "per_1",
            "name": "Ada Lovelace",
            "by": [
              {
                "field": "emails",
                "value": "ada@x.example"
              }
            ]
          }
        ],
        "others": []
      }
    }
    "#);
    assert_eq!(reply.data()["matches"][0]["person_id"], person.as_str());
}

#[apply(each_engine)]
fn several_persons_are_there(workspace: &Workspace) {
    let client = workspace.writer();
    let by_email = client.new_person(&json!({ "name": "One", "emails": ["one@x.example"] }));
    let by_handle =
        client.new_person(&json!({ "name": "Two", "social_url": "https://social.example/in/two" }));
    let by_source = client.new_person(&json!({ "name": "Three", "external_source_id": "crm-3" }));
    let body = json!({
        "name": "Four", "emails": ["one@x.example"], "social_url": "https://social.example/in/Two/",
        "external_source_id": "crm-3",
    });
    let reply = client.post(PATH, &body).expect(200);
    let found = |id: &str, name: &str, field: &str, value: &str| {
        json!({ "person_id": id, "name": name,
        "by": [{ "field": field, "value": value }] })
    };
    assert_eq!(
        reply.data(),
        &json!({
            "outcome": "conflict",
            "matches": [
                found(&by_source, "Three", "external_source_id", "crm-3"),
                found(&by_handle, "Two", "social_url", "social.example/two"),
                found(&by_email, "One", "emails", "one@x.example"),
            ],
            "others": [],
        })
    );
}

#[apply(each_engine)]
fn every_identifier_that_points_at_a_person_is_named(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({
        "name": "Ada", "emails": ["a@x.example", "b@x.example"],
        "social_url": "https://social.example/in/ada", "external_source_id": "crm-1",
    });
    client.new_person(&body);
    let reply = client.post(PATH, &body).expect(200);
    assert_eq!(reply.data()["outcome"], "match");
    assert_eq!(
        reply.data()["matches"][0]["by"],
        json!([
            { "field": "external_source_id", "value": "crm-1" },
            { "field": "social_url", "value": "social.example/ada" },
            { "field": "emails", "value": "a@x.example" },
            { "field": "emails", "value": "b@x.example" },
        ])
    );
}

#[apply(each_engine)]
fn neither_the_name_nor_a_phone_number_matches(workspace: &Workspace) {
    let client = workspace.writer();
    let body =
        json!({ "name": "Ada Lovelace", "phone_numbers": ["030 1234"], "company_name": "Acme" });
    client.new_person(&body);
    assert_eq!(
        client.post(PATH, &body).expect(200).data(),
        &json!({ "outcome": "create", "matches": [], "others": [] })
    );
}

#[apply(each_engine)]
fn the_holder_of_a_shared_identifier_is_named(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "name": "Ada", "emails": ["a@x.example"] });
    let first = client.new_person(&body);
    client.post("/v1/persons?on_duplicate=create", &body).expect(201);
    let reply = client.post(PATH, &body).expect(200);
    assert_eq!(
        (reply.string("outcome").as_str(), &reply.data()["matches"][0]["person_id"]),
        ("match", &json!(first))
    );
    assert_eq!(reply.data()["matches"].as_array().unwrap().len(), 1);
}

#[apply(each_engine)]
fn what_is_foretold_comes_true(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_person(&json!({ "name": "One", "emails": ["one@x.example"] }));
    client.new_person(&json!({ "name": "Two", "emails": ["two@x.example"] }));
    for emails in [
        json!(["three@x.example"]),
        json!(["one@x.example"]),
        json!(["two@x.example", "one@x.example"]),
        json!([]),
    ] {
        let body = json!({ "name": "Who", "emails": emails });
        let foretold = client.post(PATH, &body).expect(200);
        let status = client.post("/v1/persons", &body).status;
        let expected = match foretold.string("outcome").as_str() {
            "create" => 201,
            "match" => 200,
            _ => 409,
        };
        assert_eq!(status, expected, "{foretold:#?}");
    }
}

#[apply(each_engine)]
fn nothing_is_written(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let mut log = Log::begin(&client);
    let before = world.contents(&client);
    let body = json!({
        "name": "Grace", "emails": ["grace@x.example"], "company_name": "New",
        "client_name": "Also new", "notes": "Never kept",
        "external_source_id": "crm-1", "current_job_title": "Admiral",
    });
    for _ in 0..2 {
        client.with("idempotency-key", "resolve-1").post(PATH, &body).expect(200);
    }
    assert_eq!(world.contents(&client), before);
    assert_eq!(log.new_events(), Vec::<Value>::new());
    // The key was not used up either.
    client
        .with("idempotency-key", "resolve-1")
        .post("/v1/persons", &json!({ "name": "Grace" }))
        .expect(201);
}

#[apply(each_engine)]
fn a_bad_body_is_refused_as_by_a_create(workspace: &Workspace) {
    let client = workspace.writer();
    for (body, field, flaw) in [
        (json!({}), "name", "REQUIRED"),
        (json!({ "name": 7 }), "name", "INVALID_TYPE"),
        (json!({ "name": "Ada", "emails": ["nobody"] }), "emails[0]", "INVALID_EMAIL"),
        (json!({ "name": "Ada", "frist_name": "A" }), "frist_name", "UNKNOWN_FIELD"),
        (
            json!({ "name": "Ada", "social_url": "ftp://x.example/in/a" }),
            "social_url",
            "INVALID_URL",
        ),
    ] {
        let reply = client.post(PATH, &body).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw), "{body}");
    }
    let reply = client
        .post(&format!("{PATH}?on_duplicate=merge"), &json!({ "name": "Ada" }))
        .refused(400, "INVALID_REQUEST");
    assert_eq!(reply.flaw("on_duplicate"), "UNKNOWN_FIELD");
    client
        .with("content-type", "application/json")
        .send_bytes("POST", PATH, b"{")
        .refused(400, "MALFORMED_JSON");
    client.send_bytes("POST", PATH, b"{}").refused(415, "UNSUPPORTED_MEDIA_TYPE");
    client.get(PATH).refused(405, "METHOD_NOT_ALLOWED");
}

#[apply(each_engine)]
fn jobs_and_clients_are_not_looked_up(workspace: &Workspace) {
    let body = json!({ "name": "Ada", "job_id": "job_00000000000000000000000000",
        "client_id": "cmp_00000000000000000000000000" });
    assert_eq!(workspace.writer().post(PATH, &body).expect(200).data()["outcome"], "create");
}

#[apply(each_engine)]
fn nobody_of_another_workspace_is_found(workspace: &Workspace) {
    let body = json!({ "name": "Ada", "emails": ["a@x.example"], "external_source_id": "crm-1" });
    workspace.client_of("another", "write").new_person(&body);
    assert_eq!(
        workspace.writer().post(PATH, &body).expect(200).data(),
        &json!({ "outcome": "create", "matches": [], "others": [] })
    );
}

#[apply(each_engine)]
fn a_reader_may_ask(workspace: &Workspace) {
    let body = json!({ "name": "Ada", "emails": ["a@x.example"] });
    workspace.writer().new_person(&body);
    assert_eq!(workspace.client("read").post(PATH, &body).expect(200).data()["outcome"], "match");
    workspace.anonymous().post(PATH, &body).refused(401, "UNAUTHENTICATED");
}
