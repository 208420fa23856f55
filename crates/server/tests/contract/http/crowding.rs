//! One caller who asks for much hurts no others.

use serde_json::json;

use crate::support::{
    App, Client, Connection, Engine, Workspace, apply, each_engine, eventually, on_sqlite,
};

/// A request that announces a body and holds the last byte of it back.
fn hold_body_back(workspace: &Workspace, key: &str, path: &str, length: usize) -> Connection {
    let mut connection = Connection::open(&workspace.address);
    let head = format!(
        "POST {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\nContent-Type: \
         application/json\r\nContent-Length: {length}\r\n\r\n",
        workspace.address
    );
    connection.write(head.as_bytes()).unwrap();
    // The server may have had enough in between.
    let _ = connection.write(&vec![b' '; length - 1]);
    connection
}

#[apply(on_sqlite)]
fn bodies_that_are_held_back_take_the_place_of_their_own_key(app: &App) {
    const HELD_BACK: usize = 60;
    let hostile = app.key_of("hostile", "read");
    let held: Vec<_> = (0..HELD_BACK)
        .map(|_| hold_body_back(app, &hostile, "/v1/persons/resolve", 1024 * 1024))
        .collect();
    let small = json!({ "emails": ["ada@x.example"], "name": "x".repeat(200) });
    eventually("the key has its share", || {
        app.client_of("hostile", "read").post("/v1/persons/resolve", &small).status == 503
    });
    let others = app.writer();
    let much: Vec<_> = (0..100)
        .map(|number| json!({ "name": format!("Person {number}"), "notes": "x".repeat(10_000) }))
        .collect();
    others.post("/v1/persons/batch", &json!({ "persons": much })).expect(200);
    others.post("/v1/persons/resolve", &small).expect(200);
    drop(held);
    eventually("the share is free again", || {
        app.client_of("hostile", "read").post("/v1/persons/resolve", &small).status == 200
    });
}

/// Asks for something and reads nothing of the answer but its first line.
fn leave_unread(workspace: &Workspace, key: &str, path: &str) -> (Connection, String) {
    let mut connection = Connection::open(&workspace.address);
    let head = format!(
        "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {key}\r\n\r\n",
        workspace.address
    );
    connection.write(head.as_bytes()).unwrap();
    let line = connection.read_until("\r\n");
    (connection, line)
}

#[apply(each_engine)]
fn answers_that_nobody_reads_take_the_place_of_their_own_workspace(app: &App) {
    let writer = app.client_of("hostile", "write");
    let person = writer.new_person(&json!({ "name": "Much Noted" }));
    for number in 0..100 {
        let note = json!({ "body": format!("{number} {}", "x".repeat(60_000)) });
        writer.post(&format!("/v1/persons/{person}/notes"), &note).expect(201);
    }
    let hostile = app.key_of("hostile", "read");
    let mut unread = Vec::new();
    while unread.len() < 100 {
        let (connection, line) = leave_unread(app, &hostile, "/v1/events?limit=1000");
        unread.push(connection);
        if line.contains("503") {
            break;
        }
        assert!(line.contains("200"), "{line}");
    }
    assert!((8..100).contains(&unread.len()), "{} answers were given", unread.len());
    // What is short is answered, and others are answered whatever they ask for.
    app.client_of("hostile", "read").get("/v1/jobs").expect(200);
    app.writer().get("/v1/events?limit=1000").expect(200);
    drop(unread);
    eventually("the room is free again", || {
        app.client_of("hostile", "read").get("/v1/events?limit=1000").status == 200
    });
}

/// The connections of an address are as many as it may have, and the longest idle one goes first.
#[apply(on_sqlite)]
fn an_address_has_its_share_of_connections(engine: &Engine) {
    const MOST: usize = 8;
    let app = engine.app().argument(&format!("--connections-per-address={MOST}")).start();
    let mut idle: Vec<_> = (0..MOST).map(|_| Connection::open(&app.address)).collect();
    // Another one than the test's own clients has takes the place of the first.
    let mut more = Connection::open(&app.address);
    more.write(b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    assert_eq!(more.read_until("\r\n"), "HTTP/1.1 200 OK\r\n");
    assert_eq!(idle[0].read_to_end().0, "");
    drop((idle, more));
    // With a request under way on each there is no place for another.
    let key = app.key("read");
    let streams: Vec<_> = (0..MOST)
        .map(|_| {
            let (connection, line) = leave_unread(&app, &key, "/v1/events/stream");
            assert!(line.contains("200"), "{line}");
            connection
        })
        .collect();
    let mut refused = Connection::open(&app.address);
    assert!(refused.read_to_end().0.starts_with("HTTP/1.1 503"));
    drop(streams);
    eventually("there is a place again", || {
        Client::new(&app.address)
            .try_send("GET", "/healthz", None)
            .is_ok_and(|reply| reply.status == 200)
    });
}
