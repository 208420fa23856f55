//! A program as a provider: what it is told, what it may say, and what becomes of one that fails or
//! hangs.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    App, Client, Database, Engine, apply, config, each_engine, eventually, social_url,
};

/// The section of a text that this program runs.
fn section(program: &str, text: &str, more: &str) -> String {
    let head = "[[enrichment.provider]]\nname = \"lookup\"\nkind = \"command\"";
    format!("{head}\ncommand = [\"{program}\", \"-c\", '''{text}\n''']\n{more}\n")
}

/// A server that runs this script with `sh`, and a person to ask about.
fn running(engine: Engine, text: &str) -> (App, Client, String) {
    let app = engine.app().config(&config(&[section("sh", text, "")])).start();
    let client = app.writer();
    let person = client
        .new_person(&json!({ "name": "Ada Lovelace", "social_url": social_url("ada"),
        "emails": ["ada@x.example"] }));
    (app, client, person)
}

#[apply(each_engine)]
fn a_program_is_told_the_question_and_prints_a_profile(engine: &Engine) {
    // What it was told comes back as the address, which may be any text.
    let program =
        "import json, sys\nprint(json.dumps({\"address\": json.dumps(json.load(sys.stdin))}))";
    let app = engine.app().config(&config(&[section("python3", program, "")])).start();
    let client = app.writer();
    let person = client.new_person(&json!({
        "name": "Ada Lovelace", "social_url": social_url("Ada"), "emails": ["ada@x.example"],
        "mobile_phone": "555 1234",
        "current_job_title": "Analyst", "company_name": "Engines", "social_location": "London",
        "external_source_id": "crm-1",
    }));
    let seen = client.enrich(&person);
    assert_eq!([&seen["provider"], &seen["fields"]], [&json!("lookup"), &json!(["address"])]);
    let told: Value =
        serde_json::from_str(client.profile(&person)["address"].as_str().unwrap()).unwrap();
    let question = json!({
        "name": "Ada Lovelace", "first_name": "Ada", "last_name": "Lovelace",
        "social_url": social_url("Ada"), "social_public_id": "ada",
        "emails": ["ada@x.example"], "phones": ["555 1234"], "current_job_title": "Analyst",
        "company_name": "Engines",
        "social_location": "London", "external_source_id": "crm-1",
    });
    assert_eq!(told, json!({ "version": 1, "person": question }));
}

#[apply(each_engine)]
fn a_program_sees_no_more_of_the_environment_than_it_was_given(engine: &Engine) {
    let words = "token=$LOOKUP_TOKEN other=$LOOKUP_OTHER limit=$SLATED_RATE_LIMIT \
        call=$SLATED_CALL path=${PATH:+set}";
    let text = format!(r#"printf '{{"address": "%s"}}' "{words}""#);
    let app = engine
        .app()
        .config(&config(&[section("sh", &text, "environment = [\"LOOKUP_TOKEN\"]")]))
        .environment("LOOKUP_TOKEN", "hush-3141")
        .environment("LOOKUP_OTHER", "secret")
        .start();
    let client = app.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    client.enrich(&person);
    let address = client.profile(&person)["address"].as_str().unwrap().to_owned();
    let (start, end) = address.split_once(" call=").unwrap_or_else(|| panic!("{address}"));
    assert_eq!(start, "token=hush-3141 other= limit=");
    let call = end.strip_suffix(" path=set").unwrap_or_else(|| panic!("{address}"));
    assert!(call.len() >= 32 && call.bytes().all(|byte| byte.is_ascii_hexdigit()), "{address}");
}

#[apply(each_engine)]
fn a_program_that_prints_nothing_knows_nobody(engine: &Engine) {
    for text in ["true", "echo", "echo null"] {
        let (_app, client, person) = running(*engine, text);
        let seen = client.enrich(&person);
        assert_eq!(
            (&seen["state"], &seen["provider"], &seen["last_error"]),
            (&json!("done"), &Value::Null, &Value::Null),
            "{text}"
        );
    }
}

#[apply(each_engine)]
fn a_program_that_fails_is_tried_again_and_its_error_shown(engine: &Engine) {
    let (_app, client, person) =
        running(*engine, "cat > /dev/null; echo 'no such table' >&2; echo more >&2; exit 3");
    let seen = client.enrich(&person);
    assert_eq!([&seen["state"], &seen["attempts"]], [&json!("failed"), &json!(3)]);
    let error = seen["last_error"].as_str().unwrap();
    assert!(
        error.contains("no such table") && error.contains('3') && !error.contains("more"),
        "{error}"
    );
}

/// A server with that script, which is told a path in the directory of the database as `MARK`.
fn with_mark(engine: Engine, text: &str, more: &str) -> (App, String) {
    let database = Database::new(engine);
    let mark = database.directory().join("mark").to_str().unwrap().to_owned();
    let section = section("sh", text, &format!("environment = [\"MARK\"]\n{more}"));
    (engine.app().config(&config(&[section])).environment("MARK", &mark).start_on(database), mark)
}

#[apply(each_engine)]
fn a_program_may_ask_to_be_asked_later(engine: &Engine) {
    let text =
        r#"if [ -e "$MARK" ]; then echo '{"address": "London"}'; else echo > "$MARK"; exit 75; fi"#;
    let (app, _mark) = with_mark(*engine, text, "");
    let client = app.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    assert_eq!(client.enrich(&person)["state"], "done");
    assert_eq!(client.profile(&person)["address"], "London");
}

#[apply(each_engine)]
fn a_program_that_hangs_is_killed(engine: &Engine) {
    let text = r#"echo $$ >> "$MARK"; exec sleep 600"#;
    let (app, mark) = with_mark(*engine, text, "timeout = \"2s\"");
    let client = app.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let begun = std::time::Instant::now();
    let seen = client.enrich(&person);
    assert_eq!(seen["state"], "failed", "{seen:#}");
    assert!(begun.elapsed() >= Duration::from_secs(6), "three attempts took {:?}", begun.elapsed());
    let started = std::fs::read_to_string(mark).unwrap();
    assert_eq!(started.lines().count(), 3, "{started}");
    eventually("none of them is left", || {
        started.lines().all(|process| !Path::new("/proc").join(process).join("exe").exists())
    });
}

#[apply(each_engine)]
fn what_a_program_started_is_killed_with_it(engine: &Engine) {
    let text = r#"sleep 600 & echo "$$ $!" >> "$MARK"; wait"#;
    let (app, mark) = with_mark(*engine, text, "timeout = \"2s\"");
    let client = app.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    client.ask_enrichment(&person, None).expect(202);
    client.wait_enrichment(&person, "has failed once", |seen| !seen["last_error"].is_null());
    let started = std::fs::read_to_string(mark).unwrap();
    let first = started.lines().next().unwrap();
    assert_eq!(first.split(' ').count(), 2, "{started}");
    eventually("neither is left", || {
        first.split(' ').all(|process| !Path::new("/proc").join(process).join("exe").exists())
    });
}

#[apply(each_engine)]
fn a_program_that_prints_too_much_is_cut_off(engine: &Engine) {
    let (_app, client, person) =
        running(*engine, "yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
    let seen = client.enrich(&person);
    assert_eq!(seen["state"], "failed");
    assert!(seen["last_error"].as_str().is_some_and(|error| error.contains("MiB")), "{seen:#}");
}
