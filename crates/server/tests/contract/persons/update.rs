//! Updating a person: a merge patch with contacts, identifiers and a job.

use serde_json::{Value, json};

use crate::support::{Client, Workspace, apply, each_engine, strings};

fn full_person(client: &Client) -> String {
    client.new_person(&json!({
        "name": "Ada Lovelace",
        "social_url": "https://social.example/in/ada",
        "current_job_title": "Analyst",
        "social_location": "London",
        "company_name": "Acme",
        "emails": ["work@x.example"],
        "personal_email": "home@x.example",
        "phone_numbers": ["111 1111"],
        "work_phone": "222 2222",
        "external_source_id": "crm-1",
    }))
}

fn entry(kind: &str, value: &str) -> Value {
    json!({ "contact_data_type": kind, "value": value })
}

#[apply(each_engine)]
fn what_is_omitted_stays_as_it_is(workspace: &Workspace) {
    let client = workspace.writer();
    let person = full_person(&client);
    let before = client.person(&person);
    assert_eq!(client.update_person(&person, &json!({})), before);
    let mut expected = before;
    expected["current_job_title"] = json!("Countess");
    assert_eq!(
        client.update_person(&person, &json!({ "current_job_title": "Countess" })),
        expected
    );
    let unseen = json!({ "social_headline": "First of her kind", "address": "St James's Square",
        "enrich_record": false });
    assert_eq!(client.update_person(&person, &unseen), expected);
    // A name that is not put together of its parts.
    let person = client.new_person(
        &json!({ "name": "The Countess", "first_name": "Ada", "last_name": "Lovelace" }),
    );
    assert_eq!(
        client.update_person(&person, &json!({ "current_job_title": "Analyst" }))["name"],
        "The Countess"
    );
}

#[apply(each_engine)]
fn what_is_null_or_blank_is_cleared(workspace: &Workspace) {
    let client = workspace.writer();
    for nothing in [json!(null), json!(""), json!("  ")] {
        let person = client.new_person(&json!({
            "name": "Ada", "current_job_title": "Analyst", "company_name": "Acme",
            "social_url": "https://social.example/in/ada",
        }));
        let patch = json!({
            "current_job_title": nothing, "company_name": nothing, "social_location": nothing,
            "social_url": nothing,
            "social_headline": nothing, "address": nothing,
        });
        let read = client.update_person(&person, &patch);
        for field in
            ["current_job_title", "current_company_name", "current_company_id", "social_public_id"]
        {
            assert_eq!(read[field], "", "{field} after {nothing}");
        }
        assert_eq!(read["name"], "Ada");
    }
}

#[apply(each_engine)]
fn a_text_field_takes_its_new_value(workspace: &Workspace) {
    let client = workspace.writer();
    let person = full_person(&client);
    let patch = json!({
        "current_job_title": " Countess ",
        "company_name": "Umbrella",
        "social_location": "Paris",
        "social_url": "https://social.example/in/Countess/",
    });
    let read = client.update_person(&person, &patch);
    assert_eq!(
        [&read["current_job_title"], &read["current_company_name"], &read["social_public_id"]],
        ["Countess", "Umbrella", "countess"]
    );
    let colleague = client.new_person(&json!({ "name": "Grace", "company_name": "UMBRELLA" }));
    assert_eq!(client.person(&colleague)["current_company_id"], read["current_company_id"]);
    let created = client
        .post("/v1/persons", &json!({ "name": "Ada", "external_source_id": "crm-1" }))
        .expect(200);
    assert_eq!(
        [&created.data()["social_location"], &created.data()["company_name"]],
        ["Paris", "Umbrella"]
    );
}

