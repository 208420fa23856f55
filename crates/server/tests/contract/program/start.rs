//! The program as whoever runs it meets it: its options, its first start, its stop, and databases
//! that it cannot take.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{
    App, Client, Connection, Database, Engine, Process, apply, each_engine, eventually, on_sqlite,
    program, strings,
};

/// The key that the program showed when it made the first one.
fn shown_key(app: &App) -> String {
    app.process.output.wait_for("a key", |line| {
        let key = &line[line.find("slated_")?..];
        let end =
            key.find(|character: char| !character.is_ascii_alphanumeric() && character != '_');
        Some(key[..end.unwrap_or(key.len())].to_owned())
    })
}

#[apply(each_engine)]
fn the_first_start_shows_a_key_and_a_line_that_works(engine: &Engine) {
    let app = engine.app().first_start().start();
    let line = app
        .process
        .output
        .wait_for("a curl line", |line| line.find("curl ").map(|start| line[start..].to_owned()));
    let output = Command::new("sh").arg("-c").arg(&line).output().unwrap();
    let body: Value =
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{line}: {output:?}"));
    assert_eq!(body["success"], true, "{line}");
    let client = app.anonymous().with_key(&shown_key(&app));
    client.new_job("Engineer", "Acme");
}

#[apply(each_engine)]
fn later_starts_show_no_key(engine: &Engine) {
    let mut app = engine.app().first_start().start();
    let key = shown_key(&app);
    app.process.terminate();
    app.process.wait_exit();
    app.restart();
    app.anonymous().with_key(&key).get("/v1/jobs").expect(200);
    app.process.terminate();
    app.process.wait_exit();
    let (output, log) = (app.process.output.to_end(), app.process.log.to_end());
    assert!(!output.contains("slated_") && !log.contains("slated_"), "{output}\n{log}");
}

fn demo(engine: Engine) -> (App, Client) {
    let (app, key) = demo_with_key(engine);
    let client = app.anonymous().with_key(&key);
    (app, client)
}

/// A server with the demo data, and the key that it printed.
pub fn demo_with_key(engine: Engine) -> (App, String) {
    let app = engine.app().first_start().argument("--demo").start();
    let key = shown_key(&app);
    (app, key)
}

#[apply(each_engine)]
fn a_demo_has_something_in_every_shape(engine: &Engine) {
    let (_app, client) = demo(*engine);
    let jobs = client.get("/v1/jobs").expect(200);
    assert_eq!(jobs.json["meta"]["total"], 20);
    let mut clients = strings(jobs.data(), "client_company_id");
    clients.sort();
    clients.dedup();
    assert!(clients.len() >= 10, "{clients:?}");
    let mut unseen = strings(
        &client.get(&format!("/v1/jobs/{}", jobs.entries()[0]["id"].as_str().unwrap())).data()["pipeline_stages"],
        "name",
    );
    let mut candidates = Vec::new();
    for job in strings(jobs.data(), "id") {
        candidates.extend(
            client.get(&format!("/v1/jobs/{job}/candidates")).expect(200).entries().to_vec(),
        );
    }
    unseen.retain(|stage| {
        candidates
            .iter()
            .all(|candidate| candidate["current_pipeline_stage_name"] != stage.as_str())
    });
    assert!(unseen.is_empty(), "nobody is in {unseen:?}");
    let mut histories =
        candidates.iter().map(|candidate| client.candidate(candidate["id"].as_str().unwrap()));
    assert!(
        histories
            .any(|candidate| candidate["pipeline_stage_history"].as_array().unwrap().len() > 2)
    );
    // Who comes first depends on the day.
    let mut persons =
        candidates.iter().map(|candidate| client.person(candidate["person_id"].as_str().unwrap()));
    let lists =
        ["emails", "phones", "work_experience", "education_experience", "certifications", "jobs"];
    assert!(
        persons.any(|person| lists.iter().all(|list| !person[list].as_array().unwrap().is_empty()))
    );
}

#[apply(each_engine)]
fn a_demo_is_the_same_every_time(engine: &Engine) {
    let names = || {
        let (_app, client) = demo(*engine);
        let jobs = client.get("/v1/jobs").expect(200);
        let first = jobs.entries()[0]["id"].as_str().unwrap();
        let candidates = client.get(&format!("/v1/jobs/{first}/candidates")).expect(200);
        (
            strings(jobs.data(), "name"),
            strings(candidates.data(), "name"),
            strings(candidates.data(), "current_pipeline_stage_name"),
        )
    };
    assert_eq!(names(), names());
}

