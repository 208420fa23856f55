//! Providers that are away, busy, late, broken or dear: nobody is forgotten, nobody is asked too
//! often, and no secret gets out.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::support::{
    Action, App, Call, Client, Engine, Provider, Receiver, apply, config, configured, each_engine,
    enriching, eventually, is_time, social_url,
};

const TITLE: &str = "Analyst";

/// A provider that knows the title of each of these.
fn know(provider: &Provider, handles: &[String]) {
    handles
        .iter()
        .for_each(|handle| provider.knows(handle, &json!({ "current_job_title": TITLE })));
}

fn handles(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("person-{number}")).collect()
}

/// Makes a person for each handle and asks for all of them.
fn ask_all(client: &Client, handles: &[String]) -> Vec<String> {
    handles
        .iter()
        .map(|handle| {
            client.new_person(&json!({ "social_url": social_url(handle), "enrich_record": true }))
        })
        .collect()
}

/// The person waits for another attempt.
fn waits(seen: &Value) -> bool {
    seen["state"] == "queued" && seen["last_error"].is_string()
}

fn gaps(calls: &[Call]) -> Vec<Duration> {
    calls.windows(2).map(|pair| pair[1].at - pair[0].at).collect()
}

/// Two providers, in that order, with these settings.
fn with_two(engine: Engine, settings: [&str; 2]) -> (App, Provider, Provider) {
    let (first, second) = (Provider::start(), Provider::start());
    let sections = [first.section("first", settings[0]), second.section("second", settings[1])];
    (configured(engine, &config(&sections)).start(), first, second)
}

#[apply(each_engine)]
fn whatever_goes_wrong_is_tried_again(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let troubles = [
        Action::json("{\"current_job_title\": "),
        Action::json("Analyst"),
        Action::Reset,
        Action::status(401),
        Action::status(402),
        Action::status(403),
        Action::status(408),
        Action::status(500),
        Action::status(502),
        Action::status(503),
        Action::status(429),
    ];
    for (number, trouble) in troubles.into_iter().enumerate() {
        let handle = format!("ada-{number}");
        provider.answer_first([trouble]);
        know(&provider, std::slice::from_ref(&handle));
        let seen = client.enrich(&client.new_handle(&handle));
        assert_eq!(
            (&seen["state"], &seen["fields"]),
            (&json!("done"), &json!(["current_job_title"])),
            "{number}: {seen:#}"
        );
        let calls: Vec<_> = provider
            .calls()
            .into_iter()
            .filter(|call| call.parameter("handle").as_ref() == Some(&handle))
            .collect();
        assert_eq!(calls.len(), 2, "{number}");
        assert_eq!(
            calls[0].header("idempotency-key"),
            calls[1].header("idempotency-key"),
            "{number}"
        );
    }
}

#[apply(each_engine)]
fn a_provider_that_fails_again_and_again_is_given_up(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    provider.receiver.behave(|_| Action::status(500));
    let person = client.new_handle("ada");
    let before = client.person(&person);
    let seen = client.enrich(&person);
    assert_eq!(
        [&seen["state"], &seen["attempts"], &seen["next_attempt_at"]],
        [&json!("failed"), &json!(3), &Value::Null]
    );
    assert!(seen["last_error"].as_str().is_some_and(|error| error.contains("500")), "{seen:#}");
    assert!(seen["finished_at"].as_str().is_some_and(is_time), "{seen:#}");
    assert_eq!((provider.calls().len(), client.person(&person)), (3, before));
}

#[apply(each_engine)]
fn who_was_given_up_can_be_asked_for_again(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    know(&provider, &["ada".to_owned()]);
    provider.answer_first([500, 500, 500, 500].map(Action::status));
    let person = client.new_handle("ada");
    assert_eq!(client.enrich(&person)["state"], "failed");
    let asked = client.ask_enrichment(&person, None).expect(202);
    assert_eq!([&asked.data()["attempts"], &asked.data()["last_error"]], [&json!(0), &Value::Null]);
    let seen = client.wait_enriched(&person);
    assert_eq!([&seen["state"], &seen["last_error"]], [&json!("done"), &Value::Null]);
    assert_eq!(provider.calls().len(), 5);
}

