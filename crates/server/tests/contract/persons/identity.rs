//! Two persons never become one in silence: what tells them apart, and what becomes of values that
//! differ.

use serde_json::{Value, json};

use crate::support::{Client, Reply, Workspace, apply, each_engine, strings};

const PATH: &str = "/v1/persons";
const WITH_CHANGES: &str = "/v1/persons?include=changes";
const DUPLICATES: &str = "/v1/persons/duplicates";

/// Two creates that make two persons, and find each of them again.
#[track_caller]
fn two_of(client: &Client, bodies: [&Value; 2]) -> [String; 2] {
    let ids = bodies.map(|body| client.post(PATH, body).expect(201).id());
    for (body, id) in bodies.into_iter().zip(&ids) {
        assert_eq!(client.post(PATH, body).expect(200).id(), *id, "{body}");
    }
    ids
}

/// The kinds of reasons for which the two are likely the same.
fn reasons(client: &Client, persons: &[String; 2]) -> Vec<String> {
    let reply = client.get(DUPLICATES).expect(200);
    let is_theirs = |pair: &&Value| strings(&pair["persons"], "id") == *persons;
    reply
        .entries()
        .iter()
        .find(is_theirs)
        .map(|pair| strings(&pair["reasons"], "kind"))
        .unwrap_or_default()
}

#[track_caller]
fn expect_changes(reply: &Reply, expected: &Value) {
    let mut changes = reply.json["changes"].clone();
    for kept_back in changes["kept_back"].as_array_mut().unwrap() {
        kept_back.as_object_mut().unwrap().remove("proposal_id");
    }
    assert_eq!(changes, *expected, "{reply:#?}");
}

#[apply(each_engine)]
fn two_outside_ids_are_two_persons_whatever_they_share(workspace: &Workspace) {
    let client = workspace.writer();
    let body = |source: &str, name: &str| {
        json!({
            "name": name, "external_source_id": source, "emails": ["office@x.example"],
            "social_url": "https://social.example/in/office",
        })
    };
    let persons = two_of(&client, [&body("crm-1", "Ada Lovelace"), &body("crm-2", "Grace Hopper")]);
    for (person, name) in persons.iter().zip(["Ada Lovelace", "Grace Hopper"]) {
        let person = client.person(person);
        assert_eq!(
            (&person["name"], &person["emails"][0]["value"]),
            (&json!(name), &json!("office@x.example"))
        );
    }
    assert_eq!(reasons(&client, &persons), ["same_social_profile", "same_email"]);
    // Whoever has no outside id is the first who holds the address.
    let reply = client.post(PATH, &json!({ "emails": ["office@x.example"] })).expect(200);
    assert_eq!((reply.id(), reply.header("x-matched-by")), (persons[0].clone(), Some("email")));
}

#[apply(each_engine)]
fn a_handle_on_two_networks_names_two_persons(workspace: &Workspace) {
    let client = workspace.writer();
    let body = |url: &str| json!({ "name": "J. Smith", "social_url": url });
    let persons = two_of(
        &client,
        [&body("https://github.example/jsmith"), &body("https://linkedin.example/in/JSmith")],
    );
    let found = client.get("/v1/persons?social_public_id=jsmith").expect(200);
    assert_eq!(
        (strings(&found.json["data"], "id"), &found.json["meta"]["total"]),
        (persons.to_vec(), &json!(2))
    );
    for url in [
        "http://www.linkedin.example/pub/jsmith?x=y",
        "de.linkedin.example/in/jsmith",
        "m.linkedin.example/jsmith/",
    ] {
        let reply = client.post(PATH, &body(url)).expect(200);
        assert_eq!(
            (reply.id(), reply.header("x-matched-by")),
            (persons[1].clone(), Some("social_url")),
            "{url}"
        );
    }
    assert_eq!(reasons(&client, &persons), ["similar_name_and_handle"]);
}

