//! Creating and changing jobs.

use serde_json::{Value, json};

use crate::support::{Workspace, apply, each_engine, strings};

const PATH: &str = "/v1/jobs";

#[apply(each_engine)]
fn a_job_without_stages_takes_the_default_pipeline(workspace: &Workspace) {
    let client = workspace.writer();
    for body in [
        json!({ "name": "Engineer", "client_company_name": "Acme" }),
        json!({ "name": "Engineer", "client_company_name": "Acme", "pipeline_stages": null }),
    ] {
        let reply = client.post(PATH, &body).expect(201);
        let stages = &reply.data()["pipeline_stages"];
        assert_eq!(
            strings(stages, "name"),
            [
                "Sourced",
                "Contacted",
                "Screening",
                "Interview",
                "Final interview",
                "Offer",
                "Hired",
                "Rejected"
            ]
        );
        for (index, stage) in stages.as_array().unwrap().iter().enumerate() {
            let name = stage["name"].as_str().unwrap();
            assert_eq!(stage["stage_order"], index + 1);
            assert_eq!(
                stage["is_interviewing_stage"],
                name.to_lowercase().contains("interview"),
                "{name}"
            );
            assert_eq!(stage["is_rejection_stage"], name == "Rejected", "{name}");
        }
        assert_eq!(reply.text, client.get(&format!("{PATH}/{}", reply.id())).expect(200).text);
    }
}

#[apply(each_engine)]
fn stages_are_ordered_as_given(workspace: &Workspace) {
    let client = workspace.writer();
    let names: Vec<_> = (0..50).rev().map(|number| format!("Stage {number}")).collect();
    let stages: Vec<_> = names.iter().map(|name| json!({ "name": format!(" {name} ") })).collect();
    let body =
        json!({ "name": "Engineer", "client_company_name": "Acme", "pipeline_stages": stages });
    let reply = client.post(PATH, &body).expect(201);
    let stages = &reply.data()["pipeline_stages"];
    assert_eq!(strings(stages, "name"), names);
    let orders: Vec<_> = stages
        .as_array()
        .unwrap()
        .iter()
        .map(|stage| stage["stage_order"].as_u64().unwrap())
        .collect();
    assert_eq!(orders, (1..=50).collect::<Vec<_>>());
}

#[apply(each_engine)]
fn stages_that_make_no_pipeline_are_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let many: Vec<_> = (0..51).map(|number| json!({ "name": format!("Stage {number}") })).collect();
    for (stages, field) in [
        (json!([]), "pipeline_stages"),
        (json!([{ "name": "Rejected", "is_rejection_stage": true }]), "pipeline_stages"),
        (json!(many), "pipeline_stages"),
        (json!("Applied"), "pipeline_stages"),
        (json!(["Applied"]), "pipeline_stages[0]"),
        (json!([{ "name": "Applied" }, {}]), "pipeline_stages[1].name"),
        (json!([{ "name": "Applied" }, { "name": " " }]), "pipeline_stages[1].name"),
        (json!([{ "name": "Applied", "stage_order": 1 }]), "pipeline_stages[0].stage_order"),
        (
            json!([{ "name": "Applied", "is_rejection_stage": "no" }]),
            "pipeline_stages[0].is_rejection_stage",
        ),
        (json!([{ "name": "x".repeat(256) }]), "pipeline_stages[0].name"),
    ] {
        let body =
            json!({ "name": "Engineer", "client_company_name": "Acme", "pipeline_stages": stages });
        let reply = client.post(PATH, &body).refused(400, "INVALID_REQUEST");
        assert!(reply.detail_fields().contains(&field), "{field}: {reply:#?}");
    }
    assert_eq!(client.get(PATH).json["meta"]["total"], 0);
}

#[apply(each_engine)]
fn a_job_needs_a_name_and_a_client(workspace: &Workspace) {
    let client = workspace.writer();
    for (body, fields) in [
        (json!({}), vec!["client_company_name", "name"]),
        (json!({ "name": "Engineer" }), vec!["client_company_name"]),
        (json!({ "name": " ", "client_company_name": "Acme" }), vec!["name"]),
        (
            json!({ "name": "Engineer", "client_company_name": null, "client_company_id": "" }),
            vec!["client_company_name"],
        ),
    ] {
        let reply = client.post(PATH, &body).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), fields, "{body}");
        assert!(fields.iter().all(|field| reply.flaw(field) == "REQUIRED"), "{reply:#?}");
    }
}

#[apply(each_engine)]
fn the_client_is_named_by_its_id_or_its_name(workspace: &Workspace) {
    let client = workspace.writer();
    let first = client.new_job("One", "Acme Rockets");
    for body in [
        json!({ "name": "Two", "client_company_name": "acme  ROCKETS" }),
        json!({ "name": "Three", "client_company_id": first.client_company }),
        json!({ "name": "Four", "client_company_id": first.client_company,
            "client_company_name": null }),
    ] {
        let reply = client.post(PATH, &body).expect(201);
        let company = [&reply.data()["client_company_id"], &reply.data()["client_company_name"]];
        assert_eq!(company, [first.client_company.as_str(), "Acme Rockets"], "{body}");
    }
    let contradiction = json!({ "name": "Five", "client_company_id": first.client_company,
        "client_company_name": "Umbrella" });
    client.post(PATH, &contradiction).refused(400, "INVALID_REQUEST");
    let unknown = json!({ "name": "Six", "client_company_id": "cmp_00000000000000000000000000" });
    let reply = client.post(PATH, &unknown).refused(404, "NOT_FOUND");
    assert_eq!(reply.detail_fields(), ["client_company_id"]);
}

