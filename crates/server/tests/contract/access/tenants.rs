//! Two workspaces in one database: nothing of one can be seen, changed, matched or inferred from
//! the other.

use serde_json::{Value, json};

use crate::support::{Client, OPERATIONS, Workspace, World, apply, each_engine, next_millisecond};

/// A workspace with records, and a client of another that has its own.
fn two_workspaces(workspace: &Workspace) -> (Client, World, Client, World) {
    let (owner, stranger) =
        (workspace.client_of("owner", "write"), workspace.client_of("stranger", "write"));
    let (theirs, own) = (World::build(&owner), World::build(&stranger));
    (owner, theirs, stranger, own)
}

fn without_request_id(mut body: Value) -> Value {
    body["error"]["request_id"].take();
    body
}

/// Invariant 9.
#[apply(each_engine)]
fn no_operation_reaches_a_record_of_another_workspace(workspace: &Workspace) {
    let (owner, theirs, stranger, _) = two_workspaces(workspace);
    let before = theirs.contents(&owner);
    for operation in OPERATIONS.iter().filter(|operation| operation.names_a_record()) {
        operation.send(&stranger, &theirs).refused(404, "NOT_FOUND");
    }
    for operation in OPERATIONS.iter().filter(|operation| !operation.names_a_record()) {
        let reply = operation.send(&stranger, &theirs);
        assert!([200, 201, 202].contains(&reply.status), "{reply:#?}");
        for id in [
            &theirs.person,
            &theirs.candidate,
            &theirs.job.id,
            &theirs.employer,
            &theirs.job.client_company,
        ] {
            assert!(!reply.text.contains(id.as_str()), "{reply:#?}");
        }
    }
    assert_eq!(theirs.contents(&owner), before);
}

#[apply(each_engine)]
fn a_record_of_another_workspace_is_as_unknown_as_one_that_never_was(workspace: &Workspace) {
    let (_, theirs, stranger, own) = two_workspaces(workspace);
    for operation in OPERATIONS.iter().filter(|operation| operation.names_a_record()) {
        let path = operation.path_in(&theirs);
        let (start, end) = path.split_once('_').unwrap();
        let never = format!("{start}_{}{}", "0".repeat(26), &end[26..]);
        let body = operation.body_in(&own);
        let other = stranger.send(operation.method, &path, body.as_ref()).expect(404);
        let unknown = stranger.send(operation.method, &never, body.as_ref()).expect(404);
        let other = other.text.replace(&end[..26], &"0".repeat(26));
        let other = without_request_id(serde_json::from_str(&other).unwrap());
        assert_eq!(
            other,
            without_request_id(unknown.json),
            "{} {}",
            operation.method,
            operation.path
        );
    }
}

#[apply(each_engine)]
fn no_reference_in_a_body_reaches_another_workspace(workspace: &Workspace) {
    let (owner, theirs, stranger, own) = two_workspaces(workspace);
    let before = (theirs.contents(&owner), own.contents(&stranger));
    let person = format!("/v1/persons/{}", own.person);
    let candidate = format!("/v1/candidates/{}", own.candidate);
    let company = theirs.job.client_company.as_str();
    let stage = theirs.job.stage("Interview");
    let status = owner.get(&theirs.job.path()).string("job_status_id");
    for (method, path, body, field) in [
        ("POST", "/v1/persons", json!({ "name": "Ada", "job_id": theirs.job.id }), "job_id"),
        ("POST", "/v1/persons", json!({ "name": "Ada", "client_id": company }), "client_id"),
        ("PATCH", &person, json!({ "job_id": theirs.job.id }), "job_id"),
        (
            "PUT",
            &format!("{person}/history"),
            json!({ "certifications": [{ "company_id": company }] }),
            "certifications[0].company_id",
        ),
        (
            "POST",
            "/v1/jobs",
            json!({ "name": "Spy", "client_company_id": company }),
            "client_company_id",
        ),
        ("PATCH", &own.job.path(), json!({ "client_company_id": company }), "client_company_id"),
        ("PATCH", &own.job.path(), json!({ "job_status_id": status }), "job_status_id"),
        ("POST", &own.job.candidates_path(), json!({ "person_id": theirs.person }), "person_id"),
        ("PATCH", &candidate, json!({ "stage_id": stage }), "stage_id"),
    ] {
        let reply = stranger.send(method, path, Some(&body)).refused(404, "NOT_FOUND");
        assert_eq!(reply.detail_fields(), [field], "{method} {path}");
    }
    assert_eq!((theirs.contents(&owner), own.contents(&stranger)), before);
}

