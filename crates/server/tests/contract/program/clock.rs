//! A clock that is wrong for a while destroys nothing, and what comes with times of long ago is
//! counted.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::PathBuf;

use serde_json::json;

use crate::support::{
    App, Client, Database, Engine, apply, each_engine, eventually, preloaded, strings,
};

const DAY: i64 = 24 * 60 * 60;

/// The clock of a program.
struct Clock(PathBuf);

impl Clock {
    /// Sets it that far ahead of the true time.
    fn set(&self, seconds: i64) {
        // The program has it in its memory, so it is never cut off.
        let mut file = OpenOptions::new().write(true).open(&self.0).unwrap();
        file.write_all(&seconds.to_ne_bytes()).unwrap();
    }
}

fn with_clock(engine: Engine) -> (App, Clock) {
    let (database, key) = Database::with_key(engine);
    let clock = Clock(database.directory().join("clock"));
    fs::write(&clock.0, 0_i64.to_ne_bytes()).unwrap();
    let app = engine
        .app()
        .argument("--event-retention=1d")
        .environment("LD_PRELOAD", preloaded("program/clock.c").to_str().unwrap())
        .environment("CLOCK_OFFSET", clock.0.to_str().unwrap())
        .start_with_key(database, key);
    (app, clock)
}

#[apply(each_engine)]
fn one_that_jumps_ahead_and_back_makes_nothing_forgotten(engine: &Engine) {
    let (app, clock) = with_clock(*engine);
    let client = app.writer();
    let once = client.with("idempotency-key", "once");
    let made = once.post("/v1/persons", &json!({ "name": "Ada" })).expect(201);
    for number in 0..5 {
        client.new_person(&json!({ "name": format!("Person {number}") }));
    }
    let events = || {
        strings(client.get("/v1/events?types=person.created&limit=1000").expect(200).data(), "id")
    };
    eventually("all events have their numbers", || events().len() == 6);
    let before = events();
    let is_repeated = || {
        let again = once.post("/v1/persons", &json!({ "name": "Ada" })).expect(201);
        assert_eq!((again.id(), again.header("idempotency-replayed")), (made.id(), Some("true")));
    };
    clock.set(400 * DAY);
    app.process.log.wait_for("a word about the clock", |line| {
        line.contains("the clock is far ahead").then_some(())
    });
    is_repeated();
    clock.set(0);
    is_repeated();
    assert_eq!(events(), before);
}

/// The total of all persons, and how many of them pages by offset show.
fn counted(client: &Client) -> (u64, usize) {
    let total =
        client.get("/v1/persons?limit=1").expect(200).json["meta"]["total"].as_u64().unwrap();
    let last = total.saturating_sub(10);
    let shown =
        client.get(&format!("/v1/persons?offset={last}&limit=100")).expect(200).entries().len();
    (total, usize::try_from(last).unwrap() + shown)
}

/// Whoever has an id of a time that was counted already.
#[apply(each_engine)]
fn who_comes_with_a_time_of_long_ago_is_counted(engine: &Engine) {
    const BATCHES: usize = 5;
    let (mut app, clock) = with_clock(*engine);
    let client = app.writer();
    for batch in 0..BATCHES {
        let persons: Vec<_> =
            (0..1000).map(|number| json!({ "name": format!("Person {batch} {number}") })).collect();
        client.post("/v1/persons/batch", &json!({ "persons": persons })).expect(200);
    }
    clock.set(120);
    eventually("the first of them are counted for good", || {
        app.database.execute("SELECT COUNT(*) FROM census") != ["0"]
    });
    app.process.terminate();
    assert!(app.process.wait_exit().success());
    clock.set(-600);
    app.restart();
    let client = app.writer();
    for number in 0..20 {
        client.new_person(&json!({ "name": format!("Late {number}") }));
    }
    let all = (BATCHES * 1000) + 20;
    eventually("all are counted", || counted(&client) == (all as u64, all));
}
