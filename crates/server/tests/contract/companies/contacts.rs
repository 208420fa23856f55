//! The persons whom one talks to at a client company.

use serde_json::json;

use crate::support::{
    Client, Log, Workspace, apply, each_engine, next_millisecond, shape, strings, together, types,
};

/// A company, and where its contacts are.
fn company(client: &Client, name: &str) -> String {
    format!(
        "/v1/companies/{}/contacts",
        client.post("/v1/companies", &json!({ "name": name })).expect(201).id()
    )
}

#[track_caller]
fn new_contact(client: &Client, path: &str, name: &str) -> String {
    let person = client.new_person(&json!({ "name": name }));
    next_millisecond();
    client.post(path, &json!({ "person_id": person })).expect(201).id()
}

#[apply(each_engine)]
fn a_contact(workspace: &Workspace) {
    let client = workspace.writer();
    let path = company(&client, "Acme");
    let person = client.new_person(&json!({
        "name": "Ada Lovelace", "current_job_title": "Countess", "emails": ["ada@acme.example"],
        "mobile_phone": "+44 20 7946 0000",
    }));
    let made = client.post(&path, &json!({ "person_id": person })).expect(201);
    insta::assert_snapshot!(shape(&made), @r#"
    {
      "success": true,
      "data": {
        "id": "ctc_1",
        "person_id": "per_1",
        "name": "Ada Lovelace",
        "current_job_title": "Countess",
        "emails": [
          {
            "contact_data_type": "work",
            "value": "ada@acme.example"
          }
        ],
        "phones": [
          {
            "contact_data_type": "mobile",
            "value": "+44 20 7946 0000"
          }
        ],
        "created_at": "<time>"
      }
    }
    "#);
    let listed = client.get(&path).expect(200);
    assert_eq!(listed.entries(), [made.data().clone()]);
    assert_eq!(listed.json["meta"], json!({ "total": 1, "offset": 0, "limit": 100 }));
}

#[apply(each_engine)]
fn who_is_a_contact_already_stays_one(workspace: &Workspace) {
    let client = workspace.writer();
    let path = company(&client, "Acme");
    let body = json!({ "person_id": client.new_person(&json!({ "name": "Ada" })) });
    let made = client.post(&path, &body).expect(201);
    assert_eq!(client.post(&path, &body).expect(200).text, made.text);
    let elsewhere = client.post(&company(&client, "Umbrella"), &body).expect(201);
    assert_ne!(elsewhere.id(), made.id());
}

#[apply(each_engine)]
fn many_at_one_instant_make_one_contact(workspace: &Workspace) {
    let client = workspace.writer();
    let path = company(&client, "Acme");
    let body = json!({ "person_id": client.new_person(&json!({ "name": "Ada" })) });
    let replies = together(8, |_| client.post(&path, &body));
    assert_eq!(replies.iter().filter(|reply| reply.status == 201).count(), 1, "{replies:#?}");
    assert!(replies.iter().all(|reply| reply.id() == replies[0].id()), "{replies:#?}");
    assert_eq!(client.get(&path).expect(200).json["meta"]["total"], 1);
}

#[apply(each_engine)]
fn whoever_a_create_makes_a_contact_is_listed(workspace: &Workspace) {
    let client = workspace.writer();
    let path = company(&client, "Acme");
    let made =
        client.post("/v1/persons", &json!({ "name": "Ada", "client_name": "acme" })).expect(201);
    let listed = client.get(&path).expect(200);
    assert_eq!(strings(listed.data(), "id"), [made.string("client_contact_id")]);
    assert_eq!(strings(listed.data(), "person_id"), [made.id()]);
    assert_eq!(
        client.post(&path, &json!({ "person_id": made.id() })).expect(200).id(),
        made.string("client_contact_id")
    );
}

#[apply(each_engine)]
fn a_contact_shows_the_person_as_they_are_now(workspace: &Workspace) {
    let client = workspace.writer();
    let path = company(&client, "Acme");
    let person = client.new_person(&json!({ "name": "Ada Lovelace" }));
    client.post(&path, &json!({ "person_id": person })).expect(201);
    let patch = json!({ "name": "Ada King", "work_email": "ada@new.example",
        "current_job_title": "Countess" });
    let read = client.update_person(&person, &patch);
    let shown = client.get(&path).expect(200).entries()[0].clone();
    for field in ["name", "current_job_title", "emails", "phones"] {
        assert_eq!(shown[field], read[field], "{field}");
    }
}

#[apply(each_engine)]
fn contacts_are_listed_in_pages(workspace: &Workspace) {
    let client = workspace.writer();
    let (path, other) = (company(&client, "Acme"), company(&client, "Umbrella"));
    let ids: Vec<_> =
        (0..5).map(|number| new_contact(&client, &path, &format!("Person {number}"))).collect();
    new_contact(&client, &other, "Somebody else");
    let page = |query: &str| client.get(&format!("{path}?{query}")).expect(200);
    for limit in 1..=6 {
        for (order, expected) in
            [("created_at", ids.clone()), ("-created_at", ids.iter().rev().cloned().collect())]
        {
            let (mut seen, mut cursor) = (Vec::new(), json!(""));
            while let Some(place) = cursor.as_str() {
                let reply = page(&format!("cursor={place}&limit={limit}&sort={order}"));
                seen.extend(strings(reply.data(), "id"));
                cursor = reply.json["meta"]["next_cursor"].clone();
                assert!(seen.len() <= ids.len(), "{reply:#?}");
            }
            assert_eq!(seen, expected, "by {limit}");
            let by_offset: Vec<_> = (0..5)
                .step_by(limit)
                .flat_map(|offset| {
                    strings(
                        page(&format!("offset={offset}&limit={limit}&sort={order}")).data(),
                        "id",
                    )
                })
                .collect();
            assert_eq!(by_offset, expected, "by {limit}");
        }
    }
    assert_eq!(
        page("offset=9&limit=2").json,
        json!({ "success": true, "data": [], "meta": { "total": 5, "offset": 9, "limit": 2 } })
    );
    for (query, field) in
        [("limit=0", "limit"), ("sort=name", "sort"), ("cursor=x", "cursor"), ("q=ada", "q")]
    {
        let reply = client.get(&format!("{path}?{query}")).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), [field], "{query}");
    }
}

