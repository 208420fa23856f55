//! Erasing a person: nothing that says who they were is left, and all others stay as they are.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{
    App, Client, Engine, Job, Log, NEVER, Reply, Workspace, apply, each_engine, eventually, hooked,
    is_time, on_sqlite, strings, types,
};

const TRACES: [&str; 8] = [
    "zebediah",
    "quuxley",
    "turquoise",
    "giraffe",
    "5512 3477",
    "15555123477",
    "hippopotamus",
    "wombat",
];

fn erase(client: &Client, person: &str) -> Reply {
    client.send("DELETE", &format!("/v1/persons/{person}"), None)
}

/// Somebody with something in every place where there may be something of a person.
fn somebody(client: &Client, job: &Job) -> (String, String) {
    let body = json!({
        "name": "Zebediah Quuxley", "social_url": "https://social.example/in/zebediah-q",
        "emails": ["zebediah@quuxley.example"],
        "mobile_phone": "+1 555 5512 3477", "notes": "Rides a turquoise giraffe.",
        "external_source_id": "wombat-1", "client_name": "Acme",
        "company_name": "Engines", "current_job_title": "Chief of the hippopotamus",
    });
    let person = client.with("idempotency-key", "made").post("/v1/persons", &body).expect(201).id();
    let candidate =
        client.post(&job.candidates_path(), &json!({ "person_id": person })).expect(201).id();
    client
        .patch(&format!("/v1/candidates/{candidate}"), &json!({ "stage_name": "Interview" }))
        .expect(200);
    let path = format!("/v1/persons/{person}");
    client
        .put(
            &format!("{path}/history"),
            &json!({ "work_experience": [{ "company_name": "Hippopotamus works" }] }),
        )
        .expect(200);
    let note = client
        .with("idempotency-key", "noted")
        .post(&format!("{path}/notes"), &json!({ "body": "A second giraffe." }))
        .expect(201);
    client.send("DELETE", &format!("{path}/notes/{}", note.id()), None).expect(200);
    (person, candidate)
}

#[apply(each_engine)]
fn an_erased_person_is_gone(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let (person, _) = somebody(&client, &job);
    let reply = erase(&client, &person).expect(200);
    assert_eq!(reply.data().as_object().unwrap().keys().collect::<Vec<_>>(), ["id", "erased_at"]);
    let erased_at = reply.string("erased_at");
    assert!(reply.id() == person && is_time(&erased_at), "{reply:#?}");
    let path = format!("/v1/persons/{person}");
    for reply in [
        client.get(&path),
        client.get(&format!("{path}?include=notes")),
        client.get(&format!("{path}/notes")),
        client.get(&format!("{path}/timeline")),
        client.get(&format!("{path}/export")),
        client.patch(&path, &json!({ "name": "Zeb" })),
        client.put(&format!("{path}/history"), &json!({ "certifications": [] })),
        client.post(&format!("{path}/notes"), &json!({ "body": "Back again" })),
        client.post(&format!("{path}/merge"), &json!({ "person_id": person })),
        erase(&client, &person),
    ] {
        let reply = reply.refused(410, "ERASED");
        assert!(
            reply.text.contains(&erased_at) && !reply.text.to_lowercase().contains("zebediah"),
            "{reply:#?}"
        );
    }
}

#[apply(each_engine)]
fn an_erased_person_is_no_candidate_any_more(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    client.new_candidate(&job, "Ada");
    let (person, candidate) = somebody(&client, &job);
    client.new_candidate(&job, "Grace");
    erase(&client, &person).expect(200);
    client.get(&format!("/v1/candidates/{candidate}")).refused(404, "NOT_FOUND");
    let list = |query: &str| client.get(&format!("{}?{query}", job.candidates_path())).expect(200);
    assert_eq!(strings(list("").data(), "name"), ["Ada", "Grace"]);
    assert_eq!(strings(list("offset=1").data(), "name"), ["Grace"]);
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 2);
    client.new_candidate(&job, "Mary");
    assert_eq!(strings(list("sort=-created_at").data(), "name"), ["Mary", "Grace", "Ada"]);
}