#[apply(each_engine)]
fn a_late_answer_is_not_waited_for(engine: &Engine) {
    let (app, provider) = enriching(*engine, "timeout = \"2s\"");
    let client = app.writer();
    know(&provider, &["ada".to_owned()]);
    provider.answer_first([Action::Hang]);
    let person = client.new_handle("ada");
    assert_eq!(client.enrich(&person)["state"], "done");
    let calls = provider.calls();
    assert!(calls.len() == 2 && gaps(&calls)[0] >= Duration::from_secs(2), "{:?}", gaps(&calls));
}

#[apply(each_engine)]
fn a_huge_answer_is_cut_off(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    provider.answer_first([Action::Huge, Action::Huge, Action::Huge]);
    let seen = client.enrich(&client.new_handle("ada"));
    assert_eq!((&seen["state"], provider.calls().len()), (&json!("failed"), 3), "{seen:#}");
    // Most of it lies in buffers of the system.
    assert!(provider.receiver.sent() < 3 * 32 * 1024 * 1024, "{} bytes", provider.receiver.sent());
}

#[apply(each_engine)]
fn an_answer_that_is_no_profile_changes_nothing(engine: &Engine) {
    let (app, provider) = enriching(*engine, "breaker = { failures = 1000, pause = \"1s\" }");
    let client = app.writer();
    for (number, body) in
        ["[]", "7", "\"Analyst\"", "true", "[{\"current_job_title\": \"Analyst\"}]"]
            .into_iter()
            .enumerate()
    {
        provider.answer_first([body; 3].map(Action::json));
        let person = client.new_handle(&format!("ada-{number}"));
        let before = client.person(&person);
        assert_eq!(client.enrich(&person)["fields"], json!([]), "{body}");
        assert_eq!(client.person(&person), before, "{body}");
    }
}

#[apply(each_engine)]
fn a_busy_provider_says_when_to_come_again(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    know(&provider, &["ada".to_owned()]);
    provider.answer_first([Action::busy(429, 2)]);
    let person = client.new_handle("ada");
    client.ask_enrichment(&person, None).expect(202);
    let waiting = client.wait_enrichment(&person, "waits", waits);
    assert!(waiting["next_attempt_at"].as_str() > waiting["requested_at"].as_str(), "{waiting:#}");
    assert_eq!(client.wait_enriched(&person)["state"], "done");
    let calls = provider.calls();
    assert!(
        calls.len() == 2 && gaps(&calls)[0] >= Duration::from_millis(1900),
        "{:?}",
        gaps(&calls)
    );
}

#[apply(each_engine)]
fn a_busy_provider_is_left_alone_by_everybody(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    know(&provider, &["ada".to_owned(), "grace".to_owned()]);
    provider.answer_first([Action::busy(503, 2)]);
    let ada = client.new_handle("ada");
    client.ask_enrichment(&ada, None).expect(202);
    client.wait_enrichment(&ada, "waits", waits);
    let grace = client.new_handle("grace");
    assert_eq!(
        (&client.enrich(&grace)["state"], &client.wait_enriched(&ada)["state"]),
        (&json!("done"), &json!("done"))
    );
    let calls = provider.calls();
    assert!(gaps(&calls)[0] >= Duration::from_millis(1900), "{:?}", gaps(&calls));
    assert_eq!(calls.len(), 3);
}

#[apply(each_engine)]
fn a_provider_may_name_the_time_to_come_again(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let headers = vec![("retry-after", "Fri, 31 Dec 2100 23:59:59 GMT".to_owned())];
    provider.answer_first([Action::Answer { status: 503, headers, body: String::new() }]);
    let person = client.new_handle("ada");
    client.ask_enrichment(&person, None).expect(202);
    let waiting = client.wait_enrichment(&person, "waits", waits);
    let [asked, next] = ["requested_at", "next_attempt_at"]
        .map(|field| waiting[field].as_str().unwrap().parse::<Timestamp>().unwrap());
    assert!(next.duration_since(asked) > SignedDuration::from_mins(10), "{waiting:#}");
}

