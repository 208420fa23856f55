//! Asking for what others know of a person: how it goes on, who is asked, and for how long an
//! answer counts.

use serde_json::{Value, json};

use crate::support::{
    Action, App, Client, Engine, Provider, Workspace, apply, config, configured, each_engine,
    enriching, eventually, is_time, shape, social_url,
};

fn path_of(person: &str) -> String {
    format!("/v1/persons/{person}/enrichment")
}

/// A server with two providers, in that order, with these settings.
fn with_two(engine: Engine, settings: [&str; 2]) -> (App, Provider, Provider) {
    let (first, second) = (Provider::start(), Provider::start());
    let sections = [first.section("first", settings[0]), second.section("second", settings[1])];
    (configured(engine, &config(&sections)).start(), first, second)
}

fn title(client: &Client, person: &str) -> Value {
    client.person(person)["current_job_title"].clone()
}

#[apply(each_engine)]
fn an_enrichment_that_was_asked_for(engine: &Engine) {
    let (app, _provider) = enriching(*engine, "");
    let client = app.writer();
    let reply = client.ask_enrichment(&client.new_handle("ada"), None).expect(202);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": {
        "person_id": "per_1",
        "state": "queued",
        "provider": null,
        "attempts": 0,
        "requested_at": "<time>",
        "started_at": null,
        "finished_at": null,
        "next_attempt_at": "<time>",
        "last_error": null,
        "reason": null,
        "is_cached": false,
        "fields": [],
        "proposals": [],
        "refused": [],
        "run_id": null
      }
    }
    "#);
}

