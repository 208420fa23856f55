//! What is refused of a webhook: addresses that nobody should call, events that there are not, and
//! too much of anything.

use serde_json::{Value, json};

use crate::support::{Client, Database, Engine, Workspace, apply, each_engine, together};

const PATH: &str = "/v1/webhooks";
const URL: &str = "https://hooks.example/slated";

/// A webhook that nothing will be sent to.
fn quiet() -> Value {
    json!({ "url": URL, "types": ["person.*"] })
}

fn new_webhook(client: &Client) -> String {
    format!("{PATH}/{}", client.post(PATH, &quiet()).expect(201).id())
}

/// Expects that none of these is taken, neither for a new webhook nor for one there is.
fn refuses(workspace: &Workspace, urls: &[&str]) {
    let client = workspace.client("admin");
    let path = new_webhook(&client);
    let total = || client.get(PATH).expect(200).json["meta"]["total"].clone();
    let before = total();
    for url in urls {
        let body = json!({ "url": url });
        for reply in [client.post(PATH, &body), client.patch(&path, &body)] {
            let reply = reply.refused(400, "INVALID_REQUEST");
            assert_eq!(
                (reply.detail_fields(), reply.flaw("url")),
                (vec!["url"], "INVALID_URL"),
                "{url}"
            );
        }
    }
    assert_eq!((total(), client.get(&path).expect(200).string("url")), (before, URL.to_owned()));
}

#[apply(each_engine)]
fn what_is_no_web_address_is_refused(workspace: &Workspace) {
    refuses(
        workspace,
        &[
            "ftp://hooks.example/",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "hooks.example/in",
            "//hooks.example/in",
        ],
    );
    refuses(
        workspace,
        &[
            "x",
            "/in",
            "http://",
            "https://",
            "https://:8080/",
            "https://hooks.example:99999/",
            "https://hooks .example/",
        ],
    );
}

#[apply(each_engine)]
fn what_is_blank_or_null_widens_nothing(workspace: &Workspace) {
    let client = workspace.client("admin");
    let path = new_webhook(&client);
    client.patch(&path, &json!({ "types": ["job.*"], "is_enabled": false })).expect(200);
    let before = client.get(&path).expect(200).data().clone();
    for (body, field, flaw) in [
        (json!({ "types": [""] }), "types[0]", "INVALID_VALUE"),
        (json!({ "types": ["job.*", " "] }), "types[1]", "INVALID_VALUE"),
        (json!({ "is_enabled": null }), "is_enabled", "REQUIRED"),
    ] {
        assert_eq!(
            client.patch(&path, &body).refused(400, "INVALID_REQUEST").flaw(field),
            flaw,
            "{body}"
        );
    }
    assert_eq!(client.get(&path).expect(200).data(), &before);
}

#[apply(each_engine)]
fn an_address_with_a_password_is_refused(workspace: &Workspace) {
    refuses(
        workspace,
        &[
            "https://ada:secret@hooks.example/",
            "https://ada@hooks.example/",
            "https://:secret@hooks.example/",
        ],
    );
}

#[apply(each_engine)]
fn an_address_that_is_not_public_is_refused(workspace: &Workspace) {
    refuses(
        workspace,
        &[
            "http://127.0.0.1",
            "http://127.0.0.1:8080/in",
            "https://127.8.9.10/",
            "http://0.0.0.0/",
            "http://[::1]/",
            "http://[::]/",
        ],
    );
    refuses(
        workspace,
        &[
            "http://10.0.0.1/",
            "http://172.16.0.1/",
            "http://172.31.255.255/",
            "http://192.168.1.1/",
            "http://100.64.0.1/",
        ],
    );
    refuses(
        workspace,
        &[
            "http://169.254.169.254/latest/meta-data",
            "http://[fe80::1]/",
            "http://[fd00::1]/",
            "http://[ff02::1]/",
        ],
    );
    refuses(workspace, &["http://224.0.0.1/", "http://240.0.0.1/", "http://255.255.255.255/"]);
    refuses(
        workspace,
        &["http://[::ffff:127.0.0.1]/", "http://[::ffff:a00:1]/", "http://[64:ff9b::7f00:1]/"],
    );
    refuses(
        workspace,
        &[
            "http://0x7f000001/",
            "http://2130706433/",
            "http://0177.0.0.1/",
            "http://127.1/",
            "http://0x7f.1/",
            "http://127.0.0.1./",
        ],
    );
}

