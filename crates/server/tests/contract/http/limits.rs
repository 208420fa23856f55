//! What one caller may ask for: requests in a minute, and the size and depth of a request.

use serde_json::{Value, json};

use crate::support::{
    App, Connection, Engine, HttpReply, OPERATIONS, Reply, World, apply, each_engine, eventually,
};

const MEBIBYTE: usize = 1024 * 1024;

/// A server that lets each key make so many requests a minute.
fn limited(engine: Engine, limit: u32) -> App {
    engine.app().environment("SLATED_RATE_LIMIT", &limit.to_string()).start()
}

#[apply(each_engine)]
fn a_key_is_told_what_is_left_of_its_limit(engine: &Engine) {
    let app = limited(*engine, 6);
    let client = app.writer();
    for left in ["5", "4", "3"] {
        let reply = client.get("/v1/jobs").expect(200);
        let told = ["x-ratelimit-limit", "x-ratelimit-remaining"]
            .map(|name| reply.header(name).unwrap_or_default());
        assert_eq!(told, ["6", left], "{reply:#?}");
        assert!(
            reply.header("x-ratelimit-reset").is_some_and(|reset| reset.parse::<u64>().is_ok()),
            "{reply:#?}"
        );
        assert_eq!(reply.header("retry-after"), None);
    }
}

#[apply(each_engine)]
fn a_key_over_its_limit_is_told_when_to_come_back(engine: &Engine) {
    let app = limited(*engine, 3);
    let client = app.writer();
    let person = json!({ "name": "Ada", "external_source_id": "crm-1" });
    for _ in 0..3 {
        client.get("/v1/jobs").expect(200);
    }
    let reply = client.post("/v1/persons", &person).refused(429, "RATE_LIMITED");
    assert_eq!(reply.header("x-ratelimit-remaining"), Some("0"));
    let seconds: u64 = reply.header("retry-after").unwrap().parse().unwrap();
    assert!((1..=60).contains(&seconds), "{reply:#?}");
    let old = client.post("/v0/persons", &person).expect(429);
    assert!(old.json["error"].is_string() && old.json["data"].is_null(), "{old:#?}");
    app.anonymous().get("/healthz").expect(200);
}

#[apply(each_engine)]
fn each_key_has_a_limit_of_its_own(engine: &Engine) {
    let app = limited(*engine, 2);
    let (one, other) = (app.writer(), app.client("read"));
    one.get("/v1/jobs").expect(200);
    one.get("/v1/jobs").expect(200);
    one.get("/v1/jobs").refused(429, "RATE_LIMITED");
    let reply = other.get("/v1/jobs").expect(200);
    assert_eq!(reply.header("x-ratelimit-remaining"), Some("1"));
}

#[apply(each_engine)]
fn a_rotation_that_is_repeated_gives_no_new_limit(engine: &Engine) {
    let app = limited(*engine, 6);
    let client = app.client("admin").with("idempotency-key", "same");
    let id = client.get("/v1/me").expect(200).data()["key"]["id"].as_str().unwrap().to_owned();
    let left =
        |reply: Reply| reply.header("x-ratelimit-remaining").unwrap().parse::<u32>().unwrap();
    let rotate = || client.post(&format!("/v1/keys/{id}/rotate"), &json!({})).expect(201);
    rotate();
    let repeated = left(rotate());
    assert_eq!(left(client.get("/v1/jobs").expect(200)), repeated - 1);
}

#[apply(each_engine)]
fn a_refusal_tells_too(engine: &Engine) {
    let app = limited(*engine, 600);
    let world = World::build(&app.writer());
    let reader = app.client("read");
    for operation in OPERATIONS.iter().filter(|operation| operation.writes()) {
        let reply = operation.send(&reader, &world).expect(403);
        assert_eq!(reply.header("x-ratelimit-limit"), Some("600"), "{reply:#?}");
    }
    let unknown = reader.get("/v1/persons/per_1").expect(404);
    assert_eq!(unknown.header("x-ratelimit-limit"), Some("600"), "{unknown:#?}");
    let anonymous = app.anonymous().get("/v1/jobs").expect(401);
    assert_eq!(anonymous.header("x-ratelimit-limit"), None, "{anonymous:#?}");
}

