//! Values that differ from what a caller wrote: they wait for somebody to decide, and nothing
//! changes before that.

use serde_json::{Value, json};

use crate::support::{
    App, Client, Engine, Log, Provider, Reply, apply, each_engine, enriching, is_id, is_time,
    shape, social_url, strings, together, types,
};

const LIST: &str = "/v1/proposals";

/// A server whose provider knows Ada as Analyst, and a caller who wrote that she is a Countess.
fn with_ada(engine: Engine) -> (App, Provider, Client, String) {
    let (app, provider) = enriching(engine, "");
    let client = app.writer();
    provider.knows("ada", &json!({ "current_job_title": "Analyst" }));
    let person = client.new_person(
        &json!({ "name": "Ada", "social_url": social_url("ada"), "current_job_title": "Countess" }),
    );
    assert_eq!(client.enrich(&person)["state"], "done");
    (app, provider, client, person)
}

fn id_of(proposal: &Value) -> &str {
    proposal["id"].as_str().unwrap_or_else(|| panic!("{proposal:#}"))
}

fn accept(client: &Client, proposal: &Value) -> Reply {
    client.send("POST", &format!("{LIST}/{}/accept", id_of(proposal)), None)
}

fn reject(client: &Client, proposal: &Value) -> Reply {
    client.send("POST", &format!("{LIST}/{}/reject", id_of(proposal)), None)
}

/// The one proposal of the person.
#[track_caller]
fn only(client: &Client, person: &str) -> Value {
    let proposals = client.proposals(person);
    assert_eq!(proposals.len(), 1, "{proposals:#?}");
    proposals[0].clone()
}

/// State and value of each proposal of the person, the newest first.
fn states(client: &Client, person: &str) -> Vec<(String, Value)> {
    let pair = |proposal: &Value| {
        (proposal["state"].as_str().unwrap().to_owned(), proposal["proposed"].clone())
    };
    client.proposals(person).iter().map(pair).collect()
}

fn title(client: &Client, person: &str) -> Value {
    client.person(person)["current_job_title"].clone()
}

#[apply(each_engine)]
fn what_differs_is_proposed(engine: &Engine) {
    let (_app, _provider, client, person) = with_ada(*engine);
    let reply = client.get(&format!("/v1/persons/{person}/proposals")).expect(200);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": [
        {
          "id": "prp_1",
          "person_id": "per_1",
          "field": "current_job_title",
          "current": "Countess",
          "proposed": "Analyst",
          "provider": "people",
          "proposed_by": null,
          "state": "open",
          "created_at": "<time>",
          "decided_at": null,
          "decided_by": null
        }
      ]
    }
    "#);
    assert_eq!(title(&client, &person), "Countess");
    assert_eq!(client.get(LIST).expect(200).data(), reply.data());
}

