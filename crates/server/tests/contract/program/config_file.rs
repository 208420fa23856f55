//! The configuration file: where it may be, and what is said of one that is wrong.

use serde_json::json;

use crate::support::{
    App, AppBuilder, Database, Engine, Provider, apply, config, each_engine, program, social_url,
};

const FILE: &str = "slated.toml";
/// The smallest provider.
const DIRECTORY: &str =
    "[[enrichment.provider]]\nname = \"own-data\"\nkind = \"directory\"\npath = \"people.jsonl\"\n";

/// What the program says when it does not start.
#[track_caller]
fn refusal(builder: &AppBuilder, database: &Database) -> String {
    let mut process = builder.serve(database);
    assert!(!process.wait_exit().success());
    let reason = process.log.to_end();
    assert!(!reason.is_empty() && !reason.contains("panicked"), "{reason}");
    reason
}

/// Expects that a person is found in the directory.
fn assert_serves(app: &App) {
    let client = app.writer();
    let person = client.new_handle("ada");
    assert_eq!(client.enrich(&person)["provider"], "own-data");
    assert_eq!(client.person(&person)["current_job_title"], "Analyst");
}

fn people() -> String {
    json!({ "social_url": social_url("ada"), "current_job_title": "Analyst" }).to_string()
}

#[apply(each_engine)]
fn a_file_is_named_on_the_command_line_or_in_the_environment(engine: &Engine) {
    let builder = || engine.app().file("other.toml", DIRECTORY).file("people.jsonl", &people());
    assert_serves(&builder().argument("--config").argument("other.toml").start());
    assert_serves(&builder().environment("SLATED_CONFIG", "other.toml").start());
}

#[apply(each_engine)]
fn an_empty_file_is_good(engine: &Engine) {
    let app = engine.app().config("# Nothing yet\n").start();
    let client = app.writer();
    assert_eq!(client.enrich(&client.new_handle("ada"))["reason"], "no provider is configured");
}

#[apply(each_engine)]
fn an_empty_variable_is_no_file(engine: &Engine) {
    let app = engine.app().environment("SLATED_CONFIG", "").start();
    let client = app.writer();
    assert_eq!(client.enrich(&client.new_handle("ada"))["reason"], "no provider is configured");
}

#[apply(each_engine)]
fn paths_begin_at_the_file(engine: &Engine) {
    let builder = engine
        .app()
        .file("settings/slated.toml", DIRECTORY)
        .file("settings/people.jsonl", &people());
    assert_serves(&builder.environment("SLATED_CONFIG", "settings/slated.toml").start());
}

#[apply(each_engine)]
fn whatever_is_wrong_in_it_is_named_with_its_line(engine: &Engine) {
    let database = Database::new(*engine);
    let provider = |more: &str| format!("{DIRECTORY}{more}\n");
    for (text, line, word) in [
        ("[enrichment\n".to_owned(), 1, ""),
        ("\n[logging]\nlevel = \"debug\"\n".to_owned(), 2, "logging"),
        ("[enrichment]\nchache = \"30d\"\n".to_owned(), 2, "chache"),
        ("[enrichment]\ncache = \"soon\"\n".to_owned(), 2, "span"),
        ("[enrichment]\nretry_delays = \"1s\"\n".to_owned(), 2, ""),
        (format!("[enrichment]\nretry_delays = [{}]\n", "\"1s\", ".repeat(101)), 2, "at most 100"),
        (provider("rate_limit = \"fast\""), 5, "100/m"),
        (provider("concurrency = \"four\""), 5, ""),
        (provider("timeout = 10"), 5, ""),
        (provider("breaker = { failures = 5, pauses = \"1s\" }"), 5, "pauses"),
        (provider("colour = \"red\""), 5, "colour"),
        (DIRECTORY.replace("directory", "telepathy"), 3, "telepathy"),
    ] {
        let reason = refusal(&engine.app().config(&text).file("people.jsonl", ""), &database);
        assert!(
            reason.contains(&format!("{FILE}:{line}")) && reason.contains(word),
            "{text}\n{reason}"
        );
    }
}