#[apply(each_engine)]
fn a_new_job_is_open_unless_it_says_otherwise(workspace: &Workspace) {
    let client = workspace.writer();
    let mut ids = Vec::new();
    for status in ["Open", "On hold", "Filled", "Closed"] {
        let reply = client
            .post(
                PATH,
                &json!({ "name": "Engineer", "client_company_name": "Acme",
                "job_status_name": status }),
            )
            .expect(201);
        assert_eq!(reply.data()["job_status_name"], status);
        ids.push(reply.string("job_status_id"));
    }
    let plain = client
        .post(PATH, &json!({ "name": "Engineer", "client_company_name": "Acme" }))
        .expect(201);
    assert_eq!(
        (plain.string("job_status_name"), &plain.string("job_status_id")),
        ("Open".to_owned(), &ids[0])
    );
    assert_eq!(
        (&plain.data()["is_archived"], &plain.data()["candidate_count"]),
        (&json!(false), &json!(0))
    );
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
}

#[apply(each_engine)]
fn an_unknown_status_is_not_found(workspace: &Workspace) {
    let client = workspace.writer();
    let body =
        json!({ "name": "Engineer", "client_company_name": "Acme", "job_status_name": "Paused" });
    let reply = client.post(PATH, &body).refused(404, "NOT_FOUND");
    assert_eq!(reply.detail_fields(), ["job_status_name"]);
    let job = client.new_job("Engineer", "Acme");
    for (field, value) in [
        ("job_status_name", "Paused"),
        ("job_status_id", "sts_00000000000000000000000000"),
        ("job_status_id", "Open"),
    ] {
        let reply = client
            .patch(&job.path(), &json!({ field: value, "name": "Changed" }))
            .refused(404, "NOT_FOUND");
        assert_eq!(reply.detail_fields(), [field]);
    }
    assert_eq!(client.get(&job.path()).data()["name"], "Engineer");
}

#[apply(each_engine)]
fn a_job_is_changed_field_by_field(workspace: &Workspace) {
    let client = workspace.writer();
    let closed =
        json!({ "name": "Old", "client_company_name": "Acme", "job_status_name": "Closed" });
    let closed = client.post(PATH, &closed).expect(201).string("job_status_id");
    let job = client.new_job("Engineer", "Acme");
    let mut expected = client.get(&job.path()).data().clone();
    for (patch, changed) in [
        (json!({}), json!({})),
        (json!({ "name": " Chief engineer " }), json!({ "name": "Chief engineer" })),
        (json!({ "is_archived": true }), json!({ "is_archived": true })),
        (
            json!({ "job_status_id": closed }),
            json!({ "job_status_id": closed, "job_status_name": "Closed" }),
        ),
        (
            json!({ "is_archived": false, "name": "Engineer" }),
            json!({ "is_archived": false, "name": "Engineer" }),
        ),
    ] {
        for (field, value) in changed.as_object().unwrap() {
            expected[field.as_str()] = value.clone();
        }
        let reply = client.patch(&job.path(), &patch).expect(200);
        assert_eq!(reply.data(), &expected, "{patch}");
        assert_eq!(reply.text, client.get(&job.path()).text);
    }
    let held = client.patch(&job.path(), &json!({ "job_status_name": "On hold" })).expect(200);
    assert_eq!(held.data()["job_status_name"], "On hold");
    assert_ne!(held.data()["job_status_id"], closed.as_str());
    client
        .patch(&job.path(), &json!({ "job_status_name": "Open", "job_status_id": closed }))
        .refused(400, "INVALID_REQUEST");
}

#[apply(each_engine)]
fn a_job_changes_its_client(workspace: &Workspace) {
    let client = workspace.writer();
    let (acme, umbrella) = (client.new_job("One", "Acme"), client.new_job("Two", "Umbrella"));
    let company = |patch: Value| {
        let reply = client.patch(&acme.path(), &patch).expect(200);
        (reply.string("client_company_id"), reply.string("client_company_name"))
    };
    assert_eq!(
        company(json!({ "client_company_id": umbrella.client_company })),
        (umbrella.client_company, "Umbrella".to_owned())
    );
    assert_eq!(
        company(json!({ "client_company_name": "acme" })),
        (acme.client_company.clone(), "Acme".to_owned())
    );
    assert_eq!(company(json!({ "client_company_name": "Initech" })).1, "Initech");
}

#[apply(each_engine)]
fn nothing_of_a_job_can_be_cleared(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let before = client.get(&job.path()).text;
    for field in [
        "name",
        "job_status_name",
        "job_status_id",
        "is_archived",
        "client_company_name",
        "client_company_id",
    ] {
        let reply =
            client.patch(&job.path(), &json!({ field: null })).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], "REQUIRED"));
    }
    assert_eq!(client.get(&job.path()).text, before);
}

#[apply(each_engine)]
fn two_jobs_may_have_the_same_name(workspace: &Workspace) {
    let client = workspace.writer();
    let (first, second) = (client.new_job("Engineer", "Acme"), client.new_job("Engineer", "Acme"));
    assert_ne!(first.id, second.id);
    assert_eq!(first.client_company, second.client_company);
}

#[apply(each_engine)]
fn a_change_is_seen_wherever_the_job_is(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    client
        .patch(&job.path(), &json!({ "name": "Chief engineer", "client_company_name": "Umbrella" }))
        .expect(200);
    let person = client.person(candidate["person_id"].as_str().unwrap());
    let seen = [&person["jobs"][0]["job_name"], &person["jobs"][0]["job_client_company_name"]];
    assert_eq!(seen, ["Chief engineer", "Umbrella"]);
    let listed = client.get(PATH).expect(200);
    assert_eq!(
        [&listed.entries()[0]["name"], &listed.entries()[0]["client_company_name"]],
        ["Chief engineer", "Umbrella"]
    );
}
