//! Creating a person on a job, as the contact of a client, at a company.

use serde_json::{Value, json};

use crate::support::{Workspace, apply, each_engine, strings};

const PATH: &str = "/v1/persons";

#[apply(each_engine)]
fn a_person_enters_at_the_first_stage_that_is_no_rejection(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job_with(&json!({
        "name": "Engineer",
        "client_company_name": "Acme",
        "pipeline_stages": [{ "name": "Unfit", "is_rejection_stage": true }, { "name": "New" },
            { "name": "Hired" }],
    }));
    let reply = client.post(PATH, &json!({ "name": "Ada", "job_id": job.id })).expect(201);
    let candidate = client.candidate(&reply.string("candidate_id"));
    assert_eq!([&candidate["person_id"], &candidate["job_id"]], [&reply.id(), &job.id]);
    assert_eq!(candidate["current_pipeline_stage_id"], job.stage("New"));
    assert_eq!(strings(&candidate["pipeline_stage_history"], "stage_name"), ["New"]);
    let person = client.person(&reply.id());
    assert_eq!(person["jobs"][0]["candidate_id"], candidate["id"]);
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 1);
}

#[apply(each_engine)]
fn a_person_already_on_the_job_keeps_the_candidate(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let body = json!({ "name": "Ada", "external_source_id": "crm-1", "job_id": job.id });
    let candidate = client.post(PATH, &body).expect(201).string("candidate_id");
    client
        .patch(&format!("/v1/candidates/{candidate}"), &json!({ "stage_name": "Offer" }))
        .expect(200);
    assert_eq!(client.post(PATH, &body).expect(200).string("candidate_id"), candidate);
    assert_eq!(client.candidate(&candidate)["current_pipeline_stage_name"], "Offer");
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 1);
}

#[apply(each_engine)]
fn a_match_is_attached_to_the_job(workspace: &Workspace) {
    let client = workspace.writer();
    let (engineer, designer) =
        (client.new_job("Engineer", "Acme"), client.new_job("Designer", "Acme"));
    let body = |job: &str| json!({ "name": "Ada", "external_source_id": "crm-1", "job_id": job });
    let person = client.new_person(&body(&engineer.id));
    client.post(PATH, &body(&designer.id)).expect(200);
    assert_eq!(strings(&client.person(&person)["jobs"], "job_id"), [engineer.id, designer.id]);
    let without =
        client.post(PATH, &json!({ "name": "Ada", "external_source_id": "crm-1" })).expect(200);
    assert_eq!(without.data()["candidate_id"], Value::Null);
}

#[apply(each_engine)]
fn the_id_of_an_archived_job_goes_with_its_name(workspace: &Workspace) {
    let client = workspace.writer();
    let engineer = client.new_job("Engineer", "Acme");
    client.new_job("Engineer", "Acme");
    client.patch(&engineer.path(), &json!({ "is_archived": true })).expect(200);
    let body = json!({ "name": "Ada", "job_id": engineer.id,
        "job_name": "Engineer", "client_name": "Acme" });
    let reply = client.post(PATH, &body).expect(201);
    assert_eq!(client.candidate(&reply.string("candidate_id"))["job_id"], engineer.id.as_str());
    assert_eq!(reply.data()["client_contact_id"], Value::Null);
}

#[apply(each_engine)]
fn a_job_is_found_by_its_name(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Senior Engineer", "Acme");
    client.new_job("Engineer", "Acme");
    for name in ["Senior Engineer", "senior engineer", " SENIOR ENGINEER "] {
        let reply = client.post(PATH, &json!({ "name": "Ada", "job_name": name })).expect(201);
        assert_eq!(
            client.candidate(&reply.string("candidate_id"))["job_id"],
            job.id.as_str(),
            "{name}"
        );
    }
}