#[apply(each_engine)]
fn an_enrichment_that_is_done(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    provider.knows("ada", &json!({ "current_job_title": "Analyst" }));
    let person = client.new_handle("ada");
    client.enrich(&person);
    insta::assert_snapshot!(shape(&client.get(&path_of(&person)).expect(200)), @r#"
    {
      "success": true,
      "data": {
        "person_id": "per_1",
        "state": "done",
        "provider": "people",
        "attempts": 1,
        "requested_at": "<time>",
        "started_at": "<time>",
        "finished_at": "<time>",
        "next_attempt_at": null,
        "last_error": null,
        "reason": null,
        "is_cached": false,
        "fields": [
          "current_job_title"
        ],
        "proposals": [],
        "refused": [],
        "run_id": null
      }
    }
    "#);
}

#[apply(each_engine)]
fn what_is_refused_queues_nothing(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let person = client.new_handle("ada");
    let change = json!({ "current_job_title": "Analyst", "enrich_record": true });
    client
        .with("if-match", "\"1-0\"")
        .patch(&format!("/v1/persons/{person}"), &change)
        .refused(412, "PRECONDITION_FAILED");
    let nowhere =
        json!({ "social_url": social_url("ada"), "job_id": "job_none", "enrich_record": true });
    client.post("/v1/persons", &nowhere).refused(404, "NOT_FOUND");
    client.get(&format!("/v1/persons/{person}/enrichment")).refused(404, "NOT_FOUND");
    assert_eq!(provider.calls().len(), 0);
}

#[apply(each_engine)]
fn who_was_never_enriched_has_no_enrichment(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let reply = client.get(&path_of(&person)).refused(404, "NOT_FOUND");
    assert!(reply.text.contains(&person) && reply.text.contains("POST"), "{reply:#?}");
}

#[apply(each_engine)]
fn whom_nobody_knows_is_done_without_a_provider(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    for (number, answer) in
        [Action::status(404), Action::status(204), Action::json("null")].into_iter().enumerate()
    {
        provider.answer_first([answer]);
        let person = client.new_handle(&format!("nobody-{number}"));
        let before = client.person(&person);
        let seen = client.enrich(&person);
        assert_eq!(
            (&seen["state"], &seen["provider"], &seen["last_error"]),
            (&json!("done"), &Value::Null, &Value::Null),
            "{number}"
        );
        assert_eq!((&seen["fields"], client.person(&person)), (&json!([]), before), "{number}");
    }
    assert_eq!(provider.calls().len(), 3);
}

#[apply(each_engine)]
fn without_a_provider_it_is_skipped(workspace: &Workspace) {
    let client = workspace.writer();
    let seen = client.enrich(&client.new_handle("ada"));
    assert_eq!(
        (&seen["state"], &seen["reason"]),
        (&json!("skipped"), &json!("no provider is configured"))
    );
    assert!(seen["finished_at"].as_str().is_some_and(is_time), "{seen:#}");
}

#[apply(each_engine)]
fn a_person_of_whom_nothing_can_be_asked_is_skipped(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let seen = client.enrich(&client.new_person(&json!({ "name": "Ada Lovelace" })));
    assert_eq!(seen["state"], "skipped");
    assert_eq!(seen["reason"], "too little is known of the person to ask a provider");
    assert!(provider.calls().is_empty());
}

#[apply(each_engine)]
fn an_answer_counts_for_a_while(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    provider.knows("ada", &json!({ "current_job_title": "Analyst" }));
    let person = client.new_handle("ada");
    assert_eq!(client.enrich(&person)["is_cached"], false);
    client.update_person(&person, &json!({ "current_job_title": "Countess" }));
    let again = client.enrich(&person);
    assert_eq!(
        [&again["state"], &again["provider"], &again["is_cached"]],
        [&json!("done"), &json!("people"), &json!(true)]
    );
    assert_eq!(
        (title(&client, &person), &client.proposals(&person)[0]["proposed"]),
        (json!("Countess"), &json!("Analyst"))
    );
    assert_eq!(provider.asked(), ["ada"]);
}

#[apply(each_engine)]
fn an_answer_about_who_somebody_was_is_not_taken(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    provider.knows("wrong", &json!({ "address": "Paris", "emails": ["wrong@engines.example"] }));
    provider.knows("right", &json!({ "current_job_title": "Analyst" }));
    let person = client.new_handle("wrong");
    provider.hold();
    client.ask_enrichment(&person, None).expect(202);
    provider.wait_for(1);
    client
        .patch(&format!("/v1/persons/{person}"), &json!({ "social_url": social_url("right") }))
        .expect(200);
    provider.let_go();
    let enrichment = client.wait_enriched(&person);
    assert_eq!(enrichment["fields"], json!(["current_job_title"]));
    assert_eq!(
        (provider.asked(), title(&client, &person)),
        (vec!["wrong".to_owned(), "right".to_owned()], json!("Analyst"))
    );
    assert_eq!(
        [&client.profile(&person)["address"], &client.person(&person)["emails"]],
        [&json!(""), &json!([])]
    );
}

#[apply(each_engine)]
fn a_refresh_asks_again(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    provider.knows("ada", &json!({ "current_job_title": "Analyst" }));
    let person = client.new_handle("ada");
    client.enrich(&person);
    provider.knows("ada", &json!({ "current_job_title": "Analyst", "social_location": "London" }));
    let again = client.enrich_anew(&person);
    assert_eq!(
        (&again["is_cached"], &again["fields"]),
        (&json!(false), &json!(["social_location"]))
    );
    assert_eq!(provider.asked(), ["ada", "ada"]);
    let [first, second] =
        [0, 1].map(|number| provider.calls()[number].header("idempotency-key").to_owned());
    assert_ne!(first, second);
}

#[apply(each_engine)]
fn an_old_answer_is_asked_for_again(engine: &Engine) {
    let provider = Provider::start();
    let config = config(&[provider.section("people", "")]).replacen(
        "[enrichment]\n",
        "[enrichment]\ncache = \"1ms\"\n",
        1,
    );
    let app = configured(*engine, &config).start();
    let client = app.writer();
    provider.knows("ada", &json!({ "current_job_title": "Analyst" }));
    let person = client.new_handle("ada");
    client.enrich(&person);
    assert_eq!(client.enrich(&person)["is_cached"], false);
    assert_eq!(provider.asked(), ["ada", "ada"]);
}

#[apply(each_engine)]
fn that_nobody_knows_a_person_counts_until_more_is_known_of_them(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let person = client.new_handle("ada");
    client.enrich(&person);
    client.enrich(&person);
    assert_eq!(provider.calls().len(), 1);
    client.update_person(&person, &json!({ "work_email": "ada@engines.example" }));
    client.enrich(&person);
    let calls = provider.calls();
    assert_eq!(
        (calls.len(), calls[1].parameter("email").as_deref()),
        (2, Some("ada@engines.example"))
    );
}

#[apply(each_engine)]
fn what_somebody_does_does_not_make_them_known(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let emails = json!([{ "value": "ada@x.example" }, { "value": "lovelace@x.example" }]);
    let person = client.new_person(&json!({ "name": "Ada", "social_url": social_url("ada") }));
    client.update_person(&person, &json!({ "emails": emails }));
    client.enrich(&person);
    let changes = json!({
        "name": "ADA", "current_job_title": "Analyst", "company_name": "Engines",
        "social_location": "London", "address": "12 Square",
        "emails": [emails[1], emails[0]],
    });
    client.update_person(&person, &changes);
    assert_eq!(client.enrich(&person)["state"], "done");
    assert_eq!(provider.calls().len(), 1);
    client.update_person(&person, &json!({ "name": "Ada Lovelace" }));
    client.enrich(&person);
    assert_eq!(provider.calls().len(), 2);
}

#[apply(each_engine)]
fn an_answer_counts_in_its_workspace_only(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    provider.knows("ada", &json!({ "current_job_title": "Analyst" }));
    for workspace in ["one", "two"] {
        let client = app.client_of(workspace, "write");
        let person = client.new_handle("ada");
        assert_eq!(client.enrich(&person)["is_cached"], false);
        assert_eq!(title(&client, &person), "Analyst");
    }
    let keys: Vec<_> =
        provider.calls().iter().map(|call| call.header("idempotency-key").to_owned()).collect();
    assert!(keys.len() == 2 && keys[0] != keys[1], "{keys:?}");
}

#[apply(each_engine)]
fn providers_are_asked_in_their_order_until_one_knows_the_person(engine: &Engine) {
    let (workspace, first, second) = with_two(*engine, ["", ""]);
    let client = workspace.writer();
    first.knows("ada", &json!({ "current_job_title": "Analyst" }));
    for handle in ["ada", "grace"] {
        second.knows(handle, &json!({ "current_job_title": "Admiral", "address": "At sea" }));
    }
    let [ada, grace] = ["ada", "grace"].map(|handle| client.new_handle(handle));
    assert_eq!(client.enrich(&ada)["provider"], "first");
    assert_eq!(client.enrich(&grace)["provider"], "second");
    assert_eq!(
        (first.asked(), second.asked()),
        (vec!["ada".to_owned(), "grace".to_owned()], vec!["grace".to_owned()])
    );
    assert_eq!([title(&client, &ada), title(&client, &grace)], ["Analyst", "Admiral"]);
    assert_eq!(client.profile(&ada)["address"], "");
}

#[apply(each_engine)]
fn a_provider_that_cannot_be_asked_is_passed_over(engine: &Engine) {
    let (workspace, first, second) = with_two(*engine, ["needs = [\"email\"]", ""]);
    let client = workspace.writer();
    first.knows("ada", &json!({ "current_job_title": "Analyst" }));
    second.knows("ada", &json!({ "current_job_title": "Countess" }));
    let person = client.new_handle("ada");
    assert_eq!(client.enrich(&person)["provider"], "second");
    assert_eq!((first.calls().len(), second.calls().len()), (0, 1));
}

#[apply(each_engine)]
fn whoever_waits_already_is_asked_about_once(engine: &Engine) {
    let (app, provider) = enriching(*engine, "concurrency = 1");
    let client = app.writer();
    provider.hold();
    let [first, second] = ["ada", "grace"].map(|handle| client.new_handle(handle));
    client.ask_enrichment(&first, None).expect(202);
    provider.wait_for(1);
    for _ in 0..3 {
        assert_eq!(client.ask_enrichment(&second, None).expect(202).data()["state"], "queued");
    }
    provider.let_go();
    client.wait_enriched(&second);
    client.wait_enriched(&first);
    assert_eq!(provider.asked(), ["ada", "grace"]);
}

#[apply(each_engine)]
fn a_refresh_while_it_is_at_work_comes_afterwards(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    provider.hold();
    provider.knows("ada", &json!({ "current_job_title": "Analyst" }));
    let person = client.new_handle("ada");
    client.ask_enrichment(&person, None).expect(202);
    provider.wait_for(1);
    client.ask_enrichment(&person, Some(&json!({ "refresh": true }))).expect(202);
    provider.let_go();
    let calls = provider.wait_for(2);
    let seen = client.wait_enriched(&person);
    assert_eq!([&seen["state"], &seen["is_cached"]], [&json!("done"), &json!(false)]);
    assert_ne!(calls[0].header("idempotency-key"), calls[1].header("idempotency-key"));
    assert_eq!((provider.calls().len(), title(&client, &person)), (2, json!("Analyst")));
}

#[apply(each_engine)]
fn the_body_may_be_missing_and_a_bad_one_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let path = path_of(&person);
    assert_eq!(
        client
            .post(&path, &json!({ "refresh": "yes" }))
            .refused(400, "INVALID_REQUEST")
            .flaw("refresh"),
        "INVALID_TYPE"
    );
    assert_eq!(
        client.post(&path, &json!({ "again": true })).refused(400, "INVALID_REQUEST").flaw("again"),
        "UNKNOWN_FIELD"
    );
    assert_eq!(
        client
            .send("POST", &format!("{path}?now=true"), None)
            .refused(400, "INVALID_REQUEST")
            .flaw("now"),
        "UNKNOWN_FIELD"
    );
    client.post(&path, &json!([])).refused(400, "INVALID_REQUEST");
    client
        .with("content-type", "application/json")
        .send_bytes("POST", &path, b"{")
        .refused(400, "MALFORMED_JSON");
    client
        .with("content-type", "text/plain")
        .send_bytes("POST", &path, b"{}")
        .refused(415, "UNSUPPORTED_MEDIA_TYPE");
    client.get(&path).refused(404, "NOT_FOUND");
    for body in [None, Some(json!({})), Some(json!({ "refresh": false }))] {
        client.ask_enrichment(&person, body.as_ref()).expect(202);
    }
}

