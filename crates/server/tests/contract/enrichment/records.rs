//! Enrichment and all the rest: writes that ask for it, what is told of it, where values come from,
//! and persons who go away.

use serde_json::{Value, json};

use crate::support::{
    Action, App, Client, Engine, Log, Provider, Workspace, apply, config, configured, each_engine,
    enriching, eventually, is_id, is_time, social_url, strings, types,
};

fn enrichment_path(person: &str) -> String {
    format!("/v1/persons/{person}/enrichment")
}

/// A server whose provider knows the title of `ada`.
fn with_ada(engine: Engine) -> (App, Provider, Client) {
    let (app, provider) = enriching(engine, "");
    provider.knows("ada", &json!({ "current_job_title": "Analyst" }));
    let client = app.writer();
    (app, provider, client)
}

#[track_caller]
fn assert_enriched(client: &Client, person: &str) {
    assert_eq!(client.wait_enriched(person)["state"], "done");
    assert_eq!(client.person(person)["current_job_title"], "Analyst");
}

#[apply(each_engine)]
fn a_create_asks_for_it(engine: &Engine) {
    let (_app, provider, client) = with_ada(*engine);
    let body = json!({ "social_url": social_url("ada"), "emails": ["ada@engines.example"],
        "enrich_record": true });
    assert_enriched(&client, &client.new_person(&body));
    assert_eq!(provider.calls()[0].parameter("email").as_deref(), Some("ada@engines.example"));
}

#[apply(each_engine)]
fn a_create_that_finds_the_person_asks_for_it_too(engine: &Engine) {
    let (_app, provider, client) = with_ada(*engine);
    let person = client.new_handle("ada");
    let again = client
        .post("/v1/persons", &json!({ "social_url": social_url("ada"), "enrich_record": true }))
        .expect(200);
    assert_eq!(again.id(), person);
    assert_enriched(&client, &person);
    assert_eq!(provider.asked(), ["ada"]);
}

#[apply(each_engine)]
fn only_true_asks_for_it(engine: &Engine) {
    let (_app, provider, client) = with_ada(*engine);
    for body in [
        json!({ "social_url": social_url("ada") }),
        json!({ "social_url": social_url("ada-2"), "enrich_record": false }),
        json!({ "social_url": social_url("ada-3"), "enrich_record": null }),
    ] {
        let person = client.new_person(&body);
        client
            .patch(
                &format!("/v1/persons/{person}"),
                &json!({ "address": "London", "enrich_record": false }),
            )
            .expect(200);
        client.get(&enrichment_path(&person)).refused(404, "NOT_FOUND");
    }
    client.enrich(&client.new_handle("grace"));
    assert_eq!(provider.asked(), ["grace"]);
}

#[apply(each_engine)]
fn rows_of_a_batch_ask_for_it_each_alone(engine: &Engine) {
    let (_app, provider, client) = with_ada(*engine);
    let known = client.new_handle("known");
    let rows = json!([
        { "social_url": social_url("ada"), "enrich_record": true },
        { "social_url": social_url("grace") },
        { "social_url": social_url("known"), "enrich_record": true },
        { "social_url": "bad", "enrich_record": true },
    ]);
    let reply = client.post("/v1/persons/batch", &json!({ "persons": rows })).expect(200);
    let [ada, grace] =
        [0, 1].map(|row| reply.entries()[row]["data"]["id"].as_str().unwrap().to_owned());
    assert_enriched(&client, &ada);
    assert_eq!(client.wait_enriched(&known)["state"], "done");
    client.get(&enrichment_path(&grace)).refused(404, "NOT_FOUND");
    let mut asked = provider.asked();
    asked.sort();
    assert_eq!(asked, ["ada", "known"]);
}

#[apply(each_engine)]
fn an_update_asks_for_it_whatever_else_it_changes(engine: &Engine) {
    let (_app, provider, client) = with_ada(*engine);
    let person = client.new_person(&json!({ "name": "Ada" }));
    client
        .update_person(&person, &json!({ "social_url": social_url("ada"), "enrich_record": true }));
    assert_enriched(&client, &person);
    let other = client.new_handle("grace");
    client.update_person(&other, &json!({ "enrich_record": true }));
    assert_eq!(client.wait_enriched(&other)["state"], "done");
    assert_eq!(provider.asked(), ["ada", "grace"]);
}