#[apply(each_engine)]
fn a_demo_shows_enrichment(engine: &Engine) {
    let (_app, client) = demo(*engine);
    let mut proposals = Vec::new();
    eventually("something is proposed", || {
        proposals = client.get("/v1/proposals?state=open").expect(200).entries().to_vec();
        !proposals.is_empty()
    });
    let person = proposals[0]["person_id"].as_str().unwrap();
    let seen = client.get(&format!("/v1/persons/{person}/enrichment")).expect(200);
    assert_eq!(
        (seen.string("state"), seen.string("provider")),
        ("done".to_owned(), "demo-directory".to_owned())
    );
    eventually("what was filled is told", || {
        !client.get("/v1/events?types=person.enriched").expect(200).entries().is_empty()
    });
}

#[apply(each_engine)]
fn a_stop_finishes_what_is_in_flight(engine: &Engine) {
    let mut app = engine.app().start();
    let (address, key) = (app.address.clone(), app.key("write"));
    let mut connection = Connection::open(&address);
    let head = format!(
        "POST /v1/persons HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer \
         {key}\r\nContent-Type: application/json\r\n"
    );
    let body = r#"{"name": "Ada", "external_source_id": "crm-1"}"#;
    connection
        .write(
            format!("{head}Content-Length: {}\r\nExpect: 100-continue\r\n\r\n", body.len())
                .as_bytes(),
        )
        .unwrap();
    assert!(connection.read_until("\r\n\r\n").starts_with("HTTP/1.1 100"));
    app.process.terminate();
    eventually("nobody new is let in", || std::net::TcpStream::connect(&address).is_err());
    connection.write(body.as_bytes()).unwrap();
    let reply = connection.read_to_end();
    assert_eq!(reply.status(), Some(201), "{reply:?}");
    assert!(app.process.wait_exit().success(), "{}", app.process.log.to_end());
    app.restart();
    app.writer()
        .post("/v1/persons", &json!({ "name": "Ada", "external_source_id": "crm-1" }))
        .expect(200);
}

#[apply(each_engine)]
fn data_is_there_after_a_stop(engine: &Engine) {
    let mut app = engine.app().start();
    let job = app.writer().new_job("Engineer", "Acme");
    let candidate = app.writer().new_candidate(&job, "Ada");
    app.process.terminate();
    assert!(app.process.wait_exit().success());
    app.restart();
    assert_eq!(app.writer().candidate(candidate["id"].as_str().unwrap()), candidate);
}

#[apply(each_engine)]
fn every_option_stands_in_the_environment_too(engine: &Engine) {
    let database = Database::new(*engine);
    let key = database.create_key("main", "read", &[]);
    let mut command = program();
    command
        .arg("serve")
        .env("SLATED_DATABASE", database.url())
        .env("SLATED_LISTEN", "127.0.0.1:0")
        .env("SLATED_RATE_LIMIT", "77");
    let server = Process::start(&mut command);
    let address = server.log.wait_for("an address", |line| {
        let entry: Value = serde_json::from_str(line).ok()?;
        entry["fields"]["listen.address"].as_str().map(str::to_owned)
    });
    let reply = Client::new(&address).with_key(&key).get("/v1/jobs").expect(200);
    assert_eq!(reply.header("x-ratelimit-limit"), Some("77"));
}

#[apply(each_engine)]
fn a_host_name_and_a_port_alone_can_be_listened_on(engine: &Engine) {
    for (written, begins) in [
        ("localhost:0", &["127.0.0.1:", "[::1]:"][..]),
        ("0", &["127.0.0.1:"]),
        (":0", &["[::]:", "0.0.0.0:"]),
    ] {
        let app = engine.app().environment("SLATED_LISTEN", written).start();
        assert!(
            begins.iter().any(|begins| app.address.starts_with(begins)),
            "{written}: {}",
            app.address
        );
        assert_eq!(app.anonymous().get("/healthz").expect(200).json["status"], "ok");
    }
}

/// The data is personal, and so is what a lock file keeps room for.
#[test]
fn the_files_of_a_database_are_its_owner_s_alone() {
    let app = Engine::Sqlite.app().start();
    app.writer().new_job("Engineer", "Acme");
    for ending in ["", ".lock"] {
        let file = format!("{}{ending}", app.database.file().display());
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600, "{file}");
    }
}

