//! Pushing the same person twice: what matches, what a match does, and what stands against it.

use serde_json::{Value, json};

use crate::support::{Workspace, apply, each_engine};

const PATH: &str = "/v1/persons";

fn profile(handle: &str) -> Value {
    json!({ "name": "Ada", "social_url": format!("https://social.example/in/{handle}") })
}

#[apply(each_engine)]
fn pushing_a_person_twice_makes_one(workspace: &Workspace) {
    let client = workspace.writer();
    for (first, second) in [
        (
            json!({ "name": "Ada", "external_source_id": "crm-1" }),
            json!({ "name": "Ada", "external_source_id": " crm-1 " }),
        ),
        (
            profile("Ada-L"),
            json!({ "name": "Ada", "social_url": "http://www.social.example/in/ada-l/?x=y" }),
        ),
        (
            json!({ "name": "Ada", "emails": ["a@x.example"] }),
            json!({ "name": "Ada", "emails": ["b@x.example", "A@X.Example"] }),
        ),
        (
            json!({ "name": "Ada", "emails": ["c@x.example"] }),
            json!({ "name": "Ada", "personal_email": "c@x.example" }),
        ),
    ] {
        let person = client.new_person(&first);
        let again = client.post(PATH, &second).expect(200);
        assert_eq!(again.id(), person, "{second}");
        let third = client.post("/v0/persons", &first).expect(200);
        assert_eq!(third.json["data"]["id"], person.as_str(), "{first}");
    }
}

#[apply(each_engine)]
fn neither_the_name_nor_a_phone_number_matches(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "name": "Ada Lovelace", "current_job_title": "Analyst",
        "company_name": "Acme", "phone_numbers": ["030 1234"] });
    assert_ne!(client.new_person(&body), client.new_person(&body));
}

#[apply(each_engine)]
fn a_match_fills_what_is_empty_and_keeps_what_is_known(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada Lovelace", "external_source_id": "crm-1",
        "current_job_title": "Analyst" }));
    let reply = client.post(
        PATH,
        &json!({
            "name": "A. L.",
            "external_source_id": "crm-1",
            "current_job_title": "Countess",
            "social_location": "London",
            "company_name": "Acme",
            "social_url": "https://social.example/in/ada",
        }),
    );
    let reply = reply.expect(200);
    let data = reply.data();
    assert_eq!(
        [&data["id"], &data["name"], &data["current_job_title"]],
        [person.as_str(), "Ada Lovelace", "Analyst"]
    );
    assert_eq!(
        [&data["social_location"], &data["company_name"], &data["social_public_id"]],
        ["London", "Acme", "ada"]
    );
    client
        .post(
            PATH,
            &json!({ "name": "Ada", "external_source_id": "crm-1", "company_name": "Umbrella" }),
        )
        .expect(200);
    assert_eq!(client.person(&person)["current_company_name"], "Acme");
}

#[apply(each_engine)]
fn a_match_unites_the_contacts(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "name": "Ada", "external_source_id": "crm-1", "emails": ["Ada@x.example"],
        "phone_numbers": ["030 1234"] });
    let person = client.new_person(&body);
    let more = json!({
        "name": "Ada", "external_source_id": "crm-1",
        "emails": ["ADA@x.example", "new@x.example"], "mobile_phone": "0301234",
        "work_phone": "030 5678",
    });
    client.post(PATH, &more).expect(200);
    let person = client.person(&person);
    assert_eq!(
        person["emails"],
        json!([{ "contact_data_type": "work", "value": "Ada@x.example" },
            { "contact_data_type": "work", "value": "new@x.example" }])
    );
    assert_eq!(
        person["phones"],
        json!([{ "contact_data_type": "mobile", "value": "030 1234" },
            { "contact_data_type": "work", "value": "030 5678" }])
    );
}

#[apply(each_engine)]
fn a_match_that_would_have_too_many_contacts_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let with = |numbers: std::ops::Range<usize>| {
        let addresses: Vec<_> = numbers.map(|number| format!("a{number}@x.example")).collect();
        json!({ "name": "Ada", "external_source_id": "crm-1", "current_job_title": "Analyst",
            "emails": addresses })
    };
    let person = client.new_person(&with(0..30));
    client.update_person(&person, &json!({ "current_job_title": "" }));
    let before = client.person(&person);
    let reply = client.post(PATH, &with(25..51)).refused(400, "INVALID_REQUEST");
    assert_eq!((reply.detail_fields(), reply.flaw("emails")), (vec!["emails"], "TOO_MANY"));
    assert_eq!(client.person(&person), before);
    client.post(PATH, &with(25..50)).expect(200);
    assert_eq!(client.person(&person)["emails"].as_array().unwrap().len(), 50);
}

#[apply(each_engine)]
fn a_match_brings_its_own_identifiers_along(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada", "emails": ["a@x.example"] }));
    let body = json!({ "name": "Ada", "emails": ["a@x.example", "b@x.example"],
        "external_source_id": "crm-1" });
    client.post(PATH, &body).expect(200);
    for body in [
        json!({ "name": "Ada", "emails": ["b@x.example"] }),
        json!({ "name": "Ada", "external_source_id": "crm-1" }),
    ] {
        assert_eq!(client.post(PATH, &body).expect(200).id(), person);
    }
}