#[apply(each_engine)]
fn a_dry_run_asks_for_nothing(engine: &Engine) {
    let (_app, provider, client) = with_ada(*engine);
    let person = client.new_handle("ada");
    let body = json!({ "social_url": social_url("ada"), "current_job_title": "Countess",
        "enrich_record": true });
    client.post("/v1/persons?dry_run=true", &body).expect(200);
    client.patch(&format!("/v1/persons/{person}?dry_run=true"), &body).expect(200);
    client.get(&enrichment_path(&person)).refused(404, "NOT_FOUND");
    client.enrich(&client.new_handle("grace"));
    assert_eq!(provider.asked(), ["grace"]);
}

#[apply(each_engine)]
fn what_was_filled_is_told(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let profile = json!({ "current_job_title": "Analyst", "emails": ["ada@engines.example"],
        "certifications": [{ "name": "One" }] });
    provider.knows("ada", &profile);
    let person = client.new_handle("ada");
    let mut log = Log::begin(&client);
    client.enrich(&person);
    let (events, read) = (log.new_events(), client.person(&person));
    assert_eq!(types(&events), ["person.enriched"]);
    let event = &events[0];
    assert_eq!(
        [&event["record_id"], &event["key_id"], &event["request_id"]],
        [&json!(person), &Value::Null, &Value::Null]
    );
    let fields = json!(["current_job_title", "emails", "certifications"]);
    let expected = json!({
        "before": { "current_job_title": "", "emails": [], "certifications": [] },
        "after": {
            "current_job_title": "Analyst", "emails": read["emails"],
            "certifications": read["certifications"],
            "enrichment": { "provider": "people", "fields": fields },
        },
    });
    assert_eq!(event["data"], expected);
    let timeline = client.get(&format!("/v1/persons/{person}/timeline")).expect(200);
    assert_eq!(timeline.entries()[0], *event);
}

#[apply(each_engine)]
fn who_follows_the_feed_has_what_was_filled(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let profile = |title: &str| {
        json!({
            "name": "Ada Lovelace", "current_job_title": title, "company_name": "Engines",
            "external_source_id": "people-7",
            "emails": ["ada@engines.example"], "phones": ["555 1234"],
            "certifications": [{ "name": title }],
            "work_experience": [{ "company_name": "Engines", "title": title, "start_date": "2019",
                "end_date": "2020" }],
            "education_experience": [{ "company_name": "Royal Society", "degree": "Mathematics" }],
        })
    };
    let mut log = Log::begin(&client);
    let person = client.new_handle("ada");
    for title in ["Clerk", "Analyst"] {
        provider.knows("ada", &profile(title));
        client.enrich_anew(&person);
    }
    client.update_person(&person, &json!({ "current_job_title": "Countess" }));
    let mut mirrored = serde_json::Map::new();
    for event in log.new_events().iter().filter(|event| event["record_id"] == person.as_str()) {
        mirrored.extend(event["data"]["after"].as_object().unwrap().clone());
    }
    let read = client.person(&person);
    for (field, value) in read
        .as_object()
        .unwrap()
        .iter()
        .filter(|(field, _)| !["id", "jobs"].contains(&field.as_str()))
    {
        assert_eq!(mirrored.get(field), Some(value), "{field}");
    }
}

#[apply(each_engine)]
fn what_changed_nothing_is_not_told(engine: &Engine) {
    let (_app, _provider, client) = with_ada(*engine);
    let person = client
        .new_person(&json!({ "social_url": social_url("ada"), "current_job_title": "Countess" }));
    let nobody = client.new_handle("nobody");
    let mut log = Log::begin(&client);
    let before = client.get(&format!("/v1/persons/{person}")).expect(200);
    client.enrich(&person);
    client.enrich(&nobody);
    assert_eq!(log.new_events(), Vec::<Value>::new());
    let after = client.get(&format!("/v1/persons/{person}")).expect(200);
    assert_eq!((after.etag(), &after.text), (before.etag(), &before.text));
    assert_eq!(client.proposals(&person).len(), 1);
}

#[apply(each_engine)]
fn what_was_filled_is_found_and_changes_the_tag(engine: &Engine) {
    let (_app, _provider, client) = with_ada(*engine);
    let person = client.new_handle("ada");
    let path = format!("/v1/persons/{person}");
    let before = client.get(&path).expect(200).etag().to_owned();
    client.enrich(&person);
    assert_eq!(strings(client.get("/v1/persons?q=analyst").expect(200).data(), "id"), [person]);
    assert_ne!(client.get(&path).expect(200).etag(), before);
    client
        .with("if-match", &before)
        .patch(&path, &json!({ "address": "London" }))
        .refused(412, "PRECONDITION_FAILED");
}

