//! Keys over the interface: made, listed, rotated and revoked by whoever may manage the workspace.

use serde_json::{Value, json};

use crate::support::{
    App, Client, Engine, Log, Reply, Workspace, apply, each_engine, is_id, is_time, shape, strings,
    types,
};

const PATH: &str = "/v1/keys";

#[track_caller]
fn new_key(client: &Client, scope: &str) -> Reply {
    client.post(PATH, &json!({ "name": "importer", "scope": scope })).expect(201)
}

fn at(key: &Reply) -> String {
    format!("{PATH}/{}", key.id())
}

fn opened_with(workspace: &Workspace, key: &Reply) -> Client {
    workspace.anonymous().with_key(&key.string("key"))
}

fn works(client: &Client) -> bool {
    let reply = client.get("/v1/jobs");
    assert!([200, 401].contains(&reply.status), "{reply:#?}");
    reply.status == 200
}

fn without_key(made: &Reply) -> Value {
    let mut data = made.data().clone();
    data.as_object_mut().unwrap().remove("key");
    data
}

#[apply(each_engine)]
fn a_key(workspace: &Workspace) {
    let client = workspace.client("admin");
    let made = new_key(&client, "write");
    insta::assert_snapshot!(shape(&client.get(&at(&made)).expect(200)), @r#"
    {
      "success": true,
      "data": {
        "id": "key_1",
        "name": "importer",
        "scope": "write",
        "created_at": "<time>",
        "expires_at": null,
        "revoked_at": null,
        "last_used_at": null
      }
    }
    "#);
}

#[apply(each_engine)]
fn a_key_works_at_once_and_no_further_than_its_scope(workspace: &Workspace) {
    let admin = workspace.client("admin");
    for (scope, may_write, may_manage) in
        [("read", false, false), ("write", true, false), ("admin", true, true)]
    {
        let client = opened_with(workspace, &new_key(&admin, scope));
        client.get("/v1/jobs").expect(200);
        client.post("/v1/companies", &json!({ "name": scope })).expect(if may_write {
            201
        } else {
            403
        });
        client.get(PATH).expect(if may_manage { 200 } else { 403 });
    }
}

#[apply(each_engine)]
fn a_key_is_shown_when_it_is_made_and_never_again(workspace: &Workspace) {
    let client = workspace.client("admin");
    let made = new_key(&client, "read");
    let rotated = client.post(&format!("{}/rotate", at(&made)), &json!({})).expect(201);
    assert_ne!(made.string("key"), rotated.string("key"));
    for key in [&made, &rotated] {
        let secret = key.string("key");
        assert!(secret.starts_with("slated_") && secret.len() == 59, "{secret}");
        assert_eq!(key.data().as_object().unwrap().keys().next_back().unwrap(), "key");
    }
    assert_eq!(client.get(&at(&rotated)).expect(200).data(), &without_key(&rotated));
    for reply in [client.get(PATH).expect(200), client.send("DELETE", &at(&made), None).expect(200)]
    {
        assert!(!reply.text.contains("slated_"), "{reply:#?}");
    }
}

#[apply(each_engine)]
fn a_key_is_kept_nowhere(engine: &Engine) {
    let mut app = engine.app().start();
    let client = app.client("admin");
    let made = client
        .with("idempotency-key", "once")
        .post(PATH, &json!({ "name": "importer", "scope": "read" }))
        .expect(201);
    let rotated = client
        .with("idempotency-key", "then")
        .post(&format!("{}/rotate", at(&made)), &json!({}))
        .expect(201);
    let replay = client
        .with("idempotency-key", "once")
        .post(PATH, &json!({ "name": "importer", "scope": "read" }))
        .expect(201);
    assert_eq!(replay.id(), made.id());
    app.process.terminate();
    app.process.wait_exit();
    let mut kept = app.process.log.to_end().into_bytes();
    for entry in app.database.directory().read_dir().unwrap() {
        kept.extend(std::fs::read(entry.unwrap().path()).unwrap());
    }
    if let Engine::Postgres = app.database.engine {
        for sql in [
            "SELECT convert_from(body, 'UTF8') FROM idempotent_answer",
            "SELECT CAST(ROW(event.*) AS text) FROM event",
            "SELECT CAST(ROW(api_key.*) AS text) FROM api_key",
        ] {
            kept.extend(app.database.execute(sql).join("\n").into_bytes());
        }
    }
    let holds = |text: &str| kept.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(holds("importer"));
    for key in [made, rotated] {
        let secret = key.string("key");
        assert!(!holds(&secret[secret.len() - 20..]));
    }
}

#[apply(each_engine)]
fn an_answer_that_is_given_again_has_no_key(workspace: &Workspace) {
    let client = workspace.client("admin");
    let once = client.with("idempotency-key", "once");
    let body = json!({ "name": "importer", "scope": "read" });
    let made = once.post(PATH, &body).expect(201);
    assert!(works(&opened_with(workspace, &made)));
    let again = once.post(PATH, &body).expect(201);
    assert_eq!(
        (again.header("idempotency-replayed"), again.string("key")),
        (Some("true"), String::new())
    );
    assert_eq!(without_key(&again), without_key(&made));
    let then = client.with("idempotency-key", "then");
    let path = format!("{}/rotate", at(&made));
    let rotated = then.post(&path, &json!({})).expect(201);
    let again = then.post(&path, &json!({})).expect(201);
    assert_eq!((again.id(), again.string("key")), (rotated.id(), String::new()));
    let importers = strings(client.get(PATH).expect(200).data(), "name")
        .into_iter()
        .filter(|name| name == "importer");
    assert_eq!(importers.count(), 2);
}

#[apply(each_engine)]
fn keys_are_listed_in_pages(workspace: &Workspace) {
    let client = workspace.client("admin");
    let made: Vec<_> = (0..3).map(|_| new_key(&client, "read")).collect();
    let all = client.get(PATH).expect(200);
    let ids = strings(all.data(), "id");
    assert_eq!(all.json["meta"], json!({ "total": ids.len(), "offset": 0, "limit": 100 }));
    assert!(made.iter().all(|key| ids.contains(&key.id())), "{all:#?}");
    let mut in_order = ids.clone();
    in_order.sort_unstable();
    assert_eq!(ids, in_order);
    assert_eq!(
        strings(client.get(&format!("{PATH}?offset=1&limit=2")).expect(200).data(), "id"),
        ids[1..3]
    );
    let newest = strings(client.get(&format!("{PATH}?sort=-created_at")).expect(200).data(), "id");
    assert_eq!(newest, ids.iter().rev().cloned().collect::<Vec<_>>());
    let (mut seen, mut cursor) = (Vec::new(), json!(""));
    while let Some(place) = cursor.as_str() {
        let page = client.get(&format!("{PATH}?cursor={place}&limit=2")).expect(200);
        seen.extend(strings(page.data(), "id"));
        cursor = page.json["meta"]["next_cursor"].clone();
        assert!(seen.len() <= ids.len(), "{page:#?}");
    }
    assert_eq!(seen, ids);
    for (query, field) in [
        ("limit=0", "limit"),
        ("sort=name", "sort"),
        ("cursor=x", "cursor"),
        ("scope=read", "scope"),
    ] {
        let reply = client.get(&format!("{PATH}?{query}")).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), [field], "{query}");
    }
}