#[apply(each_engine)]
fn every_field_changes_alone(workspace: &Workspace) {
    let client = workspace.writer();
    let person = full_person(&client);
    let shown =
        || client.get(&format!("/v1/persons/{person}?include=profile")).expect(200).data().clone();
    // What is sent, and all places where the person then differs.
    let changes = [
        (json!({ "name": "Ada King" }), &["/name", "/last_name"][..]),
        (json!({ "first_name": "Augusta Ada" }), &["/name", "/first_name"]),
        (
            json!({ "social_url": "https://social.example/in/countess" }),
            &["/social_public_id", "/profile/social_url"],
        ),
        (json!({ "social_url": "https://other.example/in/countess" }), &["/profile/social_url"]),
        (json!({ "current_job_title": "Countess" }), &["/current_job_title"]),
        (json!({ "company_name": "Umbrella" }), &["/current_company_name", "/current_company_id"]),
        (json!({ "social_location": "Paris" }), &["/profile/social_location"]),
        (json!({ "social_headline": "First of her kind" }), &["/profile/social_headline"]),
        (json!({ "address": "St James's Square" }), &["/profile/address"]),
        (json!({ "emails": [entry("work", "ada@x.example")] }), &["/emails"]),
        (json!({ "phone_numbers": [entry("mobile", "333 3333")] }), &["/phones"]),
    ];
    let always = ["/profile/updated_at", "/profile/sources"];
    for (patch, differing) in changes {
        let (mut before, _) = (shown(), client.update_person(&person, &patch));
        let after = shown();
        for place in differing {
            assert_ne!(before.pointer(place), after.pointer(place), "{place} after {patch}");
        }
        for place in differing.iter().chain(&always) {
            if let (Some(old), Some(new)) = (before.pointer_mut(place), after.pointer(place)) {
                *old = new.clone();
            }
        }
        assert_eq!(before, after, "{patch}");
    }
}

#[apply(each_engine)]
fn a_new_name_brings_its_parts_along(workspace: &Workspace) {
    let client = workspace.writer();
    for (patch, name, first, last) in [
        (json!({ "name": "Ada King Noel" }), "Ada King Noel", "Ada King", "Noel"),
        (json!({ "last_name": "King" }), "Ada King", "Ada", "King"),
        (json!({ "first_name": "Augusta" }), "Augusta Lovelace", "Augusta", "Lovelace"),
        (
            json!({ "first_name": "Grace", "last_name": "Hopper" }),
            "Grace Hopper",
            "Grace",
            "Hopper",
        ),
        (json!({ "last_name": null }), "Ada", "Ada", ""),
        (
            json!({ "name": "Madonna Ciccone", "last_name": null }),
            "Madonna Ciccone",
            "Madonna Ciccone",
            "",
        ),
        (
            json!({ "name": "Ada King", "first_name": "Ada", "last_name": null }),
            "Ada King",
            "Ada",
            "",
        ),
        (
            json!({ "name": "The Countess", "first_name": "Ada", "last_name": "King" }),
            "The Countess",
            "Ada",
            "King",
        ),
    ] {
        let person = client.new_person(&json!({ "name": "Ada Lovelace" }));
        let read = client.update_person(&person, &patch);
        assert_eq!(
            [&read["name"], &read["first_name"], &read["last_name"]],
            [name, first, last],
            "{patch}"
        );
    }
}

#[apply(each_engine)]
fn a_person_keeps_a_name(workspace: &Workspace) {
    let client = workspace.writer();
    let nameless = json!({ "name": null, "first_name": null, "last_name": "" });
    let person = client.new_person(&json!({ "name": "Ada" }));
    let reply =
        client.patch(&format!("/v1/persons/{person}"), &nameless).refused(400, "INVALID_REQUEST");
    assert_eq!((reply.detail_fields(), reply.flaw("name")), (vec!["name"], "REQUIRED"));
    assert_eq!(client.person(&person)["name"], "Ada");
    let known = full_person(&client);
    assert_eq!(client.update_person(&known, &nameless)["name"], "ada");
    let stand_in = client.new_person(&json!({ "social_url": "https://social.example/in/grace" }));
    let read = client.update_person(&stand_in, &json!({ "name": "Grace Hopper" }));
    assert_eq!(
        [&read["name"], &read["first_name"], &read["last_name"]],
        ["Grace Hopper", "Grace", "Hopper"]
    );
}

#[apply(each_engine)]
fn an_array_takes_the_place_of_the_old_one(workspace: &Workspace) {
    let client = workspace.writer();
    let person = full_person(&client);
    let emails = json!([entry("other", "New@x.example"), entry("personal", "home@x.example")]);
    let phones = json!([entry("home", "333 3333")]);
    let read = client.update_person(&person, &json!({ "emails": emails, "phone_numbers": phones }));
    assert_eq!([&read["emails"], &read["phones"]], [&emails, &phones]);
    let read = client.update_person(&person, &json!({ "emails": [] }));
    assert_eq!([&read["emails"], &read["phones"]], [&json!([]), &phones]);
    assert_eq!(
        client.update_person(&person, &json!({ "phone_numbers": null }))["phones"],
        json!([])
    );
}

