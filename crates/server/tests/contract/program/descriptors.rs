//! A program that may open only a few files serves all the same, and says so when it cannot.

use std::process::Command;

use serde_json::json;

use crate::support::{Client, Database, Engine, Process, address_of, apply, on_sqlite, together};

#[apply(on_sqlite)]
fn with_few_descriptors_nothing_is_broken(engine: &Engine) {
    let (database, key) = Database::with_key(*engine);
    let served = engine.app().command(&database);
    let mut limited = Command::new("prlimit");
    limited
        .arg("--nofile=96")
        .arg(served.get_program())
        .args(served.get_args())
        .current_dir(database.directory());
    limited.envs(served.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let process = Process::start(&mut limited);
    let address = address_of(&process.log);
    process.log.wait_for("a word about descriptors", |line| {
        line.contains("the limit of open files is low").then_some(())
    });
    together(60, |number| {
        let client = Client::new(&address).with_key(key);
        for round in 0..10 {
            // A connection may be refused, and what is answered is one of these.
            let sent = [
                client.try_send("GET", "/v1/candidates?q=nobody", None),
                client.try_send(
                    "POST",
                    "/v1/persons",
                    Some(&json!({ "name": format!("Person {number} {round}") })),
                ),
            ];
            for reply in sent.into_iter().flatten() {
                assert!([200, 201, 503].contains(&reply.status), "{reply:#?}");
            }
        }
    });
    Client::new(&address).with_key(key).get("/v1/persons").expect(200);
}