#[apply(each_engine)]
fn a_request_sent_again_is_answered_again(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let person = client.new_handle("ada");
    let once = client.with("idempotency-key", "enrich-1");
    let body = json!({ "refresh": true });
    let first = once.ask_enrichment(&person, Some(&body)).expect(202);
    client.wait_enriched(&person);
    let second = once.ask_enrichment(&person, Some(&body)).expect(202);
    assert_eq!(
        (second.text.as_str(), second.header("idempotency-replayed")),
        (first.text.as_str(), Some("true"))
    );
    assert_eq!(client.enrichment(&person)["state"], "done");
    assert_eq!(provider.calls().len(), 1);
}

#[apply(each_engine)]
fn a_reader_may_look_and_no_more(workspace: &Workspace) {
    let (client, reader) = (workspace.writer(), workspace.client("read"));
    let person = client.new_handle("ada");
    reader.ask_enrichment(&person, None).refused(403, "FORBIDDEN");
    reader.get(&path_of(&person)).refused(404, "NOT_FOUND");
    client.enrich(&person);
    assert_eq!(reader.enrichment(&person), client.enrichment(&person));
}

#[apply(each_engine)]
fn what_is_no_person_of_the_workspace_cannot_be_enriched(workspace: &Workspace) {
    let (client, stranger) = (workspace.writer(), workspace.client_of("another", "write"));
    let theirs = stranger.new_person(
        &json!({ "name": "Ada", "social_url": social_url("ada"), "enrich_record": true }),
    );
    for id in [theirs.as_str(), "per_00000000000000000000000000", "nobody"] {
        client.ask_enrichment(id, None).refused(404, "NOT_FOUND");
        client.get(&path_of(id)).refused(404, "NOT_FOUND");
        client.get(&format!("/v1/persons/{id}/proposals")).refused(404, "NOT_FOUND");
    }
    eventually("their own enrichment ends", || stranger.enrichment(&theirs)["state"] == "skipped");
}
