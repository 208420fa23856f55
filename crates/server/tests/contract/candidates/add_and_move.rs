//! Putting persons on jobs and moving them through the stages.

use serde_json::{Value, json};

use crate::support::{Workspace, apply, each_engine, is_time, next_millisecond, strings};

#[apply(each_engine)]
fn a_person_is_put_on_a_job_once(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let person = client.new_person(&json!({ "name": "Ada" }));
    let body = json!({ "person_id": person });
    let first = client.post(&job.candidates_path(), &body).expect(201);
    let second = client.post(&job.candidates_path(), &body).expect(200);
    assert_eq!(first.text, second.text);
    assert_eq!(first.text, client.get(&format!("/v1/candidates/{}", first.id())).expect(200).text);
    assert_eq!([&first.data()["person_id"], &first.data()["job_id"]], [&person, &job.id]);
    assert_eq!(first.data()["current_pipeline_stage_name"], "Sourced");
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 1);
}

#[apply(each_engine)]
fn a_person_may_be_on_many_jobs(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let jobs: Vec<_> =
        ["One", "Two", "Three"].iter().map(|name| client.new_job(name, "Acme").id).collect();
    for job in &jobs {
        client
            .post(&format!("/v1/jobs/{job}/candidates"), &json!({ "person_id": person }))
            .expect(201);
    }
    let read = client.person(&person);
    assert_eq!(strings(&read["jobs"], "job_id"), jobs);
    assert_eq!(strings(&read["jobs"], "job_name"), ["One", "Two", "Three"]);
}

#[apply(each_engine)]
fn what_is_no_person_cannot_be_put_on_a_job(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    for person in ["per_00000000000000000000000000", "Ada", &job.id, "per_"] {
        let reply = client
            .post(&job.candidates_path(), &json!({ "person_id": person }))
            .refused(404, "NOT_FOUND");
        assert_eq!(reply.detail_fields(), ["person_id"]);
    }
    for body in [json!({}), json!({ "person_id": null }), json!({ "person_id": " " })] {
        let reply = client.post(&job.candidates_path(), &body).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.flaw("person_id"), "REQUIRED", "{body}");
    }
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 0);
}

#[apply(each_engine)]
fn a_move_adds_to_the_history(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    let path = format!("/v1/candidates/{}", candidate["id"].as_str().unwrap());
    next_millisecond();
    let moved = client.patch(&path, &json!({ "stage_id": job.stage("Interview") })).expect(200);
    assert_eq!(moved.text, client.get(&path).expect(200).text);
    let data = moved.data();
    assert_eq!(data["current_pipeline_stage_name"], "Interview");
    assert_eq!(data["created_at"], candidate["created_at"]);
    assert_eq!(strings(&data["pipeline_stage_history"], "stage_name"), ["Sourced", "Interview"]);
    let dates = strings(&data["pipeline_stage_history"], "stage_date");
    assert!(dates.iter().all(|date| is_time(date)) && dates[0] < dates[1], "{dates:?}");
    assert_eq!(data["current_pipeline_stage_date"], dates[1].as_str());
    assert_eq!(candidate["current_pipeline_stage_date"], dates[0].as_str());
}

#[apply(each_engine)]
fn a_stage_may_be_entered_again(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    let path = format!("/v1/candidates/{}", candidate["id"].as_str().unwrap());
    for stage in ["Rejected", "Sourced", "Hired", "Contacted", "Hired"] {
        client.patch(&path, &json!({ "stage_name": stage })).expect(200);
    }
    let history = client.get(&path).data()["pipeline_stage_history"].clone();
    assert_eq!(
        strings(&history, "stage_name"),
        ["Sourced", "Rejected", "Sourced", "Hired", "Contacted", "Hired"]
    );
}

#[apply(each_engine)]
fn a_move_to_the_same_stage_changes_nothing(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    let path = format!("/v1/candidates/{}", candidate["id"].as_str().unwrap());
    let before = client.get(&path).expect(200);
    for body in [
        json!({ "stage_id": job.stage("Sourced") }),
        json!({ "stage_name": "Sourced" }),
        json!({ "stage_id": job.stage("Sourced"), "from_stage_id": job.stage("Sourced") }),
    ] {
        assert_eq!(client.patch(&path, &body).expect(200).text, before.text, "{body}");
    }
    let after = client.get(&path).expect(200);
    assert_eq!((after.etag(), &after.text), (before.etag(), &before.text));
}