#[apply(each_engine)]
fn without_a_limit_nothing_is_told(app: &App) {
    let reply = app.writer().get("/v1/jobs").expect(200);
    let told = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset", "retry-after"]
        .map(|name| reply.header(name));
    assert_eq!(told, [None; 4]);
}

/// A create whose body is padded to that many bytes.
fn padded(length: usize) -> Vec<u8> {
    let mut body = br#"{"name": "Ada""#.to_vec();
    body.resize(length - 1, b' ');
    body.push(b'}');
    body
}

fn head(app: &App, length: &str) -> String {
    let (address, key) = (&app.address, app.key("write"));
    let start =
        format!("POST /v1/persons HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {key}\r\n");
    format!("{start}Content-Type: application/json\r\nConnection: close\r\n{length}\r\n\r\n")
}

/// The answer to a body that the server may cut short.
fn answer(app: &App, head: &str, body: &[u8]) -> HttpReply {
    let mut connection = Connection::open(&app.address);
    connection.write(head.as_bytes()).unwrap();
    let _ = connection.write(body);
    connection.read_to_end()
}

#[apply(each_engine)]
fn a_body_may_be_a_mebibyte_and_no_more(app: &App) {
    let most = app.writer().with("content-type", "application/json").send_bytes(
        "POST",
        "/v1/persons",
        &padded(MEBIBYTE),
    );
    most.expect(201);
    let length = format!("Content-Length: {}", MEBIBYTE + 1);
    let reply = answer(app, &head(app, &length), &padded(MEBIBYTE + 1));
    assert_eq!(reply.status(), Some(413), "{reply:?}");
    assert!(reply.0.contains("PAYLOAD_TOO_LARGE"), "{reply:?}");
    let huge = answer(app, &head(app, "Content-Length: 99999999999"), b"{");
    assert_eq!(huge.status(), Some(413), "{huge:?}");
    let asked_first = answer(app, &head(app, &format!("{length}\r\nExpect: 100-continue")), b"");
    assert_eq!(asked_first.status(), Some(413), "{asked_first:?}");
}

#[apply(each_engine)]
fn a_body_of_unknown_length_is_bounded_too(app: &App) {
    let mut body = format!("{:x}\r\n", MEBIBYTE + 1).into_bytes();
    body.extend(padded(MEBIBYTE + 1));
    body.extend(b"\r\n0\r\n\r\n");
    let reply = answer(app, &head(app, "Transfer-Encoding: chunked"), &body);
    assert_eq!(reply.status(), Some(413), "{reply:?}");
    let mut connection = Connection::open(&app.address);
    connection.write(head(app, "Transfer-Encoding: chunked").as_bytes()).unwrap();
    let mebibyte = [format!("{MEBIBYTE:x}\r\n").as_bytes(), &padded(MEBIBYTE), b"\r\n"].concat();
    (0..20).for_each(|_| connection.write(&mebibyte).unwrap());
    connection.write(b"0\r\n\r\n").unwrap();
    assert_eq!(connection.read_to_end().status(), Some(413));
    let small = answer(
        app,
        &head(app, "Transfer-Encoding: chunked"),
        b"f\r\n{\"name\": \"Ada\"}\r\n0\r\n\r\n",
    );
    assert_eq!(small.status(), Some(201), "{small:?}");
}

