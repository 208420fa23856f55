//! Reads from a replica: others may see a state of a moment ago, but who wrote reads their own
//! write.

use serde_json::json;

use crate::support::postgres::{Server, execute};
use crate::support::{App, AppBuilder, Database, Engine, eventually, program};

fn app_on(primary: &Server, replica: &Server) -> App {
    AppBuilder::new(Engine::Postgres)
        .argument("--read-database")
        .argument(replica.url())
        .start_on(Database::at(primary.url()))
}

/// Waits until the replica has all that the primary has.
fn caught_up(primary: &Server, replica: &Server) {
    let target = execute(primary.url(), "SELECT pg_current_wal_lsn()").concat();
    eventually("the replica has caught up", || {
        execute(replica.url(), &format!("SELECT 1 WHERE pg_last_wal_replay_lsn() >= '{target}'"))
            .len()
            == 1
    });
}

/// Invariant 3.
#[test]
fn who_wrote_reads_their_own_write() {
    let primary = Server::start(&[]);
    let replica = primary.replica(&[]);
    let app = app_on(&primary, &replica);
    let client = app.writer();
    let other = app.client_of("elsewhere", "read");
    let job = client.new_job("Engineer", "Acme");
    caught_up(&primary, &replica);
    // From now on the replica stands still.
    execute(replica.url(), "SELECT pg_wal_replay_pause()");
    for number in 0..20 {
        let candidate = client.new_candidate(&job, &format!("Person {number}"));
        let read = client.candidate(candidate["id"].as_str().unwrap());
        assert_eq!(read, candidate);
        client.person(candidate["person_id"].as_str().unwrap());
        let listed = client.get(&format!("/v1/jobs/{}/candidates", job.id)).expect(200);
        assert_eq!(listed.json["meta"]["total"], number + 1);
    }
    assert_eq!(other.get("/v1/jobs").expect(200).json["meta"]["total"], 0);
    execute(replica.url(), "SELECT pg_wal_replay_resume()");
    caught_up(&primary, &replica);
    assert_eq!(
        client.get(&format!("/v1/jobs/{}/candidates", job.id)).expect(200).json["meta"]["total"],
        20
    );
}

#[test]
fn the_replica_serves_reads_and_the_primary_stands_in_for_it() {
    let primary = Server::start(&[]);
    let replica = primary.replica(&[]);
    let mut app = app_on(&primary, &replica);
    let job = app.writer().new_job("Engineer", "Acme");
    // A server that wrote nothing yet has nothing to wait for.
    app.process.terminate();
    app.process.wait_exit();
    caught_up(&primary, &replica);
    app.restart();
    let client = app.writer();
    client.get("/v1/jobs").expect(200);
    let served = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'slated' AND query LIKE \
        '%FROM job%'";
    eventually("a read is served by the replica", || {
        client.get(&format!("/v1/jobs/{}", job.id)).expect(200);
        !execute(replica.url(), served).is_empty()
    });
    replica.halt();
    client.get(&format!("/v1/jobs/{}", job.id)).expect(200);
    client.post("/v1/persons", &json!({ "name": "Ada" })).expect(201);
    replica.resume();
    client.get(&format!("/v1/jobs/{}", job.id)).expect(200);
}

#[test]
fn another_database_is_no_replica() {
    let primary = Server::start(&[]);
    let other = Database::new(Engine::Postgres);
    let neighbour = format!("{}/template1", primary.url().rsplit_once('/').unwrap().0);
    for url in [other.url(), neighbour] {
        let arguments = [
            "serve",
            "--listen",
            "127.0.0.1:0",
            "--database",
            primary.url(),
            "--read-database",
            &url,
        ];
        let output = program().args(arguments).output().unwrap();
        let reason = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && reason.contains("is not a replica of"), "{reason}");
    }
    let app = app_on(&primary, &primary);
    app.writer().new_job("Engineer", "Acme");
}

#[test]
fn a_replica_that_cannot_be_read_is_told_once() {
    let server = Server::start(&[]);
    let nobody = server.url().replace("slated@", "nobody@");
    let app = AppBuilder::new(Engine::Postgres)
        .argument("--read-database")
        .argument(&nobody)
        .start_on(Database::at(server.url()));
    let client = app.writer();
    for _ in 0..3 {
        client.get("/v1/jobs").expect(200);
    }
    app.process
        .log
        .wait_for("the remark", |line| line.contains("the replica cannot be read").then_some(()));
    execute(server.url(), "CREATE ROLE nobody LOGIN SUPERUSER");
    eventually("the replica is read again", || {
        client.get("/v1/jobs").expect(200);
        app.process.log.text().contains("the replica answers again")
    });
    assert_eq!(app.process.log.text().matches("the replica cannot be read").count(), 1);
}
