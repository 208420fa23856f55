//! All that is kept of a person, in one piece.

use serde_json::{Value, json};

use crate::support::{
    Client, Engine, Log, NEVER, Workspace, apply, each_engine, hooked, is_time, strings, types,
};

fn export(client: &Client, person: &str) -> Value {
    client.get(&format!("/v1/persons/{person}/export")).expect(200).data().clone()
}

fn fields(record: &Value) -> Vec<&str> {
    record.as_object().unwrap().keys().map(String::as_str).collect()
}

#[apply(each_engine)]
fn an_export_has_every_part(workspace: &Workspace) {
    let person = workspace.writer().new_person(&json!({ "name": "Ada" }));
    let data = export(&workspace.client("read"), &person);
    let parts = [
        "exported_at",
        "person",
        "former_ids",
        "identifiers",
        "notes",
        "candidates",
        "client_contacts",
        "events",
        "earlier_changes",
        "deliveries",
        "enrichment",
        "answers",
        "proposals",
        "field_sources",
    ];
    assert_eq!(fields(&data), parts);
    assert!(is_time(data["exported_at"].as_str().unwrap()), "{data}");
    let person = [
        "id",
        "version",
        "name",
        "first_name",
        "last_name",
        "social_public_id",
        "social_url",
        "social_location",
        "social_headline",
        "address",
        "current_job_title",
        "current_company_name",
        "current_company_id",
        "external_source_id",
        "emails",
        "phones",
        "work_experience",
        "education_experience",
        "certifications",
        "created_at",
        "updated_at",
    ];
    assert_eq!(fields(&data["person"]), person);
    for list in [
        "former_ids",
        "identifiers",
        "notes",
        "candidates",
        "client_contacts",
        "earlier_changes",
        "deliveries",
        "answers",
        "proposals",
        "field_sources",
    ] {
        assert_eq!(data[list], json!([]), "{list}");
    }
    assert_eq!(data["enrichment"], Value::Null);
}

#[apply(each_engine)]
fn an_export_has_what_is_kept(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Umbrella");
    let body = json!({
        "name": "Ada Lovelace", "social_url": "https://social.example/in/Ada",
        "emails": ["Ada@x.example"], "mobile_phone": "555 123",
        "notes": "First.", "external_source_id": "crm-1", "client_name": "Acme",
        "company_name": "Engines", "social_location": "London",
    });
    let person = client.new_person(&body);
    client.update_person(&person, &json!({ "address": "12 Square", "social_headline": "Poet" }));
    client
        .put(
            &format!("/v1/persons/{person}/history"),
            &json!({ "certifications": [{ "name": "CPA" }] }),
        )
        .expect(200);
    let candidate =
        client.post(&job.candidates_path(), &json!({ "person_id": person })).expect(201).id();
    let candidate = client
        .patch(&format!("/v1/candidates/{candidate}"), &json!({ "stage_name": "Offer" }))
        .expect(200)
        .data()
        .clone();
    let note = client
        .post(&format!("/v1/persons/{person}/notes"), &json!({ "body": "Second." }))
        .expect(201)
        .data()
        .clone();
    Log::begin(&client);
    let (data, read) = (export(&client, &person), client.person(&person));
    for (field, value) in read.as_object().unwrap().iter().filter(|(field, _)| *field != "jobs") {
        assert_eq!(data["person"][field], *value, "{field}");
    }
    for (field, value) in [
        ("social_url", "https://social.example/in/Ada"),
        ("address", "12 Square"),
        ("social_headline", "Poet"),
        ("social_location", "London"),
    ] {
        assert_eq!(data["person"][field], value, "{field}");
    }
    let identifiers = json!([
        { "field": "external_source_id", "value": "crm-1" },
        { "field": "social_url", "value": "social.example/ada" },
        { "field": "emails", "value": "ada@x.example" },
    ]);
    assert_eq!(data["identifiers"], identifiers);
    assert_eq!(strings(&data["notes"], "body"), ["First.", "Second."]);
    assert_eq!(data["notes"][1], note);
    assert_eq!(strings(&data["client_contacts"], "company_name"), ["Acme"]);
    let exported = &data["candidates"][0];
    for field in [
        "id",
        "job_id",
        "current_pipeline_stage_name",
        "current_pipeline_stage_id",
        "current_pipeline_stage_date",
        "created_at",
    ] {
        assert_eq!(exported[field], candidate[field], "{field}");
    }
    assert_eq!(
        (&exported["job_name"], &exported["job_client_company_name"]),
        (&json!("Engineer"), &json!("Umbrella"))
    );
    assert_eq!(exported["pipeline_stage_history"], candidate["pipeline_stage_history"]);
    let events = data["events"].as_array().unwrap();
    let expected = [
        "person.created",
        "company.contact_added",
        "person.updated",
        "person.updated",
        "candidate.created",
        "candidate.moved",
        "person.note_added",
    ];
    assert_eq!(types(events), expected);
    let mut timeline =
        client.get(&format!("/v1/persons/{person}/timeline")).expect(200).entries().to_vec();
    timeline.reverse();
    assert_eq!(*events, timeline);
}