#[apply(each_engine)]
fn a_provider_that_cannot_be_made_is_named(engine: &Engine) {
    let database = Database::new(*engine);
    let http = |settings: &str| {
        format!("[[enrichment.provider]]\nname = \"people\"\nkind = \"http\"\n{settings}\n")
    };
    let command = |words: &str| {
        format!(
            "[[enrichment.provider]]\nname = \"lookup\"\nkind = \"command\"\ncommand = {words}\n"
        )
    };
    let url = "url = \"https://api.example.com/?email={email}\"";
    for (text, words) in [
        (DIRECTORY.replace("own-data", "Own Data"), &["Own Data"][..]),
        (DIRECTORY.repeat(2), &["own-data"]),
        (DIRECTORY.replace("people.jsonl", "nowhere.jsonl"), &["own-data", "nowhere.jsonl"]),
        (format!("{DIRECTORY}url = \"https://api.example.com/{{email}}\"\n"), &["own-data", "url"]),
        (format!("{DIRECTORY}concurrency = 0\n"), &["own-data", "concurrency"]),
        (http(""), &["people", "url"]),
        (http("url = \"ftp://api.example.com/{email}\""), &["people", "http"]),
        (http("url = \"https://{email}.example.com/\""), &["people", "host"]),
        (
            http("url = \"https://api.example.com/?shoe={shoe_size}\""),
            &["people", "shoe_size", "email"],
        ),
        (http("url = \"https://api.example.com/\""), &["people", "email"]),
        (
            http("url = \"https://api.example.com/?who={name}&at={company_name}\""),
            &["people", "needs", "company_name, name"],
        ),
        (http("url = \"https:///{name}/?email={email}\""), &["people", "host"]),
        (http("url = \"https://api.example.com/{social_url}\""), &["people", "social_url"]),
        (http("url = \"http://127.0.0.1/?email={email}\""), &["people", "--allow-private-targets"]),
        (http(&format!("{url}\nneeds = [\"shoe_size\"]")), &["people", "shoe_size"]),
        (
            http(&format!("{url}\nneeds = [\"email\", \"phone\"]")),
            &["people", "phone", "url", "body"],
        ),
        (
            http(&format!(
                "{url}\nheaders = {{ Authorization = \"Bearer ${{NOT_SET_ANYWHERE}}\" }}"
            )),
            &["people", "NOT_SET_ANYWHERE"],
        ),
        (http(&format!("{url}\nmapping = \"nobody\"")), &["people", "nobody", "people-data-labs"]),
        (
            http(&format!("{url}\n[enrichment.provider.mapping]\nshoe_size = \"/shoe\"")),
            &["people", "shoe_size"],
        ),
        (command("[]"), &["lookup", "command"]),
        (command("[\"lookup-that-is-nowhere\"]"), &["lookup", "lookup-that-is-nowhere", "PATH"]),
        (command("[\"./nowhere\"]"), &["lookup", "does not exist", "nowhere"]),
        (command("[\"./people.jsonl\"]"), &["lookup", "people.jsonl is not executable"]),
    ] {
        let reason = refusal(&engine.app().config(&text).file("people.jsonl", ""), &database);
        assert!(
            reason.contains(FILE) && words.iter().all(|word| reason.contains(word)),
            "{text}\n{reason}"
        );
    }
}

#[apply(each_engine)]
fn a_file_that_is_not_there_is_named(engine: &Engine) {
    let database = Database::new(*engine);
    let reason = refusal(&engine.app().environment("SLATED_CONFIG", "nowhere.toml"), &database);
    assert!(reason.contains("nowhere.toml"), "{reason}");
}

#[apply(each_engine)]
fn no_secret_is_told(engine: &Engine) {
    let provider = Provider::start();
    let database = Database::new(*engine);
    for more in [
        "headers = { Authorization = \"Bearer ${PEOPLE_TOKEN}\", X-Other = \
         \"${NOT_SET_ANYWHERE}\" }",
        "headers = { Authorization = \"Bearer ${PEOPLE_TOKEN}\" }\ncolour = \"red\"",
        "headers = \"Bearer hush-3141\"",
        "headers = { Authorization = \"Bearer ${MANY_LINES}\" }",
    ] {
        let text = config(&[provider.section("people", more)]);
        let builder =
            engine.app().config(&text).environment("SLATED_ALLOW_PRIVATE_TARGETS", "127.0.0.0/8");
        let builder = builder
            .environment("PEOPLE_TOKEN", "hush-3141")
            .environment("MANY_LINES", "hush-3141\nhush-3141");
        let reason = refusal(&builder, &database);
        assert!(!reason.contains("hush-3141"), "{more}\n{reason}");
    }
}

#[apply(each_engine)]
fn help_names_the_option(_engine: &Engine) {
    let output = program().args(["serve", "--help"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("--config") && text.contains("SLATED_CONFIG"), "{text}");
}
