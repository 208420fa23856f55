//! Reading a person with more than a read always shows: `include`, and ids that were merged into
//! another.

use serde_json::{Value, json};

use crate::support::{
    Client, Log, Workspace, World, apply, each_engine, is_id, is_time, next_millisecond, strings,
    types,
};

fn path_of(person: &str) -> String {
    format!("/v1/persons/{person}")
}

fn profile(client: &Client, person: &str) -> Value {
    client.get(&format!("/v1/persons/{person}?include=profile")).expect(200).data()["profile"]
        .clone()
}

fn keys(record: &Value) -> Vec<&str> {
    record.as_object().unwrap_or_else(|| panic!("{record}")).keys().map(String::as_str).collect()
}

#[apply(each_engine)]
fn without_include_nothing_more_is_shown(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let plain = client.get(&path_of(&world.person)).expect(200);
    assert_eq!(keys(&plain.json), ["success", "data"]);
    assert_eq!(plain.data().get("profile").or_else(|| plain.data().get("notes")), None);
}

#[apply(each_engine)]
fn what_is_included_stands_behind_the_rest(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let plain = client.get(&path_of(&world.person)).expect(200);
    for (include, more) in [
        ("profile", &["profile"][..]),
        ("notes", &["notes"]),
        ("profile,notes", &["profile", "notes"]),
        ("notes,profile", &["profile", "notes"]),
        ("notes%2Cnotes", &["notes"]),
    ] {
        let reply =
            client.get(&format!("{}?include={include}", path_of(&world.person))).expect(200);
        assert_eq!(keys(reply.data()), [keys(plain.data()).as_slice(), more].concat(), "{include}");
        let mut rest = reply.data().clone();
        for part in more {
            rest.as_object_mut().unwrap().shift_remove(*part);
        }
        assert_eq!(&rest, plain.data(), "{include}");
    }
}

#[apply(each_engine)]
fn a_profile_has_all_its_fields(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({
        "name": "Ada", "social_url": "https://social.example/in/Ada/?trk=x",
        "social_location": "London",
    }));
    let made = profile(&client, &person);
    next_millisecond();
    client.update_person(
        &person,
        &json!({ "social_headline": "First of her kind", "address": "St James's Square\nLondon" }),
    );
    let profile = profile(&client, &person);
    assert_eq!(
        keys(&profile),
        [
            "social_url",
            "social_location",
            "social_headline",
            "address",
            "created_at",
            "updated_at",
            "client_contacts",
            "sources"
        ]
    );
    assert_eq!(
        [&profile["social_url"], &profile["social_location"]],
        ["https://social.example/in/Ada/?trk=x", "London"]
    );
    assert_eq!(
        [&profile["social_headline"], &profile["address"]],
        ["First of her kind", "St James's Square\nLondon"]
    );
    let time = |profile: &Value, field: &str| {
        profile[field].as_str().filter(|text| is_time(text)).unwrap().to_owned()
    };
    assert_eq!(time(&profile, "created_at"), time(&made, "updated_at"));
    assert!(time(&profile, "updated_at") > time(&made, "updated_at"));
    assert_eq!(profile["client_contacts"], json!([]));
}

#[apply(each_engine)]
fn a_profile_of_whom_little_is_known(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    Log::begin(&client);
    let profile = profile(&client, &person);
    for field in ["social_url", "social_location", "social_headline", "address"] {
        assert_eq!(profile[field], "", "{field}");
    }
    assert_eq!(strings(&profile["sources"], "field"), ["name", "first_name"]);
}

#[apply(each_engine)]
fn a_profile_names_the_companies_that_the_person_is_a_contact_of(workspace: &Workspace) {
    let client = workspace.writer();
    let body = |company: &str| {
        json!({ "name": "Ada", "external_source_id": "crm-1",
        "client_name": company })
    };
    let first = client.post("/v1/persons", &body("Acme")).expect(201);
    let second = client.post("/v1/persons", &body("Umbrella")).expect(200);
    let contacts = profile(&client, &first.id())["client_contacts"].clone();
    assert_eq!(strings(&contacts, "company_name"), ["Umbrella", "Acme"]);
    assert_eq!(
        strings(&contacts, "id"),
        [second.string("client_contact_id"), first.string("client_contact_id")]
    );
    for contact in contacts.as_array().unwrap() {
        assert_eq!(keys(contact), ["id", "company_id", "company_name", "created_at"]);
        assert!(
            contact["company_id"].as_str().is_some_and(is_id)
                && contact["created_at"].as_str().is_some_and(is_time),
            "{contact}"
        );
    }
}