#[apply(each_engine)]
fn json_may_be_sixteen_deep_and_no_more(app: &App) {
    let client = app.writer().with("content-type", "application/json");
    let nested =
        |depth: usize| format!("{{\"name\": {}{}}}", "[".repeat(depth - 1), "]".repeat(depth - 1));
    let allowed = client
        .send_bytes("POST", "/v1/persons", nested(16).as_bytes())
        .refused(400, "INVALID_REQUEST");
    assert_eq!(allowed.flaw("name"), "INVALID_TYPE");
    for depth in [17, 1000, 400_000] {
        client
            .send_bytes("POST", "/v1/persons", nested(depth).as_bytes())
            .refused(400, "MALFORMED_JSON");
    }
}

#[apply(each_engine)]
fn a_head_is_bounded(app: &App) {
    let long_value =
        format!("GET /healthz HTTP/1.1\r\nHost: x\r\nX-Long: {}\r\n\r\n", "x".repeat(MEBIBYTE));
    let long_path = format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "x".repeat(MEBIBYTE));
    let many =
        format!("GET /healthz HTTP/1.1\r\nHost: x\r\n{}\r\n", "X-Many: y\r\n".repeat(10_000));
    for request in [long_value, long_path, many] {
        let mut connection = Connection::open(&app.address);
        let _ = connection.write(request.as_bytes());
        let reply = connection.read_to_end();
        assert!(reply.status().is_none_or(|status| (400..500).contains(&status)), "{reply:?}");
    }
    let too_many =
        format!("GET /healthz HTTP/1.1\r\nHost: x\r\n{}\r\n", "X-Many: y\r\n".repeat(100));
    let mut connection = Connection::open(&app.address);
    connection.write(too_many.as_bytes()).unwrap();
    let reply = connection.read_to_end();
    assert_eq!(reply.status(), Some(431), "{reply:?}");
    app.anonymous().get("/healthz").expect(200);
}

#[apply(each_engine)]
fn a_long_name_that_nobody_knows_is_told_shortly(app: &App) {
    let client = app.writer();
    let long = "b".repeat(900_000);
    let reply = client
        .post("/v1/persons", &json!({ "name": "Ada", (long.as_str()): 1 }))
        .refused(400, "INVALID_REQUEST");
    assert!(reply.text.len() < 2_000, "{} bytes", reply.text.len());
    let query: String = (0..8_000).map(|number| format!("p{number}=1&")).collect();
    let reply = client.get(&format!("/v1/jobs?{query}")).refused(400, "INVALID_REQUEST");
    assert!(reply.text.len() < 20_000, "{} bytes", reply.text.len());
}

#[apply(each_engine)]
fn a_body_that_is_far_too_large_is_still_answered(app: &App) {
    let body = vec![b' '; 20 * MEBIBYTE];
    let client = app.writer().with("content-type", "application/json");
    client.send_bytes("POST", "/v1/persons", &body).refused(413, "PAYLOAD_TOO_LARGE");
    app.anonymous()
        .with("content-type", "application/json")
        .send_bytes("POST", "/v1/persons", &body)
        .refused(401, "UNAUTHENTICATED");
    client.send_bytes("POST", "/v1/person", &body).refused(404, "NOT_FOUND");
    client.send_bytes("PUT", "/v1/persons", &body).refused(405, "METHOD_NOT_ALLOWED");
}

/// Of the 256 MiB for all of them, others take so much that there is no room for a whole one more,
/// until they go away.
#[apply(each_engine)]
fn bodies_have_so_much_room_together_and_no_more(app: &App) {
    const LARGEST: usize = 8 * MEBIBYTE;
    let head = head(app, &format!("Content-Length: {LARGEST}")).replacen(
        "/v1/persons",
        "/v1/persons/batch",
        1,
    );
    let body = padded(LARGEST);
    let unfinished = || {
        let mut connection = Connection::open(&app.address);
        connection.write(head.as_bytes()).unwrap();
        connection.write(&body[..7 * MEBIBYTE]).unwrap();
        connection
    };
    let send = || answer(app, &head, &body);
    assert_eq!(send().status(), Some(400));
    let held: Vec<_> = (0..40).map(|_| unfinished()).collect();
    eventually("there is no room", || {
        let reply = send();
        reply.status() == Some(503)
            && reply.0.contains("UNAVAILABLE")
            && reply.0.to_lowercase().contains("retry-after")
    });
    eventually("what is small finds room", || {
        app.writer().post("/v1/persons", &json!({ "name": "Ada" })).status == 201
    });
    drop(held);
    eventually("there is room again", || send().status() == Some(400));
}

