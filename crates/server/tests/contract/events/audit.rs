//! The log of changes can be proved: whatever was done to it behind the program's back is found,
//! and what is old can go all the same.

use std::process::Output;

use serde_json::{Value, json};

use crate::support::{
    App, Engine, Hook, Log, World, apply, each_engine, eventually, sequences, together, types,
};

/// Everything that an entry is made of, but for its place and its id.
const COLUMNS: [&str; 12] = [
    "type",
    "created_at",
    "key_id",
    "record_id",
    "person_id",
    "job_id",
    "request_id",
    "data",
    "salt",
    "content_hash",
    "previous_hash",
    "hash",
];

const DOCUMENTED: [&str; 2] = [
    include_str!("../../../../../docs/events.md"),
    include_str!("../../../../../docs/operations.md"),
];

/// A line without what differs from log to log: names, numbers and hashes.
fn shape_of(line: &str) -> String {
    let is_told = |word: &&str| {
        !word.contains('"') && !word.contains(|character: char| character.is_ascii_digit())
    };
    line.split(' ').filter(is_told).collect::<Vec<_>>().join(" ")
}

fn verify(app: &App, more: &[&str]) -> Output {
    app.database.run(&[&["audit", "verify"][..], more].concat())
}

/// The numbers and words that the program said.
fn words(output: &Output) -> Vec<String> {
    let text = format!(
        "{}\n{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    text.split(|character: char| !character.is_alphanumeric()).map(str::to_owned).collect()
}

#[track_caller]
fn assert_proved(app: &App) {
    let output = verify(app, &[]);
    assert!(output.status.success(), "{output:?}");
}

/// Expects that one of these is named as the first that is wrong.
#[track_caller]
fn assert_found(app: &App, wrong: &[u64]) {
    let output = verify(app, &[]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let (said, words) = (String::from_utf8_lossy(&output.stdout), words(&output));
    assert!(
        wrong.iter().any(|sequence| said.contains(&format!("entry {sequence} is wrong"))),
        "{wrong:?} in {output:?}"
    );
    assert!(!words.contains(&"panicked".to_owned()), "{output:?}");
}

/// An entry in the middle of the log that has something in every column: a move of a candidate,
/// made after a key was.
fn entry(app: &App) -> u64 {
    let client = app.writer();
    let world = World::build(&client);
    (0..20).for_each(|number| drop(client.new_job(&format!("Job {number}"), "Acme")));
    app.database.create_key("main", "read", &[]);
    let mut log = Log::begin(&client);
    client
        .patch(&format!("/v1/candidates/{}", world.candidate), &json!({ "stage_name": "Offer" }))
        .expect(200);
    client.new_job("Pilot", "Acme");
    let events = log.new_events();
    let moved = events.iter().find(|event| event["type"] == "candidate.moved").unwrap();
    moved["sequence"].as_u64().unwrap()
}

/// The sequence of the last key that was made before that entry.
fn key_before(app: &App, sequence: u64) -> u64 {
    let feed = app.writer().get("/v1/events?types=key.created&limit=1000").expect(200);
    sequences(feed.entries()).into_iter().rfind(|key| *key < sequence).unwrap()
}

/// Invariant 6.
#[apply(each_engine)]
fn entries_are_numbered_from_one_and_linked(app: &App) {
    let client = app.writer();
    World::build(&client);
    let log = Log::begin(&client);
    let events = client.get("/v1/events?limit=1000").expect(200).entries().to_vec();
    assert_eq!(sequences(&events), (1..=log.position).collect::<Vec<_>>());
    assert_eq!(
        (&events[0]["type"], &events[0]["previous_hash"]),
        (&json!("key.created"), &json!("0".repeat(64)))
    );
    let mut hashes: Vec<_> =
        events.iter().map(|event| event["previous_hash"].as_str().unwrap()).collect();
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), events.len());
}

#[apply(each_engine)]
fn a_busy_log_is_proved(app: &App) {
    let client = app.writer();
    together(8, |thread| {
        (0..10).for_each(|number| {
            drop(client.new_job(&format!("Job {number}"), &format!("Client {}", thread % 3)))
        })
    });
    let log = Log::begin(&client);
    let output = verify(app, &[]);
    assert!(output.status.success(), "{output:?}");
    let words = words(&output);
    let hash =
        |word: &String| word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    assert!(
        words.contains(&"main".to_owned())
            && words.contains(&log.position.to_string())
            && words.iter().any(hash),
        "{output:?}"
    );
}

