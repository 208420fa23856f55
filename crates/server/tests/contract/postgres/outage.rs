//! The database goes away and comes back: callers are told at once, nothing is lost, and nobody
//! restarts the server.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::support::postgres::{Server, execute};
use crate::support::{
    App, AppBuilder, Client, Database, Engine, Reply, address_of, eventually, time_taken, together,
};

/// How soon a caller has to know.
const AT_MOST: Duration = Duration::from_secs(4);

fn app_on(server: &Server) -> App {
    AppBuilder::new(Engine::Postgres).start_on(Database::at(server.url()))
}

/// Sends something and expects to be told within two seconds that the database is away.
#[track_caller]
fn told_in_time(send: impl Fn() -> Reply) {
    let taken = time_taken(AT_MOST, || {
        let reply = send().expect(503);
        assert_eq!(reply.json["error"]["code"], "UNAVAILABLE", "{reply:#?}");
        assert!(
            reply.header("retry-after").is_some_and(|seconds| seconds.parse::<u32>().is_ok()),
            "{reply:#?}"
        );
    });
    assert!(taken < AT_MOST, "it took {taken:?}");
}

fn check(app: &App, server: &Server, go_away: fn(&Server), come_back: fn(&Server)) {
    let client = app.writer();
    let created = client
        .post("/v1/persons", &json!({ "name": "Ada", "external_source_id": "crm-1" }))
        .expect(201)
        .id();
    go_away(server);
    for _ in 0..3 {
        told_in_time(|| client.get(&format!("/v1/persons/{created}")));
        told_in_time(|| client.get("/v1/jobs"));
        told_in_time(|| {
            client.post("/v1/persons", &json!({ "name": "Grace", "external_source_id": "crm-2" }))
        });
        told_in_time(|| app.anonymous().get("/readyz"));
    }
    // Also when there are more callers than connections.
    together(40, |_| told_in_time(|| client.get(&format!("/v1/persons/{created}"))));
    app.anonymous().get("/healthz").expect(200);
    come_back(server);
    eventually("the server is ready again", || app.anonymous().get("/readyz").status == 200);
    assert_eq!(client.get(&format!("/v1/persons/{created}")).expect(200).id(), created);
    for _ in 0..8 {
        let reply =
            client.post("/v1/persons", &json!({ "name": "Grace", "external_source_id": "crm-2" }));
        assert!([200, 201].contains(&reply.status), "{reply:#?}");
    }
}

#[test]
fn a_database_that_crashed_is_told_and_healed() {
    let server = Server::start(&[]);
    let app = app_on(&server);
    check(&app, &server, Server::halt, Server::resume);
}

#[test]
fn a_database_that_does_not_answer_is_told_and_healed() {
    let server = Server::start(&[]);
    let app = app_on(&server);
    check(&app, &server, |server| server.signal("-STOP"), |server| server.signal("-CONT"));
}

#[test]
fn a_server_does_not_start_without_its_database() {
    let server = Server::start(&[]);
    let database = Database::at(server.url());
    server.halt();
    let output = database.run(&["serve", "--listen", "127.0.0.1:0"]);
    let reason = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success()
            && reason.contains("cannot be reached")
            && !reason.contains("panicked"),
        "{reason}"
    );
}

#[test]
fn a_server_waits_at_its_start_for_a_database_that_is_slow_to_answer() {
    let database = Database::new(Engine::Postgres);
    let key = database.create_key("main", "write", &[]);
    let lock = database.hold("LOCK TABLE workspace IN ACCESS EXCLUSIVE MODE");
    let process =
        AppBuilder::new(Engine::Postgres).argument("--database-timeout=100").serve(&database);
    process
        .log
        .wait_for("another try", |line| line.contains("retrying the database").then_some(()));
    drop(lock);
    let client = Client::new(&address_of(&process.log)).with_key(&key);
    eventually("it serves", || client.get("/v1/jobs").status == 200);
}

#[test]
fn connections_that_cannot_write_any_more_are_given_up() {
    let server = Server::start(&[]);
    let app = app_on(&server);
    let client = app.writer();
    let body = json!({ "name": "Ada", "external_source_id": "crm-1" });
    execute(server.url(), "ALTER DATABASE postgres SET default_transaction_read_only = on");
    // New connections only look from now on.
    execute(
        server.url(),
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'slated'",
    );
    eventually("writes are refused", || client.post("/v1/persons", &body).status == 503);
    assert_eq!(app.anonymous().get("/readyz").status, 503);
    client.get("/v1/jobs").expect(200);
    execute(
        server.url(),
        "BEGIN READ WRITE; ALTER DATABASE postgres SET default_transaction_read_only = off; COMMIT",
    );
    eventually("writes go on", || client.post("/v1/persons", &body).status == 201);
    together(40, |_| client.post("/v1/persons", &body).expect(200));
}

#[test]
fn a_row_that_stays_locked_is_told_in_time_and_leaves_nobody_waiting() {
    let server = Server::start(&[]);
    let app = app_on(&server);
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    let lock = app.database.hold("SELECT * FROM job FOR UPDATE");
    together(40, |_| {
        told_in_time(|| client.patch(&format!("/v1/jobs/{}", job.id), &json!({ "name": "Pilot" })))
    });
    let waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    eventually("nobody waits for the row", || execute(server.url(), waiting).is_empty());
    drop(lock);
    client.patch(&format!("/v1/jobs/{}", job.id), &json!({ "name": "Pilot" })).expect(200);
}

