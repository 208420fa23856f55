//! `slated copy`: a database moved to the other engine and back answers as before, key for key and
//! record for record.

use serde_json::Value;

use crate::support::postgres::{Server, execute};
use crate::support::{App, Client, Database, Engine, eventually, strings};

/// Everything that the interface shows of a workspace.
fn all_answers(client: &Client) -> Vec<Value> {
    let jobs = client.get("/v1/jobs?limit=100").expect(200);
    let mut answers = vec![jobs.json.clone()];
    for job in strings(jobs.data(), "id") {
        answers.push(client.get(&format!("/v1/jobs/{job}")).expect(200).json.clone());
        let candidates = client.get(&format!("/v1/jobs/{job}/candidates?limit=100")).expect(200);
        for candidate in candidates.entries() {
            answers.push(client.candidate(candidate["id"].as_str().unwrap()));
            let person = client
                .get(&format!("/v1/persons/{}", candidate["person_id"].as_str().unwrap()))
                .expect(200);
            answers.push(Value::from(person.header("etag").unwrap()));
            answers.push(person.json.clone());
        }
        answers.push(candidates.json.clone());
    }
    let proposals = client.get("/v1/proposals?limit=100").expect(200);
    answers.extend(
        strings(proposals.data(), "person_id").iter().map(|person| client.enrichment(person)),
    );
    answers.push(proposals.json);
    answers
}

fn copy(from: &Database, to: &Database) -> std::process::Output {
    crate::support::program()
        .args(["copy", "--from", &from.url(), "--to", &to.url()])
        .output()
        .unwrap()
}

#[track_caller]
fn refused(from: &Database, to: &Database, word: &str) {
    let output = copy(from, to);
    let reason = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && output.stdout.is_empty(), "{output:?}");
    assert!(reason.contains(word) && !reason.contains("panicked"), "{reason}");
}

/// The demo data on SQLite, not served any more, and a key for them.
fn demo() -> (App, String) {
    let mut app = Engine::Sqlite.app().first_start().argument("--demo").start();
    app.process
        .output
        .wait_for("the end of the welcome", |line| line.contains("/docs").then_some(()));
    let key = app.database.create_key("default", "write", &[]);
    // Some of the persons get more to them in the first seconds.
    let waiting = "SELECT COUNT(*) FROM enrichment WHERE due_at IS NOT NULL";
    eventually("nobody waits to be enriched", || app.database.execute(waiting) == ["0"]);
    app.process.terminate();
    app.process.wait_exit();
    (app, key)
}

/// The definitions of all constraints and indexes.
fn constraints(database: &Database) -> Vec<String> {
    database.execute(
        "SELECT conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint WHERE \
         connamespace = 'public'::regnamespace \
         UNION ALL SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
    )
}

fn untouched() -> Database {
    let database = Database::new(Engine::Postgres);
    database.create_key("main", "read", &[]);
    database
}

#[test]
fn a_database_goes_over_and_back_unchanged() {
    let (mut first, key) = demo();
    first.restart();
    let client = first.anonymous().with_key(&key);
    client
        .post(
            "/v1/persons",
            &serde_json::json!({ "name": "Zoë \u{1F680}", "notes": "tab\tand \"quotes\"",
                "work_email": "zoe@example.com" }),
        )
        .expect(201);
    let before = all_answers(&client);
    assert!(before.len() > 1000, "only {} answers", before.len());
    first.process.terminate();
    first.process.wait_exit();

    let second = Database::new(Engine::Postgres);
    let output = copy(&first.database, &second);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("compared"), "{output:?}");
    assert_eq!(constraints(&second), constraints(&untouched()));
    let mut second = Engine::Postgres.app().start_on(second);
    assert_eq!(all_answers(&second.anonymous().with_key(&key)), before);
    // It is alive: records can be added behind those that came.
    let job = second.anonymous().with_key(&key).new_job("Pilot", "Acme");
    assert!(
        before[0]["data"]
            .as_array()
            .unwrap()
            .iter()
            .all(|known| known["id"].as_str() < Some(&job.id))
    );
    second.process.terminate();
    second.process.wait_exit();

    let third = Database::new(Engine::Sqlite);
    let output = copy(&second.database, &third);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let places = |database: &Database| {
        database.execute("SELECT rowid FROM person ORDER BY workspace_id, id")
    };
    assert_eq!(places(&third), places(&first.database));
    let third = Engine::Sqlite.app().start_on(third);
    let client = third.anonymous().with_key(&key);
    client.get(&format!("/v1/jobs/{}", job.id)).expect(200);
    let after = all_answers(&client);
    assert!(
        before[1..]
            .iter()
            .filter(|answer| answer["meta"].is_null())
            .all(|answer| after.contains(answer))
    );
}

#[test]
fn a_database_with_records_is_not_copied_into() {
    let (app, _key) = demo();
    let full = Database::new(Engine::Postgres);
    full.create_key("mine", "read", &[]);
    refused(&app.database, &full, "empty");
    assert_eq!(full.execute("SELECT name FROM workspace"), ["mine"]);
    assert_eq!(constraints(&full), constraints(&untouched()));
    refused(&full, &app.database, "already");
}