#[apply(each_engine)]
fn every_field_but_contacts_and_outside_ids_is_proposed_and_can_be_accepted(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let person = client.new_person(&json!({
        "name": "Grace Hopper", "social_url": social_url("grace"), "current_job_title": "Admiral",
        "company_name": "Navy",
        "social_location": "At sea", "external_source_id": "crm-1",
        "emails": ["grace@navy.example"], "phone_numbers": ["555 1234"],
    }));
    client.update_person(&person, &json!({ "social_headline": "Amazing", "address": "Arlington" }));
    let own = json!({ "work_experience": [{}], "education_experience": [{}],
        "certifications": [{ "name": "COBOL" }] });
    client.put(&format!("/v1/persons/{person}/history"), &own).expect(200);
    provider.knows(
        "grace",
        &json!({
            "name": "Ada Lovelace", "social_url": social_url("ada"), "current_job_title": "Analyst",
            "company_name": "Engines",
            "social_location": "London", "social_headline": "Poet", "address": "12 Square",
            "external_source_id": "people-7",
            "emails": ["ada@x.example"], "phones": ["555 5678"],
            "work_experience": [{ "company_name": "Engines", "title": "Analyst",
                "start_date": "2019", "end_date": "2020" }],
            "education_experience": [{ "company_name": "Royal Society", "degree": "Mathematics" }],
            "certifications": [{ "name": "Bernoulli numbers" }],
        }),
    );
    assert_eq!(client.enrich(&person)["fields"], json!(["emails", "phones"]));
    let mut proposals = client.proposals(&person);
    proposals.sort_by_key(|proposal| proposal["field"].to_string());
    let expected = [
        "address",
        "certifications",
        "current_company_name",
        "current_job_title",
        "education_experience",
        "name",
        "social_headline",
        "social_location",
        "social_url",
        "work_experience",
    ];
    assert_eq!(strings(&json!(proposals), "field"), expected);
    for proposal in &proposals {
        let accepted = accept(&client, proposal).expect(200);
        assert_eq!(accepted.string("state"), "accepted");
        let current = &accepted.data()["current"];
        assert!(*current == proposal["proposed"] || current.is_array(), "{accepted:#?}");
    }
    let (read, profile) = (client.person(&person), client.profile(&person));
    for (field, value) in [
        ("name", "Ada Lovelace"),
        ("last_name", "Lovelace"),
        ("social_public_id", "ada"),
        ("current_job_title", "Analyst"),
        ("current_company_name", "Engines"),
        ("external_source_id", "crm-1"),
    ] {
        assert_eq!(read[field], value, "{field}");
    }
    assert_eq!(
        [&profile["social_headline"], &profile["address"], &profile["social_location"]],
        ["Poet", "12 Square", "London"]
    );
    assert_eq!(read["work_experience"][0]["positions"][0]["title"], "Analyst");
    assert_eq!(strings(&read["certifications"], "name"), ["Bernoulli numbers"]);
    assert_eq!(
        client.post("/v1/persons", &json!({ "social_url": social_url("ada") })).expect(200).id(),
        person
    );
    assert_eq!(strings(client.get("/v1/persons?q=analyst").expect(200).data(), "id"), [person]);
}

#[apply(each_engine)]
fn an_accepted_value_is_written_by_whoever_accepts_it(engine: &Engine) {
    let (app, _provider, client, person) = with_ada(*engine);
    let decider = app.client("admin");
    let mut log = Log::begin(&client);
    let before = client.get(&format!("/v1/persons/{person}")).expect(200).etag().to_owned();
    let accepted = accept(&decider, &only(&client, &person)).expect(200);
    assert!(accepted.data()["decided_at"].as_str().is_some_and(is_time), "{accepted:#?}");
    assert_eq!(
        (title(&client, &person), &accepted.data()["current"]),
        (json!("Analyst"), &json!("Analyst"))
    );
    let events = log.new_events();
    assert_eq!(types(&events), ["person.updated"]);
    let data = json!({ "before": { "current_job_title": "Countess" },
        "after": { "current_job_title": "Analyst" } });
    assert_eq!((&events[0]["record_id"], &events[0]["data"]), (&json!(person), &data));
    assert_eq!(events[0]["key_id"], accepted.data()["decided_by"]);
    assert!(events[0]["key_id"].as_str().is_some_and(is_id), "{events:#?}");
    assert_ne!(client.get(&format!("/v1/persons/{person}")).expect(200).etag(), before);
}

#[apply(each_engine)]
fn an_accepted_value_comes_from_its_provider(engine: &Engine) {
    let (_app, _provider, client, person) = with_ada(*engine);
    let accepted = accept(&client, &only(&client, &person)).expect(200);
    Log::begin(&client);
    let entry = client.provenance_of(&person, "current_job_title");
    assert_eq!([&entry["source"], &entry["provider"]], ["provider", "people"]);
    assert_eq!(entry["key_id"], accepted.data()["decided_by"]);
}

