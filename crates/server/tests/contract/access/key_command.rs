//! The life of a key: made on the command line beside a running server, listed, rotated, revoked
//! and run out.

use crate::support::{App, Client, Engine, apply, each_engine, eventually, is_id};

/// The ids in the list of a workspace's keys, by the name of the key.
fn key_id(app: &App, name: &str) -> String {
    let list = app.database.ask(&["key", "list", "--workspace", "main"]);
    let line = list
        .lines()
        .find(|line| line.contains(name))
        .unwrap_or_else(|| panic!("no {name} in\n{list}"));
    let id = line.split_whitespace().find(|word| word.starts_with("key_") && is_id(word));
    id.unwrap_or_else(|| panic!("no id in {line}")).to_owned()
}

fn new_key(app: &App, name: &str, more: &[&str]) -> String {
    let arguments = ["key", "create", "--name", name, "--scope", "read", "--workspace", "main"];
    app.database.ask(&[&arguments[..], more].concat())
}

fn works(client: &Client) -> bool {
    let reply = client.get("/v1/jobs");
    assert!([200, 401].contains(&reply.status), "{reply:#?}");
    reply.status == 200
}

#[apply(each_engine)]
fn a_key_made_beside_a_running_server_works_at_once(app: &App) {
    for name in ["one", "two", "three"] {
        let key = new_key(app, name, &[]);
        assert!(works(&app.anonymous().with_key(&key)), "{name}");
    }
}

#[apply(each_engine)]
fn a_workspace_comes_into_being_with_its_first_key(app: &App) {
    let client = app.client_of("a brand new workspace", "write");
    assert_eq!(client.get("/v1/jobs").expect(200).json["meta"]["total"], 0);
    let job = client.new_job("Engineer", "Acme");
    assert_eq!(
        app.client_of("a brand new workspace", "read").get("/v1/jobs").entries()[0]["id"],
        job.id.as_str()
    );
}

#[apply(each_engine)]
fn a_list_names_the_keys_and_shows_none(app: &App) {
    let keys = [new_key(app, "importer", &[]), new_key(app, "website", &[])];
    let list = app.database.ask(&["key", "list", "--workspace", "main"]);
    assert!(list.contains("importer") && list.contains("website"), "{list}");
    assert!(keys.iter().all(|key| !list.contains(key.as_str())), "{list}");
    assert_ne!(key_id(app, "importer"), key_id(app, "website"));
}

#[apply(each_engine)]
fn a_revoked_key_stops_working_within_seconds(app: &App) {
    let client = app.anonymous().with_key(&new_key(app, "importer", &[]));
    let other = app.anonymous().with_key(&new_key(app, "website", &[]));
    assert!(works(&client));
    app.database.ask(&["key", "revoke", &key_id(app, "importer"), "--workspace", "main"]);
    eventually("the revoked key is refused", || !works(&client));
    assert!(works(&other));
}

#[apply(each_engine)]
fn a_rotated_key_goes_on_through_the_overlap(app: &App) {
    let old = app.anonymous().with_key(&new_key(app, "importer", &[]));
    assert!(works(&old));
    let new = app.database.ask(&[
        "key",
        "rotate",
        &key_id(app, "importer"),
        "--overlap",
        "24h",
        "--workspace",
        "main",
    ]);
    assert!(works(&app.anonymous().with_key(&new)));
    assert!(works(&old));
}

#[apply(each_engine)]
fn a_rotated_key_without_overlap_stops_working(app: &App) {
    let old = app.anonymous().with_key(&new_key(app, "importer", &[]));
    assert!(works(&old));
    let new = app.database.ask(&[
        "key",
        "rotate",
        &key_id(app, "importer"),
        "--overlap",
        "0s",
        "--workspace",
        "main",
    ]);
    eventually("the old key is refused", || !works(&old));
    assert!(works(&app.anonymous().with_key(&new)));
}

#[apply(each_engine)]
fn an_expired_key_stops_working(app: &App) {
    let lasting = app.anonymous().with_key(&new_key(app, "lasting", &["--expires", "30d"]));
    let client = app.anonymous().with_key(&new_key(app, "importer", &["--expires", "1s"]));
    eventually("the expired key is refused", || !works(&client));
    assert!(works(&lasting));
}

#[apply(each_engine)]
fn a_key_survives_a_restart(engine: &Engine) {
    let mut app = engine.app().start();
    let key = app.key("read");
    let revoked = new_key(&app, "importer", &[]);
    app.database.ask(&["key", "revoke", &key_id(&app, "importer"), "--workspace", "main"]);
    app.process.terminate();
    app.process.wait_exit();
    app.restart();
    assert!(works(&app.anonymous().with_key(&key)));
    assert!(!works(&app.anonymous().with_key(&revoked)));
}

#[apply(each_engine)]
fn what_names_no_key_is_refused(app: &App) {
    let id = key_id(app, "main write");
    let unknown = format!("key_{}", "0".repeat(26));
    for arguments in [
        ["key", "revoke", &unknown, "--workspace", "main"],
        ["key", "rotate", &unknown, "--workspace", "main"],
        ["key", "revoke", "nonsense", "--workspace", "main"],
        ["key", "revoke", &id, "--workspace", "another"],
        ["key", "rotate", &id, "--workspace", "another"],
    ] {
        let output = app.database.run(&arguments);
        assert!(!output.status.success(), "{arguments:?}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{arguments:?}");
    }
    assert!(works(&app.writer()));
}

#[apply(each_engine)]
fn a_scope_that_does_not_exist_is_refused(app: &App) {
    let output = app.database.run(&[
        "key",
        "create",
        "--name",
        "importer",
        "--scope",
        "owner",
        "--workspace",
        "main",
    ]);
    assert!(!output.status.success() && output.stdout.is_empty());
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("read"),
        "the message names the scopes there are"
    );
}

#[apply(each_engine)]
fn a_key_is_stored_as_a_hash_only(engine: &Engine) {
    let mut app = engine.app().start();
    let key = app.key("write");
    app.writer().get("/v1/jobs").expect(200);
    app.process.terminate();
    app.process.wait_exit();
    let secret = &key.as_bytes()[key.len() - 20..];
    if let Engine::Postgres = app.database.engine {
        let kept =
            app.database.execute("SELECT CAST(ROW(api_key.*) AS text) FROM api_key").join("\n");
        assert!(kept.contains("main write") && !kept.contains(&key[key.len() - 20..]), "{kept}");
    }
    for entry in app.database.directory().read_dir().unwrap() {
        let path = entry.unwrap().path();
        let bytes = std::fs::read(&path).unwrap();
        assert!(
            !bytes.windows(secret.len()).any(|window| window == secret),
            "the key stands in {}",
            path.display()
        );
    }
}

#[apply(each_engine)]
fn a_key_that_is_used_now_and_then_shows_its_last_use(app: &App) {
    let key = new_key(app, "seldom", &[]);
    assert!(works(&app.anonymous().with_key(&key)));
    eventually("the last use of the key is noted", || {
        let list = app.database.ask(&["key", "list", "--workspace", "main"]);
        let line = list.lines().find(|line| line.contains("seldom")).unwrap();
        // Once for when it ends; a second one would be for its last use.
        line.matches("never").count() == 1
    });
}