#[apply(each_engine)]
fn every_name_of_a_contact_type_is_taken(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    for (field, read_field, value, names) in [
        (
            "emails",
            "emails",
            "a@x.example",
            &[
                ("work", "work"),
                ("personal", "personal"),
                ("other", "other"),
                ("work_email", "work"),
                ("personal_email", "personal"),
            ][..],
        ),
        (
            "phone_numbers",
            "phones",
            "030 1234",
            &[
                ("mobile", "mobile"),
                ("work", "work"),
                ("home", "home"),
                ("other", "other"),
                ("mobile_phone", "mobile"),
                ("work_phone", "work"),
            ],
        ),
    ] {
        for (written, kept) in names {
            let read = client.update_person(&person, &json!({ field: [entry(written, value)] }));
            assert_eq!(read[read_field], json!([entry(kept, value)]), "{written}");
        }
    }
}

#[apply(each_engine)]
fn any_other_contact_type_is_refused_with_those_allowed(workspace: &Workspace) {
    let client = workspace.writer();
    let path = format!("/v1/persons/{}", full_person(&client));
    for (field, value, wrong, allowed) in [
        (
            "emails",
            "a@x.example",
            &["home", "mobile", "Work", "mobile_phone"][..],
            &["work", "personal", "other"][..],
        ),
        (
            "phone_numbers",
            "030 1234",
            &["personal", "fax", "work_email"],
            &["mobile", "work", "home", "other"],
        ),
    ] {
        for kind in wrong {
            let named = format!("{field}[1].contact_data_type");
            let entries = [entry("work", value), entry(kind, value)];
            let reply =
                client.patch(&path, &json!({ field: entries })).refused(400, "INVALID_REQUEST");
            assert_eq!(
                (reply.detail_fields(), reply.flaw(&named)),
                (vec![named.as_str()], "INVALID_VALUE"),
                "{kind}"
            );
            assert!(allowed.iter().all(|name| reply.text.contains(name)), "{reply:#?}");
        }
    }
}

#[apply(each_engine)]
fn a_plain_string_is_no_contact_entry(workspace: &Workspace) {
    let client = workspace.writer();
    let path = format!("/v1/persons/{}", full_person(&client));
    for (patch, field, flaw) in [
        (json!({ "emails": ["a@x.example"] }), "emails[0]", "INVALID_TYPE"),
        (
            json!({ "phone_numbers": [entry("work", "030 1234"), "030 5678"] }),
            "phone_numbers[1]",
            "INVALID_TYPE",
        ),
        (json!({ "emails": [{ "contact_data_type": "work" }] }), "emails[0].value", "REQUIRED"),
        (
            json!({ "emails": [{ "contact_data_type": "work", "value": "" }] }),
            "emails[0].value",
            "REQUIRED",
        ),
        (
            json!({ "emails": [{ "type": "work", "value": "a@x.example" }] }),
            "emails[0].type",
            "UNKNOWN_FIELD",
        ),
        (json!({ "emails": [entry("work", "nobody")] }), "emails[0].value", "INVALID_EMAIL"),
        (json!({ "emails": entry("work", "a@x.example") }), "emails", "INVALID_TYPE"),
    ] {
        let reply = client.patch(&path, &patch).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw), "{patch}");
    }
}

#[apply(each_engine)]
fn a_typed_field_takes_the_place_of_its_type(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let emails = json!([
        entry("work", "a@x.example"),
        entry("other", "o@x.example"),
        entry("work", "b@x.example")
    ]);
    client.update_person(
        &person,
        &json!({ "emails": emails, "phone_numbers": [entry("work", "111 \
        1111"), entry("mobile", "222 2222")] }),
    );
    let read = client.update_person(
        &person,
        &json!({ "work_email": "c@x.example", "personal_email": "p@x.example",
                "work_phone": "333 3333" }),
    );
    let mut values = strings(&read["emails"], "value");
    values.sort();
    assert_eq!(values, ["c@x.example", "o@x.example", "p@x.example"]);
    assert!(read["emails"].as_array().unwrap().contains(&entry("work", "c@x.example")));
    assert_eq!(read["phones"], json!([entry("work", "333 3333"), entry("mobile", "222 2222")]));
    let read = client.update_person(
        &person,
        &json!({ "work_email": null, "personal_email": null, "mobile_phone": null }),
    );
    assert_eq!(read["emails"], json!([entry("other", "o@x.example")]));
    assert_eq!(read["phones"], json!([entry("work", "333 3333")]));
}

