//! What the head of a request must be, and what stands in the head of every answer.

use std::io::{Read, Write};
use std::net::TcpStream;

use crate::support::{Workspace, apply, each_engine};

/// The status of the answer to a request that is written as it is, and whether the connection stays
/// open.
fn sent(workspace: &Workspace, head: &str, body: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(workspace.address.as_str()).unwrap();
    write!(stream, "{head}\r\n\r\n{body}").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    (answer[9..12].parse().unwrap(), answer)
}

#[apply(each_engine)]
fn a_request_has_one_host(workspace: &Workspace) {
    let end = "\r\nConnection: close";
    for (head, status) in [
        ("GET /healthz HTTP/1.1", 400),
        ("GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b", 400),
        ("GET /healthz HTTP/1.1\r\nHost: a", 200),
        ("GET /healthz HTTP/1.0", 200),
        ("GET /v1/jobs HTTP/1.1", 400),
    ] {
        let (got, answer) = sent(workspace, &format!("{head}{end}"), "");
        assert_eq!(got, status, "{head}: {answer}");
        assert!(status == 200 || answer.contains("INVALID_REQUEST"), "{answer}");
    }
}

#[apply(each_engine)]
fn a_body_is_chunked_at_most_and_never_compressed(workspace: &Workspace) {
    let key = &workspace.key("write");
    let head = |header: &str| {
        format!(
            "POST /v1/persons HTTP/1.1\r\nHost: a\r\nContent-Type: \
             application/json\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n{header}"
        )
    };
    let body = r#"{"name":"Ada"}"#;
    let chunked = format!("{:x}\r\n{body}\r\n0\r\n\r\n", body.len());
    let length = format!("Content-Length: {}", body.len());
    for (header, body, status, code) in [
        ("Transfer-Encoding: gzip, chunked".to_owned(), chunked.as_str(), 501, "NOT_IMPLEMENTED"),
        (format!("Content-Encoding: gzip\r\n{length}"), body, 415, "UNSUPPORTED_MEDIA_TYPE"),
        (format!("Content-Encoding: identity\r\n{length}"), body, 201, "Ada"),
        ("Transfer-Encoding: chunked".to_owned(), chunked.as_str(), 201, "Ada"),
    ] {
        let (got, answer) = sent(workspace, &head(&header), body);
        assert_eq!(got, status, "{header}: {answer}");
        assert!(answer.contains(code), "{header}: {answer}");
    }
    assert_eq!(workspace.writer().get("/v1/persons").json["meta"]["total"], 2);
}

#[apply(each_engine)]
fn no_answer_is_kept_by_anybody_who_cannot_ask_whether_it_holds(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    for (path, caching) in [
        ("/v1/me".to_owned(), "no-store"),
        ("/v1/persons".to_owned(), "no-store"),
        (job.path(), "private, no-cache"),
        ("/v1/nothing".to_owned(), "no-store"),
        ("/docs/nothing".to_owned(), "no-store"),
        ("/healthz".to_owned(), "no-store"),
        ("/openapi.json".to_owned(), "no-cache"),
    ] {
        let reply = client.get(&path);
        assert_eq!(
            (reply.header("cache-control"), reply.header("x-content-type-options")),
            (Some(caching), Some("nosniff")),
            "{path}"
        );
    }
    let document = workspace.anonymous().get("/openapi.json").expect(200);
    let unchanged = workspace
        .anonymous()
        .with("if-none-match", document.etag())
        .get("/openapi.json")
        .expect(304);
    assert_eq!((unchanged.text.as_str(), unchanged.etag()), ("", document.etag()));
}

#[apply(each_engine)]
fn the_document_is_small_and_comes_compressed(workspace: &Workspace) {
    let (_, plain) =
        sent(workspace, "GET /openapi.json HTTP/1.1\r\nHost: a\r\nConnection: close", "");
    assert!(plain.len() < 400 * 1024, "{}", plain.len());
    let mut stream = TcpStream::connect(workspace.address.as_str()).unwrap();
    write!(
        stream,
        "GET /openapi.json HTTP/1.1\r\nHost: a\r\nAccept-Encoding: br, \
        gzip\r\nConnection: close\r\n\r\n"
    )
    .unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    assert!(answer.len() < 80 * 1024, "{}", answer.len());
    let head = String::from_utf8_lossy(&answer[..600]).to_lowercase();
    assert!(
        head.contains("content-encoding: gzip") && head.contains("vary: accept-encoding"),
        "{head}"
    );
}

#[apply(each_engine)]
fn a_parameter_that_is_not_known_is_answered_with_those_that_are(workspace: &Workspace) {
    let client = workspace.writer();
    for (path, field, words) in [
        ("/v1/persons?page=2", "page", &["limit", "did you mean offset?"][..]),
        ("/v1/persons?search=ada", "search", &["did you mean q?"]),
        ("/v1/candidates?stage=Offer", "stage", &["did you mean stage_name?"]),
        ("/v1/persons?zzz=1", "zzz", &["which takes"]),
        ("/v1/me?zzz=1", "zzz", &["which takes none"]),
    ] {
        let reply = client.get(path).refused(400, "INVALID_REQUEST");
        let detail = reply.json["error"]["details"][0].clone();
        let message = detail["message"].as_str().unwrap();
        assert!(
            detail["field"] == field && words.iter().all(|word| message.contains(word)),
            "{path}: {message}"
        );
    }
    for (field, meant) in [
        ("phone", "phone_numbers"),
        ("phones", "phone_numbers"),
        ("email", "emails"),
        ("title", "current_job_title"),
    ] {
        let reply = client
            .post("/v1/persons", &serde_json::json!({ "name": "Ada", field: "x" }))
            .refused(400, "INVALID_REQUEST");
        assert!(reply.text.contains(&format!("did you mean {meant}?")), "{}", reply.text);
    }
}