#[apply(each_engine)]
fn a_removed_contact_is_gone_and_the_person_stays(workspace: &Workspace) {
    let client = workspace.writer();
    let path = company(&client, "Acme");
    let (one, other) = (new_contact(&client, &path, "Ada"), new_contact(&client, &path, "Grace"));
    let person =
        client.get(&path).expect(200).entries()[0]["person_id"].as_str().unwrap().to_owned();
    let removed = client.send("DELETE", &format!("{path}/{one}"), None).expect(200);
    assert!(!removed.string("message").is_empty());
    assert_eq!(strings(client.get(&path).expect(200).data(), "id"), [other]);
    client.send("DELETE", &format!("{path}/{one}"), None).refused(404, "NOT_FOUND");
    assert_eq!(client.person(&person)["name"], "Ada");
    let again = client.post(&path, &json!({ "person_id": person })).expect(201);
    assert_ne!(again.id(), one);
}

#[apply(each_engine)]
fn contacts_are_told_of_the_company(workspace: &Workspace) {
    let client = workspace.writer();
    let path = company(&client, "Acme");
    let person = client.new_person(&json!({ "name": "Ada" }));
    let mut log = Log::begin(&client);
    let contact = client.post(&path, &json!({ "person_id": person })).expect(201).id();
    client.post(&path, &json!({ "person_id": person })).expect(200);
    client.send("DELETE", &format!("{path}/{contact}"), None).expect(200);
    client.send("DELETE", &format!("{path}/{contact}"), None).expect(404);
    let events = log.new_events();
    assert_eq!(types(&events), ["company.contact_added", "company.contact_removed"]);
    assert!(
        events.iter().all(|event| path.contains(event["record_id"].as_str().unwrap())),
        "{events:#?}"
    );
    let (fields, person) = (
        json!({ "client_contact_id": contact, "person_id": person }),
        json!({ "id": person, "name": "Ada" }),
    );
    assert_eq!(events[0]["data"], json!({ "before": {}, "after": fields, "person": person }));
    assert_eq!(events[1]["data"], json!({ "before": fields, "after": {}, "person": person }));
}

