//! TLS to the database, as far as `sslmode` asks for it.

use crate::support::Database;
use crate::support::postgres::Server;

/// What a command on that URL says when it fails, or nothing.
fn try_url(url: &str) -> Option<String> {
    let output = Database::at(url).run(&["key", "create", "--name", "x"]);
    let reason = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!reason.contains("panicked"), "{reason}");
    (!output.status.success()).then_some(reason)
}

#[test]
fn sslmode_is_honoured() {
    let server = Server::start(&[("POSTGRES_TLS", "1")]);
    let other = Server::start(&[("POSTGRES_TLS", "1")]);
    let by_address = server.url();
    let by_name = server.url().replace("127.0.0.1", "localhost");
    let authority = server.directory().join("ca.pem").display().to_string();
    let another = other.directory().join("ca.pem").display().to_string();
    let works = |url: String| assert_eq!(try_url(&url), None, "{url}");
    let fails = |url: String| assert!(try_url(&url).is_some(), "{url}");
    works(by_address.to_owned());
    works(format!("{by_address}?sslmode=prefer"));
    works(format!("{by_address}?sslmode=require"));
    fails(format!("{by_address}?sslmode=disable"));
    works(format!("{by_name}?sslmode=verify-full&sslrootcert={authority}"));
    works(format!("{by_address}?sslmode=verify-ca&sslrootcert={authority}"));
    fails(format!("{by_address}?sslmode=verify-full&sslrootcert={authority}"));
    fails(format!("{by_name}?sslmode=verify-full&sslrootcert={another}"));
    fails(format!("{by_name}?sslmode=verify-ca&sslrootcert={another}"));
    fails(format!("{by_name}?sslmode=verify-full&sslrootcert=nowhere.pem"));
    fails(format!("{by_name}?sslmode=verify-full"));
}

#[test]
fn the_host_that_takes_writes_is_found() {
    let primary = Server::start(&[]);
    let replica = primary.replica(&[]);
    let host = |server: &Server| {
        server
            .url()
            .trim_start_matches("postgres://slated@")
            .trim_end_matches("/postgres")
            .to_owned()
    };
    let hosts = format!("postgres://slated@{},{}/postgres", host(&replica), host(&primary));
    assert!(try_url(&hosts).is_some());
    assert_eq!(try_url(&format!("{hosts}?target_session_attrs=read-write")), None);
}