/// Field, value and source of each entry.
fn origins(provenance: &[Value]) -> Vec<(&str, Option<&str>, &str)> {
    provenance
        .iter()
        .map(|entry| {
            (
                entry["field"].as_str().unwrap(),
                entry["value"].as_str(),
                entry["source"].as_str().unwrap(),
            )
        })
        .collect()
}

#[apply(each_engine)]
fn each_value_says_where_it_comes_from(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    provider.knows(
        "ada",
        &json!({ "current_job_title": "Analyst", "emails": ["b@x.example"],
            "certifications": [{ "name": "One" }] }),
    );
    let person = client.new_person(
        &json!({ "name": "Ada", "social_url": social_url("ada"), "emails": ["a@x.example"] }),
    );
    client.enrich(&person);
    let provenance = client.provenance(&person);
    let expected = [
        ("name", None, "caller"),
        ("social_url", None, "caller"),
        ("current_job_title", None, "provider"),
        ("emails", Some("a@x.example"), "caller"),
        ("emails", Some("b@x.example"), "provider"),
        ("certifications", None, "provider"),
    ];
    assert_eq!(origins(&provenance), expected);
    for entry in &provenance {
        assert!(entry["at"].as_str().is_some_and(is_time), "{entry:#}");
        if entry["source"] == "provider" {
            assert_eq!([&entry["provider"], &entry["key_id"]], [&json!("people"), &Value::Null]);
        } else {
            assert!(
                entry["provider"].is_null() && entry["key_id"].as_str().is_some_and(is_id),
                "{entry:#}"
            );
            assert!(entry["event_id"].as_str().is_some_and(is_id), "{entry:#}");
        }
    }
}

#[apply(each_engine)]
fn what_a_caller_changes_is_the_callers(engine: &Engine) {
    let (workspace, _provider, client) = with_ada(*engine);
    let person = client.new_handle("ada");
    client.enrich(&person);
    assert_eq!(client.provenance_of(&person, "current_job_title")["source"], "provider");
    client.update_person(&person, &json!({ "current_job_title": "Countess" }));
    let entry = workspace.client("read").provenance_of(&person, "current_job_title");
    assert_eq!([&entry["source"], &entry["provider"]], [&json!("caller"), &Value::Null]);
    client.update_person(&person, &json!({ "current_job_title": null }));
    assert!(client.provenance(&person).iter().all(|entry| entry["field"] != "current_job_title"));
}

/// Restarts the server, which forgets old events at its start, and waits until the person has no
/// more of them.
fn forget_events(app: &mut App, person: &str) {
    // The newest event is never forgotten.
    app.writer().new_person(&json!({ "name": "Somebody else" }));
    Log::begin(&app.writer());
    app.process.kill();
    app.restart();
    let (client, timeline) = (app.writer(), format!("/v1/persons/{person}/timeline"));
    eventually("the events of the person are forgotten", || {
        client.get(&timeline).expect(200).data() == &json!([])
    });
}

#[apply(each_engine)]
fn where_a_value_comes_from_outlives_its_event(engine: &Engine) {
    let provider = Provider::start();
    let config = config(&[provider.section("people", "")]);
    let mut app = configured(*engine, &config).environment("SLATED_EVENT_RETENTION", "1ms").start();
    let client = app.writer();
    provider.knows("ada", &json!({ "current_job_title": "Analyst", "emails": ["b@x.example"] }));
    let person = client.new_person(&json!({
        "name": "Ada", "social_url": social_url("ada"), "emails": ["a@x.example"],
        "mobile_phone": "555 1"
    }));
    client.update_person(&person, &json!({ "address": "London" }));
    client.enrich(&person);
    let read = |app: &App| {
        app.writer()
            .get(&format!("/v1/persons/{person}?include=profile,provenance"))
            .expect(200)
            .data()
            .clone()
    };
    let told = read(&app);
    assert!(
        told["provenance"].as_array().unwrap().iter().all(|entry| entry["source"] != "unknown"),
        "{told:#}"
    );
    forget_events(&mut app, &person);
    let kept = read(&app);
    assert_eq!(
        [&kept["provenance"], &kept["profile"]["sources"]],
        [&told["provenance"], &told["profile"]["sources"]]
    );

    let client = app.client("write");
    client.update_person(
        &person,
        &json!({ "address": "Paris",
            "emails": [{ "value": "b@x.example" }, { "value": "c@x.example" }],
            "mobile_phone": null }),
    );
    let told = read(&app);
    forget_events(&mut app, &person);
    let kept = read(&app);
    assert_eq!(
        [&kept["provenance"], &kept["profile"]["sources"]],
        [&told["provenance"], &told["profile"]["sources"]]
    );
    let provenance = kept["provenance"].as_array().unwrap();
    let expected = [
        ("name", None, "caller"),
        ("social_url", None, "caller"),
        ("address", None, "caller"),
        ("current_job_title", None, "provider"),
        ("emails", Some("b@x.example"), "provider"),
        ("emails", Some("c@x.example"), "caller"),
    ];
    assert_eq!(origins(provenance), expected);
    assert_ne!(
        [&provenance[0]["key_id"], &provenance[0]["event_id"]],
        [&provenance[2]["key_id"], &provenance[2]["event_id"]]
    );

    let export = app.writer().get(&format!("/v1/persons/{person}/export")).expect(200);
    let changes = &export.data()["earlier_changes"];
    assert_eq!(strings(changes, "type"), ["person.created", "person.enriched", "person.updated"]);
    assert_eq!(changes[0]["key_id"], provenance[0]["key_id"]);
    assert_eq!([&changes[1]["provider"], &changes[1]["key_id"]], [&json!("people"), &Value::Null]);
    assert_eq!(changes[2]["fields"], json!(["address", "emails", "phones"]));
    erase(&app.writer(), &person);
    assert_eq!(
        app.database.execute(
            "SELECT COUNT(*) FROM person_origin WHERE CAST(changes AS text) LIKE '%people%'"
        ),
        ["0"]
    );
}

