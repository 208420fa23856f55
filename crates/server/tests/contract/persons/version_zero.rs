//! Version 0 of creating a person: its own fields, its own envelope, no nulls.

use serde_json::{Value, json};

use crate::support::{Workspace, apply, each_engine, shape, strings};

const PATH: &str = "/v0/persons";

#[apply(each_engine)]
fn a_created_person(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let body = json!({
        "name": "Ada Lovelace",
        "social_url": "https://social.example/in/ada",
        "current_job_title": "Analyst",
        "social_location": "London",
        "company_name": "Analytical Engines",
        "email": "ada@engines.example",
        "phone_number": "+44 20 7946 0018",
        "notes": "Met at the fair.",
        "job_id": job.id,
        "external_source_id": "crm-1",
    });
    insta::assert_snapshot!(shape(&client.post(PATH, &body).expect(201)), @r#"
    {
      "error": "",
      "data": {
        "id": "per_1",
        "name": "Ada Lovelace",
        "social_public_id": "ada",
        "current_job_title": "Analyst",
        "company_name": "Analytical Engines",
        "social_location": "London",
        "emails": [
          {
            "contact_data_type": "work",
            "value": "ada@engines.example"
          }
        ],
        "phones": [
          {
            "contact_data_type": "mobile",
            "value": "+44 20 7946 0018"
          }
        ],
        "candidate_id": "cnd_1",
        "client_contact_id": "",
        "external_source_id": "crm-1"
      }
    }
    "#);
}

#[apply(each_engine)]
fn a_person_who_is_there_already(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "first_name": "Ada", "last_name": "Lovelace", "email": "a@x.example" });
    let first = client.post(PATH, &body).expect(201);
    let second = client.post(PATH, &body).expect(200);
    assert_eq!(first.text, second.text);
    client.post(&format!("{PATH}?on_duplicate=error"), &body).expect(409);
}

#[apply(each_engine)]
fn no_value_is_ever_null(workspace: &Workspace) {
    let reply = workspace.writer().post(PATH, &json!({ "name": "Ada" })).expect(201);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "error": "",
      "data": {
        "id": "per_1",
        "name": "Ada",
        "social_public_id": "",
        "current_job_title": "",
        "company_name": "",
        "social_location": "",
        "emails": [],
        "phones": [],
        "candidate_id": "",
        "client_contact_id": "",
        "external_source_id": ""
      }
    }
    "#);
}

#[apply(each_engine)]
fn single_contacts_join_the_lists(workspace: &Workspace) {
    let body = json!({
        "name": "Ada",
        "email": "a@x.example",
        "emails": ["A@x.example", "b@x.example"],
        "phone_number": "111 1111",
        "phone_numbers": ["1111111", "222 2222"],
    });
    let reply = workspace.writer().post(PATH, &body).expect(201);
    let values = |field: &str| strings(&reply.json["data"][field], "value");
    assert_eq!(values("emails"), ["a@x.example", "b@x.example"]);
    assert_eq!(values("phones"), ["111 1111", "222 2222"]);
}

#[apply(each_engine)]
fn the_fields_of_version_one_are_refused(workspace: &Workspace) {
    let client = workspace.writer();
    for (field, value) in [
        ("work_email", json!("a@x.example")),
        ("personal_email", json!("a@x.example")),
        ("mobile_phone", json!("030 1234")),
        ("work_phone", json!("030 1234")),
        ("enrich_record", json!(true)),
    ] {
        let reply = client.post(PATH, &json!({ "name": "Ada", field: value })).expect(400);
        assert!(reply.json["error"].as_str().unwrap().contains(field), "{reply:#?}");
    }
    for (field, value) in [("email", "a@x.example"), ("phone_number", "030 1234")] {
        let reply = client
            .post("/v1/persons", &json!({ "name": "Ada", field: value }))
            .refused(400, "INVALID_REQUEST");
        assert_eq!(reply.flaw(field), "UNKNOWN_FIELD");
    }
}

#[apply(each_engine)]
fn a_refusal_is_one_sentence(workspace: &Workspace) {
    let client = workspace.writer();
    client.post(PATH, &json!({ "name": "Ada", "external_source_id": "crm-1" })).expect(201);
    client.post(PATH, &json!({ "name": "Ada", "email": "a@x.example" })).expect(201);
    let text = client.with("content-type", "text/plain");
    let conflict = json!({ "name": "Ada", "external_source_id": "crm-1", "email": "a@x.example" });
    for (status, reply) in [
        (400, client.post(PATH, &json!({}))),
        (400, client.post(PATH, &json!({ "name": ["Ada"] }))),
        (400, client.with("content-type", "application/json").send_bytes("POST", PATH, b"{")),
        (401, workspace.anonymous().post(PATH, &json!({ "name": "Ada" }))),
        (403, workspace.client("read").post(PATH, &json!({ "name": "Ada" }))),
        (404, client.post(PATH, &json!({ "name": "Ada", "job_name": "Nope" }))),
        (405, client.get(PATH)),
        (409, client.post(PATH, &conflict)),
        (415, text.post(PATH, &json!({ "name": "Ada" }))),
    ] {
        let reply = reply.expect(status);
        let body = reply.json.as_object().unwrap_or_else(|| panic!("{reply:#?}"));
        assert_eq!(body.keys().collect::<Vec<_>>(), ["error", "data"], "{reply:#?}");
        let sentence = body["error"].as_str().unwrap();
        assert!(!sentence.is_empty() && !sentence.contains('\n'), "{reply:#?}");
        assert_eq!(body["data"], Value::Null);
    }
}

#[apply(each_engine)]
fn a_person_of_version_zero_is_a_person_of_version_one(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "name": "Ada Lovelace", "email": "a@x.example",
        "external_source_id": "crm-1", "company_name": "Acme" });
    let old = client.post(PATH, &body).expect(201);
    let person = client.person(old.json["data"]["id"].as_str().unwrap());
    assert_eq!([&person["first_name"], &person["current_company_name"]], ["Ada", "Acme"]);
    let new = client
        .post("/v1/persons", &json!({ "name": "Ada", "external_source_id": "crm-1" }))
        .expect(200);
    assert_eq!(new.data()["id"], old.json["data"]["id"]);
}