#[apply(each_engine)]
fn an_erased_person_is_not_found_by_anything(workspace: &Workspace) {
    let client = workspace.writer();
    let (person, _) = somebody(&client, &client.new_job("Engineer", "Acme"));
    let other = client.new_person(&json!({ "name": "Ada" }));
    erase(&client, &person).expect(200);
    let all = client.get("/v1/persons").expect(200);
    assert_eq!((strings(all.data(), "id"), &all.json["meta"]["total"]), (vec![other], &json!(1)));
    assert!(client.get("/v1/persons?q=zebediah").expect(200).entries().is_empty());
    let again = json!({
        "name": "Zebediah", "emails": ["zebediah@quuxley.example"],
        "external_source_id": "wombat-1",
        "social_url": "https://social.example/in/zebediah-q",
    });
    assert_ne!(client.post("/v1/persons", &again).expect(201).id(), person);
}

/// Invariant 6.
#[apply(each_engine)]
fn the_log_forgets_who_it_was_and_is_still_proved(app: &App) {
    let client = app.writer();
    let (person, candidate) = somebody(&client, &client.new_job("Engineer", "Acme"));
    erase(&client, &person).expect(200);
    Log::begin(&client);
    let feed = client.get("/v1/events?limit=1000").expect(200);
    let mut forgotten = 0;
    for event in feed.entries() {
        let is_told = event["type"] == "person.erased";
        if [&person, &candidate].into_iter().any(|id| event["record_id"] == id.as_str()) && !is_told
        {
            assert_eq!(
                (&event["data"], &event["request_id"]),
                (&Value::Null, &Value::Null),
                "{event}"
            );
            forgotten += 1;
        }
    }
    assert!(forgotten >= 6, "{feed:#?}");
    assert!(TRACES.iter().all(|trace| !feed.text.to_lowercase().contains(trace)), "{feed:#?}");
    app.database.ask(&["audit", "verify"]);
}

#[apply(each_engine)]
fn an_erasure_is_told_without_a_name(workspace: &Workspace) {
    let client = workspace.writer();
    let (person, candidate) = somebody(&client, &client.new_job("Engineer", "Acme"));
    let mut log = Log::begin(&client);
    let erased_at = erase(&client, &person).expect(200).string("erased_at");
    let events = log.new_events();
    assert_eq!(types(&events), ["candidate.removed", "company.contact_removed", "person.erased"]);
    assert_eq!((&events[0]["record_id"], &events[0]["data"]), (&json!(candidate), &Value::Null));
    assert_eq!(events[1]["data"], Value::Null);
    assert_eq!(events[2]["record_id"], person);
    assert_eq!(
        events[2]["data"],
        json!({ "before": {}, "after": { "id": person, "ids": [person], "erased_at": erased_at } })
    );
}

/// Invariant 13.
#[apply(each_engine)]
fn no_table_has_anything_of_an_erased_person(app: &App) {
    let client = app.writer();
    let (person, _) = somebody(&client, &client.new_job("Engineer", "Acme"));
    erase(&client, &person).expect(200);
    Log::begin(&client);
    for (table, column) in
        [("event", "data"), ("person", "name"), ("note", "body"), ("person_identifier", "key")]
    {
        let found = app
            .database
            .execute(&format!("SELECT {column} FROM {table} WHERE {column} IS NOT NULL"));
        let found = found.join("\n").to_lowercase();
        assert!(TRACES.iter().all(|trace| !found.contains(trace)), "{table}: {found}");
    }
    for table in [
        "person",
        "note",
        "person_identifier",
        "client_contact",
        "search_document",
        "search_tail",
        "search_queue",
        "stage_entry",
    ] {
        assert_eq!(
            app.database.execute(&format!("SELECT COUNT(*) FROM {table}")),
            ["0"],
            "{table}"
        );
    }
}