#[apply(each_engine)]
fn two_handles_on_one_network_are_two_persons(workspace: &Workspace) {
    let client = workspace.writer();
    let body = |name: &str, url: &str| json!({ "name": name, "social_url": url, "work_email": "team@x.example" });
    let persons = two_of(
        &client,
        [
            &body("Ada", "https://social.example/in/ada"),
            &body("Grace", "https://social.example/in/grace"),
        ],
    );
    assert_eq!(reasons(&client, &persons), ["same_email"]);
    // On another network the handle may be another, and whoever is found by the address is meant.
    let reply = client.post(WITH_CHANGES, &body("Ada", "https://code.example/ada")).expect(200);
    assert_eq!(reply.id(), persons[0]);
    assert_eq!(reply.json["changes"]["kept_back"][0]["field"], "social_url");
}

#[apply(each_engine)]
fn who_is_found_by_more_is_meant_where_an_address_is_shared(workspace: &Workspace) {
    let client = workspace.writer();
    let first = client.new_person(
        &json!({ "name": "Ada", "external_source_id": "crm-1", "emails": ["team@x.example"] }),
    );
    let profile =
        json!({ "social_url": "https://social.example/in/grace", "emails": ["team@x.example"] });
    let mut body = profile.clone();
    body["external_source_id"] = json!("crm-2");
    let second = client.post(PATH, &body).expect(201).id();
    assert_eq!(client.post(PATH, &profile).expect(200).id(), second);
    let resolved = client.post("/v1/persons/resolve", &profile).expect(200);
    assert_eq!(resolved.data()["outcome"], "match");
    assert_eq!(
        resolved.data()["matches"][0]["by"],
        json!([
            { "field": "social_url", "value": "social.example/grace" },
            { "field": "emails", "value": "team@x.example" },
        ])
    );
    let resolved = client
        .post(
            "/v1/persons/resolve",
            &json!({ "external_source_id": "crm-3", "emails": ["team@x.example"] }),
        )
        .expect(200);
    let data = resolved.data();
    assert_eq!(
        (&data["outcome"], &data["matches"], &data["others"][0]["person_id"]),
        (&json!("create"), &json!([]), &json!(first))
    );
    // On a match the address is added without being taken from its holder.
    let third = client.new_person(&json!({ "name": "Alan", "external_source_id": "crm-3" }));
    let reply = client
        .post(PATH, &json!({ "external_source_id": "crm-3", "emails": ["team@x.example"] }))
        .expect(200);
    assert_eq!(
        (reply.id(), &reply.data()["emails"][0]["value"]),
        (third, &json!("team@x.example"))
    );
    assert_eq!(client.post(PATH, &json!({ "emails": ["team@x.example"] })).expect(200).id(), first);
}

#[apply(each_engine)]
fn rows_of_one_batch_that_share_an_address_stay_apart(workspace: &Workspace) {
    let client = workspace.writer();
    let row = |source: &str| {
        json!({ "name": source, "external_source_id": source,
        "emails": ["team@x.example"] })
    };
    let body = json!({ "persons": [row("crm-1"), row("crm-2"), row("crm-1"), row("crm-2")] });
    let reply = client.post("/v1/persons/batch?include=changes", &body).expect(200);
    let rows = reply.entries();
    assert_eq!(
        rows.iter().map(|row| row["status"].as_u64().unwrap()).collect::<Vec<_>>(),
        [201, 201, 200, 200],
        "{reply:#?}"
    );
    let ids: Vec<_> = rows.iter().map(|row| &row["data"]["id"]).collect();
    assert_eq!((ids[0], ids[1]), (ids[2], ids[3]));
    assert_ne!(ids[0], ids[1]);
    assert_eq!(
        (&rows[0]["changes"]["matched_by"], &rows[3]["changes"]["matched_by"]),
        (&Value::Null, &json!("external_source_id"))
    );
}