#[apply(each_engine)]
fn an_accepted_value_is_renewed_later(engine: &Engine) {
    let (_app, provider, client, person) = with_ada(*engine);
    accept(&client, &only(&client, &person)).expect(200);
    provider.knows("ada", &json!({ "current_job_title": "Chief Analyst" }));
    assert_eq!(client.enrich_anew(&person)["fields"], json!(["current_job_title"]));
    assert_eq!(
        (title(&client, &person), client.proposals(&person).len()),
        (json!("Chief Analyst"), 1)
    );
}

#[apply(each_engine)]
fn a_rejected_value_is_not_proposed_again(engine: &Engine) {
    let (_app, provider, client, person) = with_ada(*engine);
    let rejected = reject(&client, &only(&client, &person)).expect(200);
    assert_eq!(
        (rejected.string("state"), title(&client, &person)),
        ("rejected".to_owned(), json!("Countess"))
    );
    assert!(rejected.data()["decided_by"].as_str().is_some_and(is_id), "{rejected:#?}");
    client.enrich_anew(&person);
    assert_eq!(states(&client, &person), [("rejected".to_owned(), json!("Analyst"))]);
    provider.knows("ada", &json!({ "current_job_title": "Poet" }));
    client.enrich_anew(&person);
    assert_eq!(
        states(&client, &person),
        [("open".to_owned(), json!("Poet")), ("rejected".to_owned(), json!("Analyst"))]
    );
}

#[apply(each_engine)]
fn an_open_value_is_proposed_once(engine: &Engine) {
    let (_app, _provider, client, person) = with_ada(*engine);
    let before = only(&client, &person);
    client.enrich_anew(&person);
    client.enrich(&person);
    assert_eq!(only(&client, &person), before);
}

#[apply(each_engine)]
fn a_newer_value_takes_the_place_of_an_open_one(engine: &Engine) {
    let (_app, provider, client, person) = with_ada(*engine);
    let older = only(&client, &person);
    provider.knows("ada", &json!({ "current_job_title": "Poet" }));
    client.enrich_anew(&person);
    assert_eq!(
        states(&client, &person),
        [("open".to_owned(), json!("Poet")), ("superseded".to_owned(), json!("Analyst"))]
    );
    let superseded = &client.proposals(&person)[1];
    assert!(
        superseded["decided_at"].as_str().is_some_and(is_time)
            && superseded["decided_by"].is_null(),
        "{superseded:#}"
    );
    accept(&client, &older).refused(409, "PROPOSAL_DECIDED");
    assert_eq!(title(&client, &person), "Countess");
}

#[apply(each_engine)]
fn an_open_value_goes_when_its_provider_agrees_with_the_caller(engine: &Engine) {
    let (_app, provider, client, person) = with_ada(*engine);
    assert_eq!(states(&client, &person), [("open".to_owned(), json!("Analyst"))]);
    provider.knows("ada", &json!({ "current_job_title": "Countess" }));
    client.enrich_anew(&person);
    assert_eq!(states(&client, &person), [("superseded".to_owned(), json!("Analyst"))]);
}

#[apply(each_engine)]
fn the_current_value_is_the_one_of_now(engine: &Engine) {
    let (_app, _provider, client, person) = with_ada(*engine);
    client.update_person(&person, &json!({ "current_job_title": "Duchess" }));
    assert_eq!(only(&client, &person)["current"], "Duchess");
    assert_eq!(client.get(LIST).expect(200).entries()[0]["current"], "Duchess");
    client.update_person(&person, &json!({ "current_job_title": null }));
    assert_eq!(only(&client, &person)["current"], "");
}

#[apply(each_engine)]
fn what_was_decided_stays_decided(engine: &Engine) {
    let (_app, provider, client, person) = with_ada(*engine);
    let first = only(&client, &person);
    let accepted = accept(&client, &first).expect(200);
    client.update_person(&person, &json!({ "current_job_title": "Duchess" }));
    let again = accept(&client, &first).expect(200);
    assert_eq!(again.data()["decided_at"], accepted.data()["decided_at"]);
    assert_eq!(title(&client, &person), "Duchess");
    reject(&client, &first).refused(409, "PROPOSAL_DECIDED");
    provider.knows("ada", &json!({ "current_job_title": "Poet" }));
    client.enrich_anew(&person);
    let second = client.proposals(&person)[0].clone();
    let rejected = reject(&client, &second).expect(200);
    assert_eq!(reject(&client, &second).expect(200).data(), rejected.data());
    accept(&client, &second).refused(409, "PROPOSAL_DECIDED");
    assert_eq!(title(&client, &person), "Duchess");
}