#[apply(each_engine)]
fn kept_answers_are_forgotten(app: &App) {
    let client = app.writer();
    let (person, _) = somebody(&client, &client.new_job("Engineer", "Acme"));
    let other = client
        .with("idempotency-key", "other")
        .post("/v1/persons", &json!({ "name": "Ada" }))
        .expect(201);
    erase(&client, &person).expect(200);
    assert_eq!(app.database.execute("SELECT key FROM idempotent_answer"), ["other"]);
    let again = client
        .with("idempotency-key", "other")
        .post("/v1/persons", &json!({ "name": "Ada" }))
        .expect(201);
    assert_eq!((again.id(), again.header("idempotency-replayed")), (other.id(), Some("true")));
}

/// All are looked at before the erasure, and only those of the last minutes again with it.
#[apply(each_engine)]
fn answers_that_were_kept_long_ago_are_forgotten_too(app: &App) {
    let client = app.writer();
    let (gone, _) = somebody(&client, &client.new_job("Engineer", "Acme"));
    let kept = client
        .with("idempotency-key", "kept")
        .post("/v1/persons", &json!({ "name": "Zeb" }))
        .expect(201)
        .id();
    client.post(&format!("/v1/persons/{kept}/merge"), &json!({ "person_id": gone })).expect(200);
    let path = format!("/v1/persons/{kept}");
    let found = json!({ "name": "Zebediah", "emails": ["zebediah@quuxley.example"] });
    client.with("idempotency-key", "found").post("/v1/persons", &found).expect(200);
    client
        .with("idempotency-key", "noted-again")
        .post(&format!("{path}/notes"), &json!({ "body": "A third giraffe." }))
        .expect(201);
    let other = client
        .with("idempotency-key", "other")
        .post("/v1/persons", &json!({ "name": "Ada" }))
        .expect(201);
    let hours_ago = match app.database.engine {
        Engine::Sqlite => "created_at - 10 * 3600 * 1000",
        Engine::Postgres => "created_at - interval '10 hours'",
    };
    app.database.execute(&format!("UPDATE idempotent_answer SET created_at = {hours_ago}"));
    client.with("idempotency-key", "new").post("/v1/persons", &found).expect(200);
    client
        .with("idempotency-key", "new-other")
        .post("/v1/persons", &json!({ "name": "Grace" }))
        .expect(201);
    assert_eq!(app.database.execute("SELECT COUNT(*) FROM idempotent_answer"), ["8"]);
    erase(&client, &kept).expect(200);
    assert_eq!(
        app.database.execute("SELECT key FROM idempotent_answer ORDER BY key"),
        ["new-other", "other"]
    );
    let again = client
        .with("idempotency-key", "other")
        .post("/v1/persons", &json!({ "name": "Ada" }))
        .expect(201);
    assert_eq!((again.id(), again.header("idempotency-replayed")), (other.id(), Some("true")));
}

#[apply(each_engine)]
fn what_receivers_answered_is_forgotten(engine: &Engine) {
    let (workspace, _receiver, hook) = hooked(*engine, NEVER);
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Zebediah" }));
    let other = client.new_person(&json!({ "name": "Ada" }));
    hook.wait_delivered(2);
    let delivery = |id: &str| {
        let events = hook.events("person.created");
        let event = events.iter().find(|event| event["record_id"] == id).unwrap();
        hook.delivery(&event["sequence"])
    };
    let before = delivery(&other);
    assert_eq!(delivery(&person)["attempts"].as_array().unwrap().len(), 1);
    erase(&client, &person).expect(200);
    let after = delivery(&person);
    assert_eq!(
        (&after["attempts"], &after["attempt_count"], &after["status"]),
        (&json!([]), &json!(1), &json!("delivered"))
    );
    assert_eq!(delivery(&other), before);
}