#[apply(each_engine)]
fn a_stage_is_named_by_its_id_or_its_name(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    let path = format!("/v1/candidates/{}", candidate["id"].as_str().unwrap());
    for (body, stage) in [
        (json!({ "stage_id": job.stage("Offer") }), "Offer"),
        (json!({ "stage_name": "Final interview" }), "Final interview"),
        (json!({ "stage_name": null, "stage_id": job.stage("Hired") }), "Hired"),
        (json!({ "stage_name": " Screening ", "stage_id": null }), "Screening"),
    ] {
        let moved = client.patch(&path, &body).expect(200);
        assert_eq!(moved.data()["current_pipeline_stage_name"], stage);
        assert_eq!(moved.data()["current_pipeline_stage_id"], job.stage(stage));
    }
    let contradiction = json!({ "stage_name": "Hired", "stage_id": job.stage("Offer") });
    client.patch(&path, &contradiction).refused(400, "INVALID_REQUEST");
    assert_eq!(client.get(&path).data()["current_pipeline_stage_name"], "Screening");
}

#[apply(each_engine)]
fn a_stage_that_the_job_lacks_is_not_found(workspace: &Workspace) {
    let client = workspace.writer();
    let (job, other) = (client.new_job("Engineer", "Acme"), client.new_job("Designer", "Acme"));
    let candidate = client.new_candidate(&job, "Ada");
    let path = format!("/v1/candidates/{}", candidate["id"].as_str().unwrap());
    for (field, stage) in [
        ("stage_id", other.stage("Interview")),
        ("stage_id", "stg_00000000000000000000000000"),
        ("stage_id", "Interview"),
        ("stage_name", "Lunch"),
    ] {
        let reply = client.patch(&path, &json!({ field: stage })).refused(404, "NOT_FOUND");
        assert_eq!(reply.detail_fields(), [field], "{stage}");
    }
    assert_eq!(client.get(&path).data(), &candidate);
}

#[apply(each_engine)]
fn a_move_needs_a_stage(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    let path = format!("/v1/candidates/{}", candidate["id"].as_str().unwrap());
    for body in [
        json!({}),
        json!({ "stage_id": null, "stage_name": "" }),
        json!({ "from_stage_id": job.stage("Sourced") }),
    ] {
        let reply = client.patch(&path, &body).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.flaw("stage_id"), "REQUIRED", "{body}");
    }
}

#[apply(each_engine)]
fn a_move_from_where_the_candidate_is_no_more_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    let path = format!("/v1/candidates/{}", candidate["id"].as_str().unwrap());
    let step = |from: &str, to: &str| {
        client.patch(&path, &json!({ "stage_name": to, "from_stage_id": job.stage(from) }))
    };
    step("Sourced", "Contacted").expect(200);
    step("Sourced", "Rejected").refused(409, "STAGE_CONFLICT");
    step("Interview", "Offer").refused(409, "STAGE_CONFLICT");
    assert_eq!(client.get(&path).data()["current_pipeline_stage_name"], "Contacted");
    step("Contacted", "Interview").expect(200);
}

#[apply(each_engine)]
fn a_candidate_shows_what_is_known_of_the_person_now(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    client.update_person(
        candidate["person_id"].as_str().unwrap(),
        &json!({ "name": "Ada King", "current_job_title": "Countess", "company_name": "Acme" }),
    );
    let single = client.candidate(candidate["id"].as_str().unwrap());
    let listed = client.get(&job.candidates_path()).expect(200).entries()[0].clone();
    let now = |record: &Value| {
        ["name", "current_job_title", "current_company_name", "current_company_id"]
            .map(|field| record[field].clone())
    };
    assert_eq!(
        now(&single),
        ["Ada King", "Countess", "Acme", &job.client_company].map(Value::from)
    );
    assert_eq!(now(&listed), now(&single));
}

#[apply(each_engine)]
fn moves_do_not_change_the_count(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidate = client.new_candidate(&job, "Ada");
    client.new_candidate(&job, "Grace");
    client
        .patch(
            &format!("/v1/candidates/{}", candidate["id"].as_str().unwrap()),
            &json!({ "stage_name": "Rejected" }),
        )
        .expect(200);
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 2);
    assert_eq!(client.get(&job.candidates_path()).json["meta"]["total"], 2);
}