/// The source of each field, with the event that it names.
fn sources(client: &Client, person: &str, events: &[Value]) -> Vec<(String, usize)> {
    let profile = profile(client, person);
    let place = |source: &Value| {
        assert_eq!(keys(source), ["field", "key_id", "event_id", "at"]);
        let at = events
            .iter()
            .position(|event| event["id"] == source["event_id"])
            .unwrap_or_else(|| panic!("{source}"));
        assert_eq!(
            [&source["key_id"], &source["at"]],
            [&events[at]["key_id"], &events[at]["created_at"]]
        );
        (source["field"].as_str().unwrap().to_owned(), at)
    };
    profile["sources"].as_array().unwrap().iter().map(place).collect()
}

fn named(sources: &[(String, usize)]) -> Vec<(&str, usize)> {
    sources.iter().map(|(field, at)| (field.as_str(), *at)).collect()
}

#[apply(each_engine)]
fn a_field_comes_from_the_last_change_that_set_it(workspace: &Workspace) {
    let (client, other) = (workspace.writer(), workspace.client("admin"));
    let mut log = Log::begin(&client);
    let body = json!({ "name": "Ada Lovelace", "external_source_id": "crm-1",
        "current_job_title": "Analyst", "emails": ["a@x.example"] });
    let person = client.new_person(&body);
    other.update_person(&person, &json!({ "current_job_title": "Countess", "address": "London" }));
    let more = json!({ "name": "A.", "external_source_id": "crm-1", "emails": ["b@x.example"],
        "current_job_title": "Nobody", "notes": "x" });
    client.post("/v1/persons", &more).expect(200);
    let events = log.new_events();
    assert_eq!(types(&events), ["person.created", "person.updated", "person.updated"]);
    assert_ne!(events[0]["key_id"], events[1]["key_id"]);
    assert_eq!(
        named(&sources(&client, &person, &events)),
        [
            ("name", 0),
            ("first_name", 0),
            ("last_name", 0),
            ("address", 1),
            ("current_job_title", 1),
            ("external_source_id", 0),
            ("emails", 2),
        ]
    );
}

#[apply(each_engine)]
fn what_was_cleared_was_set_too(workspace: &Workspace) {
    let client = workspace.writer();
    let mut log = Log::begin(&client);
    let person = client.new_person(&json!({ "name": "Ada", "current_job_title": "Analyst" }));
    client.update_person(&person, &json!({ "current_job_title": null }));
    let events = log.new_events();
    assert_eq!(
        named(&sources(&client, &person, &events)),
        [("name", 0), ("first_name", 0), ("current_job_title", 1)]
    );
}

#[apply(each_engine)]
fn a_career_has_its_source(workspace: &Workspace) {
    let client = workspace.writer();
    let mut log = Log::begin(&client);
    let person = client.new_person(&json!({ "name": "Ada" }));
    client
        .put(
            &format!("{}/history", path_of(&person)),
            &json!({ "certifications": [{ "name": "One" }] }),
        )
        .expect(200);
    client
        .post(&format!("{}/notes", path_of(&person)), &json!({ "body": "No field of the person" }))
        .expect(201);
    let events = log.new_events();
    assert_eq!(
        named(&sources(&client, &person, &events)),
        [("name", 0), ("first_name", 0), ("certifications", 1)]
    );
}

#[apply(each_engine)]
fn notes_come_newest_first_and_a_hundred_at_most(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada", "notes": "Note 0" }));
    let path = format!("{}?include=notes", path_of(&person));
    assert_eq!(
        client.get(&path).expect(200).data()["notes"],
        client.get(&format!("{}/notes", path_of(&person))).expect(200).json["data"]
    );
    for number in 1..=100 {
        client
            .post(
                &format!("{}/notes", path_of(&person)),
                &json!({ "body": format!("Note {number}") }),
            )
            .expect(201);
    }
    let expected: Vec<_> = (1..=100).rev().map(|number| format!("Note {number}")).collect();
    assert_eq!(strings(&client.get(&path).expect(200).data()["notes"], "body"), expected);
}

#[apply(each_engine)]
fn any_other_include_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let person = path_of(&client.new_person(&json!({ "name": "Ada" })));
    for wrong in ["", "all", "notes,", ",", "Profile", "notes,jobs", "notes,%20profile"] {
        let reply =
            client.get(&format!("{person}?include={wrong}")).refused(400, "INVALID_REQUEST");
        assert_eq!(
            (reply.detail_fields(), reply.flaw("include")),
            (vec!["include"], "INVALID_VALUE"),
            "{wrong}"
        );
        assert!(reply.text.contains("profile") && reply.text.contains("notes"), "{reply:#?}");
    }
    let reply = client.get(&format!("{person}?includes=notes")).refused(400, "INVALID_REQUEST");
    assert_eq!(reply.flaw("includes"), "UNKNOWN_FIELD");
    client.get(&format!("{person}?include=notes&include=profile")).refused(400, "INVALID_REQUEST");
}