#[apply(each_engine)]
fn a_client_narrows_the_jobs_of_a_name(workspace: &Workspace) {
    let client = workspace.writer();
    let acme = client.new_job("Engineer", "Acme");
    let umbrella = client.new_job("Engineer", "Umbrella");
    for (field, value, job) in [
        ("client_name", "Acme", &acme),
        ("client_name", " umbrella ", &umbrella),
        ("client_id", acme.client_company.as_str(), &acme),
        ("client_id", umbrella.client_company.as_str(), &umbrella),
    ] {
        let reply = client
            .post(PATH, &json!({ "name": "Ada", "job_name": "Engineer", field: value }))
            .expect(201);
        assert_eq!(
            client.candidate(&reply.string("candidate_id"))["job_id"],
            job.id.as_str(),
            "{field} {value}"
        );
        assert_eq!(reply.data()["client_contact_id"], Value::Null);
    }
    client.new_job("Designer", "Acme");
    let body =
        json!({ "name": "Ada", "job_name": "Designer", "client_id": umbrella.client_company });
    client.post(PATH, &body).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn an_archived_job_is_not_found_by_its_name(workspace: &Workspace) {
    let client = workspace.writer();
    let (old, new) = (client.new_job("Engineer", "Acme"), client.new_job("Engineer", "Acme"));
    client.patch(&old.path(), &json!({ "is_archived": true })).expect(200);
    let reply = client.post(PATH, &json!({ "name": "Ada", "job_name": "Engineer" })).expect(201);
    assert_eq!(client.candidate(&reply.string("candidate_id"))["job_id"], new.id.as_str());
    client.patch(&new.path(), &json!({ "is_archived": true })).expect(200);
    client.post(PATH, &json!({ "name": "Ada", "job_name": "Engineer" })).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn a_job_that_is_not_there_is_never_made(workspace: &Workspace) {
    let client = workspace.writer();
    for (field, body) in [
        ("job_name", json!({ "name": "Ada", "job_name": "Engineer" })),
        ("job_id", json!({ "name": "Ada", "job_id": "job_00000000000000000000000000" })),
        ("job_id", json!({ "name": "Ada", "job_id": "Engineer" })),
        ("client_id", json!({ "name": "Ada", "client_id": "cmp_00000000000000000000000000" })),
    ] {
        let reply = client.post(PATH, &body).refused(404, "NOT_FOUND");
        assert_eq!(
            (reply.detail_fields(), reply.flaw(field)),
            (vec![field], "NOT_FOUND"),
            "{body}"
        );
    }
    client
        .post(PATH, &json!({ "name": "Ada", "job_name": "Engineer", "client_name": "Acme" }))
        .refused(404, "NOT_FOUND");
    assert_eq!(client.get("/v1/jobs").json["meta"]["total"], 0);
}

#[apply(each_engine)]
fn a_name_that_several_jobs_have_is_refused_with_their_ids(workspace: &Workspace) {
    let client = workspace.writer();
    let jobs = [client.new_job("Engineer", "Acme").id, client.new_job("engineer", "Umbrella").id];
    let body = json!({ "name": "Ada", "job_name": "Engineer" });
    let reply = client.post(PATH, &body).refused(409, "AMBIGUOUS_JOB");
    assert_eq!(reply.record_ids(), jobs);
    let said = client.post("/v0/persons", &body).expect(409).json["error"].to_string();
    assert!(jobs.iter().all(|job| said.contains(job.as_str())), "{said}");
}

#[apply(each_engine)]
fn clients_that_contradict_each_other_are_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    client.new_job("Designer", "Umbrella");
    let body =
        |name: &str| json!({ "name": "Ada", "client_id": job.client_company, "client_name": name });
    let reply = client.post(PATH, &body("Umbrella")).refused(400, "INVALID_REQUEST");
    assert!(reply.text.contains("CONTRADICTION"), "{reply:#?}");
    let mut with_job = body("Umbrella");
    with_job["job_name"] = json!("Engineer");
    client.post(PATH, &with_job).refused(400, "INVALID_REQUEST");
    client.post(PATH, &body("ACME")).expect(201);
}

#[apply(each_engine)]
fn a_client_without_a_job_makes_the_person_its_contact(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let mut contacts = Vec::new();
    for body in [
        json!({ "name": "Ada", "external_source_id": "crm-1", "client_name": "Acme" }),
        json!({ "name": "Ada", "external_source_id": "crm-1", "client_id": job.client_company }),
        json!({ "name": "Ada", "external_source_id": "crm-1", "client_name": "A new client" }),
    ] {
        let reply = client.post(PATH, &body);
        assert!([200, 201].contains(&reply.status), "{reply:#?}");
        assert_eq!(reply.data()["candidate_id"], Value::Null);
        contacts.push(reply.string("client_contact_id"));
    }
    assert!(contacts.iter().all(|contact| contact.starts_with("ctc_")), "{contacts:?}");
    assert_eq!(contacts[0], contacts[1]);
    assert_ne!(contacts[0], contacts[2]);
    let again = client.post(PATH, &json!({ "name": "Grace", "client_name": "Acme" })).expect(201);
    assert_ne!(again.string("client_contact_id"), contacts[0]);
}

#[apply(each_engine)]
fn a_company_is_found_by_its_name_in_any_case_and_spacing(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme Rockets");
    for name in ["Acme Rockets", "ACME  rockets", " acme rockets "] {
        let person = client.new_person(&json!({ "name": "Ada", "company_name": name }));
        let person = client.person(&person);
        let company = [&person["current_company_id"], &person["current_company_name"]];
        assert_eq!(company, [job.client_company.as_str(), "Acme Rockets"], "{name}");
    }
    let other = client.new_person(&json!({ "name": "Ada", "company_name": "Acme" }));
    assert_ne!(client.person(&other)["current_company_id"], job.client_company.as_str());
}

#[apply(each_engine)]
fn nothing_is_stored_when_the_job_is_not_found(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let person = client.new_person(&json!({ "name": "Ada", "external_source_id": "crm-1" }));
    let before = client.person(&person);
    let known = json!({ "name": "Ada", "external_source_id": "crm-1",
        "current_job_title": "Analyst", "job_name": "Nope" });
    client.post(PATH, &known).refused(404, "NOT_FOUND");
    assert_eq!(client.person(&person), before);
    let mut fresh = json!({ "name": "Grace", "external_source_id": "crm-2", "job_id": "job_nope" });
    client.post(PATH, &fresh).refused(404, "NOT_FOUND");
    fresh["job_id"] = json!(job.id);
    client.post(PATH, &fresh).expect(201);
}