#[apply(each_engine)]
fn a_contact_that_makes_no_sense_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let path = company(&client, "Acme");
    for (body, flaw) in [
        (json!({}), "REQUIRED"),
        (json!({ "person_id": null }), "REQUIRED"),
        (json!({ "person_id": " " }), "REQUIRED"),
        (json!({ "person_id": 7 }), "INVALID_TYPE"),
    ] {
        assert_eq!(
            client.post(&path, &body).refused(400, "INVALID_REQUEST").flaw("person_id"),
            flaw,
            "{body}"
        );
    }
    for person in [format!("per_{}", "0".repeat(26)), "nonsense".to_owned()] {
        let reply = client.post(&path, &json!({ "person_id": person })).refused(404, "NOT_FOUND");
        assert_eq!(reply.flaw("person_id"), "NOT_FOUND");
    }
    assert_eq!(client.get(&path).expect(200).json["data"], json!([]));
}

#[apply(each_engine)]
fn what_names_no_contact_is_not_found(workspace: &Workspace) {
    let client = workspace.writer();
    let (path, other) = (company(&client, "Acme"), company(&client, "Umbrella"));
    let contact = new_contact(&client, &path, "Ada");
    let unknown = format!("/v1/companies/cmp_{}/contacts", "0".repeat(26));
    client.get(&unknown).refused(404, "NOT_FOUND");
    let never = format!("ctc_{}", "0".repeat(26));
    for wrong in [
        format!("{other}/{contact}"),
        format!("{unknown}/{contact}"),
        format!("{path}/{never}"),
        format!("{path}/x"),
    ] {
        client.send("DELETE", &wrong, None).refused(404, "NOT_FOUND");
    }
    let reply = client
        .send("DELETE", &format!("{path}/{contact}?force=true"), None)
        .refused(400, "INVALID_REQUEST");
    assert_eq!(reply.detail_fields(), ["force"]);
    client
        .send("DELETE", &format!("{path}/{contact}"), Some(&json!({ "force": true })))
        .refused(400, "INVALID_REQUEST");
    assert_eq!(strings(client.get(&path).expect(200).data(), "id"), [contact]);
}

#[apply(each_engine)]
fn contacts_belong_to_one_workspace(workspace: &Workspace) {
    let (owner, stranger) =
        (workspace.client_of("owner", "write"), workspace.client_of("stranger", "write"));
    let (path, own) = (company(&owner, "Acme"), company(&stranger, "Acme"));
    let contact = new_contact(&owner, &path, "Ada");
    let person = owner.get(&path).expect(200).entries()[0]["person_id"].clone();
    stranger.get(&path).refused(404, "NOT_FOUND");
    stranger.post(&path, &json!({ "person_id": person })).refused(404, "NOT_FOUND");
    stranger.post(&own, &json!({ "person_id": person })).refused(404, "NOT_FOUND");
    for wrong in [format!("{path}/{contact}"), format!("{own}/{contact}")] {
        stranger.send("DELETE", &wrong, None).refused(404, "NOT_FOUND");
    }
    assert_eq!(strings(owner.get(&path).expect(200).data(), "id"), [contact]);
    assert_eq!(stranger.get(&own).expect(200).json["data"], json!([]));
}

#[apply(each_engine)]
fn who_may_only_read_changes_no_contact(workspace: &Workspace) {
    let (client, reader) = (workspace.writer(), workspace.client("read"));
    let path = company(&client, "Acme");
    let contact = new_contact(&client, &path, "Ada");
    let person = client.get(&path).expect(200).entries()[0]["person_id"].clone();
    reader.post(&path, &json!({ "person_id": person })).refused(403, "FORBIDDEN");
    reader.send("DELETE", &format!("{path}/{contact}"), None).refused(403, "FORBIDDEN");
    assert_eq!(strings(reader.get(&path).expect(200).data(), "id"), [contact]);
}