#[test]
fn what_is_left_of_records_that_are_gone_goes_too() {
    let (app, _key) = demo();
    let target = Database::new(Engine::Postgres);
    assert!(copy(&app.database, &target).status.success());
    target.execute("INSERT INTO search_document SELECT workspace_id, id, '' FROM person");
    target.execute("TRUNCATE workspace CASCADE");
    let output = copy(&app.database, &target);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(target.execute("SELECT COUNT(*) FROM search_document"), ["0"]);
    assert_eq!(
        target
            .execute("SELECT (SELECT COUNT(*) FROM search_queue) = (SELECT COUNT(*) FROM person)"),
        ["t"]
    );
}

#[test]
fn a_schema_of_any_name_is_copied_into_and_by_whoever_may_read_it() {
    let (app, key) = demo();
    let server = Server::start(&[]);
    execute(server.url(), "CREATE SCHEMA \"Up\"");
    execute(server.url(), "CREATE TABLE public.workspace AS SELECT 1 AS of_somebody_else");
    let search_path = "?options=-c%20search_path%3D%22Up%22,public";
    let target = Database::at(&(server.url().to_owned() + search_path));
    let output = copy(&app.database, &target);
    assert!(output.status.success(), "{output:?}");
    execute(
        server.url(),
        "CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA \"Up\" TO reader; GRANT SELECT ON ALL \
         TABLES IN SCHEMA \"Up\" TO reader",
    );
    let reader = Database::at(&(server.url().replace("slated@", "reader@") + search_path));
    let back = Database::new(Engine::Sqlite);
    let output = copy(&reader, &back);
    assert!(output.status.success(), "{output:?}");
    Engine::Sqlite.app().start_on(back).anonymous().with_key(&key).get("/v1/jobs").expect(200);
}

#[test]
fn a_database_in_use_is_not_copied() {
    let app = Engine::Sqlite.app().start();
    refused(&app.database, &Database::new(Engine::Postgres), "server");
    app.writer().new_job("Engineer", "Acme");
}

#[test]
fn what_is_not_there_or_makes_no_sense_is_refused() {
    let (sqlite, postgres) = (Database::new(Engine::Sqlite), Database::new(Engine::Postgres));
    refused(&sqlite, &postgres, "slated.db");
    refused(&postgres, &sqlite, "holds no slated database");
    refused(&sqlite, &Database::new(Engine::Sqlite), "copy the file");
    refused(&postgres, &Database::new(Engine::Postgres), "pg_dump");
    assert!(!sqlite.file().exists());
}

#[test]
fn what_is_left_of_another_file_is_not_taken_for_the_log_of_the_copy() {
    let (from, to) = (Engine::Postgres.app().start(), Database::new(Engine::Sqlite));
    let left = to.directory().join("slated.db-wal");
    std::fs::write(&left, "of old").unwrap();
    refused(&from.database, &to, "slated.db-wal is left over from a database");
    assert!(!to.file().exists() && std::fs::read(&left).unwrap() == b"of old");
    std::fs::remove_file(left).unwrap();
    assert!(copy(&from.database, &to).status.success());
}

#[test]
fn a_copy_that_fails_leaves_nothing() {
    let (app, _key) = demo();
    app.database.execute(
        "UPDATE person SET emails = 'no JSON' WHERE rowid = (SELECT MAX(rowid) FROM person)",
    );
    let target = Database::new(Engine::Postgres);
    refused(&app.database, &target, "person");
    assert_eq!(target.execute("SELECT COUNT(*) FROM workspace").concat(), "0");
    assert_eq!(constraints(&target), constraints(&untouched()));
}

#[test]
fn what_is_kept_of_forgotten_events_and_what_is_stored_oddly_goes_over_and_back() {
    let mut first = Engine::Sqlite.app().argument("--event-retention=1s").start();
    let key = first.key("write");
    let person = first
        .writer()
        .new_person(&serde_json::json!({ "name": "Ada", "work_email": "ada@x.example",
            "current_job_title": "Analyst" }));
    // The newest event of all is never forgotten.
    first.writer().new_job("Pilot", "Acme");
    eventually("origins are kept", || {
        first.database.execute("SELECT COUNT(*) FROM person_origin") == ["1"]
    });
    first.process.terminate();
    first.process.wait_exit();
    first.database.execute(
        "UPDATE person SET emails = '[{\"value\":\"ada@x.example\",\"kind\":\"fax\"},{}]', \
         certifications = '[{\"name\":\"CPA\"}]'",
    );
    first.restart();
    let path = format!("/v1/persons/{person}?include=provenance");
    let origins = |app: &App| {
        app.anonymous().with_key(&key).get(&path).expect(200).data()["provenance"].clone()
    };
    let before = origins(&first);
    first.process.terminate();
    first.process.wait_exit();
    let mut database = &first.database;
    let mut apps = Vec::new();
    for engine in [Engine::Postgres, Engine::Sqlite] {
        let next = Database::new(engine);
        let output = copy(database, &next);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut app = engine.app().start_on(next);
        assert_eq!(origins(&app), before);
        app.process.terminate();
        app.process.wait_exit();
        apps.push(app);
        database = &apps[apps.len() - 1].database;
    }
}
