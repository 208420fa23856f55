//! Who may do what: no operation without a good key, none without the scope that it needs.

use std::collections::BTreeSet;

use crate::support::{
    App, Client, Database, Engine, OPERATIONS, OTHER_OPERATIONS, Workspace, World, apply,
    each_engine, eventually,
};

/// Values of the header that are no use, made from a good key.
fn bad_headers(app: &App) -> Vec<String> {
    let good = app.key("write");
    let last = if good.ends_with('0') { '1' } else { '0' };
    let elsewhere = Database::new(Engine::Sqlite).create_key("main", "admin", &[]);
    let expired = app.database.create_key("main", "write", &["--expires", "1s"]);
    let with_expired = app.anonymous().with_key(&expired);
    eventually("the key has expired", || with_expired.get("/v1/jobs").status == 401);
    let revoked = app.database.create_key("main", "write", &[]);
    let with_revoked = app.anonymous().with_key(&revoked);
    let id =
        with_revoked.get("/v1/me").expect(200).data()["key"]["id"].as_str().unwrap().to_owned();
    app.database.ask(&["key", "revoke", &id, "--workspace", "main"]);
    eventually("the key is revoked", || with_revoked.get("/v1/jobs").status == 401);
    vec![
        String::new(),
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        good.clone(),
        format!("Basic {good}"),
        format!("Token {good}"),
        format!("Bearer{good}"),
        format!("Bearer {good} {good}"),
        format!("Bearer \"{good}\""),
        format!("Bearer {}", &good[..good.len() - 1]),
        format!("Bearer {}{last}", &good[..good.len() - 1]),
        format!("Bearer {}", good.to_uppercase()),
        format!("Bearer {}", "x".repeat(5000)),
        "Bearer slated_".to_owned(),
        "Bearer null".to_owned(),
        format!("Bearer {elsewhere}"),
        format!("Bearer {expired}"),
        format!("Bearer {revoked}"),
    ]
}

fn strangers(app: &App) -> Vec<Client> {
    let with_header = |header: &String| app.anonymous().with("authorization", header);
    let mut clients: Vec<_> = bad_headers(app).iter().map(with_header).collect();
    clients.push(app.anonymous());
    clients
}

#[apply(each_engine)]
fn no_operation_is_answered_without_a_good_key(app: &App) {
    let client = app.writer();
    let world = World::build(&client);
    let before = world.contents(&client);
    for stranger in strangers(app) {
        for operation in &OPERATIONS {
            let reply =
                operation.assert_refused(operation.send(&stranger, &world), 401, "UNAUTHENTICATED");
            assert_eq!(reply.header("www-authenticate"), Some("Bearer"), "{reply:#?}");
            assert_eq!(reply.header("x-ratelimit-limit"), None, "{reply:#?}");
        }
        for (method, path) in &OTHER_OPERATIONS {
            stranger.send(method, path, None).refused(401, "UNAUTHENTICATED");
        }
    }
    assert_eq!(world.contents(&client), before);
}

#[apply(each_engine)]
fn a_refused_key_is_not_told_why(app: &App) {
    let told = |client: &Client| {
        let mut body = client.get("/v1/jobs").refused(401, "UNAUTHENTICATED").json;
        body["error"]["request_id"].take();
        body.to_string()
    };
    let answers: BTreeSet<_> = strangers(app).iter().map(told).collect();
    assert_eq!(answers.len(), 1, "{answers:#?}");
}

#[apply(each_engine)]
fn a_bad_key_is_refused_before_anything_else_is_looked_at(workspace: &Workspace) {
    let stranger = workspace.anonymous();
    let requests: [(&str, &str, &[u8]); 5] = [
        ("GET", "/v1/persons/per_00000000000000000000000000", b""),
        ("GET", "/v1/jobs?limit=0&nonsense=1", b""),
        ("POST", "/v1/persons", b"{"),
        ("POST", "/v1/persons", b""),
        ("PATCH", "/v1/persons/x", b"[1, 2"),
    ];
    for (method, path, body) in requests {
        stranger.send_bytes(method, path, body).refused(401, "UNAUTHENTICATED");
    }
}

#[apply(each_engine)]
fn each_scope_opens_its_operations_and_no_more(workspace: &Workspace) {
    let world = World::build(&workspace.writer());
    for (scope, may_write) in [("read", false), ("write", true), ("admin", true)] {
        let client = workspace.client(scope);
        for operation in &OPERATIONS {
            let reply = operation.send(&client, &world);
            if operation.writes() && !may_write {
                operation.assert_refused(reply, 403, "FORBIDDEN");
            } else {
                assert!([200, 201, 202].contains(&reply.status), "{scope}: {reply:#?}");
            }
        }
        for (method, path) in &OTHER_OPERATIONS {
            let is_for_admins =
                ["/v1/keys", "/v1/webhooks"].iter().any(|family| path.starts_with(family));
            if (is_for_admins && scope != "admin") || (*method != "GET" && !may_write) {
                client.send(method, path, None).refused(403, "FORBIDDEN");
            }
        }
    }
}

#[apply(each_engine)]
fn every_documented_operation_is_tried_here(workspace: &Workspace) {
    let document = workspace.anonymous().get("/openapi.json").expect(200).json;
    let mut documented = BTreeSet::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        let segments =
            path.split('/').map(|segment| if segment.starts_with('{') { "{id}" } else { segment });
        let path = segments.collect::<Vec<_>>().join("/");
        for method in methods
            .as_object()
            .unwrap()
            .keys()
            .filter(|name| ["get", "post", "put", "patch", "delete"].contains(&name.as_str()))
        {
            documented.insert(format!("{} {path}", method.to_uppercase()));
        }
    }
    documented.retain(|operation| operation.contains(" /v"));
    let mut tried: BTreeSet<_> = OPERATIONS
        .iter()
        .map(|operation| format!("{} {}", operation.method, operation.path))
        .collect();
    tried.extend(OTHER_OPERATIONS.iter().map(|(method, path)| format!("{method} {path}")));
    assert_eq!(documented, tried);
}

#[apply(each_engine)]
fn what_watches_and_explains_the_program_needs_no_key(app: &App) {
    for path in ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs/"] {
        app.anonymous().get(path).expect(200);
        app.anonymous().with_key("nonsense").get(path).expect(200);
    }
}

#[apply(each_engine)]
fn a_key_is_taken_however_its_scheme_is_written(workspace: &Workspace) {
    let key = workspace.key("read");
    for scheme in ["Bearer", "bearer", "BEARER"] {
        workspace
            .anonymous()
            .with("authorization", &format!("{scheme} {key}"))
            .get("/v1/jobs")
            .expect(200);
    }
    let twice =
        workspace.anonymous().with_key(&key).with_also("authorization", &format!("Bearer {key}"));
    twice.get("/v1/jobs").refused(401, "UNAUTHENTICATED");
}

#[apply(each_engine)]
fn what_is_nowhere_needs_no_key(workspace: &Workspace) {
    for path in ["/v1/nope", "/nope"] {
        workspace.anonymous().get(path).refused(404, "NOT_FOUND");
    }
}