/// A host that takes connections and says nothing, as one does whose database stands still.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

#[test]
fn a_host_that_says_nothing_does_not_keep_the_others_from_being_asked() {
    let server = Server::start(&[]);
    let (_listener, silent) = silent();
    // The start takes the time for each host that the URL names; requests have less.
    let hosts = server.url().replace("slated@", &format!("slated@{silent},"))
        + "?target_session_attrs=read-write&connect_timeout=2";
    let app = AppBuilder::new(Engine::Postgres).start_on(Database::at(&hosts));
    let client = app.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    execute(
        server.url(),
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'slated'",
    );
    assert_eq!(client.get(&format!("/v1/persons/{person}")).expect(200).id(), person);
}

#[test]
fn a_database_that_says_nothing_is_not_waited_for_without_end() {
    let (_listener, silent) = silent();
    let output = Database::at(&format!("postgres://slated@{silent}/postgres?connect_timeout=1"))
        .run(&["key", "list"]);
    let reason = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && reason.contains("no server answers in time"), "{reason}");
}

/// The way to a server on which no more is said once somebody was let in.
fn silent_inside(server: &Server) -> String {
    let (_, target) = server.url().split_once('@').unwrap();
    let target = target.split('/').next().unwrap().to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    thread::spawn(move || {
        for caller in listener.incoming() {
            let (caller, inside) = (caller.unwrap(), TcpStream::connect(&target).unwrap());
            let (to_caller, from_inside) =
                (caller.try_clone().unwrap(), inside.try_clone().unwrap());
            let is_in = Arc::new(AtomicBool::new(false));
            let lets_in = Arc::clone(&is_in);
            pass_on(from_inside, to_caller, move |said| {
                lets_in.fetch_or(said.ends_with(b"Z\0\0\0\x05I"), Ordering::SeqCst);
                true
            });
            pass_on(caller, inside, move |_| !is_in.load(Ordering::SeqCst));
        }
    });
    address
}

/// What one says goes to the other, if it may, until one of them leaves.
fn pass_on(mut from: TcpStream, mut to: TcpStream, may: impl Fn(&[u8]) -> bool + Send + 'static) {
    thread::spawn(move || {
        let mut said = [0; 8192];
        while let Ok(length @ 1..) = from.read(&mut said) {
            if may(&said[..length]) && to.write_all(&said[..length]).is_err() {
                break;
            }
        }
        let _ = to.shutdown(Shutdown::Both);
    });
}

#[test]
fn a_host_that_says_nothing_once_it_let_us_in_does_not_keep_the_others_from_being_asked() {
    let server = Server::start(&[]);
    let silent = silent_inside(&server);
    let alone = server.url().split('@').next().unwrap().to_owned()
        + "@"
        + &silent
        + "/postgres?connect_timeout=1";
    let output = Database::at(&alone).run(&["key", "list"]);
    let reason = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && reason.contains("no server answers in time"), "{reason}");
    let hosts =
        server.url().replace("slated@", &format!("slated@{silent},")) + "?connect_timeout=1";
    let app = AppBuilder::new(Engine::Postgres)
        .argument("--database-connections=2")
        .start_on(Database::at(&hosts));
    let client = app.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    assert_eq!(client.get(&format!("/v1/persons/{person}")).expect(200).id(), person);
    let open = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'slated'";
    eventually("no connection is left behind", || execute(server.url(), open).len() <= 2);
}

#[test]
fn commits_that_are_not_answered_leave_connections_to_reads() {
    let server = Server::start(&[]);
    do_not_answer_commits(&server, server.url());
}

#[test]
fn commits_that_are_not_answered_are_found_by_a_role_that_has_taken_on_another() {
    let server = Server::start(&[]);
    execute(server.url(), "CREATE ROLE app; GRANT ALL ON SCHEMA public TO app");
    execute(
        server.url(),
        "CREATE ROLE worker LOGIN IN ROLE app; ALTER ROLE worker SET role = 'app'",
    );
    do_not_answer_commits(&server, &server.url().replace("slated@", "worker@"));
}

fn do_not_answer_commits(server: &Server, url: &str) {
    let options = ["--database-connections=4", "--database-timeout=1000"];
    let app = AppBuilder::new(Engine::Postgres)
        .argument(options[0])
        .argument(options[1])
        .start_on(Database::at(url));
    let client = app.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let write = || client.post("/v1/persons", &json!({ "name": "Grace" })).status;
    // A commit waits for a standby that never comes.
    execute(server.url(), "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
    execute(server.url(), "SELECT pg_reload_conf()");
    eventually("commits are not answered", || write() == 503);
    for _ in 0..4 {
        together(12, |_| assert_eq!(write(), 503));
        assert_eq!(client.get(&format!("/v1/persons/{person}")).expect(200).id(), person);
        app.anonymous().get("/readyz").expect(200);
    }
    let open =
        execute(server.url(), "SELECT 1 FROM pg_stat_activity WHERE application_name = 'slated'")
            .len();
    assert!(open <= 6, "{open} connections are open");
    execute(server.url(), "ALTER SYSTEM RESET synchronous_standby_names");
    execute(server.url(), "SELECT pg_reload_conf()");
    eventually("writes go on", || write() == 201);
    together(12, |_| assert_eq!(write(), 201));
}