#[apply(each_engine)]
fn workspaces_are_proved_each_on_its_own(app: &App) {
    for workspace in ["main", "other"] {
        let client = app.client_of(workspace, "write");
        World::build(&client);
        Log::begin(&client);
    }
    let lines = app.database.ask(&["audit", "verify"]);
    assert!(
        lines.lines().any(|line| line.contains("main"))
            && lines.lines().any(|line| line.contains("other")),
        "{lines}"
    );
    for line in lines.lines() {
        assert!(
            DOCUMENTED
                .iter()
                .all(|text| text.lines().any(|known| shape_of(known) == shape_of(line))),
            "{line}"
        );
    }
    let broken = "UPDATE event SET data = '{}' WHERE sequence = 3 AND workspace_id = (SELECT \
        workspace_id FROM workspace WHERE name = 'main')";
    app.database.execute(broken);
    assert_found(app, &[3]);
    assert_eq!(verify(app, &["--workspace", "main"]).status.code(), Some(1));
    assert!(verify(app, &["--workspace", "other"]).status.success());
    assert!(!verify(app, &["--workspace", "nowhere"]).status.success());
}

#[apply(each_engine)]
fn an_entry_before_the_first_is_found(app: &App) {
    let sequence = entry(app);
    assert_proved(app);
    let columns = format!("id, {}", COLUMNS.join(", "));
    let forged = format!(
        "INSERT INTO event (workspace_id, sequence, {columns}) SELECT workspace_id, 0, {columns} \
         FROM event WHERE sequence = {sequence}"
    );
    app.database.execute(&forged);
    assert_found(app, &[0]);
}

#[apply(each_engine)]
fn what_stands_beside_erased_contents_is_found(app: &App) {
    let sequence = erased_entry(app);
    assert_proved(app);
    app.database
        .execute(&format!("UPDATE event SET request_id = 'forged' WHERE sequence = {sequence}"));
    assert_found(app, &[sequence]);
}

#[apply(each_engine)]
fn whatever_is_changed_in_an_entry_is_found(app: &App) {
    let sequence = entry(app);
    let other = key_before(app, sequence);
    assert_proved(app);
    app.database
        .execute(&format!("CREATE TABLE kept AS SELECT * FROM event WHERE sequence = {sequence}"));
    for column in COLUMNS {
        let value =
            format!("(SELECT other.{column} FROM event AS other WHERE other.sequence = {other})");
        app.database
            .execute(&format!("UPDATE event SET {column} = {value} WHERE sequence = {sequence}"));
        assert_found(app, &[sequence]);
        app.database.execute(&format!("DELETE FROM event WHERE sequence = {sequence}"));
        app.database.execute("INSERT INTO event SELECT * FROM kept");
    }
    assert_proved(app);
}

#[apply(each_engine)]
fn an_entry_that_was_taken_out_is_found(app: &App) {
    let sequence = entry(app);
    app.database.execute(&format!("DELETE FROM event WHERE sequence = {sequence}"));
    assert_found(app, &[sequence, sequence + 1]);
}

#[apply(each_engine)]
fn entries_that_changed_places_are_found(app: &App) {
    let sequence = entry(app);
    for (from, to) in [(sequence, 1_000_000), (sequence + 1, sequence), (1_000_000, sequence + 1)] {
        app.database.execute(&format!("UPDATE event SET sequence = {to} WHERE sequence = {from}"));
    }
    assert_found(app, &[sequence]);
}

/// The same, without its contents: its person was erased.
fn erased_entry(app: &App) -> u64 {
    let sequence = entry(app);
    let page = app.writer().get(&format!("/v1/events?after={}&limit=1", sequence - 1)).expect(200);
    let person = page.entries()[0]["data"]["person"]["id"].as_str().unwrap().to_owned();
    app.writer().send("DELETE", &format!("/v1/persons/{person}"), None).expect(200);
    sequence
}

#[apply(each_engine)]
fn contents_that_are_gone_without_an_erasure_are_missed(app: &App) {
    let sequence = entry(app);
    app.database.execute(&format!(
        "UPDATE event SET data = NULL, request_id = NULL, salt = NULL WHERE sequence = {sequence}"
    ));
    assert_found(app, &[sequence]);
}

/// What the records say of an erasure can be forged; the log says it too.
#[apply(each_engine)]
fn contents_that_are_gone_are_missed_whatever_the_records_say(app: &App) {
    let sequence = entry(app);
    for about in ["record_id", "person_id"] {
        app.database.execute(&format!(
            "INSERT INTO former_record (workspace_id, id, kind, merged_into, gone_at) \
             SELECT workspace_id, {about}, 'person', NULL, created_at FROM event WHERE sequence = \
             {sequence}"
        ));
    }
    assert_proved(app);
    app.database.execute(&format!(
        "UPDATE event SET data = NULL, request_id = NULL, salt = NULL WHERE sequence = {sequence}"
    ));
    assert_found(app, &[sequence]);
}

