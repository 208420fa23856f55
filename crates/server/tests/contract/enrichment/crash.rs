//! Servers are killed while they enrich: nobody is lost, nobody is asked about again without need,
//! and nothing is written twice.

use std::collections::{BTreeMap, BTreeSet};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{
    Action, App, Call, Client, Engine, Process, Provider, apply, config, configured, each_engine,
    enriching, eventually, social_url, strings, together, who,
};

const KILLS: usize = 3;
const PERSONS: usize = 60;
const CONCURRENCY: usize = 4;
/// A server that died is noticed after this and some seconds.
const TIMEOUT: &str = "timeout = \"5s\"";

/// A provider that knows everybody and takes a little while to say so.
fn answer_everybody(provider: &Provider, time: Duration) {
    provider.receiver.behave(move |call| {
        let title = format!("Title of {}", who(call));
        Action::Later(
            time,
            Box::new(Action::json(json!({ "current_job_title": title }).to_string())),
        )
    });
}

fn handle(number: usize) -> String {
    format!("person-{number}")
}

/// Makes so many persons with handles.
fn make(client: &Client, count: usize, enrich: bool) -> Vec<String> {
    let row =
        |number| json!({ "social_url": social_url(&handle(number)), "enrich_record": enrich });
    let rows: Vec<_> = (0..count).map(row).collect();
    let reply = client.post("/v1/persons/batch", &json!({ "persons": rows })).expect(200);
    reply.entries().iter().map(|row| row["data"]["id"].as_str().unwrap().to_owned()).collect()
}

/// The keys that were sent with the calls about each person.
fn keys_of(calls: &[Call]) -> BTreeMap<String, BTreeSet<String>> {
    let mut keys: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for call in calls {
        keys.entry(who(call)).or_default().insert(call.header("idempotency-key").to_owned());
    }
    keys
}

/// Expects that so many were asked about, each under one key, and that no more calls were made than
/// had to be.
#[track_caller]
fn assert_asked(calls: &[Call], persons: usize, most_again: usize) {
    let keys = keys_of(calls);
    assert_eq!(keys.len(), persons);
    assert!(keys.values().all(|keys| keys.len() == 1), "{keys:#?}");
    let all: BTreeSet<_> = keys.values().flatten().collect();
    assert_eq!(all.len(), persons, "two persons have the same key");
    assert!(calls.len() <= persons + most_again, "{} calls about {persons} persons", calls.len());
}

/// Expects that each of them has what the provider said, and that it was told once.
#[track_caller]
fn assert_enriched(client: &Client, persons: &[String]) {
    for (number, person) in persons.iter().enumerate() {
        assert_eq!(
            client.person(person)["current_job_title"],
            format!("Title of {}", handle(number)),
            "{person}"
        );
    }
    let told =
        || client.get("/v1/events?types=person.enriched&limit=1000").expect(200).entries().to_vec();
    eventually("all of it is told", || told().len() >= persons.len());
    let mut told = strings(&json!(told()), "record_id");
    told.sort();
    let mut expected = persons.to_vec();
    expected.sort();
    assert_eq!(told, expected);
}

#[apply(each_engine)]
fn a_run_goes_on_after_being_killed(engine: &Engine) {
    let (mut app, provider) = enriching(*engine, TIMEOUT);
    answer_everybody(&provider, Duration::from_millis(10));
    let persons = make(&app.writer(), PERSONS, false);
    let run = app.writer().start_run(&json!({}));
    for calls in [5, 14, 27] {
        provider.wait_for(calls);
        app.process.kill();
        app.restart();
    }
    let client = app.writer();
    let ended = client.wait_run(&run);
    assert_eq!(
        [&ended["state"], &ended["person_count"], &ended["done_count"]],
        [&json!("done"), &json!(PERSONS), &json!(PERSONS)]
    );
    assert_asked(&provider.calls(), PERSONS, KILLS * CONCURRENCY);
    assert_enriched(&client, &persons);
}

/// Pushes persons until the program is gone, and gives back those that it took.
fn push(client: &Client, prefix: &str) -> Vec<String> {
    let mut pushed = Vec::new();
    for number in 0..200 {
        let body = json!({ "social_url": social_url(&format!("{prefix}-{number}")),
            "enrich_record": true });
        match client.try_send("POST", "/v1/persons", Some(&body)) {
            Ok(made) => pushed.push(made.expect(201).id()),
            Err(_) => break,
        }
    }
    pushed
}

