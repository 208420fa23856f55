//! The statuses that jobs may have: listed, made and renamed.

use serde_json::{Value, json};

use crate::support::{Client, Log, Workspace, apply, each_engine, shape, strings, together, types};

const PATH: &str = "/v1/job-statuses";

fn names(client: &Client) -> Vec<String> {
    strings(client.get(PATH).expect(200).data(), "name")
}

/// The id of the status with that name.
fn id_of(client: &Client, name: &str) -> String {
    let list = client.get(PATH).expect(200);
    let found = list.entries().iter().find(|status| status["name"] == name);
    found.unwrap_or_else(|| panic!("no status {name}: {list:#?}"))["id"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[apply(each_engine)]
fn a_workspace_begins_with_four_statuses(workspace: &Workspace) {
    insta::assert_snapshot!(shape(&workspace.client("read").get(PATH).expect(200)), @r#"
    {
      "success": true,
      "data": [
        {
          "id": "sts_1",
          "name": "Open",
          "position": 1
        },
        {
          "id": "sts_2",
          "name": "On hold",
          "position": 2
        },
        {
          "id": "sts_3",
          "name": "Filled",
          "position": 3
        },
        {
          "id": "sts_4",
          "name": "Closed",
          "position": 4
        }
      ],
      "meta": {
        "total": 4,
        "offset": 0,
        "limit": 100
      }
    }
    "#);
}

#[apply(each_engine)]
fn a_new_status_comes_behind_all_others(workspace: &Workspace) {
    let client = workspace.writer();
    let reply = client.post(PATH, &json!({ "name": "  Interviewing " })).expect(201);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": {
        "id": "sts_1",
        "name": "Interviewing",
        "position": 5
      }
    }
    "#);
    assert_eq!(names(&client), ["Open", "On hold", "Filled", "Closed", "Interviewing"]);
    assert_eq!(client.get(PATH).entries()[4], *reply.data());
}

#[apply(each_engine)]
fn a_new_status_can_be_given_to_jobs(workspace: &Workspace) {
    let client = workspace.writer();
    let status = client.post(PATH, &json!({ "name": "Interviewing" })).expect(201).id();
    let body = json!({ "name": "Engineer", "client_company_name": "Acme",
        "job_status_name": "interviewing" });
    let job = client.post("/v1/jobs", &body).expect(201);
    assert_eq!(job.string("job_status_id"), status);
    let other = client.new_job("Designer", "Acme");
    let patched = client.patch(&other.path(), &json!({ "job_status_id": status })).expect(200);
    assert_eq!(patched.string("job_status_name"), "Interviewing");
    assert_eq!(client.get("/v1/jobs?status=Interviewing").json["meta"]["total"], 2);
    assert_eq!(
        client
            .post("/v1/jobs", &json!({ "name": "Third", "client_company_name": "Acme" }))
            .expect(201)
            .string("job_status_name"),
        "Open"
    );
}

#[apply(each_engine)]
fn a_renamed_status_shows_wherever_it_is(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let before = client.get(&job.path()).expect(200);
    let open = id_of(&client, "Open");
    let reply = client.patch(&format!("{PATH}/{open}"), &json!({ "name": "Hiring" })).expect(200);
    assert_eq!(reply.data(), &json!({ "id": open, "name": "Hiring", "position": 1 }));
    assert_eq!(names(&client), ["Hiring", "On hold", "Filled", "Closed"]);
    let after = client.get(&job.path()).expect(200);
    assert_eq!(
        (after.string("job_status_name"), after.string("job_status_id")),
        ("Hiring".to_owned(), open)
    );
    assert_ne!(after.etag(), before.etag());
    assert_eq!(client.get("/v1/jobs?status=hiring").json["meta"]["total"], 1);
    client.get("/v1/jobs?status=Open").refused(400, "INVALID_REQUEST");
    let created = client
        .post("/v1/jobs", &json!({ "name": "Designer", "client_company_name": "Acme" }))
        .expect(201);
    assert_eq!(created.string("job_status_name"), "Hiring");
}

#[apply(each_engine)]
fn a_name_belongs_to_one_status(workspace: &Workspace) {
    let client = workspace.writer();
    let (open, closed) = (id_of(&client, "Open"), id_of(&client, "Closed"));
    let created = client.post(PATH, &json!({ "name": " OPEN" })).refused(409, "NAME_TAKEN");
    assert_eq!(
        (created.detail_fields(), created.record_ids()),
        (vec!["name"], vec![open.as_str()])
    );
    let renamed = client
        .patch(&format!("{PATH}/{open}"), &json!({ "name": "closed" }))
        .refused(409, "NAME_TAKEN");
    assert_eq!(renamed.record_ids(), [closed.as_str()]);
    assert_eq!(names(&client), ["Open", "On hold", "Filled", "Closed"]);
}

#[apply(each_engine)]
fn a_name_may_change_its_case(workspace: &Workspace) {
    let client = workspace.writer();
    let hold = id_of(&client, "On hold");
    client.patch(&format!("{PATH}/{hold}"), &json!({ "name": "ON HOLD" })).expect(200);
    assert_eq!(names(&client), ["Open", "ON HOLD", "Filled", "Closed"]);
}

#[apply(each_engine)]
fn a_status_needs_a_name(workspace: &Workspace) {
    let client = workspace.writer();
    let path = format!("{PATH}/{}", id_of(&client, "Open"));
    let bad = |value: Value| json!({ "name": value });
    for (method, path, body, flaw) in [
        ("POST", PATH, json!({}), "REQUIRED"),
        ("POST", PATH, bad(json!(null)), "REQUIRED"),
        ("POST", PATH, bad(json!("  ")), "REQUIRED"),
        ("POST", PATH, bad(json!(7)), "INVALID_TYPE"),
        ("POST", PATH, bad(json!("a\u{7}b")), "INVALID_CHARACTER"),
        ("POST", PATH, bad(json!("x".repeat(256))), "TOO_LONG"),
        ("PATCH", &path, bad(json!(null)), "REQUIRED"),
        ("PATCH", &path, bad(json!("")), "REQUIRED"),
        ("PATCH", &path, bad(json!(["Open"])), "INVALID_TYPE"),
        ("PATCH", &path, bad(json!("x".repeat(256))), "TOO_LONG"),
    ] {
        let reply = client.send(method, path, Some(&body)).refused(400, "INVALID_REQUEST");
        assert_eq!(
            (reply.detail_fields(), reply.flaw("name")),
            (vec!["name"], flaw),
            "{method} {body}"
        );
    }
    let unknown =
        client.post(PATH, &json!({ "name": "New", "position": 1 })).refused(400, "INVALID_REQUEST");
    assert_eq!(unknown.flaw("position"), "UNKNOWN_FIELD");
    client.post(&format!("{PATH}?x=1"), &json!({ "name": "New" })).refused(400, "INVALID_REQUEST");
    assert_eq!(names(&client), ["Open", "On hold", "Filled", "Closed"]);
}

#[apply(each_engine)]
fn what_is_no_status_cannot_be_renamed(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    for id in ["sts_00000000000000000000000000", "sts_", "x", "Open", &job.id] {
        client.patch(&format!("{PATH}/{id}"), &json!({ "name": "New" })).refused(404, "NOT_FOUND");
    }
}

#[apply(each_engine)]
fn statuses_belong_to_their_workspace(workspace: &Workspace) {
    let (owner, stranger) =
        (workspace.client_of("owner", "write"), workspace.client_of("stranger", "write"));
    let theirs = owner.post(PATH, &json!({ "name": "Interviewing" })).expect(201).id();
    stranger
        .patch(&format!("{PATH}/{theirs}"), &json!({ "name": "Mine" }))
        .refused(404, "NOT_FOUND");
    assert_eq!(names(&stranger), ["Open", "On hold", "Filled", "Closed"]);
    stranger.post(PATH, &json!({ "name": "Interviewing" })).expect(201);
    assert_eq!(names(&owner), names(&stranger));
}

#[apply(each_engine)]
fn who_may_only_read_changes_no_status(workspace: &Workspace) {
    let reader = workspace.client("read");
    let path = format!("{PATH}/{}", id_of(&reader, "Open"));
    reader.post(PATH, &json!({ "name": "New" })).refused(403, "FORBIDDEN");
    reader.patch(&path, &json!({ "name": "New" })).refused(403, "FORBIDDEN");
    assert_eq!(names(&reader), ["Open", "On hold", "Filled", "Closed"]);
}

#[apply(each_engine)]
fn statuses_come_in_pages(workspace: &Workspace) {
    let client = workspace.client("read");
    let page = |query: &str| {
        let reply = client.get(&format!("{PATH}?{query}")).expect(200);
        (strings(reply.data(), "name"), reply.json["meta"].clone())
    };
    assert_eq!(
        page("limit=2&offset=1"),
        (
            vec!["On hold".to_owned(), "Filled".to_owned()],
            json!({ "total": 4, "offset": 1, "limit": 2 })
        )
    );
    assert_eq!(page("offset=9").0, Vec::<String>::new());
    assert_eq!(page("sort=-created_at").0, ["Closed", "Filled", "On hold", "Open"]);
    let (first, meta) = page("cursor=&limit=3");
    assert_eq!(first, ["Open", "On hold", "Filled"]);
    let (rest, meta) = page(&format!("cursor={}&limit=3", meta["next_cursor"].as_str().unwrap()));
    assert_eq!((rest, &meta["next_cursor"]), (vec!["Closed".to_owned()], &Value::Null));
    for query in
        ["limit=0", "limit=101", "offset=-1", "sort=name", "cursor=x", "created_after=2026-01-01"]
    {
        client.get(&format!("{PATH}?{query}")).refused(400, "INVALID_REQUEST");
    }
}

#[apply(each_engine)]
fn there_are_at_most_a_hundred(workspace: &Workspace) {
    let client = workspace.writer();
    for number in 5..=100 {
        client.post(PATH, &json!({ "name": format!("Status {number}") })).expect(201);
    }
    client.post(PATH, &json!({ "name": "One too many" })).refused(409, "TOO_MANY");
    let list = client.get(PATH).expect(200);
    assert_eq!((list.entries().len(), &list.json["meta"]["total"]), (100, &json!(100)));
    assert_eq!(list.entries()[99]["position"], 100);
}

#[apply(each_engine)]
fn statuses_are_told_of(workspace: &Workspace) {
    let client = workspace.writer();
    let mut log = Log::begin(&client);
    let id = client.post(PATH, &json!({ "name": "Interviewing" })).expect(201).id();
    client.patch(&format!("{PATH}/{id}"), &json!({ "name": "Meeting" })).expect(200);
    let events = log.new_events();
    assert_eq!(types(&events), ["status.created", "status.updated"]);
    assert_eq!([&events[0]["record_id"], &events[1]["record_id"]], [&id, &id]);
    assert_eq!(
        events[0]["data"],
        json!({ "before": {}, "after": { "name": "Interviewing", "position": 5 } })
    );
    assert_eq!(
        events[1]["data"],
        json!({ "before": { "name": "Interviewing" }, "after": { "name": "Meeting" } })
    );
}

#[apply(each_engine)]
fn what_changes_nothing_is_not_told(workspace: &Workspace) {
    let client = workspace.writer();
    let path = format!("{PATH}/{}", id_of(&client, "Open"));
    let mut log = Log::begin(&client);
    for body in [json!({}), json!({ "name": "Open" }), json!({ "name": " Open " })] {
        client.patch(&path, &body).expect(200);
    }
    client.post(PATH, &json!({ "name": "Open" })).expect(409);
    client.patch(&path, &json!({ "name": "Closed" })).expect(409);
    assert_eq!(log.new_events(), Vec::<Value>::new());
}

#[apply(each_engine)]
fn a_create_that_is_sent_again_is_answered_again(workspace: &Workspace) {
    let client = workspace.writer().with("idempotency-key", "same");
    let first = client.post(PATH, &json!({ "name": "Interviewing" })).expect(201);
    let second = client.post(PATH, &json!({ "name": "Interviewing" })).expect(201);
    assert_eq!(
        (second.text.as_str(), second.header("idempotency-replayed")),
        (first.text.as_str(), Some("true"))
    );
    assert_eq!(names(&client).len(), 5);
}

#[apply(each_engine)]
fn of_many_creates_with_one_name_one_passes(workspace: &Workspace) {
    let client = workspace.writer();
    let statuses = together(8, |_| client.post(PATH, &json!({ "name": "Interviewing" })).status);
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [201, 409].contains(status)), "{statuses:?}");
    assert_eq!(names(&client).len(), 5);
}