#[apply(each_engine)]
fn a_key_that_makes_no_sense_is_refused(workspace: &Workspace) {
    let client = workspace.client("admin");
    let count = client.get(PATH).expect(200).json["meta"]["total"].clone();
    let long = "x".repeat(256);
    for (field, value, flaw) in [
        ("name", json!(null), "REQUIRED"),
        ("name", json!("  "), "REQUIRED"),
        ("name", json!(7), "INVALID_TYPE"),
        ("name", json!(long), "TOO_LONG"),
        ("name", json!("a\u{0}b"), "INVALID_CHARACTER"),
        ("scope", json!(null), "REQUIRED"),
        ("scope", json!("owner"), "INVALID_VALUE"),
        ("scope", json!("READ"), "INVALID_VALUE"),
        ("scope", json!(["read"]), "INVALID_TYPE"),
        ("expires_at", json!("2020-01-01"), "INVALID_VALUE"),
        ("expires_at", json!("soon"), "INVALID_DATE"),
        ("expires_at", json!(7), "INVALID_TYPE"),
        ("workspace", json!("main"), "UNKNOWN_FIELD"),
    ] {
        let mut body = json!({ "name": "importer", "scope": "read" });
        body[field] = value;
        let reply = client.post(PATH, &body).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw), "{body}");
    }
    assert_eq!(
        client.post(PATH, &json!({})).refused(400, "INVALID_REQUEST").detail_fields(),
        ["name", "scope"]
    );
    client
        .post(&format!("{PATH}?workspace=main"), &json!({ "name": "importer", "scope": "read" }))
        .refused(400, "INVALID_REQUEST");
    assert_eq!(client.get(PATH).expect(200).json["meta"]["total"], count);
}