#[apply(each_engine)]
fn whoever_was_pushed_is_enriched_although_the_program_is_killed(engine: &Engine) {
    let (mut app, provider) = enriching(*engine, TIMEOUT);
    answer_everybody(&provider, Duration::from_millis(5));
    let mut pushed = Vec::new();
    for round in 0..KILLS {
        let client = app.writer();
        thread::scope(|scope| {
            let start = |writer| {
                let client = client.clone();
                scope.spawn(move || push(&client, &format!("person-{round}-{writer}")))
            };
            let writers: Vec<_> = (0..2).map(start).collect();
            let before = provider.calls().len();
            provider.wait_for(before + 6);
            app.process.kill();
            writers.into_iter().for_each(|writer| pushed.extend(writer.join().unwrap()));
        });
        app.restart();
    }
    let client = app.writer();
    assert!(pushed.len() > KILLS * 2, "{}", pushed.len());
    for person in &pushed {
        let seen = client.wait_enriched(person);
        assert_eq!(
            (&seen["state"], &seen["fields"]),
            (&json!("done"), &json!(["current_job_title"])),
            "{seen:#}"
        );
    }
    let keys = keys_of(&provider.calls());
    assert!(keys.values().all(|keys| keys.len() == 1), "{keys:#?}");
    assert!(
        provider.calls().len() <= keys.len() + KILLS * CONCURRENCY,
        "{} calls about {}",
        provider.calls().len(),
        keys.len()
    );
}

#[apply(each_engine)]
fn what_waits_for_a_retry_waits_after_being_killed(engine: &Engine) {
    let (mut app, provider) = enriching(*engine, TIMEOUT);
    provider.knows(&handle(0), &json!({ "current_job_title": "Title of person-0" }));
    provider.answer_first([Action::busy(503, 6)]);
    let persons = make(&app.writer(), 1, true);
    let waiting =
        app.writer().wait_enrichment(&persons[0], "waits", |seen| seen["last_error"].is_string());
    app.process.kill();
    app.restart();
    let client = app.writer();
    assert_eq!(client.enrichment(&persons[0])["next_attempt_at"], waiting["next_attempt_at"]);
    assert_eq!(client.wait_enriched(&persons[0])["state"], "done");
    let calls = provider.calls();
    assert!(
        calls[1].at - calls[0].at >= Duration::from_millis(5900),
        "{:?}",
        calls[1].at - calls[0].at
    );
    assert_asked(&calls, 1, 1);
    assert_enriched(&client, &persons);
}

#[apply(each_engine)]
fn what_was_being_asked_is_asked_again_under_the_same_key(engine: &Engine) {
    let (mut app, provider) = enriching(*engine, TIMEOUT);
    provider.receiver.behave(|_| Action::Hang);
    let persons = make(&app.writer(), CONCURRENCY, true);
    provider.wait_for(CONCURRENCY);
    app.process.kill();
    let asked = provider.calls().len();
    answer_everybody(&provider, Duration::ZERO);
    app.restart();
    let client = app.writer();
    for person in &persons {
        assert_eq!(client.wait_enriched(person)["state"], "done");
    }
    let calls = provider.calls();
    assert_eq!(keys_of(&calls[asked..]), keys_of(&calls[..asked]));
    assert_asked(&calls, CONCURRENCY, asked);
    assert_enriched(&client, &persons);
}

#[apply(each_engine)]
fn who_answered_is_not_asked_again_when_killed_at_the_next(engine: &Engine) {
    let (first, second) = (Provider::start(), Provider::start());
    let sections = [first.section("first", TIMEOUT), second.section("second", TIMEOUT)];
    let mut app = configured(*engine, &config(&sections)).start();
    second.receiver.behave(|_| Action::Hang);
    let persons = make(&app.writer(), 1, true);
    second.wait_for(1);
    app.process.kill();
    answer_everybody(&second, Duration::ZERO);
    app.restart();
    let enriched = app.writer().wait_enriched(&persons[0]);
    assert_eq!([&enriched["state"], &enriched["provider"]], ["done", "second"]);
    assert_eq!(first.calls().len(), 1);
    assert_enriched(&app.writer(), &persons);
}

#[apply(each_engine)]
fn a_stop_waits_for_the_answer(engine: &Engine) {
    let (mut app, provider) = enriching(*engine, "timeout = \"5s\"");
    answer_everybody(&provider, Duration::from_millis(500));
    let persons = make(&app.writer(), 1, true);
    provider.wait_for(1);
    app.process.terminate();
    assert!(app.process.wait_exit().success(), "{}", app.process.log.to_end());
    app.restart();
    let client = app.writer();
    assert_eq!(client.enrichment(&persons[0])["state"], "done");
    assert_asked(&provider.calls(), 1, 0);
    assert_enriched(&client, &persons);
}