#[apply(each_engine)]
fn provenance_stands_beside_the_other_parts(workspace: &Workspace) {
    let client = workspace.writer();
    let path =
        format!("/v1/persons/{}", client.new_person(&json!({ "name": "Ada", "notes": "One" })));
    let plain = client.get(&path).expect(200);
    assert_eq!(plain.data().get("provenance"), None);
    let reply = client.get(&format!("{path}?include=provenance,notes,profile")).expect(200);
    let parts: Vec<_> = reply
        .data()
        .as_object()
        .unwrap()
        .keys()
        .skip(plain.data().as_object().unwrap().len())
        .collect();
    assert_eq!(parts, ["profile", "notes", "provenance"]);
    let refusal =
        client.get(&format!("{path}?include=provenances")).refused(400, "INVALID_REQUEST");
    assert!(refusal.text.contains("provenance"), "{refusal:#?}");
}

#[apply(each_engine)]
fn metrics_count_what_was_asked(engine: &Engine) {
    let (app, provider, client) = with_ada(*engine);
    client.enrich(&client.new_handle("ada"));
    client.enrich(&client.new_handle("nobody"));
    provider.receiver.behave(|_| Action::status(500));
    client.enrich(&client.new_handle("grace"));
    let text = app.anonymous().get("/metrics").expect(200).text;
    let value = |name: &str, labels: &[&str]| {
        let has_labels = |line: &str| {
            line.contains("provider=\"people\"") && labels.iter().all(|label| line.contains(label))
        };
        let is_it = |line: &&str| line.starts_with(name) && has_labels(line);
        let line =
            text.lines().find(is_it).unwrap_or_else(|| panic!("no {name} {labels:?} in\n{text}"));
        line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()
    };
    assert_eq!(value("slated_enrichment_asked_total", &[]), 5.0);
    for (outcome, count) in [("found", 1.0), ("empty", 1.0), ("failed", 3.0)] {
        assert_eq!(
            value("slated_enrichment_answers_total", &[&format!("outcome=\"{outcome}\"")]),
            count,
            "{outcome}"
        );
    }
    assert_eq!(value("slated_enrichment_seconds_count", &[]), 5.0);
    assert!(
        ["ada", "grace", "nobody", "Analyst"]
            .iter()
            .all(|word| !text.contains(&format!("\"{word}"))),
        "{text}"
    );
}

fn merge(client: &Client, kept: &str, gone: &str) {
    client.post(&format!("/v1/persons/{kept}/merge"), &json!({ "person_id": gone })).expect(200);
}

#[apply(each_engine)]
fn an_id_that_was_merged_leads_to_the_one_that_stays(engine: &Engine) {
    let (_app, _provider, client) = with_ada(*engine);
    let (kept, gone) = (client.new_handle("ada"), client.new_handle("ada-l"));
    client.enrich(&gone);
    merge(&client, &kept, &gone);
    client.get(&enrichment_path(&gone)).refused(404, "NOT_FOUND");
    let asked = client.ask_enrichment(&gone, None).expect(202);
    assert_eq!(asked.data()["person_id"], kept.as_str());
    assert_enriched(&client, &kept);
    let reply = client.get(&enrichment_path(&gone)).expect(200);
    assert_eq!(
        (reply.data(), &reply.json["merged_into"]),
        (&client.enrichment(&kept), &json!(kept))
    );
    assert_eq!(client.proposals(&gone), client.proposals(&kept));
}