#[apply(each_engine)]
fn what_differs_becomes_a_proposal_of_the_caller(workspace: &Workspace) {
    let client = workspace.writer();
    let crm = workspace.client("admin");
    let body = json!({
        "name": "Ada Lovelace", "external_source_id": "crm-1", "current_job_title": "Analyst",
        "company_name": "Engines",
        "social_location": "London",
    });
    let person = client.new_person(&body);
    assert_eq!(client.proposals(&person), Vec::<Value>::new());
    let other = json!({
        "name": "A. King", "external_source_id": "crm-1", "current_job_title": "Countess",
        "company_name": " ENGINES ",
        "social_location": "Paris", "emails": ["ada@x.example"],
    });
    let reply = crm.post(WITH_CHANGES, &other).expect(200);
    assert_eq!(reply.header("x-matched-by"), Some("external_source_id"));
    expect_changes(
        &reply,
        &json!({
            "matched_by": "external_source_id",
            "filled": ["emails"],
            "kept_back": [
                { "field": "name", "value": "A. King", "current": "Ada Lovelace" },
                { "field": "current_job_title", "value": "Countess", "current": "Analyst" },
                { "field": "social_location", "value": "Paris", "current": "London" },
            ],
            "dropped": [],
        }),
    );
    let proposals = client.proposals(&person);
    assert_eq!(proposals.len(), 3);
    let title = proposals.iter().find(|proposal| proposal["field"] == "current_job_title").unwrap();
    assert_eq!(
        (&title["proposed"], &title["current"], &title["provider"]),
        (&json!("Countess"), &json!("Analyst"), &json!(""))
    );
    let key = crm.get("/v1/me").data()["key"]["id"].clone();
    assert_eq!(
        (&title["proposed_by"], &title["id"]),
        (&key, &reply.json["changes"]["kept_back"][1]["proposal_id"])
    );
    // Never twice, and from nobody who says the same.
    for caller in [&crm, &client] {
        let again = caller.post(WITH_CHANGES, &other).expect(200);
        assert_eq!(again.json["changes"]["kept_back"], reply.json["changes"]["kept_back"]);
    }
    assert_eq!(client.proposals(&person), proposals);
    client
        .send("POST", &format!("/v1/proposals/{}/accept", title["id"].as_str().unwrap()), None)
        .expect(200);
    assert_eq!(client.person(&person)["current_job_title"], "Countess");
    let place = proposals.iter().find(|proposal| proposal["field"] == "social_location").unwrap();
    client
        .send("POST", &format!("/v1/proposals/{}/reject", place["id"].as_str().unwrap()), None)
        .expect(200);
    crm.post(PATH, &other).expect(200);
    let open: Vec<_> = client
        .proposals(&person)
        .into_iter()
        .filter(|proposal| proposal["state"] == "open")
        .collect();
    assert_eq!(open.iter().map(|proposal| &proposal["field"]).collect::<Vec<_>>(), ["name"]);
}

#[apply(each_engine)]
fn callers_that_take_turns_with_two_values_make_no_heap_of_proposals(workspace: &Workspace) {
    let (client, crm) = (workspace.writer(), workspace.client("admin"));
    let body = |title: &str| {
        json!({ "name": "Ada", "external_source_id": "crm-1",
        "current_job_title": title })
    };
    let person = client.new_person(&body("Analyst"));
    for _ in 0..3 {
        crm.post(PATH, &body("Countess")).expect(200);
        crm.post(PATH, &body("Poet")).expect(200);
        client.post(PATH, &body("Mother")).expect(200);
    }
    let states: Vec<_> = client
        .proposals(&person)
        .iter()
        .map(|proposal| [proposal["proposed"].clone(), proposal["state"].clone()])
        .collect();
    assert_eq!(states, [["Mother", "open"], ["Poet", "open"], ["Countess", "superseded"]]);
}