#[apply(each_engine)]
fn the_tag_is_that_of_all_that_is_shown(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada", "external_source_id": "crm-1" }));
    let plain = path_of(&person);
    let with_notes = format!("{plain}?include=notes");
    let with_profile = format!("{plain}?include=profile");
    let tag = |path: &str| client.get(path).expect(200).etag().to_owned();
    let before = tag(&with_notes);
    assert_eq!((tag(&with_notes), tag(&plain) == before), (before.clone(), false));
    client.with("if-none-match", &before).get(&with_notes).expect(304);
    client.post(&format!("{plain}/notes"), &json!({ "body": "One" })).expect(201);
    assert_ne!(tag(&with_notes), before);
    // A contact of a company is no part of what a read always shows.
    let (short, whole) = (tag(&plain), tag(&with_profile));
    client
        .post(
            "/v1/persons",
            &json!({ "name": "Ada", "external_source_id": "crm-1", "client_name": "Acme" }),
        )
        .expect(200);
    assert_eq!(tag(&plain), short);
    assert_ne!(tag(&with_profile), whole);
    // Only the tag of a plain read is good for a write.
    client
        .with("if-match", &tag(&with_notes))
        .patch(&plain, &json!({ "address": "London" }))
        .refused(412, "PRECONDITION_FAILED");
    client.with("if-match", &short).patch(&plain, &json!({ "address": "London" })).expect(200);
}

#[apply(each_engine)]
fn a_reader_may_see_all_of_it(workspace: &Workspace) {
    let person = workspace.writer().new_person(&json!({ "name": "Ada", "notes": "One" }));
    let reply = workspace
        .client("read")
        .get(&format!("{}?include=profile,notes", path_of(&person)))
        .expect(200);
    assert_eq!(strings(&reply.data()["notes"], "body"), ["One"]);
    workspace
        .client_of("another", "read")
        .get(&format!("{}?include=profile,notes", path_of(&person)))
        .refused(404, "NOT_FOUND");
}

/// Two persons, of whom the second was merged into the first.
fn merged(client: &Client) -> (String, String) {
    let survivor = client.new_person(
        &json!({ "name": "Ada Lovelace", "emails": ["ada@x.example"], "notes": "On the survivor" }),
    );
    let former = client.new_person(
        &json!({ "name": "A. Lovelace", "emails": ["al@x.example"], "notes": "On the other" }),
    );
    client
        .post(&format!("{}/merge", path_of(&survivor)), &json!({ "person_id": former }))
        .expect(200);
    // All events have their numbers then, so that every read finds the same sources.
    Log::begin(client);
    (survivor, former)
}

#[apply(each_engine)]
fn a_person_is_found_under_an_id_that_was_merged_into_them(workspace: &Workspace) {
    let client = workspace.writer();
    let (survivor, former) = merged(&client);
    for include in ["", "?include=notes", "?include=profile,notes"] {
        let direct = client.get(&format!("{}{include}", path_of(&survivor))).expect(200);
        let reply = client.get(&format!("{}{include}", path_of(&former))).expect(200);
        assert_eq!(
            (keys(&reply.json), &reply.json["merged_into"]),
            (vec!["success", "data", "merged_into"], &json!(survivor))
        );
        assert_eq!((reply.data(), reply.etag()), (direct.data(), direct.etag()));
        assert_eq!(keys(&direct.json), ["success", "data"]);
    }
    let [under_former, under_survivor] =
        [&former, &survivor].map(|id| client.get(&format!("{}/notes", path_of(id))).expect(200));
    assert_eq!(under_former.text, under_survivor.text);
    assert_eq!(under_former.entries().len(), 2);
    workspace.client_of("another", "write").get(&path_of(&former)).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn writes_under_a_merged_id_reach_the_survivor(workspace: &Workspace) {
    let client = workspace.writer();
    let (survivor, former) = merged(&client);
    let tag = client.get(&path_of(&survivor)).expect(200).etag().to_owned();
    client
        .with("if-match", &tag)
        .patch(&path_of(&former), &json!({ "current_job_title": "Countess" }))
        .expect(200);
    client
        .with("if-match", &tag)
        .patch(&path_of(&former), &json!({ "current_job_title": "Nobody" }))
        .refused(412, "PRECONDITION_FAILED");
    let history = json!({ "certifications": [{ "name": "One" }] });
    assert_eq!(
        client.put(&format!("{}/history", path_of(&former)), &history).expect(200).id(),
        survivor
    );
    let notes = format!("{}/notes", path_of(&former));
    let note = client.post(&notes, &json!({ "body": "Later" })).expect(201).id();
    client.patch(&format!("{notes}/{note}"), &json!({ "body": "Later still" })).expect(200);
    let read = client.get(&format!("{}?include=notes", path_of(&survivor))).expect(200);
    assert_eq!(
        [&read.data()["current_job_title"], &read.data()["certifications"][0]["name"]],
        ["Countess", "One"]
    );
    assert_eq!(read.data()["notes"][0]["body"], "Later still");
    client.send("DELETE", &format!("{notes}/{note}"), None).expect(200);
}