#[apply(each_engine)]
fn a_key_with_an_end(workspace: &Workspace) {
    let client = workspace.client("admin");
    for (written, kept) in [
        (json!("2127-01-31T10:00:00+01:00"), json!("2127-01-31T09:00:00.000Z")),
        (json!("2127-01-31"), json!("2127-01-31T00:00:00.000Z")),
        (json!(""), json!(null)),
        (json!(null), json!(null)),
    ] {
        let made = client
            .post(PATH, &json!({ "name": "importer", "scope": "read", "expires_at": written }))
            .expect(201);
        assert_eq!(made.data()["expires_at"], kept, "{written}");
        assert!(works(&opened_with(workspace, &made)));
    }
}

#[apply(each_engine)]
fn a_rotated_key_goes_on_through_the_overlap(workspace: &Workspace) {
    let client = workspace.client("admin");
    for body in [json!({}), json!({ "overlap_seconds": 3600 }), json!({ "overlap_seconds": null })]
    {
        let old = new_key(&client, "write");
        let new = client.post(&format!("{}/rotate", at(&old)), &body).expect(201);
        assert_ne!(new.id(), old.id());
        for field in ["name", "scope", "expires_at"] {
            assert_eq!(new.data()[field], old.data()[field], "{field}");
        }
        assert!(
            works(&opened_with(workspace, &new)) && works(&opened_with(workspace, &old)),
            "{body}"
        );
        assert!(is_time(&client.get(&at(&old)).expect(200).string("expires_at")));
    }
}