#[apply(each_engine)]
fn a_caller_who_says_something_else_takes_back_what_they_said(workspace: &Workspace) {
    let (client, crm) = (workspace.writer(), workspace.client("admin"));
    let body = |title: &str| {
        json!({ "name": "Ada", "external_source_id": "crm-1",
        "current_job_title": title })
    };
    let person = client.new_person(&body("Analyst"));
    let open = || {
        let proposals =
            client.proposals(&person).into_iter().filter(|proposal| proposal["state"] == "open");
        proposals
            .map(|proposal| proposal["proposed"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    crm.post(PATH, &body("Countess")).expect(200);
    assert_eq!(open(), ["Countess"]);
    crm.post(PATH, &json!({ "external_source_id": "crm-1", "name": "Ada" })).expect(200);
    assert_eq!(open(), ["Countess"], "it was not spoken of");
    crm.post(PATH, &body("analyst")).expect(200);
    assert_eq!(open(), Vec::<String>::new());
    client.post(PATH, &body("Poet")).expect(200);
    crm.post(PATH, &body("Countess")).expect(200);
    crm.post(PATH, &body("Poet")).expect(200);
    assert_eq!(open(), ["Poet"]);
}

#[apply(each_engine)]
fn a_merge_keeps_what_callers_proposed(workspace: &Workspace) {
    let client = workspace.writer();
    let body = |source: &str, title: &str| json!({ "name": "Ada", "external_source_id": source, "current_job_title": title });
    let (kept, gone) = (
        client.new_person(&body("crm-1", "Analyst")),
        client.new_person(&body("crm-2", "Countess")),
    );
    client.post(PATH, &body("crm-2", "Poet")).expect(200);
    client.post(&format!("{PATH}/{kept}/merge"), &json!({ "person_id": gone })).expect(200);
    let proposals = client.proposals(&kept);
    assert_eq!(
        (&proposals[0]["proposed"], &proposals[0]["current"]),
        (&json!("Poet"), &json!("Analyst"))
    );
    client
        .send(
            "POST",
            &format!("/v1/proposals/{}/accept", proposals[0]["id"].as_str().unwrap()),
            None,
        )
        .expect(200);
    assert_eq!(client.person(&kept)["current_job_title"], "Poet");
}

#[apply(each_engine)]
fn a_profile_that_somebody_else_has_is_kept_back_without_a_proposal(workspace: &Workspace) {
    let client = workspace.writer();
    let body = |source: &str, handle: &str| {
        json!({ "name": source, "external_source_id": source,
        "social_url": format!("social.example/in/{handle}") })
    };
    client.new_person(&body("crm-1", "ada"));
    let other = client.new_person(&body("crm-2", "grace"));
    let reply = client.post(WITH_CHANGES, &body("crm-1", "grace")).expect(200);
    assert_eq!(reply.json["changes"]["kept_back"][0]["proposal_id"], Value::Null);
    assert_eq!(client.post(PATH, &body("crm-2", "grace")).expect(200).id(), other);
    let long = format!("https://{}.example/in/ada", "x".repeat(250));
    assert_eq!(
        client
            .post(PATH, &json!({ "name": "Long", "social_url": long }))
            .refused(400, "INVALID_REQUEST")
            .flaw("social_url"),
        "INVALID_URL"
    );
}

#[apply(each_engine)]
fn every_field_pushed_by_two_systems_is_accounted_for(workspace: &Workspace) {
    let client = workspace.writer();
    let names = ["Analyst", "Engineer"];
    let jobs = names.map(|name| client.new_job(name, "Acme"));
    let from = |number: usize| {
        json!({
            "name": format!("Ada {number}"), "first_name": "Ada", "last_name": format!("{number}"),
            "social_url": "https://social.example/in/ada", "current_job_title": format!("Title \
                {number}"),
            "social_location": format!("Place {number}"), "company_name": format!("Company \
                {number}"),
            "emails": [format!("list{number}@x.example")],
            "work_email": format!("work{number}@x.example"),
            "personal_email": format!("home{number}@x.example"), "work_phone": format!("030 \
                111{number}"),
            "mobile_phone": format!("030 222{number}"), "phone_numbers": [format!("030 \
                333{number}")],
            "notes": format!("Note {number}"), "job_id": jobs[number].id, "job_name": names[number],
            "client_id": jobs[number].client_company,
            "client_name": "ACME", "external_source_id": "crm-1", "enrich_record": true,
        })
    };
    let person = client.post(PATH, &from(0)).expect(201).id();
    let reply = client.post(WITH_CHANGES, &from(1)).expect(200);
    assert_eq!(reply.id(), person);
    expect_changes(
        &reply,
        &json!({
            "matched_by": "external_source_id",
            "filled": ["emails", "phone_numbers", "notes"],
            "kept_back": [
                { "field": "name", "value": "Ada 1", "current": "Ada 0" },
                { "field": "current_job_title", "value": "Title 1", "current": "Title 0" },
                { "field": "social_location", "value": "Place 1", "current": "Place 0" },
                { "field": "company_name", "value": "Company 1", "current": "Company 0" },
            ],
            "dropped": [],
        }),
    );
    let proposed = client.proposals(&person);
    let mut proposed: Vec<_> =
        proposed.iter().map(|proposal| proposal["proposed"].as_str().unwrap()).collect();
    proposed.sort_unstable();
    assert_eq!(proposed, ["Ada 1", "Company 1", "Place 1", "Title 1"]);
    let record = client.get(&format!("{PATH}/{person}?include=profile,notes")).expect(200);
    let values = |list: &str| {
        let mut values = strings(&record.data()[list], "value");
        values.sort_unstable();
        values
    };
    assert_eq!(
        values("emails"),
        [
            "home0@x.example",
            "home1@x.example",
            "list0@x.example",
            "list1@x.example",
            "work0@x.example",
            "work1@x.example"
        ]
    );
    assert_eq!(
        values("phones"),
        ["030 1110", "030 1111", "030 2220", "030 2221", "030 3330", "030 3331"]
    );
    assert_eq!(strings(&record.data()["jobs"], "job_name"), ["Analyst", "Engineer"]);
    assert_eq!(strings(&record.data()["notes"], "body"), ["Note 1", "Note 0"]);
    assert!(
        client.get(&format!("{PATH}/{person}/enrichment")).expect(200).data()["state"].is_string()
    );
}

#[apply(each_engine)]
fn a_name_that_is_split_otherwise_is_told(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_person(&json!({ "first_name": "Ada", "last_name": "King Lovelace",
        "external_source_id": "crm-1" }));
    let body =
        json!({ "first_name": "Ada King", "last_name": "Lovelace", "external_source_id": "crm-1" });
    let reply = client.post(WITH_CHANGES, &body).expect(200);
    assert_eq!(
        reply.json["changes"]["kept_back"],
        json!([
            { "field": "first_name", "value": "Ada King", "current": "Ada", "proposal_id": null },
            { "field": "last_name", "value": "Lovelace", "current": "King Lovelace",
                "proposal_id": null },
        ])
    );
}

#[apply(each_engine)]
fn how_somebody_was_matched_is_told_again_with_a_kept_answer(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "name": "Ada", "emails": ["ada@x.example"] });
    assert_eq!(client.post(PATH, &body).expect(201).header("x-matched-by"), None);
    let once = client.with("idempotency-key", "once");
    for replayed in [None, Some("true")] {
        let reply = once.post(WITH_CHANGES, &body).expect(200);
        assert_eq!(
            (reply.header("x-matched-by"), reply.header("idempotency-replayed")),
            (Some("email"), replayed)
        );
        assert_eq!(
            reply.json["changes"],
            json!({ "matched_by": "email", "filled": [], "kept_back": [], "dropped": [] })
        );
    }
    assert_eq!(client.post("/v0/persons", &body).expect(200).header("x-matched-by"), Some("email"));
    let tried = client.post(
        &format!("{WITH_CHANGES}&dry_run=true"),
        &json!({ "name": "Ada", "emails": ["ada@x.example", "b@x.example"] }),
    );
    assert_eq!(tried.expect(200).json["changes"]["events"][0]["type"], "person.updated");
    assert_eq!(
        client
            .post("/v1/persons?include=all", &body)
            .refused(400, "INVALID_REQUEST")
            .flaw("include"),
        "INVALID_VALUE"
    );
}

#[apply(each_engine)]
fn what_is_not_valid_is_left_out_if_asked_for(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({
        "name": "Ada", "social_url": "n/a", "emails": ["ada@x.example", "n/a", 7],
        "work_phone": "-", "phone_numbers": ["030 1234", "none"],
    });
    let refused = client.post(PATH, &body).refused(400, "INVALID_REQUEST");
    let fields = ["social_url", "emails[1]", "emails[2]", "phone_numbers[1]", "work_phone"];
    let mut sorted = fields;
    sorted.sort_unstable();
    assert_eq!(refused.detail_fields(), sorted);
    let reply = client.post("/v1/persons?on_invalid=drop&include=changes", &body).expect(201);
    assert_eq!(strings(&reply.json["changes"]["dropped"], "field"), fields);
    assert_eq!(
        strings(&reply.json["changes"]["dropped"], "code")[..2],
        ["INVALID_URL", "INVALID_EMAIL"]
    );
    assert_eq!(
        (strings(&reply.data()["emails"], "value"), strings(&reply.data()["phones"], "value")),
        (vec!["ada@x.example".to_owned()], vec!["030 1234".to_owned()])
    );
    let row = json!({ "name": "Grace", "emails": ["-"] });
    let rows = client.post(
        "/v1/persons/batch?on_invalid=drop&include=changes",
        &json!({ "persons": [row, { "name": 7, "emails": ["-"] }, { "emails": ["-"] }] }),
    );
    let rows = rows.expect(200);
    let rows = rows.entries();
    assert_eq!(
        (&rows[0]["status"], &rows[0]["changes"]["dropped"][0]["field"]),
        (&json!(201), &json!("emails[0]"))
    );
    // What is wrong elsewhere is refused, and somebody must be meant.
    assert_eq!(
        (&rows[1]["status"], &rows[1]["error"]["details"][0]["field"]),
        (&json!(400), &json!("name"))
    );
    assert_eq!(
        (&rows[2]["status"], &rows[2]["error"]["details"][0]["code"]),
        (&json!(400), &json!("REQUIRED"))
    );
    let many: Vec<_> = (0..51).map(|number| format!("a{number}@x.example")).collect();
    let refused = client
        .post("/v1/persons?on_invalid=drop", &json!({ "name": "Ada", "emails": many }))
        .refused(400, "INVALID_REQUEST");
    assert_eq!(refused.flaw("emails"), "TOO_MANY");
    assert_eq!(
        client
            .post("/v1/persons?on_invalid=keep", &body)
            .refused(400, "INVALID_REQUEST")
            .flaw("on_invalid"),
        "INVALID_VALUE"
    );
}

#[apply(each_engine)]
fn a_contact_stands_in_for_a_name(workspace: &Workspace) {
    let client = workspace.writer();
    for (body, name) in [
        (json!({ "mobile_phone": "030 1234", "emails": ["ada@x.example"] }), "ada@x.example"),
        (json!({ "work_phone": " 030 5678 " }), "030 5678"),
        (
            json!({ "social_url": "social.example/in/Grace", "emails": ["grace@x.example"] }),
            "grace",
        ),
    ] {
        let reply = client.post(PATH, &body).expect(201);
        assert_eq!(reply.data()["name"], name);
        let person = client.person(&reply.id());
        assert_eq!((&person["first_name"], &person["last_name"]), (&json!(""), &json!("")));
    }
    let reply = client
        .post(WITH_CHANGES, &json!({ "name": "Ada Lovelace", "emails": ["ada@x.example"] }))
        .expect(200);
    assert_eq!(
        (&reply.data()["name"], &reply.json["changes"]["filled"]),
        (&json!("Ada Lovelace"), &json!(["name"]))
    );
    let grace = client.post(PATH, &json!({ "emails": ["grace@x.example"] })).expect(200).id();
    client.update_person(&grace, &json!({ "social_url": null }));
    assert_eq!(client.person(&grace)["name"], "grace@x.example");
    assert_eq!(
        client
            .patch(&format!("{PATH}/{grace}"), &json!({ "emails": [] }))
            .refused(400, "INVALID_REQUEST")
            .flaw("name"),
        "REQUIRED"
    );
}

#[apply(each_engine)]
fn letters_that_only_look_alike_are_two_mailboxes(workspace: &Workspace) {
    let client = workspace.writer();
    let kate = client.new_person(&json!({ "name": "Kate", "emails": ["kate@x.example"] }));
    let eve = client
        .post(PATH, &json!({ "name": "Eve", "emails": ["\u{212a}ate@x.example"] }))
        .expect(201)
        .id();
    assert_ne!(kate, eve);
    assert_eq!(client.post(PATH, &json!({ "emails": ["KATE@X.Example"] })).expect(200).id(), kate);
}

#[apply(each_engine)]
fn a_job_must_be_the_one_that_is_named_beside_its_id(workspace: &Workspace) {
    let client = workspace.writer();
    let (job, other) = (client.new_job("Analyst", "Acme"), client.new_job("Engineer", "Umbrella"));
    for (field, value) in [
        ("job_name", "Engineer"),
        ("client_name", "Umbrella"),
        ("client_id", other.client_company.as_str()),
    ] {
        let mut body = json!({ "name": "Ada", "job_id": job.id });
        body[field] = json!(value);
        let refused = client.post(PATH, &body).refused(400, "INVALID_REQUEST");
        assert_eq!((refused.detail_fields(), refused.flaw(field)), (vec![field], "CONTRADICTION"));
    }
    let body = json!({ "name": "Ada", "job_id": job.id,
        "job_name": "engineer", "client_name": "umbrella" });
    assert_eq!(
        client.post(PATH, &body).refused(400, "INVALID_REQUEST").detail_fields(),
        ["client_name", "job_name"]
    );
    assert_eq!(client.get(PATH).json["meta"]["total"], 0);
    let body = json!({ "name": "Ada", "job_id": job.id, "job_name": " ANALYST ",
        "client_name": "acme", "client_id": job.client_company });
    assert!(client.post(PATH, &body).expect(201).data()["candidate_id"].is_string());
}

#[apply(each_engine)]
fn a_typed_field_adds_to_the_list_of_the_same_update(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada", "emails": ["old@x.example"] }));
    let entry = |value: &str| json!({ "contact_data_type": "work", "value": value });
    client.update_person(
        &person,
        &json!({ "emails": [entry("a@x.example"), entry("b@x.example")],
            "work_email": "c@x.example" }),
    );
    assert_eq!(
        strings(&client.person(&person)["emails"], "value"),
        ["a@x.example", "b@x.example", "c@x.example"]
    );
    client.update_person(
        &person,
        &json!({ "emails": [entry("a@x.example")], "personal_email": "A@x.example" }),
    );
    assert_eq!(
        client.person(&person)["emails"],
        json!([{ "contact_data_type": "personal", "value": "a@x.example" }])
    );
    client.update_person(&person, &json!({ "personal_email": "d@x.example" }));
    assert_eq!(strings(&client.person(&person)["emails"], "value"), ["d@x.example"]);
}