#[apply(each_engine)]
fn help_names_commands_and_options(_engine: &Engine) {
    for (arguments, words) in [
        (&["--help"][..], &["serve", "key", "Examples:", "docs/operations.md"][..]),
        (
            &["serve", "--help"],
            &[
                "--database",
                "--listen",
                "--demo",
                "SLATED_DATABASE",
                "SLATED_LISTEN",
                "SLATED_RATE_LIMIT",
                "8080",
                "Database:",
                "Network:",
                "Events:",
                "Webhooks:",
                "Examples:",
                "docs/operations.md",
                "[default: forever]",
            ],
        ),
        (&["key", "--help"], &["create", "list", "rotate", "revoke"]),
        (
            &["key", "create", "--help"],
            &["--name", "--scope", "--workspace", "--expires", "--database", "Example:", "docs/"],
        ),
        (&["key", "rotate", "--help"], &["Example:", "docs/"]),
        (&["key", "revoke", "--help"], &["Example:", "docs/"]),
        (&["key", "list", "--help"], &["Example:", "docs/"]),
        (&["webhook", "create", "--help"], &["Example:", "docs/"]),
        (&["webhook", "list", "--help"], &["Example:", "docs/"]),
        (&["webhook", "rotate", "--help"], &["Example:", "docs/"]),
        (&["webhook", "delete", "--help"], &["Example:", "docs/"]),
        (&["audit", "verify", "--help"], &["Example:", "docs/"]),
        (&["copy", "--help"], &["Example:", "docs/"]),
        (&["migrate", "--help"], &["Example:", "docs/"]),
    ] {
        let output = program().args(arguments).output().unwrap();
        // Lines are broken at any space.
        let text = String::from_utf8(output.stdout)
            .unwrap()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        assert!(output.status.success(), "{arguments:?}");
        assert!(
            words.iter().all(|word| text.contains(word)),
            "{arguments:?} lacks one of {words:?}:\n{text}"
        );
    }
    assert!(program().arg("--version").output().unwrap().status.success());
}

