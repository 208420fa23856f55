//! Webhooks as their owner manages them: made, listed, changed, rotated and removed, over HTTP and
//! on the command line.

use serde_json::{Value, json};

use crate::support::{
    App, Client, Database, Engine, Receiver, SOON, Workspace, apply, calling_app, each_engine,
    eventually, is_id, is_time, next_millisecond, shape, strings,
};

const PATH: &str = "/v1/webhooks";
const URL: &str = "https://hooks.example/slated";

/// A webhook that nothing will be sent to.
fn quiet() -> Value {
    json!({ "url": URL, "types": ["person.*", "candidate.moved"], "description": "To the CRM" })
}

fn new_webhook(client: &Client) -> String {
    format!("{PATH}/{}", client.post(PATH, &quiet()).expect(201).id())
}

/// The bytes that a secret stands for.
#[track_caller]
fn bytes_of(secret: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let (mut bits, mut count, mut bytes) = (0_u32, 0, Vec::new());
    for byte in secret
        .strip_prefix("whsec_")
        .unwrap_or_else(|| panic!("no secret: {secret}"))
        .trim_end_matches('=')
        .bytes()
    {
        let digit = digits
            .iter()
            .position(|digit| *digit == byte)
            .unwrap_or_else(|| panic!("no secret: {secret}"));
        (bits, count) = ((bits << 6) | digit as u32, count + 6);
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    assert!((24..=64).contains(&bytes.len()), "{} bytes in {secret}", bytes.len());
    bytes
}

#[apply(each_engine)]
fn a_webhook(workspace: &Workspace) {
    let client = workspace.client("admin");
    let path = new_webhook(&client);
    insta::assert_snapshot!(shape(&client.get(&path).expect(200)), @r#"
    {
      "success": true,
      "data": {
        "id": "whk_1",
        "url": "https://hooks.example/slated",
        "types": [
          "person.*",
          "candidate.moved"
        ],
        "description": "To the CRM",
        "is_enabled": true,
        "status": "active",
        "created_at": "<time>",
        "updated_at": "<time>",
        "last_success_at": null,
        "last_error": ""
      }
    }
    "#);
}

#[apply(each_engine)]
fn what_is_not_said_has_a_default(workspace: &Workspace) {
    let made = workspace.client("admin").post(PATH, &json!({ "url": URL })).expect(201);
    assert_eq!((&made.data()["types"], &made.data()["description"]), (&json!(["*"]), &json!("")));
    assert_eq!(
        (&made.data()["is_enabled"], &made.data()["status"]),
        (&json!(true), &json!("active"))
    );
    let missing = workspace
        .client("admin")
        .post(PATH, &json!({ "types": ["*"] }))
        .refused(400, "INVALID_REQUEST");
    assert_eq!(missing.flaw("url"), "REQUIRED");
}

#[apply(each_engine)]
fn webhooks_are_listed_in_pages(workspace: &Workspace) {
    let client = workspace.client("admin");
    let paths: Vec<_> = (0..3).map(|_| new_webhook(&client)).collect();
    let all = client.get(PATH).expect(200);
    assert_eq!(all.json["meta"], json!({ "total": 3, "offset": 0, "limit": 100 }));
    let read: Vec<_> =
        paths.iter().map(|path| client.get(path).expect(200).data().clone()).collect();
    assert_eq!(all.entries(), read);
    let second = client.get(&format!("{PATH}?offset=1&limit=1")).expect(200);
    assert_eq!(second.json["meta"], json!({ "total": 3, "offset": 1, "limit": 1 }));
    assert_eq!(second.entries(), &read[1..2]);
    let newest = client.get(&format!("{PATH}?cursor=&limit=2&sort=-created_at")).expect(200);
    assert_eq!(newest.entries(), [read[2].clone(), read[1].clone()]);
    let next = newest.json["meta"]["next_cursor"].as_str().unwrap();
    let oldest = client.get(&format!("{PATH}?cursor={next}&limit=2&sort=-created_at")).expect(200);
    assert_eq!((oldest.entries(), &oldest.json["meta"]["next_cursor"]), (&read[..1], &Value::Null));
}

#[apply(each_engine)]
fn a_webhook_is_changed_field_by_field(workspace: &Workspace) {
    let client = workspace.client("admin");
    let path = new_webhook(&client);
    let mut expected = client.get(&path).expect(200).data().clone();
    for (field, value, status) in [
        ("url", json!("https://other.example/in?token=1"), "active"),
        ("types", json!(["job.*"]), "active"),
        ("description", json!("To the archive"), "active"),
        ("is_enabled", json!(false), "disabled"),
        ("is_enabled", json!(true), "active"),
        ("description", json!(""), "active"),
    ] {
        next_millisecond();
        let changed = client.patch(&path, &json!({ field: value })).expect(200);
        assert!(
            changed.string("updated_at").as_str() > expected["updated_at"].as_str().unwrap(),
            "{changed:#?}"
        );
        expected[field] = value;
        expected["status"] = json!(status);
        expected["updated_at"] = changed.data()["updated_at"].clone();
        assert_eq!(changed.data(), &expected);
        assert_eq!(client.get(&path).expect(200).text, changed.text);
    }
}

#[apply(each_engine)]
fn what_changes_nothing_leaves_it_as_it_was(workspace: &Workspace) {
    let client = workspace.client("admin");
    let path = new_webhook(&client);
    let before = client.get(&path).expect(200).text;
    next_millisecond();
    for body in [json!({}), quiet(), json!({ "is_enabled": true })] {
        assert_eq!(client.patch(&path, &body).expect(200).text, before, "{body}");
    }
}

#[apply(each_engine)]
fn a_deleted_webhook_is_gone(workspace: &Workspace) {
    let client = workspace.client("admin");
    let (path, other) = (new_webhook(&client), new_webhook(&client));
    let deleted = client.send("DELETE", &path, None).expect(200);
    assert!(!deleted.string("message").is_empty());
    client.get(&path).refused(404, "NOT_FOUND");
    client.send("DELETE", &path, None).refused(404, "NOT_FOUND");
    assert_eq!(
        client.get(PATH).expect(200).entries(),
        [client.get(&other).expect(200).data().clone()]
    );
}

#[apply(each_engine)]
fn a_secret_is_shown_when_it_is_made_and_never_again(workspace: &Workspace) {
    let client = workspace.client("admin");
    let made = client.post(PATH, &quiet()).expect(201);
    let path = format!("{PATH}/{}", made.id());
    let rotated = client.post(&format!("{path}/rotate"), &json!({})).expect(200);
    assert_ne!(bytes_of(&made.string("secret")), bytes_of(&rotated.string("secret")));
    assert_eq!(made.data().as_object().unwrap().keys().next_back().unwrap(), "secret");
    let read = client.get(&path).expect(200);
    let mut expected = rotated.data().clone();
    expected.as_object_mut().unwrap().remove("secret");
    assert_eq!(read.data(), &expected);
    let twice = [(); 2].map(|()| {
        let [again, anew] = ["again", "anew"].map(|key| client.with("idempotency-key", key));
        [
            again.post(PATH, &quiet()).expect(201),
            anew.post(&format!("{path}/rotate"), &json!({})).expect(200),
        ]
    });
    let [first, second] = &twice;
    for (first, second) in first.iter().zip(second) {
        bytes_of(&first.string("secret"));
        assert_eq!(
            (second.header("idempotency-replayed"), second.string("secret").as_str(), second.id()),
            (Some("true"), "", first.id())
        );
    }
    assert_eq!(client.get(PATH).expect(200).entries().len(), 2);
    for reply in [
        read,
        client.get(PATH).expect(200),
        client.patch(&path, &json!({ "description": "" })).expect(200),
    ] {
        assert!(!reply.text.contains("secret") && !reply.text.contains("whsec_"), "{reply:#?}");
    }
}

/// All bytes of the file and what lies beside it, or all rows of all tables.
fn everything_kept(database: &Database) -> Vec<u8> {
    if let Engine::Sqlite = database.engine {
        let files = database.directory().read_dir().unwrap().map(|entry| entry.unwrap().path());
        return files.flat_map(|path| std::fs::read(path).unwrap()).collect();
    }
    let tables = database.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'");
    let rows = |table: &String| {
        database
            .execute(&format!("SELECT CAST(ROW(kept.*) AS text) FROM {table} AS kept"))
            .join("\n")
    };
    tables.iter().map(rows).collect::<Vec<_>>().join("\n").into_bytes()
}

#[apply(each_engine)]
fn a_secret_is_kept_nowhere(engine: &Engine) {
    let mut app = engine.app().start();
    let client = app.client("admin").with("idempotency-key", "once");
    let made = client.post(PATH, &quiet()).expect(201);
    let rotated = client
        .with("idempotency-key", "then")
        .post(&format!("{PATH}/{}/rotate", made.id()), &json!({}))
        .expect(200);
    let by_hand = app.database.ask(&["webhook", "create", "--url", URL, "--workspace", "main"]);
    app.process.terminate();
    app.process.wait_exit();
    let (log, kept) = (app.process.log.to_end(), everything_kept(&app.database));
    let holds = |bytes: &[u8]| kept.windows(bytes.len()).any(|window| window == bytes);
    assert!(holds(URL.as_bytes()));
    for secret in [made.string("secret"), rotated.string("secret"), by_hand] {
        let bytes = bytes_of(&secret);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        assert!(
            !holds(&secret.as_bytes()["whsec_".len()..])
                && !holds(&bytes)
                && !holds(hex.as_bytes())
        );
        assert!(!log.contains(&secret["whsec_".len()..]), "{log}");
    }
}

#[apply(each_engine)]
fn what_is_done_to_a_webhook_is_in_the_feed(workspace: &Workspace) {
    let client = workspace.client("admin");
    let made = client.post(PATH, &quiet()).expect(201);
    let path = format!("{PATH}/{}", made.id());
    client.patch(&path, &json!({ "description": "Changed" })).expect(200);
    client.post(&format!("{path}/rotate"), &json!({})).expect(200);
    client.send("DELETE", &path, None).expect(200);
    let feed = || client.get("/v1/events?types=webhook.*").expect(200);
    eventually("all four are numbered", || feed().entries().len() == 4);
    let feed = feed();
    let types = ["webhook.created", "webhook.updated", "webhook.secret_rotated", "webhook.deleted"];
    assert_eq!(strings(feed.data(), "type"), types);
    assert!(strings(feed.data(), "record_id").iter().all(|id| *id == made.id()), "{feed:#?}");
    assert!(strings(feed.data(), "created_at").iter().all(|time| is_time(time)), "{feed:#?}");
    assert!(!feed.text.contains("whsec_"), "{feed:#?}");
}

/// Every operation on one webhook.
fn operations(path: &str) -> [(&'static str, String, Option<Value>); 9] {
    let at = |rest: &str| format!("{path}{rest}");
    [
        ("GET", at(""), None),
        ("PATCH", at(""), Some(json!({ "description": "Mine now" }))),
        ("POST", at("/rotate"), Some(json!({}))),
        ("POST", at("/test"), Some(json!({}))),
        ("GET", at("/deliveries"), None),
        ("GET", at("/deliveries/1"), None),
        ("POST", at("/deliveries/1/resend"), None),
        ("POST", at("/replay"), Some(json!({ "after": 0 }))),
        ("DELETE", at(""), None),
    ]
}

#[apply(each_engine)]
fn only_an_admin_key_opens_webhooks(workspace: &Workspace) {
    let admin = workspace.client("admin");
    let path = new_webhook(&admin);
    let before = admin.get(&path).expect(200).text;
    for scope in ["read", "write"] {
        let client = workspace.client(scope);
        client.get(PATH).refused(403, "FORBIDDEN");
        client.post(PATH, &quiet()).refused(403, "FORBIDDEN");
        for (method, path, body) in operations(&path) {
            client.send(method, &path, body.as_ref()).refused(403, "FORBIDDEN");
        }
    }
    assert_eq!(admin.get(PATH).expect(200).json["meta"]["total"], 1);
    assert_eq!(admin.get(&path).expect(200).text, before);
}

#[apply(each_engine)]
fn a_webhook_of_another_workspace_is_unknown(workspace: &Workspace) {
    let (owner, stranger) =
        (workspace.client_of("owner", "admin"), workspace.client_of("stranger", "admin"));
    let path = new_webhook(&owner);
    let before = owner.get(&path).expect(200).text;
    let never = format!("{PATH}/whk_{}", "0".repeat(26));
    for (method, path, body) in [operations(&path), operations(&never)].concat() {
        stranger.send(method, &path, body.as_ref()).refused(404, "NOT_FOUND");
    }
    assert_eq!(stranger.get(PATH).expect(200).json["meta"]["total"], 0);
    assert_eq!(owner.get(&path).expect(200).text, before);
}

#[apply(each_engine)]
fn a_webhook_is_managed_on_the_command_line(app: &App) {
    let (ask, client) = (
        |arguments: &[&str]| app.database.ask(&[arguments, &["--workspace", "main"]].concat()),
        app.client("admin"),
    );
    let options =
        ["--type", "person.*", "--type", "candidate.moved", "--description", "To the CRM"];
    let secret = ask(&[&["webhook", "create", "--url", URL][..], &options].concat());
    let made = client.get(PATH).expect(200).entries().to_vec();
    assert_eq!(made.len(), 1);
    assert!(
        ["url", "types", "description"].iter().all(|field| made[0][field] == quiet()[field]),
        "{made:#?}"
    );
    let id = made[0]["id"].as_str().unwrap();
    let list = ask(&["webhook", "list"]);
    assert!(list.contains(id) && list.contains(URL) && !list.contains("whsec_"), "{list}");
    assert_ne!(bytes_of(&ask(&["webhook", "rotate", id])), bytes_of(&secret));
    ask(&["webhook", "delete", id]);
    client.get(&format!("{PATH}/{id}")).refused(404, "NOT_FOUND");
    assert!(!ask(&["webhook", "list"]).contains(id));
}

#[apply(each_engine)]
fn a_secret_of_the_command_line_signs(engine: &Engine) {
    let (app, receiver) = (calling_app(*engine, SOON), Receiver::start());
    let url = receiver.url();
    let arguments =
        ["webhook", "create", "--url", &url, "--type", "person.created", "--workspace", "main"];
    let output = app
        .database
        .command(&arguments)
        .env("SLATED_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8")
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    app.writer().new_person(&json!({ "name": "Ada" }));
    assert!(
        receiver.wait_for(1)[0].is_signed_with(str::from_utf8(&output.stdout).unwrap().trim_end())
    );
}

#[apply(each_engine)]
fn what_makes_no_sense_on_the_command_line_is_refused(app: &App) {
    let id = new_webhook(&app.client("admin")).replace("/v1/webhooks/", "");
    assert!(id.starts_with("whk_") && is_id(&id), "{id}");
    let never = format!("whk_{}", "0".repeat(26));
    for arguments in [
        &["webhook", "create", "--url", "ftp://hooks.example/", "--workspace", "main"][..],
        &["webhook", "create", "--url", "http://127.0.0.1/", "--workspace", "main"],
        &["webhook", "create", "--url", URL, "--type", "nonsense", "--workspace", "main"],
        &["webhook", "rotate", &never, "--workspace", "main"],
        &["webhook", "delete", "nonsense", "--workspace", "main"],
        &["webhook", "rotate", &id, "--workspace", "another"],
        &["webhook", "delete", &id, "--workspace", "another"],
    ] {
        let output = app.database.run(arguments);
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        assert!(!reason.is_empty() && !reason.contains("panicked"), "{arguments:?}: {reason}");
    }
    assert_eq!(app.client("admin").get(PATH).expect(200).entries()[0]["id"], id.as_str());
}