#[apply(each_engine)]
fn a_question_that_is_refused_is_not_asked_again(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    for (number, status) in [400, 405, 410, 422].into_iter().enumerate() {
        provider.answer_first([Action::status(status)]);
        let seen = client.enrich(&client.new_handle(&format!("ada-{number}")));
        assert_eq!(
            (&seen["provider"], provider.calls().len()),
            (&Value::Null, number + 1),
            "{status}: {seen:#}"
        );
        assert!(
            seen["last_error"].as_str().is_some_and(|error| error.contains(&status.to_string())),
            "{seen:#}"
        );
    }
}

#[apply(each_engine)]
fn a_redirect_is_not_followed(engine: &Engine) {
    let (app, provider) = enriching(*engine, "headers = { X-Token = \"hush\" }");
    let client = app.writer();
    let elsewhere = Receiver::start();
    for (number, status) in [301, 302, 307, 308].into_iter().enumerate() {
        let location = elsewhere.at("/people");
        provider.answer_first([Action::Redirect(status, location)]);
        client.enrich(&client.new_handle(&format!("ada-{number}")));
        assert_eq!(provider.calls().len(), (number + 1) * 2, "{status}");
    }
    assert!(elsewhere.calls().is_empty());
}

#[apply(each_engine)]
fn when_one_fails_the_next_is_asked(engine: &Engine) {
    let (workspace, first, second) = with_two(*engine, ["timeout = \"300ms\"", ""]);
    let client = workspace.writer();
    know(&second, &handles(3));
    for (handle, trouble) in
        handles(3).iter().zip([Action::status(500), Action::Hang, Action::busy(429, 60)])
    {
        first.answer_first([trouble]);
        let seen = client.enrich(&client.new_handle(handle));
        assert_eq!([&seen["state"], &seen["provider"]], ["done", "second"], "{handle}: {seen:#}");
    }
    assert_eq!((first.asked(), second.asked()), (handles(3), handles(3)));
}

#[apply(each_engine)]
fn who_answered_is_not_asked_again_when_another_failed(engine: &Engine) {
    let (workspace, first, second) = with_two(*engine, ["", ""]);
    let client = workspace.writer();
    know(&first, &["ada".to_owned()]);
    first.answer_first([Action::status(500), Action::status(500)]);
    let seen = client.enrich(&client.new_handle("ada"));
    assert_eq!([&seen["state"], &seen["provider"]], ["done", "first"]);
    assert_eq!((first.calls().len(), second.calls().len()), (3, 1));
}

#[apply(each_engine)]
fn a_refresh_of_who_waits_asks_everybody_anew(engine: &Engine) {
    let (first, second) = (Provider::start(), Provider::start());
    let config = config(&[first.section("first", ""), second.section("second", "")]).replacen(
        "[\"50ms\", \"50ms\"]",
        "[\"1h\"]",
        1,
    );
    let app = configured(*engine, &config).start();
    let client = app.writer();
    second.answer_first([Action::status(500)]);
    let person = client.new_handle("ada");
    client.ask_enrichment(&person, None).expect(202);
    client.wait_enrichment(&person, "waits", waits);
    know(&first, &["ada".to_owned()]);
    let seen = client.enrich_anew(&person);
    assert_eq!([&seen["state"], &seen["provider"]], ["done", "first"]);
    assert_eq!((first.calls().len(), second.calls().len()), (2, 1));
}