#[apply(each_engine)]
fn no_filter_reaches_another_workspace(workspace: &Workspace) {
    let (owner, theirs, stranger, own) = two_workspaces(workspace);
    let status = owner.get(&theirs.job.path()).string("job_status_id");
    for (path, filter, id) in [
        ("/v1/jobs".to_owned(), "client_company_id", theirs.job.client_company.as_str()),
        ("/v1/jobs".to_owned(), "status", &status),
        (own.job.candidates_path(), "stage_id", theirs.job.stage("Sourced")),
    ] {
        let (kind, _) = id.split_once('_').unwrap();
        let never = format!("{kind}_{}", "0".repeat(26));
        let other =
            stranger.get(&format!("{path}?{filter}={id}")).expect(400).text.replace(id, &never);
        let unknown = stranger.get(&format!("{path}?{filter}={never}")).expect(400);
        let other = serde_json::from_str(&other).unwrap();
        assert_eq!(without_request_id(other), without_request_id(unknown.json), "{filter}");
    }
}

#[apply(each_engine)]
fn nobody_matches_across_workspaces(workspace: &Workspace) {
    let (owner, stranger) =
        (workspace.client_of("owner", "write"), workspace.client_of("stranger", "write"));
    for body in [
        json!({ "name": "Ada", "external_source_id": "crm-1" }),
        json!({ "name": "Ada", "social_url": "https://social.example/in/ada" }),
        json!({ "name": "Ada", "emails": ["ada@x.example"] }),
    ] {
        let theirs = owner.new_person(&body);
        let reply = stranger.post("/v1/persons?on_duplicate=error", &body).expect(201);
        assert_ne!(reply.id(), theirs, "{body}");
    }
    let person = owner.new_person(&json!({ "name": "Mary", "emails": ["mary@x.example"] }));
    let other = stranger.new_person(&json!({ "name": "Mary" }));
    stranger.update_person(
        &other,
        &json!({ "work_email": "mary@x.example", "social_url": "https://social.example/in/mary" }),
    );
    assert_eq!(
        owner
            .post("/v1/persons", &json!({ "name": "Mary", "emails": ["mary@x.example"] }))
            .expect(200)
            .id(),
        person
    );
}

#[apply(each_engine)]
fn names_are_looked_up_in_the_own_workspace_only(workspace: &Workspace) {
    let (owner, stranger) =
        (workspace.client_of("owner", "write"), workspace.client_of("stranger", "write"));
    let job = owner.new_job("Secret project", "Umbrella");
    stranger
        .post("/v1/persons", &json!({ "name": "Ada", "job_name": "Secret project" }))
        .refused(404, "NOT_FOUND");
    let own = stranger.new_job("Secret project", "Umbrella");
    assert_ne!(own.client_company, job.client_company);
    let reply = stranger
        .post(
            "/v1/persons",
            &json!({ "name": "Ada", "job_name": "Secret project", "company_name": "Umbrella" }),
        )
        .expect(201);
    assert_eq!(stranger.candidate(&reply.string("candidate_id"))["job_id"], own.id.as_str());
    assert_eq!(stranger.person(&reply.id())["current_company_id"], own.client_company.as_str());
    assert_eq!(owner.get(&job.path()).data()["candidate_count"], 0);
    assert_eq!(owner.get("/v1/jobs").json["meta"]["total"], 1);
}

#[apply(each_engine)]
fn an_idempotency_key_belongs_to_its_workspace(workspace: &Workspace) {
    let owner = workspace.client_of("owner", "write").with("idempotency-key", "same");
    let stranger = workspace.client_of("stranger", "write").with("idempotency-key", "same");
    let theirs = owner.post("/v1/persons", &json!({ "name": "Ada" })).expect(201);
    let other = stranger.post("/v1/persons", &json!({ "name": "Grace" })).expect(201);
    assert_eq!(other.header("idempotency-replayed"), None);
    assert_ne!(other.id(), theirs.id());
    let same = stranger.post("/v1/persons", &json!({ "name": "Grace" })).expect(201);
    assert_eq!(same.id(), other.id());
}

#[apply(each_engine)]
fn a_cursor_does_not_open_another_workspace(workspace: &Workspace) {
    let (owner, stranger) =
        (workspace.client_of("owner", "write"), workspace.client_of("stranger", "write"));
    for number in 0..3 {
        owner.new_job(&format!("Theirs {number}"), "Acme");
        next_millisecond();
        stranger.new_job(&format!("Own {number}"), "Acme");
    }
    let cursor = owner.get("/v1/jobs?cursor=&limit=1").json["meta"]["next_cursor"]
        .as_str()
        .unwrap()
        .to_owned();
    let reply = stranger.get(&format!("/v1/jobs?cursor={cursor}"));
    assert!(!reply.text.contains("Theirs"), "{reply:#?}");
    assert!(
        reply.status == 400
            || reply
                .expect(200)
                .entries()
                .iter()
                .all(|job| job["name"].as_str().unwrap().starts_with("Own"))
    );
}