#[apply(each_engine)]
fn an_allowed_address_is_taken(engine: &Engine) {
    let app =
        engine.app().environment("SLATED_ALLOW_PRIVATE_TARGETS", "10.0.0.0/8,fd00::/8").start();
    let client = app.client("admin");
    for url in ["http://10.1.2.3:9000/in", "http://[fd00::1]/in"] {
        client.post(PATH, &json!({ "url": url, "types": ["person.*"] })).expect(201);
    }
    client.post(PATH, &json!({ "url": "http://127.0.0.1/in" })).refused(400, "INVALID_REQUEST");
}

#[apply(each_engine)]
fn the_option_allows_what_it_names_and_nothing_else(engine: &Engine) {
    let builder = engine.app().argument("--allow-private-targets").argument("10.20.0.0/16,fd00::7");
    // The option wins over its variable.
    let app = builder.environment("SLATED_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8").start();
    let client = app.client("admin");
    for url in ["http://10.20.0.1:9000/in", "http://10.20.255.255/in", "http://[fd00::7]/in"] {
        client.post(PATH, &json!({ "url": url, "types": ["person.*"] })).expect(201);
    }
    refuses(
        &app,
        &[
            "http://10.19.255.255/",
            "http://10.21.0.1/",
            "http://[fd00::8]/",
            "http://192.168.1.1/",
            "http://127.0.0.1/",
        ],
    );
}

#[apply(each_engine)]
fn a_range_that_makes_no_sense_is_refused_at_the_start(engine: &Engine) {
    let database = Database::new(*engine);
    for range in [
        "nonsense",
        "10.0.0.0/33",
        "10.0.0.0-10.0.0.9",
        "300.1.1.1",
        "fd00::/129",
        "127.0.0.0/8,localhost",
    ] {
        let mut process =
            engine.app().argument("--allow-private-targets").argument(range).serve(&database);
        assert!(!process.wait_exit().success(), "{range}");
        let reason = process.log.to_end();
        let named = ["--allow-private-targets", range, "is not an address range"]
            .iter()
            .all(|word| reason.contains(word));
        assert!(named && !reason.contains("panicked"), "{range}: {reason}");
    }
}

#[apply(each_engine)]
fn an_unknown_type_is_refused(workspace: &Workspace) {
    let client = workspace.client("admin");
    let path = new_webhook(&client);
    for name in
        ["nonsense", "person", "person.nonsense", "*.created", "person.*.x", "PERSON.CREATED", "**"]
    {
        let body = json!({ "url": URL, "types": ["person.created", name] });
        for reply in [client.post(PATH, &body), client.patch(&path, &body)] {
            let reply = reply.refused(400, "INVALID_REQUEST");
            assert_eq!(
                (reply.detail_fields(), reply.flaw("types[1]")),
                (vec!["types[1]"], "INVALID_VALUE"),
                "{name}"
            );
        }
    }
}

#[apply(each_engine)]
fn what_is_too_long_is_refused(workspace: &Workspace) {
    let client = workspace.client("admin");
    let long = "x".repeat(10_000);
    for (field, value, flaw) in [
        ("url", json!(format!("{URL}/{long}")), "TOO_LONG"),
        ("description", json!(long), "TOO_LONG"),
        ("types", json!(vec!["person.created"; 1_000]), "TOO_MANY"),
    ] {
        let mut body = quiet();
        body[field] = value;
        let reply = client.post(PATH, &body).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw));
    }
}

#[apply(each_engine)]
fn an_overlap_has_bounds(workspace: &Workspace) {
    let client = workspace.client("admin");
    let rotate = format!("{}/rotate", new_webhook(&client));
    for seconds in [0, 1, 604_800] {
        client.post(&rotate, &json!({ "overlap_seconds": seconds })).expect(200);
    }
    for seconds in [-1, 604_801] {
        let reply = client
            .post(&rotate, &json!({ "overlap_seconds": seconds }))
            .refused(400, "INVALID_REQUEST");
        assert_eq!(reply.flaw("overlap_seconds"), "OUT_OF_RANGE");
    }
}

#[apply(each_engine)]
fn a_workspace_has_a_hundred_at_most(workspace: &Workspace) {
    let client = workspace.client("admin");
    let paths: Vec<_> = (0..92).map(|_| new_webhook(&client)).collect();
    let replies = together(16, |_| client.post(PATH, &quiet()));
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 8, "{replies:#?}");
    for reply in replies.into_iter().filter(|reply| reply.status != 201) {
        reply.refused(409, "TOO_MANY_WEBHOOKS");
    }
    workspace.client_of("another", "admin").post(PATH, &quiet()).expect(201);
    client.send("DELETE", &paths[0], None).expect(200);
    new_webhook(&client);
    client.post(PATH, &quiet()).refused(409, "TOO_MANY_WEBHOOKS");
}
