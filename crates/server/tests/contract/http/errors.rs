//! The two forms of a refusal, and what every answer carries.

use serde_json::json;

use crate::support::{OPERATIONS, Reply, Workspace, World, apply, each_engine, is_id, shape};

#[apply(each_engine)]
fn a_refusal_in_version_one(workspace: &Workspace) {
    let reply = workspace
        .writer()
        .post("/v1/persons", &json!({ "name": "Ada", "emails": ["ada@x.example", "ada"] }))
        .expect(400);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": false,
      "error": {
        "code": "INVALID_REQUEST",
        "message": "<sentence>",
        "details": [
          {
            "field": "emails[1]",
            "code": "INVALID_EMAIL",
            "message": "<sentence>"
          }
        ],
        "request_id": "req_1"
      }
    }
    "#);
    assert_eq!(reply.header("content-type"), Some("application/json"));
}

#[apply(each_engine)]
fn a_refusal_that_names_records(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_person(&json!({ "name": "Ada", "external_source_id": "crm-1" }));
    let reply = client
        .post(
            "/v1/persons?on_duplicate=error",
            &json!({ "name": "Ada", "external_source_id": "crm-1" }),
        )
        .expect(409);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": false,
      "error": {
        "code": "DUPLICATE_PERSON",
        "message": "<sentence>",
        "details": [
          {
            "field": "external_source_id",
            "code": "CONFLICT",
            "message": "<sentence>",
            "record_id": "per_1"
          }
        ],
        "request_id": "req_1"
      }
    }
    "#);
}

#[apply(each_engine)]
fn a_refusal_without_details(workspace: &Workspace) {
    let reply = workspace.anonymous().get("/v1/jobs").expect(401);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": false,
      "error": {
        "code": "UNAUTHENTICATED",
        "message": "<sentence>",
        "details": [],
        "request_id": "req_1"
      }
    }
    "#);
}

#[apply(each_engine)]
fn a_refusal_in_version_zero(workspace: &Workspace) {
    let reply = workspace
        .writer()
        .post("/v0/persons", &json!({ "name": "Ada", "emails": ["ada"] }))
        .expect(400);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "error": "<sentence>",
      "data": null
    }
    "#);
}

#[apply(each_engine)]
fn every_bad_field_is_named(workspace: &Workspace) {
    let reply = workspace.writer().post(
        "/v1/persons",
        &json!({
            "name": 7, "emails": ["x", 3, "ok@x.example"], "phone_numbers": "030",
            "social_url": "ftp://x.example/a", "frist_name": "A",
        }),
    );
    let reply = reply.refused(400, "INVALID_REQUEST");
    assert_eq!(
        reply.detail_fields(),
        ["emails[0]", "emails[1]", "frist_name", "name", "phone_numbers", "social_url"]
    );
    let reply = workspace
        .writer()
        .get("/v1/jobs?limit=0&offset=-1&colour=green")
        .refused(400, "INVALID_REQUEST");
    assert_eq!(reply.detail_fields(), ["colour", "limit", "offset"]);
}

#[apply(each_engine)]
fn a_field_that_is_near_is_offered(workspace: &Workspace) {
    let client = workspace.writer();
    let offered = |reply: Reply, field: &str, near: &str| {
        let reply = reply.refused(400, "INVALID_REQUEST");
        assert_eq!(reply.flaw(field), "UNKNOWN_FIELD");
        assert!(reply.text.contains(&format!("did you mean {near}")), "{reply:#?}");
    };
    offered(
        client.post("/v1/persons", &json!({ "name": "Ada", "frist_name": "Ada" })),
        "frist_name",
        "first_name",
    );
    offered(
        client.post("/v1/persons", &json!({ "name": "Ada", "email": ["a@x.example"] })),
        "email",
        "emails",
    );
    offered(client.get("/v1/jobs?ofset=1"), "ofset", "offset");
    let far = client
        .post("/v1/persons", &json!({ "name": "Ada", "favourite_colour": "green" }))
        .refused(400, "INVALID_REQUEST");
    assert_eq!(far.flaw("favourite_colour"), "UNKNOWN_FIELD");
    assert!(!far.text.contains("did you mean"), "{far:#?}");
}

#[apply(each_engine)]
fn an_unknown_route_is_not_found(workspace: &Workspace) {
    let client = workspace.writer();
    for path in
        ["/nope", "/v1", "/v1/", "/v1/nope", "/v2/persons", "/v1/persons/", "/v1/jobs/x/y/z"]
    {
        let reply = client.get(path).refused(404, "NOT_FOUND");
        assert!(reply.header("x-request-id").is_some(), "{reply:#?}");
    }
}