fn paused(app: &App) -> f64 {
    let text = app.anonymous().get("/metrics").expect(200).text;
    let line = text
        .lines()
        .find(|line| line.starts_with("slated_enrichment_paused{") && line.contains("people"));
    line.map_or(0.0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
}

#[apply(each_engine)]
fn after_failures_a_provider_is_left_alone_for_a_while(engine: &Engine) {
    let (app, provider) = enriching(*engine, "breaker = { failures = 2, pause = \"6s\" }");
    let client = app.writer();
    know(&provider, &["ada".to_owned()]);
    provider.answer_first([Action::status(500), Action::status(500)]);
    let person = client.new_handle("ada");
    client.ask_enrichment(&person, None).expect(202);
    provider.wait_for(2);
    eventually("the pause is seen", || paused(&app) == 1.0);
    let seen = client.wait_enriched(&person);
    assert_eq!(seen["state"], "done", "{seen:#}");
    let calls = provider.calls();
    assert!(
        calls.len() == 3 && gaps(&calls)[1] >= Duration::from_millis(5900),
        "{:?}",
        gaps(&calls)
    );
    eventually("the end of the pause is seen", || paused(&app) == 0.0);
}

#[apply(each_engine)]
fn after_a_pause_one_call_tries(engine: &Engine) {
    let (app, provider) =
        enriching(*engine, "concurrency = 1\nbreaker = { failures = 2, pause = \"500ms\" }");
    let client = app.writer();
    provider.receiver.behave(|_| Action::status(500));
    ask_all(&client, &handles(8));
    let calls = provider.wait_for(5);
    assert!(
        gaps(&calls)[1..4].iter().all(|gap| *gap >= Duration::from_millis(450)),
        "{:?}",
        gaps(&calls)
    );
    provider.recover();
    eventually("the provider is asked as before", || {
        paused(&app) == 0.0 && provider.calls().len() > 8
    });
}

#[apply(each_engine)]
fn while_a_provider_is_left_alone_the_next_is_asked(engine: &Engine) {
    let (workspace, first, second) =
        with_two(*engine, ["breaker = { failures = 1, pause = \"1h\" }", ""]);
    let client = workspace.writer();
    know(&second, &handles(4));
    first.receiver.behave(|_| Action::status(500));
    for handle in handles(4) {
        assert_eq!(client.enrich(&client.new_handle(&handle))["provider"], "second", "{handle}");
    }
    assert_eq!((first.calls().len(), second.calls().len()), (1, 4));
}

/// Waits until nobody of them is at work or due, and counts those who are done.
fn count_done(client: &Client, persons: &[String], left: usize) -> usize {
    let states = || persons.iter().map(|person| client.enrichment(person)).collect::<Vec<_>>();
    eventually("all but those who have to wait are done", || {
        states().iter().filter(|seen| seen["state"] != "done").count() == left
    });
    states().iter().filter(|seen| seen["state"] == "done").count()
}

#[apply(each_engine)]
fn a_budget_is_for_a_day(engine: &Engine) {
    let (app, provider) = enriching(*engine, "daily_budget = 3");
    let client = app.writer();
    know(&provider, &handles(5));
    let persons = ask_all(&client, &handles(5));
    assert_eq!(count_done(&client, &persons, 2), 3);
    for person in &persons {
        if client.enrichment(person)["state"] != "done" {
            let waiting = client.wait_enrichment(person, "waits for tomorrow", |seen| {
                seen["state"] == "queued"
                    && seen["next_attempt_at"]
                        .as_str()
                        .is_some_and(|next| next.ends_with("T00:00:00.000Z"))
            });
            assert_eq!(waiting["attempts"], 0, "{waiting:#}");
        }
    }
    assert_eq!(provider.calls().len(), 3);
}

#[apply(each_engine)]
fn a_spent_budget_is_spent_after_a_restart(engine: &Engine) {
    let (mut app, provider) = enriching(*engine, "daily_budget = 1");
    know(&provider, &handles(2));
    app.writer().enrich(&app.writer().new_handle("person-0"));
    app.process.kill();
    app.restart();
    let client = app.writer();
    let person = client.new_handle("person-1");
    client.ask_enrichment(&person, None).expect(202);
    client.wait_enrichment(&person, "was put off", |seen| {
        seen["state"] == "queued" && seen["started_at"].is_string()
    });
    assert_eq!(provider.asked(), ["person-0"]);
}

#[apply(each_engine)]
fn calls_keep_to_their_rate(engine: &Engine) {
    let (app, provider) = enriching(*engine, "concurrency = 8\nrate_limit = \"4/s\"");
    let client = app.writer();
    know(&provider, &handles(8));
    let persons = ask_all(&client, &handles(8));
    assert_eq!(count_done(&client, &persons, 0), 8);
    let calls = provider.calls();
    let taken = calls[7].at - calls[0].at;
    assert!(calls.len() == 8 && taken >= Duration::from_millis(1500), "{taken:?}");
    for person in &persons {
        assert_eq!(client.enrichment(person)["last_error"], Value::Null);
    }
}

#[apply(each_engine)]
fn no_more_calls_are_made_at_once_than_allowed(engine: &Engine) {
    const TIME: Duration = Duration::from_millis(50);
    let (app, provider) = enriching(*engine, "concurrency = 2");
    let client = app.writer();
    provider.receiver.behave(|_| Action::Later(TIME, Box::new(Action::status(404))));
    let persons = ask_all(&client, &handles(12));
    assert_eq!(count_done(&client, &persons, 0), 12);
    let calls = provider.calls();
    // Before the third one begins, one of the first two has had its answer.
    assert!(calls.windows(3).all(|three| three[2].at - three[0].at >= TIME), "{:?}", gaps(&calls));
    assert!(gaps(&calls).iter().any(|gap| *gap < TIME), "never two at once: {:?}", gaps(&calls));
}

#[apply(each_engine)]
fn a_name_of_a_forbidden_address_is_not_called(engine: &Engine) {
    let provider = Provider::start();
    let url =
        format!("http://localhost:{}/people?handle={{social_public_id}}", provider.receiver.port());
    let section =
        format!("[[enrichment.provider]]\nname = \"people\"\nkind = \"http\"\nurl = \"{url}\"\n");
    let app = engine.app().config(&config(&[section])).start();
    let client = app.writer();
    let seen = client.enrich(&client.new_handle("zebediah"));
    assert_eq!(seen["state"], "failed");
    assert!(
        seen["last_error"]
            .as_str()
            .is_some_and(|error| !error.contains("zebediah") && !error.contains("127.0.0.1")),
        "{seen:#}"
    );
    assert!(provider.calls().is_empty());
}

#[apply(each_engine)]
fn secrets_and_persons_are_in_no_log(engine: &Engine) {
    let provider = Provider::start();
    let section = provider.section(
        "people",
        "headers = { Authorization = \"Bearer ${PEOPLE_TOKEN}\" }\ntimeout = \"300ms\"",
    );
    let app = configured(*engine, &config(&[section]))
        .environment("PEOPLE_TOKEN", "hush-3141")
        .environment("SLATED_LOG", "info,slated=debug")
        .start();
    let client = app.writer();
    provider.answer_first([Action::status(500), Action::Hang, Action::status(401)]);
    let person = client.new_person(&json!({
        "name": "Zebediah Quuxley", "social_url": social_url("zebediah"),
        "emails": ["zebediah@quuxley.example"], "enrich_record": true,
    }));
    let seen = client.wait_enriched(&person);
    assert_eq!(seen["state"], "failed");
    let call = &provider.calls()[0];
    assert_eq!(call.header("authorization"), "Bearer hush-3141");
    assert_eq!(call.parameter("email").as_deref(), Some("zebediah@quuxley.example"));
    let metrics = app.anonymous().get("/metrics").expect(200).text;
    let export = client.get(&format!("/v1/persons/{person}/export")).expect(200).text;
    for (place, text) in [
        ("log", app.process.log.text()),
        ("enrichment", seen.to_string()),
        ("metrics", metrics),
        ("export", export),
    ] {
        assert!(!text.contains("hush-3141"), "{place}: {text}");
        let knows = ["zebediah", "quuxley"].iter().any(|trace| text.to_lowercase().contains(trace));
        assert_eq!(knows, place == "export", "{place}: {text}");
    }
}

#[apply(each_engine)]
fn a_workspace_with_much_to_do_does_not_hold_up_another(engine: &Engine) {
    let (app, provider) = enriching(*engine, "concurrency = 1");
    let (busy, quick) = (app.client_of("busy", "write"), app.client_of("quick", "write"));
    provider
        .receiver
        .behave(|_| Action::Later(Duration::from_millis(20), Box::new(Action::status(404))));
    let rows: Vec<_> = handles(200)
        .iter()
        .map(|handle| json!({ "social_url": social_url(handle), "enrich_record": true }))
        .collect();
    busy.post("/v1/persons/batch", &json!({ "persons": rows })).expect(200);
    provider.wait_for(1);
    let person = quick.new_handle("quick");
    assert_eq!(quick.enrich(&person)["state"], "done");
    let asked = provider.asked();
    assert!(asked.len() < 150, "it came after {} others", asked.len());
}