/// Has the provider asked about `ada`, does something, lets the answer come, and waits until
/// somebody else was enriched.
fn while_at_work(provider: &Provider, client: &Client, person: &str, action: impl FnOnce()) {
    provider.hold();
    client.ask_enrichment(person, None).expect(202);
    provider.wait_for(1);
    action();
    provider.let_go();
    let witness = client.new_handle("witness");
    assert_eq!(client.enrich(&witness)["state"], "done");
}

#[apply(each_engine)]
fn who_is_merged_while_at_work_is_not_enriched(engine: &Engine) {
    let (_app, provider, client) = with_ada(*engine);
    let (kept, gone) = (client.new_person(&json!({ "name": "Ada" })), client.new_handle("ada"));
    while_at_work(&provider, &client, &gone, || merge(&client, &kept, &gone));
    assert_eq!(client.person(&kept)["current_job_title"], "");
    client.get(&enrichment_path(&kept)).refused(404, "NOT_FOUND");
    assert_eq!(client.enrich(&kept)["provider"], "people");
    assert_enriched(&client, &kept);
}

fn erase(client: &Client, person: &str) {
    client.send("DELETE", &format!("/v1/persons/{person}"), None).expect(200);
}

#[apply(each_engine)]
fn an_erased_person_leaves_nothing(engine: &Engine) {
    let (app, _provider, client) = with_ada(*engine);
    let person = client.new_person(&json!({ "social_url": social_url("ada"),
        "current_job_title": "Countess", "enrich_record": true }));
    client.wait_enriched(&person);
    let proposal = client.proposals(&person)[0]["id"].as_str().unwrap().to_owned();
    erase(&client, &person);
    for reply in [
        client.get(&enrichment_path(&person)),
        client.ask_enrichment(&person, None),
        client.get(&format!("/v1/persons/{person}/proposals")),
        client.get(&format!("/v1/persons/{person}?include=provenance")),
    ] {
        reply.refused(410, "ERASED");
    }
    client
        .send("POST", &format!("/v1/proposals/{proposal}/accept"), None)
        .refused(404, "NOT_FOUND");
    for table in ["enrichment", "enrichment_answer", "field_source", "proposal"] {
        assert_eq!(
            app.database.execute(&format!("SELECT COUNT(*) FROM {table}")),
            ["0"],
            "{table}"
        );
    }
}

#[apply(each_engine)]
fn who_is_erased_while_at_work_stays_erased(engine: &Engine) {
    let (app, provider, client) = with_ada(*engine);
    let person = client.new_handle("ada");
    while_at_work(&provider, &client, &person, || erase(&client, &person));
    client.get(&enrichment_path(&person)).refused(410, "ERASED");
    for found in [
        "SELECT COUNT(*) FROM enrichment_answer WHERE profile IS NOT NULL",
        "SELECT COUNT(*) FROM field_source",
    ] {
        assert_eq!(app.database.execute(found), ["0"], "{found}");
    }
    assert_eq!(app.database.execute("SELECT COUNT(*) FROM enrichment"), ["1"]);
}

#[apply(each_engine)]
fn an_export_has_what_providers_said(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let answer = json!({ "current_job_title": "Analyst", "address": "London" });
    provider.knows(
        "ada",
        &json!({ "current_job_title": "Analyst", "address": "London", "shoe_size": 38 }),
    );
    let person = client.new_person(&json!({ "social_url": social_url("ada"),
        "current_job_title": "Countess", "enrich_record": true }));
    let enrichment = client.wait_enriched(&person);
    let data = client.get(&format!("/v1/persons/{person}/export")).expect(200).data().clone();
    assert_eq!(data["enrichment"], enrichment);
    assert_eq!(
        (strings(&data["answers"], "provider"), &data["answers"][0]["profile"]),
        (vec!["people".to_owned()], &answer)
    );
    let proposal = &data["proposals"][0];
    assert_eq!(
        [&proposal["field"], &proposal["proposed"], &proposal["state"]],
        ["current_job_title", "Analyst", "open"]
    );
    assert_eq!(strings(&data["field_sources"], "field"), ["address"]);
}