#[apply(each_engine)]
fn a_method_that_a_route_lacks_is_refused_with_those_it_has(workspace: &Workspace) {
    let client = workspace.writer();
    for (method, path, allowed) in [
        ("PUT", "/v1/persons", &["GET", "POST"][..]),
        ("PUT", "/v1/persons/per_1", &["GET", "PATCH", "DELETE"]),
        ("POST", "/v1/persons/per_1", &["GET", "PATCH"]),
        ("GET", "/v1/persons/per_1/history", &["PUT"]),
        ("PUT", "/v1/jobs", &["GET", "POST"]),
        ("DELETE", "/v1/jobs/job_1", &["GET", "PATCH"]),
        ("DELETE", "/v1/jobs/job_1/candidates", &["GET", "POST"]),
        ("POST", "/v1/candidates/cnd_1", &["GET", "PATCH"]),
        ("DELETE", "/healthz", &["GET"]),
    ] {
        let reply = client.send(method, path, None).refused(405, "METHOD_NOT_ALLOWED");
        let listed: Vec<_> =
            reply.header("allow").unwrap_or_default().split(',').map(str::trim).collect();
        assert!(
            allowed.iter().all(|method| listed.contains(method)),
            "{method} {path}: {listed:?}"
        );
        assert!(!listed.contains(&method), "{method} {path}: {listed:?}");
    }
    let version_zero = client.send("DELETE", "/v0/persons", None).expect(405);
    assert!(version_zero.header("allow").is_some_and(|allow| allow.contains("POST")));
    assert!(
        version_zero.json["error"].is_string() && version_zero.json["data"].is_null(),
        "{version_zero:#?}"
    );
}

#[apply(each_engine)]
fn the_head_of_whatever_can_be_read_can_be_asked_for(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    for operation in OPERATIONS.iter().filter(|operation| operation.method == "GET") {
        let path = operation.path_in(&world);
        let (head, whole) =
            (client.send("HEAD", &path, None).expect(200), client.get(&path).expect(200));
        assert_eq!(
            (head.text.as_str(), head.header("content-type")),
            ("", whole.header("content-type")),
            "{path}"
        );
    }
    let missing =
        client.send("HEAD", "/v1/persons/per_00000000000000000000000000", None).expect(404);
    assert_eq!(missing.text, "");
}

#[apply(each_engine)]
fn an_id_that_names_nothing_is_not_found(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    for operation in OPERATIONS.iter().filter(|operation| operation.names_a_record()) {
        let kind = match operation.path.split('/').nth(2).unwrap() {
            "persons" => "per",
            "candidates" => "cnd",
            "companies" => "cmp",
            _ => "job",
        };
        let (first, last) =
            (format!("{kind}_{}", "0".repeat(26)), format!("{kind}_7{}", "z".repeat(25)));
        for id in [first.as_str(), last.as_str(), kind, "x", "0", "null", "%00", "%F0%9F%92%A9"] {
            let path = operation.path.replace("{id}", id);
            client
                .send(operation.method, &path, operation.body_in(&world).as_ref())
                .refused(404, "NOT_FOUND");
        }
    }
}

#[apply(each_engine)]
fn a_bad_query_is_told_before_an_id_that_names_nothing(workspace: &Workspace) {
    let client = workspace.writer().with_key(&workspace.key("admin"));
    let paths = [
        "persons/x/timeline",
        "candidates/x/timeline",
        "jobs/x/timeline",
        "jobs/x/candidates",
        "companies/x/jobs",
        "webhooks/x/deliveries",
    ];
    for path in paths {
        let reply = client.get(&format!("/v1/{path}?limit=0")).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), ["limit"], "{path}");
        client.get(&format!("/v1/{path}")).refused(404, "NOT_FOUND");
    }
}

#[apply(each_engine)]
fn an_id_of_another_kind_is_not_found(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    for operation in OPERATIONS.iter().filter(|operation| operation.names_a_record()) {
        let other = if operation.path.starts_with("/v1/companies") {
            &world.person
        } else {
            &world.employer
        };
        let path = operation.path.replace("{id}", other);
        client
            .send(operation.method, &path, operation.body_in(&world).as_ref())
            .refused(404, "NOT_FOUND");
    }
}

#[apply(each_engine)]
fn an_id_may_be_written_with_percent_signs(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let read = client.get(&format!("/v1/persons/{}", person.replace('_', "%5F"))).expect(200);
    assert_eq!(read.id(), person);
    client.get("/v1/persons/%FF%2F").refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn a_sane_request_id_is_kept_and_any_other_replaced(workspace: &Workspace) {
    let client = workspace.writer();
    for path in ["/v1/jobs", "/v1/nope", "/healthz", "/v1/persons/per_1"] {
        let kept = client.with("x-request-id", "trace-7f3a.9_B").get(path);
        assert_eq!(kept.header("x-request-id"), Some("trace-7f3a.9_B"), "{kept:#?}");
        if kept.status != 200 {
            assert_eq!(kept.json["error"]["request_id"], "trace-7f3a.9_B");
        }
    }
    let too_long = "x".repeat(2000);
    for sent in [None, Some(""), Some("two words"), Some("a\tb"), Some(too_long.as_str())] {
        let client = sent.map_or_else(|| client.clone(), |sent| client.with("x-request-id", sent));
        let reply = client.get("/v1/nope").expect(404);
        let made = reply.header("x-request-id").unwrap();
        assert!(made.starts_with("req_") && is_id(made), "{sent:?} became {made}");
        assert_eq!(reply.json["error"]["request_id"], made);
    }
}
