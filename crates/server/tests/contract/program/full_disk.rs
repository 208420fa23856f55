//! A full disk ends writes and leaves reads alone.

use std::fs;
use std::path::PathBuf;

use serde_json::json;

use crate::support::{App, Database, Engine, eventually, preloaded};

/// A program whose disk is full for as long as there is a file at that path.
fn on_a_disk() -> (App, PathBuf) {
    let (database, key) = Database::with_key(Engine::Sqlite);
    let full = database.directory().join("full");
    let app = Engine::Sqlite
        .app()
        .environment("LD_PRELOAD", preloaded("program/full_disk.c").to_str().unwrap())
        .environment("FULL_DISK", full.to_str().unwrap())
        .start_with_key(database, key);
    (app, full)
}

#[test]
fn a_start_on_a_full_disk_serves_reads() {
    let (mut app, full) = on_a_disk();
    let person = app.writer().new_person(&json!({ "name": "Ada" }));
    app.process.terminate();
    app.process.wait_exit();
    fs::write(&full, "").unwrap();
    app.restart();
    let client = app.writer();
    assert_eq!(client.person(&person)["name"], "Ada");
    assert_eq!(client.get("/v1/persons?q=ada").expect(200).entries().len(), 1);
    client.post("/v1/persons", &json!({ "name": "Grace" })).refused(503, "UNAVAILABLE");
    app.anonymous().get("/readyz").expect(200);
    fs::remove_file(&full).unwrap();
    eventually("there is room again", || {
        client.post("/v1/persons", &json!({ "name": "Grace" })).status == 201
    });
}

#[test]
fn on_a_full_disk_reads_go_on_and_writes_come_back_with_the_room() {
    let (app, full) = on_a_disk();
    let client = app.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let metric = |expected: &str| {
        app.anonymous()
            .get("/metrics")
            .expect(200)
            .text
            .contains(&format!("slated_store_writable {expected}\n"))
    };
    assert!(metric("1"));
    fs::write(&full, "").unwrap();
    for _ in 0..3 {
        let refused =
            client.post("/v1/persons", &json!({ "name": "Grace" })).refused(503, "UNAVAILABLE");
        assert!(refused.text.contains("The disk of the database is full"), "{}", refused.text);
        assert_eq!(client.person(&person)["name"], "Ada");
        assert_eq!(client.get("/v1/persons").json["meta"]["total"], 1);
    }
    app.process.log.wait_for("a full disk in the log", |line| {
        line.contains("the disk of the database is full").then_some(())
    });
    // What was found out holds for a moment.
    eventually("nothing can be written", || app.anonymous().get("/readyz/writes").status == 503);
    app.anonymous().get("/readyz").expect(200);
    assert!(metric("0"));
    fs::remove_file(&full).unwrap();
    eventually("there is room again", || app.anonymous().get("/readyz/writes").status == 200);
    client.new_person(&json!({ "name": "Grace" }));
    assert_eq!(client.get("/v1/persons").json["meta"]["total"], 2);
}
