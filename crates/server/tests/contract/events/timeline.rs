//! What happened to one person, one candidate or one job, newest first.

use serde_json::{Value, json};

use crate::support::{Client, Log, Workspace, World, apply, each_engine, sequences, types};

/// Somebody on two jobs, and somebody else on the first of them.
fn story(client: &Client) -> World {
    let world = World::build(client);
    client
        .patch(
            &format!("/v1/candidates/{}", world.candidate),
            &json!({ "stage_name": "Interview" }),
        )
        .expect(200);
    client.update_person(&world.person, &json!({ "current_job_title": "Countess" }));
    let other = client.new_job("Designer", "Acme");
    client.post(&other.candidates_path(), &json!({ "person_id": world.person })).expect(201);
    client.new_candidate(&world.job, "Grace");
    client
        .patch(&world.job.path(), &json!({ "name": "Chief engineer", "is_archived": true }))
        .expect(200);
    client.patch(&world.job.path(), &json!({ "is_archived": false })).expect(200);
    Log::begin(client);
    world
}

fn timeline(client: &Client, path: &str) -> Vec<Value> {
    client.get(&format!("{path}/timeline")).expect(200).entries().to_vec()
}

/// The events of the feed that are about that record, or name it as their `part`, newest first.
fn told(client: &Client, part: &str, id: &str) -> Vec<Value> {
    let feed = client.get("/v1/events?limit=1000").expect(200);
    let is_about = |event: &&Value| event["record_id"] == id || event["data"][part]["id"] == id;
    feed.entries().iter().filter(is_about).rev().cloned().collect()
}

#[apply(each_engine)]
fn a_person_has_their_own_events_and_those_of_their_candidates(workspace: &Workspace) {
    let client = workspace.writer();
    let world = story(&client);
    let events = timeline(&client, &format!("/v1/persons/{}", world.person));
    assert_eq!(
        types(&events),
        [
            "candidate.created",
            "person.updated",
            "candidate.moved",
            "candidate.created",
            "person.created"
        ]
    );
    assert_eq!(events, told(&client, "person", &world.person));
}

#[apply(each_engine)]
fn a_candidate_has_its_own_events(workspace: &Workspace) {
    let client = workspace.writer();
    let world = story(&client);
    let events = timeline(&client, &format!("/v1/candidates/{}", world.candidate));
    assert_eq!(types(&events), ["candidate.moved", "candidate.created"]);
    assert_eq!(events, told(&client, "candidate", &world.candidate));
}

#[apply(each_engine)]
fn a_job_has_its_own_events_and_those_of_its_candidates(workspace: &Workspace) {
    let client = workspace.writer();
    let world = story(&client);
    let events = timeline(&client, &world.job.path());
    let (kinds, first) = (
        types(&events),
        ["candidate.created", "candidate.moved", "candidate.created", "job.created"],
    );
    assert_eq!((kinds.len(), kinds[0], &kinds[3..]), (7, "job.restored", &first[..]));
    assert!(
        kinds[1..3].contains(&"job.updated") && kinds[1..3].contains(&"job.archived"),
        "{kinds:?}"
    );
    assert_eq!(events, told(&client, "job", &world.job.id));
}

#[apply(each_engine)]
fn pages_go_back_in_time(workspace: &Workspace) {
    let client = workspace.client("read");
    let world = story(&workspace.writer());
    let path = world.job.path();
    let all = timeline(&client, &path);
    let (mut pages, mut parameters) = (Vec::new(), String::new());
    loop {
        let page = client.get(&format!("{path}/timeline?limit=3{parameters}")).expect(200);
        pages.push(page.entries().to_vec());
        let Some(before) = page.json["meta"]["next_before"].as_u64() else { break };
        parameters = format!("&before={before}");
    }
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 1]);
    assert_eq!(pages.concat(), all);
    let whole = client.get(&format!("{path}/timeline")).expect(200);
    assert_eq!(whole.json["meta"], json!({ "next_before": null }));
    let [third, fourth] = [sequences(&all)[2], sequences(&all)[3]];
    let page = client.get(&format!("{path}/timeline?before={third}&limit=1")).expect(200);
    assert_eq!(sequences(page.entries()), [fourth]);
}

#[apply(each_engine)]
fn bad_parameters_are_refused_by_name(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    for path in [
        format!("/v1/persons/{}", world.person),
        format!("/v1/candidates/{}", world.candidate),
        world.job.path(),
    ] {
        for (parameter, field) in [
            ("limit=0", "limit"),
            ("limit=101", "limit"),
            ("limit=all", "limit"),
            ("before=soon", "before"),
            ("after=1", "after"),
        ] {
            let reply =
                client.get(&format!("{path}/timeline?{parameter}")).refused(400, "INVALID_REQUEST");
            assert_eq!(reply.detail_fields(), [field], "{path} {parameter}");
        }
    }
}

#[apply(each_engine)]
fn what_is_not_there_has_no_timeline(workspace: &Workspace) {
    let theirs = World::build(&workspace.client_of("another", "write"));
    let client = workspace.writer();
    let own = World::build(&client);
    for path in [
        format!("/v1/persons/{}", theirs.person),
        format!("/v1/persons/{}", own.candidate),
        "/v1/persons/per_00000000000000000000000000".to_owned(),
        "/v1/persons/nobody".to_owned(),
        format!("/v1/candidates/{}", theirs.candidate),
        "/v1/candidates/cnd_00000000000000000000000000".to_owned(),
        theirs.job.path(),
        format!("/v1/jobs/{}", own.person),
        "/v1/jobs/job_00000000000000000000000000".to_owned(),
    ] {
        client.get(&format!("{path}/timeline")).refused(404, "NOT_FOUND");
    }
}