#[apply(each_engine)]
fn who_went_into_an_erased_person_is_erased_too(app: &App) {
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    let (gone, _) = somebody(&client, &job);
    let kept = client.new_candidate(&job, "Zeb")["person_id"].as_str().unwrap().to_owned();
    client.post(&format!("/v1/persons/{kept}/merge"), &json!({ "person_id": gone })).expect(200);
    let erased_at = erase(&client, &kept).expect(200).string("erased_at");
    for id in [&kept, &gone] {
        let reply = client.get(&format!("/v1/persons/{id}")).refused(410, "ERASED");
        assert!(reply.text.contains(&erased_at), "{reply:#?}");
    }
    Log::begin(&client);
    let feed = client.get("/v1/events?limit=1000").expect(200);
    assert!(TRACES.iter().all(|trace| !feed.text.to_lowercase().contains(trace)), "{feed:#?}");
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 0);
    app.database.ask(&["audit", "verify"]);
}

#[apply(each_engine)]
fn an_erasure_by_an_old_id_erases_the_person(workspace: &Workspace) {
    let client = workspace.writer();
    let (kept, gone) = (
        client.new_person(&json!({ "name": "Ada" })),
        client.new_person(&json!({ "name": "Ada L" })),
    );
    client.post(&format!("/v1/persons/{kept}/merge"), &json!({ "person_id": gone })).expect(200);
    assert_eq!(erase(&client, &gone).expect(200).id(), kept);
    client.get(&format!("/v1/persons/{kept}")).refused(410, "ERASED");
}

#[apply(each_engine)]
fn of_candidates_that_became_one_no_id_is_left(app: &App) {
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    let [kept, gone, _] = ["Ada", "Ada L", "Grace"]
        .map(|name| client.new_candidate(&job, name)["person_id"].as_str().unwrap().to_owned());
    client.post(&format!("/v1/persons/{kept}/merge"), &json!({ "person_id": gone })).expect(200);
    let former = || app.database.execute("SELECT kind FROM former_record ORDER BY kind");
    assert_eq!(former(), ["candidate", "person"]);
    erase(&client, &kept).expect(200);
    assert_eq!(former(), ["person", "person"]);
}

#[apply(each_engine)]
fn others_keep_what_they_share_with_an_erased_person(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "name": "Ada", "emails": ["a@x.example"], "company_name": "Engines" });
    let first = client.new_person(&body);
    let second = client.post("/v1/persons?on_duplicate=create", &body).expect(201).id();
    let before = client.person(&second);
    erase(&client, &first).expect(200);
    assert_eq!(client.person(&second), before);
    assert_eq!(client.post("/v1/persons", &body).expect(200).id(), second);
}

#[apply(each_engine)]
fn what_is_no_person_cannot_be_erased(workspace: &Workspace) {
    let client = workspace.writer();
    let theirs = workspace.client_of("another", "write").new_person(&json!({ "name": "Grace" }));
    let job = client.new_job("Engineer", "Acme").id;
    for id in [theirs.as_str(), "per_00000000000000000000000000", job.as_str(), "nobody"] {
        erase(&client, id).refused(404, "NOT_FOUND");
    }
    assert_eq!(workspace.client_of("another", "write").person(&theirs)["name"], "Grace");
}

#[apply(each_engine)]
fn an_erasure_takes_nothing_but_the_id(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let path = format!("/v1/persons/{person}");
    client.send("DELETE", &format!("{path}?now=true"), None).refused(400, "INVALID_REQUEST");
    client
        .send("DELETE", &path, Some(&json!({ "reason": "asked" })))
        .refused(400, "INVALID_REQUEST");
    assert_eq!(client.person(&person)["name"], "Ada");
    client.send("DELETE", &path, Some(&json!({}))).expect(200);
}

#[apply(each_engine)]
fn a_key_that_may_only_read_erases_nobody(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    erase(&workspace.client("read"), &person).refused(403, "FORBIDDEN");
    assert_eq!(client.person(&person)["name"], "Ada");
}