#[apply(each_engine)]
fn a_body_without_a_length_may_turn_out_to_be_nothing(app: &App) {
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    for kind in ["", "Content-Type: application/json\r\n", "Content-Type: text/plain\r\n"] {
        let candidate = client.new_candidate(&job, "Ada")["id"].as_str().unwrap().to_owned();
        let (address, key) = (&app.address, app.key("write"));
        let start = format!(
            "DELETE /v1/candidates/{candidate} HTTP/1.1\r\nHost: {address}\r\nAuthorization: \
             Bearer {key}\r\n"
        );
        let head = format!("{start}{kind}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n");
        let reply = answer(app, &head, b"0\r\n\r\n");
        assert_eq!(reply.status(), Some(200), "{kind}: {reply:?}");
        if kind.contains("text") {
            for length in [2, 2 * MEBIBYTE] {
                let reply = answer(
                    app,
                    &head,
                    format!("{length:x}\r\n{}\r\n0\r\n\r\n", " ".repeat(length)).as_bytes(),
                );
                assert_eq!(reply.status(), Some(415), "{reply:?}");
            }
        }
    }
}

#[apply(each_engine)]
fn of_very_many_bad_fields_the_first_are_named(app: &App) {
    let client = app.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let position: serde_json::Map<_, _> =
        (0..15).map(|number| (format!("titl{number}"), json!(1))).collect();
    let experience = json!({ "work_experience": vec![json!({ "company_name": "Acme",
        "positions": vec![position; 100] }); 40] });
    let reply = client
        .put(&format!("/v1/persons/{person}/history"), &experience)
        .refused(400, "INVALID_REQUEST");
    assert_eq!(reply.detail_fields().len(), 1000);
    assert!(
        reply.json["error"]["message"].as_str().unwrap().starts_with("60000 fields are not valid"),
        "{}",
        reply.json["error"]["message"]
    );
    assert_eq!(
        reply.json["error"]["details"].to_string().matches("did you mean title?").count(),
        100
    );
    // What is there and bad is named and counted once, behind the first thousand too.
    let bad = json!({ "certifications": vec![json!({ "name": 7, "nmae": 1 }); 100],
        "work_experience": vec![json!({ "company_name": "Acme",
            "positions": vec![json!({ "title": 7 }); 100] }); 20] });
    let reply =
        client.put(&format!("/v1/persons/{person}/history"), &bad).refused(400, "INVALID_REQUEST");
    assert!(
        reply.json["error"]["message"].as_str().unwrap().starts_with("2200 fields are not valid"),
        "{}",
        reply.json["error"]["message"]
    );
    // Rows of a batch share what is named, but for the first field of each.
    let row: serde_json::Map<_, _> =
        (0..50).map(|number| (format!("nam{number}"), json!(1))).collect();
    let reply = client.post("/v1/persons/batch", &json!({ "persons": vec![row; 100] })).expect(200);
    let named = |row: &Value| row["error"]["details"].as_array().unwrap().len();
    let named: Vec<_> = reply.data().as_array().unwrap().iter().map(named).collect();
    assert_eq!((named[0], named[99], named.iter().sum::<usize>()), (51, 1, 19 * 51 + 31 + 80));
    let message = reply.data()[99]["error"]["message"].as_str().unwrap();
    assert!(message.starts_with("51 fields are not valid"), "{message}");
    let hints = |row: &Value| row["error"]["details"].to_string().matches("did you mean").count();
    assert_eq!(reply.data().as_array().unwrap().iter().map(hints).sum::<usize>(), 100);
}