#[apply(each_engine)]
fn a_rotated_key_without_overlap_stops_working_at_once(workspace: &Workspace) {
    let client = workspace.client("admin");
    let old = new_key(&client, "read");
    assert!(works(&opened_with(workspace, &old)));
    let new =
        client.post(&format!("{}/rotate", at(&old)), &json!({ "overlap_seconds": 0 })).expect(201);
    assert!(!works(&opened_with(workspace, &old)) && works(&opened_with(workspace, &new)));
    client.post(&format!("{}/rotate", at(&old)), &json!({})).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn a_key_ends_no_later_for_being_rotated(workspace: &Workspace) {
    let client = workspace.client("admin");
    let end = "2127-01-31T00:00:00.000Z";
    let old = client
        .post(PATH, &json!({ "name": "importer", "scope": "read", "expires_at": end }))
        .expect(201);
    let new =
        client.post(&format!("{}/rotate", at(&old)), &json!({ "overlap_seconds": 60 })).expect(201);
    assert_eq!(new.string("expires_at"), end);
    let first = client.get(&at(&old)).expect(200).string("expires_at");
    assert!(first.as_str() < end, "{first}");
    let refused = client
        .post(&format!("{}/rotate", at(&old)), &json!({ "overlap_seconds": 604_800 }))
        .refused(409, "KEY_REPLACED");
    assert_eq!(refused.record_ids(), [new.id()]);
    assert_eq!(client.get(&at(&old)).expect(200).string("expires_at"), first);
}

#[apply(each_engine)]
fn a_rotation_that_makes_no_sense_is_refused(workspace: &Workspace) {
    let client = workspace.client("admin");
    let key = new_key(&client, "read");
    let path = format!("{}/rotate", at(&key));
    for (value, flaw) in [
        (json!(-1), "OUT_OF_RANGE"),
        (json!(604_801), "OUT_OF_RANGE"),
        (json!(1.5), "OUT_OF_RANGE"),
        (json!("1h"), "INVALID_TYPE"),
    ] {
        let reply = client
            .post(&path, &json!({ "overlap_seconds": value }))
            .refused(400, "INVALID_REQUEST");
        assert_eq!(reply.flaw("overlap_seconds"), flaw, "{value}");
    }
    assert_eq!(client.get(&at(&key)).expect(200).data(), &without_key(&key));
}

#[apply(each_engine)]
fn a_revoked_key_stops_working_at_once(workspace: &Workspace) {
    let client = workspace.client("admin");
    let (revoked, other) = (new_key(&client, "read"), new_key(&client, "read"));
    assert!(works(&opened_with(workspace, &revoked)) && works(&opened_with(workspace, &other)));
    let answer = client.send("DELETE", &at(&revoked), None).expect(200);
    assert!(answer.id() == revoked.id() && is_time(&answer.string("revoked_at")), "{answer:#?}");
    assert!(!works(&opened_with(workspace, &revoked)) && works(&opened_with(workspace, &other)));
    let again = client.send("DELETE", &at(&revoked), None).expect(200);
    assert_eq!(again.string("revoked_at"), answer.string("revoked_at"));
    assert_eq!(
        client.get(&at(&revoked)).expect(200).string("revoked_at"),
        answer.string("revoked_at")
    );
    client.post(&format!("{}/rotate", at(&revoked)), &json!({})).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn a_key_revokes_itself(workspace: &Workspace) {
    let key = new_key(&workspace.client("admin"), "admin");
    let client = opened_with(workspace, &key);
    assert!(is_time(&client.send("DELETE", &at(&key), None).expect(200).string("revoked_at")));
    client.get(PATH).refused(401, "UNAUTHENTICATED");
}

#[apply(each_engine)]
fn when_a_revoked_key_was_used_last_is_known(engine: &Engine) {
    let mut app = engine.app().start();
    let made = new_key(&app.client("admin"), "read");
    opened_with(&app, &made).get("/v1/jobs").expect(200);
    app.client("admin").send("DELETE", &at(&made), None).expect(200);
    app.process.terminate();
    app.process.wait_exit();
    app.restart();
    let key = app.client("admin").get(&at(&made)).expect(200);
    assert!(key.data()["last_used_at"].as_str().is_some_and(is_time), "{key:#?}");
}

#[apply(each_engine)]
fn what_is_done_to_keys_is_told_with_the_caller(workspace: &Workspace) {
    let client = workspace.client("admin");
    let caller = client.get("/v1/me").expect(200).data()["key"]["id"].clone();
    let mut log = Log::begin(&client);
    let old = new_key(&client, "read");
    let new = client.post(&format!("{}/rotate", at(&old)), &json!({})).expect(201);
    for _ in 0..2 {
        client.send("DELETE", &at(&old), None).expect(200);
    }
    let events = log.new_events();
    assert_eq!(types(&events), ["key.created", "key.created", "key.rotated", "key.revoked"]);
    assert!(
        events.iter().all(|event| event["key_id"] == caller && event["request_id"].is_string()),
        "{events:#?}"
    );
    let records: Vec<_> =
        events.iter().map(|event| event["record_id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(records, [old.id(), new.id(), old.id(), old.id()]);
    assert_eq!(
        events[0]["data"],
        json!({ "before": {}, "after": { "name": "importer", "scope": "read",
            "expires_at": null } })
    );
    assert_eq!(events[2]["data"]["after"]["replaced_by"], new.id());
    assert!(!json!(events).to_string().contains("slated_"), "{events:#?}");
}

/// Every operation on one key.
fn operations(path: &str) -> [(&'static str, String, Option<Value>); 3] {
    [
        ("GET", path.to_owned(), None),
        ("POST", format!("{path}/rotate"), Some(json!({}))),
        ("DELETE", path.to_owned(), None),
    ]
}

#[apply(each_engine)]
fn only_an_admin_key_opens_keys(workspace: &Workspace) {
    let admin = workspace.client("admin");
    let key = new_key(&admin, "read");
    for scope in ["read", "write"] {
        let client = workspace.client(scope);
        client.get(PATH).refused(403, "FORBIDDEN");
        client.post(PATH, &json!({ "name": "mine", "scope": "admin" })).refused(403, "FORBIDDEN");
        for (method, path, body) in operations(&at(&key)) {
            client.send(method, &path, body.as_ref()).refused(403, "FORBIDDEN");
        }
    }
    assert_eq!(admin.get(&at(&key)).expect(200).data(), &without_key(&key));
    assert!(!strings(admin.get(PATH).expect(200).data(), "name").contains(&"mine".to_owned()));
}

#[apply(each_engine)]
fn a_key_of_another_workspace_is_unknown(workspace: &Workspace) {
    let (owner, stranger) =
        (workspace.client_of("owner", "admin"), workspace.client_of("stranger", "admin"));
    let key = new_key(&owner, "read");
    let never = format!("{PATH}/key_{}", "0".repeat(26));
    for (method, path, body) in
        [operations(&at(&key)), operations(&never), operations(&format!("{PATH}/nonsense"))]
            .concat()
    {
        stranger.send(method, &path, body.as_ref()).refused(404, "NOT_FOUND");
    }
    assert!(!strings(stranger.get(PATH).expect(200).data(), "id").contains(&key.id()));
    assert_eq!(owner.get(&at(&key)).expect(200).data(), &without_key(&key));
}

#[apply(each_engine)]
fn the_command_line_sees_the_same_keys(app: &App) {
    let client = app.client("admin");
    let made = new_key(&client, "read");
    let list = app.database.ask(&["key", "list", "--workspace", "main"]);
    assert!(list.contains(&made.id()), "{list}");
    for id in strings(client.get(PATH).expect(200).data(), "id") {
        assert!(is_id(&id) && list.contains(&id), "{list}");
    }
    app.database.ask(&["key", "revoke", &made.id(), "--workspace", "main"]);
    assert!(is_time(&client.get(&at(&made)).expect(200).string("revoked_at")));
}

#[apply(each_engine)]
fn there_are_at_most_a_thousand_keys_that_work(app: &App) {
    let client = app.client("admin");
    let first = new_key(&client, "read");
    let good = client.get(PATH).expect(200).json["meta"]["total"].as_u64().unwrap();
    // All but the last few, past the program: each would be a request.
    let (id, hash) = match app.database.engine {
        Engine::Sqlite => ("randomblob(16)", "randomblob(32)"),
        Engine::Postgres => ("gen_random_uuid()", "decode(md5(CAST(value AS text)), 'hex')"),
    };
    app.database.execute(&format!(
        "WITH RECURSIVE numbers (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM numbers \
         WHERE value < {}) \
         INSERT INTO api_key (workspace_id, id, name, scope, hash, created_at) \
         SELECT workspace_id, {id}, 'many', 'read', {hash}, created_at FROM api_key, numbers \
         WHERE name = 'main admin'",
        999 - good
    ));
    new_key(&client, "read");
    client.post(PATH, &json!({ "name": "one more", "scope": "read" })).refused(409, "TOO_MANY");
    let rotated = client.post(&format!("{}/rotate", at(&first)), &json!({})).expect(201);
    client.post(&format!("{}/rotate", at(&rotated)), &json!({})).refused(409, "TOO_MANY");
    for key in [&first, &rotated] {
        client.send("DELETE", &at(key), None).expect(200);
    }
    new_key(&client, "read");
}