#[apply(each_engine)]
fn an_export_has_where_events_were_sent(engine: &Engine) {
    let (workspace, _receiver, hook) = hooked(*engine, NEVER);
    let person = workspace.writer().new_person(&json!({ "name": "Ada" }));
    hook.wait_delivered(1);
    let data = export(&workspace.writer(), &person);
    let delivery = &data["deliveries"][0];
    assert_eq!(
        fields(delivery),
        ["webhook_id", "sequence", "status", "attempt_count", "created_at", "updated_at"]
    );
    assert_eq!(
        (&delivery["webhook_id"], &delivery["status"]),
        (&json!(hook.id), &json!("delivered"))
    );
    assert_eq!(delivery["sequence"], data["events"][0]["sequence"]);
}

#[apply(each_engine)]
fn an_export_has_those_who_went_into_the_person(workspace: &Workspace) {
    let client = workspace.writer();
    let (kept, gone) = (
        client.new_person(&json!({ "name": "Ada" })),
        client.new_person(&json!({ "name": "Ada L", "notes": "Poet." })),
    );
    client.post(&format!("/v1/persons/{kept}/merge"), &json!({ "person_id": gone })).expect(200);
    Log::begin(&client);
    let data = export(&client, &kept);
    assert_eq!(
        (&data["former_ids"], strings(&data["notes"], "body")),
        (&json!([gone]), vec!["Poet.".to_owned()])
    );
    assert_eq!(
        types(data["events"].as_array().unwrap()),
        ["person.created", "person.created", "person.merged"]
    );
    let by_old_id = client.get(&format!("/v1/persons/{gone}/export")).expect(200);
    assert_eq!(
        (&by_old_id.data()["person"], &by_old_id.json["merged_into"]),
        (&data["person"], &json!(kept))
    );
}

#[apply(each_engine)]
fn an_export_has_nothing_of_others(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let own = client.new_candidate(&job, "Ada")["person_id"].as_str().unwrap().to_owned();
    let other = client.new_person(&json!({ "name": "Grace Hopper", "notes": "Secret.",
        "client_name": "Acme", "job_id": job.id }));
    let text = client.get(&format!("/v1/persons/{own}/export")).expect(200).text;
    assert!(
        ["Grace", "Secret", other.as_str()].iter().all(|trace| !text.contains(trace)),
        "{text}"
    );
}

#[apply(each_engine)]
fn what_is_not_there_cannot_be_exported(workspace: &Workspace) {
    let client = workspace.writer();
    let theirs = workspace.client_of("another", "write").new_person(&json!({ "name": "Grace" }));
    for id in [theirs.as_str(), "per_00000000000000000000000000", "nobody"] {
        client.get(&format!("/v1/persons/{id}/export")).refused(404, "NOT_FOUND");
    }
    let own = client.new_person(&json!({ "name": "Ada" }));
    client.get(&format!("/v1/persons/{own}/export?format=csv")).refused(400, "INVALID_REQUEST");
}