#[apply(each_engine)]
fn an_erasure_sent_again_is_answered_again(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let once = client.with("idempotency-key", "once");
    let first = erase(&once, &person).expect(200);
    let second = erase(&once, &person).expect(200);
    assert_eq!(
        (second.text.as_str(), second.header("idempotency-replayed")),
        (first.text.as_str(), Some("true"))
    );
}

/// Whether one of the texts stands in a file of the database, in whatever case.
fn is_in_a_file(app: &App, texts: &[&str]) -> bool {
    let files = fs::read_dir(app.database.directory())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file());
    files.into_iter().any(|path| {
        let bytes = fs::read(path).unwrap_or_default().to_ascii_lowercase();
        texts.iter().any(|text| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
    })
}

/// Invariant 13.
#[apply(on_sqlite)]
fn no_file_has_anything_of_an_erased_person(app: &App) {
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    for number in 0..50 {
        client.new_candidate(&job, &format!("Person {number}"));
    }
    let (person, _) = somebody(&client, &job);
    client.update_person(
        &person,
        &json!({ "name": "Zebediah Q. Quuxley", "address": "Giraffe lane 7" }),
    );
    assert!(
        TRACES.iter().all(|trace| *trace == "15555123477" || is_in_a_file(app, &[*trace])),
        "a trace that never was"
    );
    erase(&client, &person).expect(200);
    eventually("nothing of the person is in the files", || !is_in_a_file(app, &TRACES));
}

/// Looks at the database until its standard input ends.
const LOOK: &str = "
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
database.execute('BEGIN')
database.execute('SELECT COUNT(*) FROM person').fetchall()
print('looking', flush=True)
sys.stdin.read()
";

/// What was erased stays in the log for those who look at the data as it was, and no longer.
#[apply(on_sqlite)]
fn a_log_that_somebody_needed_is_emptied_when_they_do_not(app: &App) {
    let client = app.writer();
    let (person, _) = somebody(&client, &client.new_job("Engineer", "Acme"));
    let mut look = Command::new("python3");
    look.args(["-c", LOOK]).arg(app.database.file());
    let mut looking = look.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(looking.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "looking\n");
    erase(&client, &person).expect(200);
    eventually("all words are merged", || {
        app.database.execute("SELECT COUNT(*) FROM search_merge") == ["0"]
    });
    assert!(is_in_a_file(app, &TRACES));
    drop(looking.stdin.take());
    assert!(looking.wait().unwrap().success());
    eventually("nothing of the person is in the files", || !is_in_a_file(app, &TRACES));
}

#[apply(each_engine)]
fn who_waits_is_told_that_nothing_is_left(app: &App) {
    let client = app.writer();
    let (person, _) = somebody(&client, &client.new_job("Engineer", "Acme"));
    let path = format!("/v1/persons/{person}");
    client.send("DELETE", &format!("{path}?wait=perhaps"), None).refused(400, "INVALID_REQUEST");
    let reply = client.send("DELETE", &format!("{path}?wait=true"), None).expect(200);
    assert_eq!(reply.data()["is_wiped"], true, "{reply:#?}");
    assert!(!is_in_a_file(app, &TRACES));
}

/// The index of words is made of pages that are wiped in the background, and so are segments.
#[apply(on_sqlite)]
fn a_server_that_is_stopped_right_behind_an_erasure_leaves_nothing(engine: &Engine) {
    let mut app = engine.app().start();
    let client = app.writer();
    let persons: Vec<_> =
        (0..300).map(|number| json!({ "name": format!("Person {number}") })).collect();
    client.post("/v1/persons/batch", &json!({ "persons": persons })).expect(200);
    let (person, _) = somebody(&client, &client.new_job("Engineer", "Acme"));
    eventually("there are segments", || {
        app.database.execute("SELECT COUNT(*) FROM search_segment") != ["0"]
    });
    erase(&client, &person).expect(200);
    app.process.terminate();
    assert!(app.process.wait_exit().success());
    assert!(!is_in_a_file(&app, &TRACES));
}