#[apply(each_engine)]
fn many_who_accept_at_once_write_once(engine: &Engine) {
    let (_app, _provider, client, person) = with_ada(*engine);
    let proposal = only(&client, &person);
    let mut log = Log::begin(&client);
    let decided =
        together(8, |_| accept(&client, &proposal).expect(200).data()["decided_at"].clone());
    assert!(decided.iter().all(|time| *time == decided[0]), "{decided:?}");
    assert_eq!(types(&log.new_events()), ["person.updated"]);
}

#[apply(each_engine)]
fn a_handle_that_another_person_has_is_not_accepted(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    provider.knows("ada", &json!({ "social_url": social_url("ada-l") }));
    let person = client.new_handle("ada");
    client.enrich(&person);
    let proposal = only(&client, &person);
    let other = client.new_handle("ada-l");
    let reply = accept(&client, &proposal).refused(409, "IDENTIFIER_CONFLICT");
    assert!(reply.record_ids().contains(&other.as_str()), "{reply:#?}");
    assert_eq!(
        (only(&client, &person), &client.person(&person)["social_public_id"]),
        (proposal.clone(), &json!("ada"))
    );
    client.update_person(&other, &json!({ "name": "Ada", "social_url": social_url("elsewhere") }));
    accept(&client, &proposal).expect(200);
    assert_eq!(client.person(&person)["social_public_id"], "ada-l");
}

#[apply(each_engine)]
fn proposals_are_listed_by_state_and_in_pages(engine: &Engine) {
    let (app, provider) = enriching(*engine, "");
    let client = app.writer();
    let mut made = Vec::new();
    for number in 0..5 {
        let handle = format!("person-{number}");
        provider.knows(&handle, &json!({ "current_job_title": "Analyst" }));
        let person = client.new_person(
            &json!({ "social_url": social_url(&handle), "current_job_title": "Clerk" }),
        );
        client.enrich(&person);
        made.push(only(&client, &person));
    }
    accept(&client, &made[1]).expect(200);
    reject(&client, &made[3]).expect(200);
    let ids = |places: &[usize]| {
        places.iter().map(|place| id_of(&made[*place]).to_owned()).collect::<Vec<_>>()
    };
    for (query, expected) in [
        ("", ids(&[0, 1, 2, 3, 4])),
        ("state=open", ids(&[0, 2, 4])),
        ("state=accepted", ids(&[1])),
        ("state=rejected", ids(&[3])),
        ("state=superseded", ids(&[])),
        ("state=open&sort=-created_at", ids(&[4, 2, 0])),
    ] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let page = client.get(&format!("{LIST}?{query}&limit=2&cursor={cursor}")).expect(200);
            assert_eq!(page.json["meta"]["total"], expected.len(), "{query}");
            seen.extend(strings(page.data(), "id"));
            let Some(next) = page.json["meta"]["next_cursor"].as_str() else { break };
            cursor = next.to_owned();
        }
        assert_eq!(seen, expected, "{query}");
    }
    let page = client.get(&format!("{LIST}?state=open&limit=2&offset=1")).expect(200);
    assert_eq!(strings(page.data(), "id"), ids(&[2, 4]));
    for (parameter, field) in
        [("state=closed", "state"), ("limit=0", "limit"), ("person=x", "person")]
    {
        assert_eq!(
            client
                .get(&format!("{LIST}?{parameter}"))
                .refused(400, "INVALID_REQUEST")
                .detail_fields(),
            [field]
        );
    }
}