#[apply(each_engine)]
fn a_typed_field_adds_to_the_array_beside_it(workspace: &Workspace) {
    let client = workspace.writer();
    let person = full_person(&client);
    let emails = json!([entry("work", "a@x.example"), entry("other", "o@x.example")]);
    let read =
        client.update_person(&person, &json!({ "emails": emails, "work_email": "c@x.example" }));
    assert_eq!(
        read["emails"],
        json!([
            entry("work", "a@x.example"),
            entry("other", "o@x.example"),
            entry("work", "c@x.example")
        ])
    );
}

#[apply(each_engine)]
fn an_identifier_of_another_person_is_refused_with_their_id(workspace: &Workspace) {
    let client = workspace.writer();
    let other = full_person(&client);
    let person = client.new_person(&json!({ "name": "Grace", "emails": ["grace@x.example"] }));
    let path = format!("/v1/persons/{person}");
    let before = client.person(&person);
    for patch in [
        json!({ "social_url": "http://www.social.example/in/ADA/" }),
        json!({ "emails": [entry("other", "WORK@x.example")] }),
        json!({ "personal_email": "home@x.example" }),
        json!({ "work_email": "home@x.example", "current_job_title": "Admiral" }),
    ] {
        let reply = client.patch(&path, &patch).refused(409, "IDENTIFIER_CONFLICT");
        assert_eq!(reply.record_ids(), [other.as_str()], "{patch}");
    }
    assert_eq!(client.person(&person), before);
}

#[apply(each_engine)]
fn a_person_may_be_sent_what_they_have(workspace: &Workspace) {
    let client = workspace.writer();
    let person = full_person(&client);
    let before = client.person(&person);
    let same = json!({
        "name": before["name"],
        "social_url": "https://social.example/in/ada",
        "emails": before["emails"],
        "phone_numbers": before["phones"],
        "company_name": "acme",
    });
    assert_eq!(client.update_person(&person, &same), before);
}

#[apply(each_engine)]
fn a_job_is_attached_once(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let person = client.new_person(&json!({ "name": "Ada" }));
    for _ in 0..2 {
        let read = client.update_person(&person, &json!({ "job_id": job.id }));
        assert_eq!(strings(&read["jobs"], "job_id"), [job.id.as_str()]);
        assert_eq!(read["jobs"][0]["current_pipeline_stage_name"], "Sourced");
    }
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 1);
    let unknown =
        json!({ "job_id": "job_00000000000000000000000000", "current_job_title": "Analyst" });
    let reply = client.patch(&format!("/v1/persons/{person}"), &unknown).refused(404, "NOT_FOUND");
    assert_eq!(reply.detail_fields(), ["job_id"]);
    assert_eq!(client.person(&person)["current_job_title"], "");
}

#[apply(each_engine)]
fn a_new_identifier_matches_from_then_on(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    client.update_person(
        &person,
        &json!({ "work_email": "a@x.example", "social_url": "https://social.example/in/ada" }),
    );
    for body in [
        json!({ "name": "A", "emails": ["A@x.example"] }),
        json!({ "social_url": "https://social.example/in/ada" }),
    ] {
        assert_eq!(client.post("/v1/persons", &body).expect(200).id(), person);
    }
}

#[apply(each_engine)]
fn nothing_of_a_refused_update_is_stored(workspace: &Workspace) {
    let client = workspace.writer();
    let person = full_person(&client);
    let before = client.person(&person);
    for patch in [
        json!({ "current_job_title": "Countess", "notes": "not a field of an update" }),
        json!({ "current_job_title": "Countess", "external_source_id": "crm-2" }),
        json!({ "current_job_title": "Countess", "work_email": "nobody" }),
        json!({ "company_name": "Umbrella", "enrich_record": "yes" }),
    ] {
        client.patch(&format!("/v1/persons/{person}"), &patch).refused(400, "INVALID_REQUEST");
        assert_eq!(client.person(&person), before, "{patch}");
    }
}