#[apply(each_engine)]
fn who_reads_no_further_is_no_fault(_engine: &Engine) {
    let mut shown =
        program().arg("openapi").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut beginning = [0; 10];
    shown.stdout.take().unwrap().read_exact(&mut beginning).unwrap();
    let output = shown.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

/// Expects that the program gives up by itself, and what it says about it.
fn reason(process: &mut Process) -> String {
    assert!(!process.wait_exit().success());
    let reason = process.log.to_end();
    assert!(!reason.is_empty() && !reason.contains("panicked"), "{reason}");
    reason
}

#[apply(each_engine)]
fn bad_options_are_refused_with_a_reason(engine: &Engine) {
    // The default address is taken, by this test or by somebody else: what is wrong with an option
    // is said all the same.
    let _taken = TcpListener::bind("127.0.0.1:8080");
    let database = Database::new(*engine);
    let url = database.url();
    for (arguments, word) in [
        (&["serve", "--nonsense"][..], "--nonsense"),
        (&["nonsense"], "nonsense"),
        (&["serve", "--database", "nonsense"], "nonsense"),
        (&["serve", "--database", "mysql://localhost/slated"], "mysql"),
        (&["serve", "--database", "sqlite:"], "database"),
        (&["serve", "--database", "sqlite::memory:"], "path of a file"),
        (
            &["key", "create", "--name", "x", "--database", "sqlite:file:slated.db?mode=memory"],
            "path of a file",
        ),
        (&["serve", "--database", "postgres://me:secret@host:port/slated"], "postgres://…@host"),
        (
            &["serve", "--database", "postgres://me@host/slated?sslmode=odd&password=secret"],
            "postgres://…:",
        ),
        (&["serve", "--database", "postgres:/me:secret@host/slated"], "postgres:…"),
        (&["serve", "--database", "host=db user=me password=secret"], "--database …"),
        (&["serve", "--database", "postgres://me:secret@host/slated?colour=red"], "colour"),
        (&["serve", "--database", &url, "--read-database", "sqlite:slated.db"], "--read-database"),
        (&["copy", "--from", "sqlite:slated.db", "--to", "mysql://me:secret@host/slated"], "--to"),
        (&["migrate", "--distribute", "--database", &url], "citus"),
        (&["serve", "--database", &url, "--listen", "nonsense"], "nonsense"),
        (&["serve", "--database", &url, "--listen", "127.0.0.1:99999"], "99999"),
        (&["serve", "--database", &url, "--rate-limit", "lots"], "lots"),
        (&["serve", "--database", &url, "--head-timeout", "never"], "never"),
        (&["serve", "--database", &url, "--log", "warning"], "\"warning\" is not a level"),
        (&["serve", "--database", "postgres://me:sec@secret@127.0.0.1:1/slated"], "%40"),
        (&["key", "create", "--database", &url], "--name"),
        (&["key", "revoke", "--database", &url, "slated_00000000secret"], "key_"),
        (&["key", "rotate", "--database", &url, "slated_00000000secret"], "key_"),
        (&["key", "rotate", "--database", &url, "key_x"], "not a key id"),
        (&["serve", "--database", &url, "--listen", "localhost"], "host:port"),
        (
            &["key", "create", "--database", &url, "--name", "x", "--expires", "whenever"],
            "whenever",
        ),
        (
            &[
                "key",
                "rotate",
                "--database",
                &url,
                "key_01m7q2fvn2fefakvyf9qnqgm4m",
                "--overlap",
                "8d",
            ],
            "at most 7 days",
        ),
        (
            &[
                "webhook",
                "rotate",
                "--database",
                &url,
                "whk_01m7q2fvn2fefakvyf9qnqgm4m",
                "--overlap",
                "8d",
            ],
            "at most 7 days",
        ),
        (
            &[
                "webhook",
                "rotate",
                "--database",
                &url,
                "whk_01m7q2fvn2fefakvyf9qnqgm4m",
                "--overlap",
                "900ms",
            ],
            "whole seconds",
        ),
        (
            &[
                "webhook",
                "rotate",
                "--database",
                &url,
                "whk_01m7q2fvn2fefakvyf9qnqgm4m",
                "--allow-private-targets",
                "10.0.0.0/8",
            ],
            "unexpected",
        ),
    ] {
        let mut process =
            Process::start(program().args(arguments).current_dir(database.directory()));
        let reason = reason(&mut process);
        assert!(
            reason.to_lowercase().contains(word) && !reason.contains("secret"),
            "{arguments:?}: {reason}"
        );
    }
}

#[apply(each_engine)]
fn an_address_in_use_is_refused(app: &App) {
    let other = Database::new(Engine::Sqlite);
    let mut command = other.command(&["serve", "--listen", &app.address]);
    assert!(reason(&mut Process::start(&mut command)).contains(&app.address));
}

#[apply(on_sqlite)]
fn a_second_server_on_one_database_is_refused(app: &App) {
    let mut second = app.database.command(&["serve", "--listen", "127.0.0.1:0"]);
    let reason = reason(&mut Process::start(&mut second));
    assert!(reason.contains("another"), "{reason}");
    app.writer().new_job("Engineer", "Acme");
}

#[apply(on_sqlite)]
fn a_file_is_one_by_whatever_name(app: &App) {
    let link = app.database.directory().join("link.db");
    let url = format!("sqlite:{}", link.display());
    let refused = |arguments: &[&str]| reason(&mut Process::start(program().args(arguments)));
    symlink(app.database.file(), &link).unwrap();
    assert!(
        refused(&["serve", "--listen", "127.0.0.1:0", "--database", &url])
            .contains("another slated server")
    );
    fs::remove_file(&link).unwrap();
    fs::hard_link(app.database.file(), &link).unwrap();
    assert!(
        refused(&["serve", "--listen", "127.0.0.1:0", "--database", &url]).contains("2 hard links")
    );
    app.writer().new_job("Engineer", "Acme");
}

#[apply(each_engine)]
fn a_log_that_nobody_reads_does_not_keep_the_program_from_ending(engine: &Engine) {
    let database = Database::new(*engine);
    let key = database.create_key("main", "read", &[]);
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let mut serving = database.command(&["serve", "--listen", &address]);
    let mut child = serving.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let client = Client::new(&address).with_key(&key);
    eventually("the program answers", || {
        client.try_send("GET", "/readyz", None).is_ok_and(|reply| reply.status == 200)
    });
    for _ in 0..500 {
        client.get("/v1/jobs").expect(200);
    }
    assert!(
        Command::new("kill").arg("-TERM").arg(child.id().to_string()).status().unwrap().success()
    );
    eventually("the program ends", || {
        child.try_wait().unwrap().is_some_and(|status| status.success())
    });
}

/// What is written into a file without a name is gone with the program.
#[apply(on_sqlite)]
fn a_file_that_was_taken_away_is_not_written_to(app: &App) {
    let client = app.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let create = || client.post("/v1/persons", &json!({ "name": "Grace" }));
    let is_ready = || app.anonymous().get("/readyz").status == 200;
    let (file, away) = (app.database.file(), app.database.directory().join("away.db"));
    fs::rename(&file, &away).unwrap();
    create().refused(503, "UNAVAILABLE");
    eventually("the program says that it cannot serve", || !is_ready());
    fs::copy(&away, &file).unwrap();
    create().refused(503, "UNAVAILABLE");
    app.process.log.wait_for("the reason", |line| line.contains("was replaced").then_some(()));
    fs::rename(&away, &file).unwrap();
    create().expect(201);
    eventually("the program says that it can serve", is_ready);
    client.get(&format!("/v1/persons/{person}")).expect(200);
}

/// A commit is in the log before it is in the database, and is found there by the log's index: it
/// is gone with them, also where only the database came back of what had been moved.
#[apply(on_sqlite)]
fn what_is_in_a_log_that_was_taken_away_is_kept(engine: &Engine) {
    for (name, is_back) in
        [("slated.db-wal", false), ("slated.db-wal", true), ("slated.db-shm", false)]
    {
        let mut app = engine.app().start();
        let client = app.writer();
        let person = client.new_person(&json!({ "name": "Ada" }));
        let create = || client.post("/v1/persons", &json!({ "name": "Grace" }));
        let [file, away] = [name, "away"].map(|name| app.database.directory().join(name));
        fs::rename(&file, &away).unwrap();
        create().refused(503, "UNAVAILABLE");
        app.process.log.wait_for("the reason", |line| {
            line.contains(&format!("{name} was removed")).then_some(())
        });
        if is_back {
            fs::rename(&away, &file).unwrap();
            create().expect(201);
        }
        app.process.terminate();
        app.process.wait_exit();
        app.restart();
        let client = app.writer();
        client.get(&format!("/v1/persons/{person}")).expect(200);
        assert_eq!(client.get("/v1/persons").json["meta"]["total"], 1 + i64::from(is_back));
    }
}

#[apply(on_sqlite)]
fn a_file_can_be_served_through_a_link(engine: &Engine) {
    let database = Database::new(*engine);
    let key = database.create_key("main", "write", &[]);
    let link = database.directory().join("link.db");
    symlink(database.file(), &link).unwrap();
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let url = format!("sqlite:{}", link.display());
    let mut process =
        Process::start(program().args(["serve", "--listen", &address, "--database", &url]));
    let client = Client::new(&address).with_key(&key);
    eventually("the program answers", || {
        client.try_send("GET", "/readyz", None).is_ok_and(|reply| reply.status == 200)
    });
    client.new_job("Engineer", "Acme");
    process.terminate();
    process.wait_exit();
}

#[apply(on_sqlite)]
fn an_empty_file_is_nothing_to_look_at(engine: &Engine) {
    let database = Database::new(*engine);
    fs::write(database.file(), "").unwrap();
    for arguments in [&["audit", "verify"][..], &["key", "list"], &["webhook", "list"]] {
        let refused = reason(&mut Process::start(&mut database.command(arguments)));
        assert!(refused.contains("holds no slated database"), "{arguments:?}: {refused}");
    }
    assert_eq!(fs::read(database.file()).unwrap(), b"");
    database.create_key("default", "read", &[]);
}

#[apply(on_sqlite)]
fn a_key_that_nobody_can_see_is_told_of(engine: &Engine) {
    let database = Database::new(*engine);
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = database.command(&["serve", "--listen", "127.0.0.1:0"]);
    let output = command.stdout(full).output().unwrap();
    let reason = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && reason.contains("slated key create"), "{reason}");
}

#[apply(each_engine)]
fn a_database_of_a_newer_version_is_refused(engine: &Engine) {
    let mut app = engine.app().start();
    app.process.terminate();
    app.process.wait_exit();
    let sql = "INSERT INTO schema_migration SELECT 9999, 'from the future', applied_at FROM \
        schema_migration WHERE version = 1";
    app.database.execute(sql);
    let mut command = app.database.command(&["serve", "--listen", "127.0.0.1:0"]);
    let reason = reason(&mut Process::start(&mut command));
    assert!(reason.contains("newer"), "{reason}");
    assert!(!app.database.run(&["key", "create", "--name", "x"]).status.success());
}

#[apply(on_sqlite)]
fn a_file_that_is_no_database_is_refused_and_left_alone(engine: &Engine) {
    let database = Database::new(*engine);
    let letter = "Dear diary, ".repeat(1000);
    fs::write(database.file(), &letter).unwrap();
    let mut command = database.command(&["serve", "--listen", "127.0.0.1:0"]);
    let reason = reason(&mut Process::start(&mut command));
    assert!(reason.contains("slated.db"), "{reason}");
    assert_eq!(fs::read_to_string(database.file()).unwrap(), letter);
}