#[apply(each_engine)]
fn proposals_of_a_person_come_newest_first(engine: &Engine) {
    let (_app, provider, client, person) = with_ada(*engine);
    for title in ["Poet", "Chief", "Clerk"] {
        provider.knows("ada", &json!({ "current_job_title": title }));
        client.enrich_anew(&person);
    }
    let proposals = json!(client.proposals(&person));
    assert_eq!(strings(&proposals, "proposed"), ["Clerk", "Chief", "Poet", "Analyst"]);
    assert!(strings(&proposals, "id").is_sorted_by(|one, other| one > other), "{proposals:#}");
    client
        .get(&format!("/v1/persons/{person}/proposals?state=open"))
        .refused(400, "INVALID_REQUEST");
}

#[apply(each_engine)]
fn an_enrichment_names_its_proposals(engine: &Engine) {
    let (_app, provider, client, person) = with_ada(*engine);
    let first = only(&client, &person);
    assert_eq!(client.enrichment(&person)["proposals"], json!([first["id"]]));
    reject(&client, &first).expect(200);
    assert_eq!(client.enrichment(&person)["proposals"], json!([first["id"]]));
    provider.knows("ada", &json!({ "current_job_title": "Poet" }));
    let seen = client.enrich_anew(&person);
    assert_eq!(seen["proposals"], json!([client.proposals(&person)[0]["id"]]));
}

#[apply(each_engine)]
fn who_was_merged_has_no_proposals(engine: &Engine) {
    let (_app, _provider, client, gone) = with_ada(*engine);
    let proposal = only(&client, &gone);
    let kept = client.new_person(&json!({ "name": "Ada Lovelace" }));
    client.post(&format!("/v1/persons/{kept}/merge"), &json!({ "person_id": gone })).expect(200);
    assert_eq!(client.get(LIST).expect(200).json["meta"]["total"], 0);
    assert_eq!(client.proposals(&gone), Vec::<Value>::new());
    accept(&client, &proposal).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn a_decision_takes_no_body(engine: &Engine) {
    let (_app, _provider, client, person) = with_ada(*engine);
    let proposal = only(&client, &person);
    for decision in ["accept", "reject"] {
        let path = format!("{LIST}/{}/{decision}", id_of(&proposal));
        client.post(&path, &json!({ "value": "Poet" })).refused(400, "INVALID_REQUEST");
        client.send("POST", &format!("{path}?now=true"), None).refused(400, "INVALID_REQUEST");
    }
    assert_eq!(only(&client, &person), proposal);
    let once = client.with("idempotency-key", "accept-1");
    let first = accept(&once, &proposal).expect(200);
    let second = accept(&once, &proposal).expect(200);
    assert_eq!(
        (second.text.as_str(), second.header("idempotency-replayed")),
        (first.text.as_str(), Some("true"))
    );
}

#[apply(each_engine)]
fn proposals_belong_to_their_workspace(engine: &Engine) {
    let (app, _provider, client, person) = with_ada(*engine);
    let proposal = only(&client, &person);
    let stranger = app.client_of("another", "write");
    for id in [id_of(&proposal), "prp_00000000000000000000000000", person.as_str(), "x"] {
        for decision in ["accept", "reject"] {
            stranger
                .send("POST", &format!("{LIST}/{id}/{decision}"), None)
                .refused(404, "NOT_FOUND");
        }
    }
    assert_eq!(stranger.get(LIST).expect(200).json["meta"]["total"], 0);
    assert_eq!(only(&client, &person), proposal);
}

#[apply(each_engine)]
fn a_reader_may_look_and_no_more(engine: &Engine) {
    let (app, _provider, client, person) = with_ada(*engine);
    let reader = app.client("read");
    let proposal = only(&reader, &person);
    assert_eq!(reader.get(LIST).expect(200).entries(), std::slice::from_ref(&proposal));
    accept(&reader, &proposal).refused(403, "FORBIDDEN");
    reject(&reader, &proposal).refused(403, "FORBIDDEN");
    assert_eq!(only(&client, &person), proposal);
}
