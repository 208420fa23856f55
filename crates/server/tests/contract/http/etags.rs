//! `ETag` on reads, `If-None-Match` and `If-Match`.

use serde_json::{Value, json};

use crate::support::{Client, Workspace, World, apply, each_engine, together};

fn reads(world: &World) -> [String; 3] {
    [
        format!("/v1/persons/{}", world.person),
        format!("/v1/candidates/{}", world.candidate),
        world.job.path(),
    ]
}

/// The writes that look at `If-Match`, and the read whose tag they want.
fn guarded_writes(world: &World) -> [(&'static str, String, Value, String); 4] {
    let [person, candidate, job] = reads(world);
    [
        ("PATCH", person.clone(), json!({ "current_job_title": "Countess" }), person.clone()),
        (
            "PUT",
            format!("{person}/history"),
            json!({ "certifications": [{ "name": "One" }] }),
            person,
        ),
        ("PATCH", candidate.clone(), json!({ "stage_name": "Offer" }), candidate),
        ("PATCH", job.clone(), json!({ "name": "Chief engineer" }), job),
    ]
}

fn tag(client: &Client, path: &str) -> String {
    client.get(path).expect(200).etag().to_owned()
}

#[apply(each_engine)]
fn every_single_read_has_a_strong_tag(workspace: &Workspace) {
    let client = workspace.writer();
    for path in reads(&World::build(&client)) {
        let first = tag(&client, &path);
        assert!(first.len() > 2 && first.starts_with('"') && first.ends_with('"'), "{first}");
        assert_eq!(tag(&client, &path), first);
    }
}

#[apply(each_engine)]
fn what_has_not_changed_is_not_sent_again(workspace: &Workspace) {
    let client = workspace.writer();
    for path in reads(&World::build(&client)) {
        let current = tag(&client, &path);
        for sent in [
            current.clone(),
            format!("\"other\", {current}"),
            format!("W/{current}"),
            "*".to_owned(),
        ] {
            let reply = client.with("if-none-match", &sent).get(&path).expect(304);
            assert_eq!((reply.text.as_str(), reply.etag()), ("", current.as_str()), "{sent}");
            assert!(reply.header("x-request-id").is_some());
        }
        client.with("if-none-match", "\"other\"").get(&path).expect(200);
    }
}

#[apply(each_engine)]
fn a_tag_changes_with_whatever_the_answer_shows(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let person = format!("/v1/persons/{}", world.person);
    let candidate = format!("/v1/candidates/{}", world.candidate);
    let more = client.new_person(&json!({ "name": "Grace" }));
    let second_job = client.new_job("Designer", "Acme");
    for (method, path, body) in [
        ("PATCH", &person, json!({ "current_job_title": "Countess" })),
        ("PATCH", &person, json!({ "name": "Ada King" })),
        ("PATCH", &person, json!({ "company_name": "Umbrella" })),
        ("PATCH", &person, json!({ "job_id": second_job.id })),
        ("PUT", &format!("{person}/history"), json!({ "certifications": [{ "name": "One" }] })),
        (
            "POST",
            &"/v1/persons".to_owned(),
            json!({ "name": "Ada", "external_source_id": "crm-1", "phone_numbers": ["030 1234"] }),
        ),
        ("PATCH", &candidate, json!({ "stage_name": "Offer" })),
        ("PATCH", &world.job.path(), json!({ "name": "Chief engineer" })),
        ("PATCH", &world.job.path(), json!({ "client_company_name": "Initech" })),
        ("PATCH", &world.job.path(), json!({ "job_status_name": "Filled" })),
        ("POST", &world.job.candidates_path(), json!({ "person_id": more })),
    ] {
        let before = reads(&world).map(|path| client.get(&path).expect(200));
        let reply = client.send(method, path, Some(&body));
        assert!([200, 201].contains(&reply.status), "{reply:#?}");
        let mut any_changed = false;
        for (before, path) in before.iter().zip(reads(&world)) {
            let after = client.get(&path).expect(200);
            any_changed |= after.text != before.text;
            assert!(
                after.text == before.text || after.etag() != before.etag(),
                "{body} changed {path} under its tag"
            );
        }
        assert!(any_changed, "{body}");
    }
}

#[apply(each_engine)]
fn a_write_with_the_current_tag_passes(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    for (method, path, body, read) in guarded_writes(&world) {
        let current = tag(&client, &read);
        client.with("if-match", &current).send(method, &path, Some(&body)).expect(200);
        let current = tag(&client, &read);
        client
            .with("if-match", &format!("\"other\", {current}"))
            .send(method, &path, Some(&body))
            .expect(200);
        client.with("if-match", "*").send(method, &path, Some(&body)).expect(200);
    }
}

#[apply(each_engine)]
fn a_write_with_an_old_tag_is_refused_and_changes_nothing(workspace: &Workspace) {
    let client = workspace.writer();
    for (index, (method, path, body, read)) in
        guarded_writes(&World::build(&client)).into_iter().enumerate()
    {
        let old = tag(&client, &read);
        client.send(method, &path, Some(&body)).expect(200);
        let change = match index {
            0 => json!({ "current_job_title": "Nobody" }),
            1 => json!({ "certifications": [] }),
            2 => json!({ "stage_name": "Rejected" }),
            _ => json!({ "name": "Nothing" }),
        };
        let before = client.get(&read).expect(200);
        for sent in [old.as_str(), "\"nonsense\"", &format!("W/{}", before.etag())] {
            client
                .with("if-match", sent)
                .send(method, &path, Some(&change))
                .refused(412, "PRECONDITION_FAILED");
        }
        let after = client.get(&read).expect(200);
        assert_eq!((after.text.as_str(), after.etag()), (before.text.as_str(), before.etag()));
    }
}

#[apply(each_engine)]
fn of_many_writes_with_one_tag_exactly_one_passes(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let person = format!("/v1/persons/{}", world.person);
    let guarded = client.with("if-match", &tag(&client, &person));
    let statuses = together(12, |number| {
        guarded.patch(&person, &json!({ "current_job_title": format!("Title {number}") })).status
    });
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 412].contains(status)), "{statuses:?}");
}