#[apply(each_engine)]
fn identifiers_of_different_persons_contradict_each_other(workspace: &Workspace) {
    let client = workspace.writer();
    let by_source = client.new_person(&json!({ "name": "Ada", "external_source_id": "crm-1" }));
    let by_handle = client.new_person(&profile("ada"));
    let by_mail = client.new_person(&json!({ "name": "Ada", "emails": ["a@x.example"] }));
    let by_other_mail = client.new_person(&json!({ "name": "Ada", "emails": ["b@x.example"] }));
    let url = "https://social.example/in/ada";
    for (mut body, persons) in [
        (json!({ "external_source_id": "crm-1", "social_url": url }), vec![&by_source, &by_handle]),
        (
            json!({ "external_source_id": "crm-1", "emails": ["a@x.example"] }),
            vec![&by_source, &by_mail],
        ),
        (
            json!({ "social_url": url, "work_email": "b@x.example" }),
            vec![&by_handle, &by_other_mail],
        ),
        (json!({ "emails": ["a@x.example", "b@x.example"] }), vec![&by_mail, &by_other_mail]),
        (
            json!({ "external_source_id": "crm-1", "social_url": url, "emails": ["a@x.example"] }),
            vec![&by_source, &by_handle, &by_mail],
        ),
    ] {
        body["name"] = json!("Ada");
        body["current_job_title"] = json!("Nobody");
        let reply = client.post(PATH, &body).refused(409, "IDENTIFIER_CONFLICT");
        assert_eq!(reply.record_ids(), persons, "{body}");
    }
    let body = json!({ "name": "Ada", "external_source_id": "crm-1", "social_url": url });
    let said = client.post("/v0/persons", &body).expect(409).json["error"].to_string();
    assert!([&by_source, &by_handle].iter().all(|person| said.contains(person.as_str())), "{said}");
    for person in [by_source, by_handle, by_mail, by_other_mail] {
        assert_eq!(client.person(&person)["current_job_title"], "");
    }
}

#[apply(each_engine)]
fn on_duplicate_error_names_the_person_who_is_there(workspace: &Workspace) {
    let client = workspace.writer();
    let path = format!("{PATH}?on_duplicate=error");
    let body = json!({ "name": "Ada", "emails": ["a@x.example"] });
    let person = client.post(&path, &body).expect(201).id();
    let more = json!({ "name": "Ada", "emails": ["a@x.example"], "current_job_title": "Analyst",
        "company_name": "Acme" });
    let reply = client.post(&path, &more).refused(409, "DUPLICATE_PERSON");
    assert_eq!(reply.record_ids(), [person.as_str()]);
    assert_eq!(client.person(&person)["current_job_title"], "");
}

#[apply(each_engine)]
fn on_duplicate_create_makes_a_second_person(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "name": "Ada", "emails": ["a@x.example"] });
    let first = client.new_person(&body);
    let reply = client.post(&format!("{PATH}?on_duplicate=create"), &body).expect(201);
    let second = reply.id();
    assert_ne!(first, second);
    assert_eq!(reply.data()["emails"][0]["value"], "a@x.example");
    assert_eq!(client.person(&second)["emails"], client.person(&first)["emails"]);
    assert_eq!(client.post(PATH, &body).expect(200).id(), first);
    // The second stands behind the first, and takes its place when that gives the address up.
    client.update_person(&first, &json!({ "emails": [] }));
    assert_eq!(client.post(PATH, &body).expect(200).id(), second);
}

#[apply(each_engine)]
fn identifiers_of_different_persons_make_another_if_asked_for(workspace: &Workspace) {
    let client = workspace.writer();
    let others = ["a@x.example", "b@x.example"]
        .map(|address| client.new_person(&json!({ "name": "Ada", "emails": [address] })));
    let body = json!({ "name": "Ada", "emails": ["a@x.example", "b@x.example"] });
    let refused = client
        .post(&format!("{PATH}?on_duplicate=error"), &body)
        .refused(409, "IDENTIFIER_CONFLICT");
    assert_eq!(refused.record_ids(), others);
    let made = client.post(&format!("{PATH}?on_duplicate=create"), &body).expect(201).id();
    assert!(!others.contains(&made));
}

#[apply(each_engine)]
fn on_duplicate_merge_is_the_default(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "name": "Ada", "external_source_id": "crm-1" });
    let person = client.post(&format!("{PATH}?on_duplicate=merge"), &body).expect(201).id();
    assert_eq!(client.post(&format!("{PATH}?on_duplicate=merge"), &body).expect(200).id(), person);
    assert_eq!(client.post(PATH, &body).expect(200).id(), person);
}

#[apply(each_engine)]
fn any_other_on_duplicate_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "name": "Ada", "external_source_id": "crm-1" });
    for value in ["", "MERGE", "skip", "merge&on_duplicate=error"] {
        let reply = client
            .post(&format!("{PATH}?on_duplicate={value}"), &body)
            .refused(400, "INVALID_REQUEST");
        assert_eq!(
            (reply.detail_fields(), reply.flaw("on_duplicate")),
            (vec!["on_duplicate"], "INVALID_VALUE"),
            "{value}"
        );
    }
    let reply =
        client.post(&format!("{PATH}?on_duplicates=error"), &body).refused(400, "INVALID_REQUEST");
    assert_eq!(reply.flaw("on_duplicates"), "UNKNOWN_FIELD");
    client.new_person(&body);
}

#[apply(each_engine)]
fn an_identifier_that_was_given_up_is_free_again(workspace: &Workspace) {
    let client = workspace.writer();
    let mut body = profile("ada");
    body["emails"] = json!(["a@x.example"]);
    let first = client.new_person(&body);
    client.update_person(&first, &json!({ "emails": [], "social_url": null }));
    let second = client.new_person(&body);
    assert_ne!(first, second);
    assert_eq!(client.post(PATH, &body).expect(200).id(), second);
}