#[apply(each_engine)]
fn a_stop_gives_back_what_has_no_answer(engine: &Engine) {
    let (mut app, provider) = enriching(*engine, "concurrency = 1\ntimeout = \"5s\"");
    answer_everybody(&provider, Duration::from_millis(300));
    let persons = make(&app.writer(), 5, true);
    provider.wait_for(1);
    app.process.terminate();
    assert!(app.process.wait_exit().success(), "{}", app.process.log.to_end());
    assert!(provider.calls().len() < 5, "it asked about everybody before it stopped");
    app.restart();
    let client = app.writer();
    for person in &persons {
        assert_eq!(client.wait_enriched(person)["state"], "done");
    }
    assert_asked(&provider.calls(), 5, 0);
    assert_enriched(&client, &persons);
}

/// Two servers on one database, a client of each, and their provider; the process is the second
/// server.
fn two_servers(settings: &str) -> (App, Process, [Client; 2], Provider) {
    let (app, provider) = enriching(Engine::Postgres, settings);
    let (process, address) = app.another_server();
    let clients = [app.writer(), Client::new(&address).with_key(&app.key("write"))];
    (app, process, clients, provider)
}

#[test]
fn two_servers_ask_about_each_person_once() {
    let (_app, _second, clients, provider) = two_servers("");
    answer_everybody(&provider, Duration::from_millis(20));
    let pushed = together(8, |thread| {
        let push = |number: usize| {
            let body = json!({ "social_url": social_url(&handle(thread * 10 + number)),
                "enrich_record": true });
            clients[(thread + number) % 2].new_person(&body)
        };
        (0..10).map(push).collect::<Vec<_>>()
    });
    let persons = pushed.concat();
    for person in &persons {
        assert_eq!(clients[0].wait_enriched(person)["state"], "done");
    }
    assert_asked(&provider.calls(), 80, 0);
    assert_enriched(&clients[1], &persons);
}

#[test]
fn two_servers_feed_a_run_together() {
    let (_app, _second, clients, provider) = two_servers("concurrency = 8");
    answer_everybody(&provider, Duration::ZERO);
    let persons = make(&clients[0], 500, false);
    let run = clients[1].start_run(&json!({}));
    let ended = clients[0].wait_run(&run);
    assert_eq!(
        ["person_count", "done_count", "skipped_count"].map(|count| ended[count].as_u64().unwrap()),
        [500, 500, 0]
    );
    assert_asked(&provider.calls(), 500, 0);
    assert_enriched(&clients[1], &persons);
}

#[test]
fn when_a_server_is_killed_the_other_enriches_the_rest() {
    for victim in 0..2 {
        let (mut app, mut second, clients, provider) = two_servers(TIMEOUT);
        answer_everybody(&provider, Duration::from_millis(50));
        let persons = make(&clients[1 - victim], PERSONS, true);
        provider.wait_for(15);
        let killed = if victim == 0 { &mut app.process } else { &mut second };
        killed.kill();
        let survivor = &clients[1 - victim];
        for person in &persons {
            assert_eq!(survivor.wait_enriched(person)["state"], "done");
        }
        assert_asked(&provider.calls(), PERSONS, CONCURRENCY);
        assert_enriched(survivor, &persons);
    }
}

#[test]
fn a_rate_holds_for_two_servers_together() {
    let (_app, _second, clients, provider) = two_servers("concurrency = 8\nrate_limit = \"10/s\"");
    answer_everybody(&provider, Duration::ZERO);
    let persons = make(&clients[0], 40, true);
    for person in &persons {
        assert_eq!(clients[1].wait_enriched(person)["state"], "done");
    }
    let calls = provider.calls();
    let taken = calls[39].at - calls[0].at;
    assert!(taken >= Duration::from_millis(2500), "{taken:?}");
    assert_asked(&calls, 40, 0);
}

#[test]
fn a_budget_holds_for_two_servers_together() {
    let (_app, _second, clients, provider) = two_servers("concurrency = 8\ndaily_budget = 10");
    answer_everybody(&provider, Duration::ZERO);
    let persons = make(&clients[0], 30, true);
    let states =
        || persons.iter().map(|person| clients[1].enrichment(person)).collect::<Vec<Value>>();
    eventually("the budget is spent, and all others wait for tomorrow", || {
        let waits = |seen: &&Value| seen["state"] == "queued" && seen["started_at"].is_string();
        let done = |seen: &&Value| seen["state"] == "done";
        let seen = states();
        seen.iter().filter(done).count() == 10 && seen.iter().filter(waits).count() == 20
    });
    assert_asked(&provider.calls(), 10, 0);
}