/// Who blanks the entry that tells of an erasure takes away what explains the others.
#[apply(each_engine)]
fn an_erasure_without_its_contents_explains_nothing(app: &App) {
    let sequence = erased_entry(app);
    assert_proved(app);
    let events =
        app.writer().get(&format!("/v1/events?after={sequence}&types=person.erased")).expect(200);
    let erasure = events.entries()[0]["sequence"].as_u64().unwrap();
    app.database.execute(&format!(
        "UPDATE event SET data = NULL, request_id = NULL, salt = NULL WHERE sequence = {erasure}"
    ));
    let person = format!("(SELECT record_id FROM event WHERE sequence = {erasure})");
    let first = format!(
        "SELECT CAST(MIN(sequence) AS TEXT) FROM event WHERE data IS NULL AND (record_id = \
         {person} OR person_id = {person})"
    );
    let first: u64 = app.database.execute(&first)[0].parse().unwrap();
    assert_found(app, &[first]);
}

#[apply(each_engine)]
fn contents_may_be_erased(app: &App) {
    let sequence = erased_entry(app);
    assert_proved(app);
    let page = app.writer().get(&format!("/v1/events?after={}&limit=1", sequence - 1)).expect(200);
    let event = &page.entries()[0];
    assert_eq!(
        (types(page.entries()), &event["data"], &event["request_id"]),
        (vec!["candidate.moved"], &Value::Null, &Value::Null)
    );
}

#[apply(each_engine)]
fn events_stay_for_good_if_nothing_else_is_said(engine: &Engine) {
    let mut app = engine.app().argument("--trust-clock").start();
    let world = World::build(&app.writer());
    Log::begin(&app.writer());
    let years_ago = match engine {
        Engine::Sqlite => "created_at - 4 * 365 * 86400000",
        Engine::Postgres => "created_at - interval '4 years'",
    };
    app.database.execute(&format!("UPDATE event SET created_at = {years_ago}"));
    let told = |app: &App| {
        let timeline =
            app.writer().get(&format!("/v1/persons/{}/timeline", world.person)).expect(200);
        (
            sequences(
                app.writer()
                    .get("/v1/events?limit=1000&types=person.created")
                    .expect(200)
                    .entries(),
            ),
            timeline.entries().to_vec(),
        )
    };
    let before = told(&app);
    // What is too old goes when the program starts, answers that are kept for retries first. The
    // second start finds what the first one had no time for.
    for _ in 0..2 {
        app.writer()
            .with("idempotency-key", "old")
            .post("/v1/jobs", &json!({ "name": "Pilot", "client_company_name": "Acme" }))
            .expect(201);
        app.database.execute(&format!("UPDATE idempotent_answer SET created_at = {years_ago}"));
        app.process.terminate();
        app.process.wait_exit();
        app.restart();
        eventually("old answers are gone", || {
            app.database.execute("SELECT 1 FROM idempotent_answer").is_empty()
        });
    }
    assert_eq!(told(&app), before);
    assert!(!before.0.is_empty() && !before.1.is_empty());
}

#[apply(each_engine)]
fn old_events_are_forgotten_but_never_the_newest(engine: &Engine) {
    let app = engine.app().argument("--event-retention=1s").start();
    let client = app.writer();
    let world = World::build(&client);
    let mut log = Log::begin(&client);
    let newest = log.position;
    eventually("only the newest is kept", || {
        sequences(client.get("/v1/events").expect(200).entries()) == [newest]
    });
    for reply in [
        client.get("/v1/events?after=0"),
        client.get("/v1/events/stream?after=0"),
        client.with("last-event-id", "1").get("/v1/events/stream"),
    ] {
        let reply = reply.refused(410, "EVENTS_GONE");
        assert!(reply.text.contains(&newest.to_string()), "{reply:#?}");
    }
    assert_eq!(
        client.get("/v1/events?after=1").refused(410, "EVENTS_GONE").detail_fields(),
        ["after"]
    );
    assert_eq!(
        sequences(client.get(&format!("/v1/events?after={}", newest - 1)).expect(200).entries()),
        [newest]
    );
    assert_eq!(
        client.get(&format!("{}/timeline", world.job.path())).expect(200).entries(),
        Vec::<Value>::new()
    );
    assert_proved(&app);
    client.new_job("Pilot", "Acme");
    assert_eq!(sequences(&log.new_events()), [newest + 1]);
    assert_proved(&app);
    let hook = Hook::new(&app, "https://hooks.example/slated");
    assert_eq!(
        hook.post("/replay", &json!({ "after": 0 })).refused(410, "EVENTS_GONE").detail_fields(),
        ["after"]
    );
    hook.post("/replay", &json!({ "after": Log::begin(&client).position })).expect(202);
}
