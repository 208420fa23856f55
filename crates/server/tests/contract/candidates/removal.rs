//! Taking a person off a job: the candidate goes with its history, and the job's list closes up.

use serde_json::{Value, json};

use crate::support::{
    Client, Job, Log, Workspace, World, apply, each_engine, strings, together, types,
};

fn path(id: &str) -> String {
    format!("/v1/candidates/{id}")
}

fn remove(client: &Client, id: &str) {
    client.send("DELETE", &path(id), None).expect(200);
}

fn new_candidates(client: &Client, job: &Job, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| {
            client.new_candidate(job, &format!("Person {number}"))["id"]
                .as_str()
                .unwrap()
                .to_owned()
        })
        .collect()
}

fn ids(client: &Client, path: &str) -> Vec<String> {
    strings(client.get(path).expect(200).data(), "id")
}

#[apply(each_engine)]
fn a_candidate_that_is_removed_is_gone(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    client.patch(&path(&world.candidate), &json!({ "stage_name": "Offer" })).expect(200);
    let reply = client.send("DELETE", &path(&world.candidate), None).expect(200);
    assert_eq!(
        reply.json,
        json!({ "success": true, "data": { "message": "The candidate was removed." } })
    );
    client.get(&path(&world.candidate)).refused(404, "NOT_FOUND");
    client
        .patch(&path(&world.candidate), &json!({ "stage_name": "Hired" }))
        .refused(404, "NOT_FOUND");
    client.send("DELETE", &path(&world.candidate), None).refused(404, "NOT_FOUND");
    assert_eq!(client.get(&world.job.path()).data()["candidate_count"], 0);
    for list in [world.job.candidates_path(), "/v1/candidates".to_owned()] {
        assert_eq!(client.get(&list).expect(200).json["meta"]["total"], 0, "{list}");
    }
}

#[apply(each_engine)]
fn the_person_stays_and_may_be_put_on_the_job_again(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let etag = client.get(&world.job.path()).etag().to_owned();
    remove(&client, &world.candidate);
    assert_eq!(client.person(&world.person)["jobs"], json!([]));
    assert_ne!(client.get(&world.job.path()).etag(), etag);
    let again = client
        .post(&world.job.candidates_path(), &json!({ "person_id": world.person }))
        .expect(201);
    assert_ne!(again.id(), world.candidate);
    assert_eq!(strings(&again.data()["pipeline_stage_history"], "stage_name"), ["Sourced"]);
    assert_eq!(ids(&client, &world.job.candidates_path()), [again.id()]);
}

#[apply(each_engine)]
fn what_was_removed_is_told(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    client.patch(&path(&world.candidate), &json!({ "stage_name": "Offer" })).expect(200);
    let last = client.candidate(&world.candidate);
    let mut log = Log::begin(&client);
    remove(&client, &world.candidate);
    let events = log.new_events();
    assert_eq!(types(&events), ["candidate.removed"]);
    assert_eq!(events[0]["record_id"], world.candidate);
    let before = json!({
        "person_id": world.person,
        "job_id": world.job.id,
        "current_pipeline_stage_id": world.job.stage("Offer"),
        "current_pipeline_stage_name": "Offer",
        "current_pipeline_stage_date": last["current_pipeline_stage_date"],
        "created_at": last["created_at"],
    });
    let (person, job) = (
        json!({ "id": world.person, "name": "Ada Lovelace" }),
        json!({ "id": world.job.id, "name": "Engineer" }),
    );
    assert_eq!(
        events[0]["data"],
        json!({ "before": before, "after": {}, "person": person, "job": job })
    );
    for record in [format!("/v1/persons/{}", world.person), world.job.path()] {
        let timeline = client.get(&format!("{record}/timeline")).expect(200);
        assert_eq!(timeline.entries()[0], events[0], "{record}");
    }
}

#[apply(each_engine)]
fn those_behind_move_up(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let mut expected = new_candidates(&client, &job, 7);
    let pages = |step: usize, sort: &str, count: usize| {
        let path = |offset: usize| {
            format!("{}?offset={offset}&limit={step}&sort={sort}created_at", job.candidates_path())
        };
        (0..=count).step_by(step).flat_map(|offset| ids(&client, &path(offset))).collect::<Vec<_>>()
    };
    // From the middle, the first, and the last.
    for place in [2, 0, 4] {
        remove(&client, &expected.remove(place));
        let reversed: Vec<_> = expected.iter().rev().cloned().collect();
        for step in 1..=5 {
            assert_eq!(pages(step, "", expected.len()), expected, "by {step}");
            assert_eq!(pages(step, "-", expected.len()), reversed, "by {step}, newest first");
        }
        assert_eq!(client.get(&job.path()).data()["candidate_count"], expected.len());
        let funnel = client.get(&format!("{}/funnel", job.path())).expect(200);
        assert_eq!(funnel.data()["stages"][0]["entered"], expected.len());
    }
    expected.push(client.new_candidate(&job, "Late")["id"].as_str().unwrap().to_owned());
    assert_eq!(ids(&client, &job.candidates_path()), expected);
    assert_eq!(ids(&client, "/v1/candidates"), expected);
    expected.reverse();
    assert_eq!(
        ids(&client, &format!("{}?sort=-created_at&offset=1&limit=2", job.candidates_path())),
        expected[1..3]
    );
}

#[apply(each_engine)]
fn a_page_goes_on_behind_a_candidate_that_is_gone(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    new_candidates(&client, &job, 9);
    for list in [job.candidates_path(), "/v1/candidates".to_owned()] {
        for sort in ["created_at", "-created_at"] {
            let first = client.get(&format!("{list}?sort={sort}&cursor=&limit=2")).expect(200);
            let cursor = first.json["meta"]["next_cursor"].as_str().unwrap();
            let expected = ids(&client, &format!("{list}?sort={sort}"))[2..].to_vec();
            strings(first.data(), "id").iter().for_each(|id| remove(&client, id));
            assert_eq!(
                ids(&client, &format!("{list}?sort={sort}&cursor={cursor}")),
                expected,
                "{list} {sort}"
            );
        }
    }
}

#[apply(each_engine)]
fn many_removed_at_one_instant_leave_no_gap(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidates = new_candidates(&client, &job, 12);
    together(6, |number| remove(&client, &candidates[number * 2]));
    let expected: Vec<_> = candidates.iter().skip(1).step_by(2).cloned().collect();
    let one_by_one: Vec<_> = (0..6)
        .flat_map(|offset| {
            ids(&client, &format!("{}?offset={offset}&limit=1", job.candidates_path()))
        })
        .collect();
    assert_eq!(one_by_one, expected);
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 6);
}

#[apply(each_engine)]
fn a_candidate_that_changed_meanwhile_is_kept(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let old = client.get(&path(&world.candidate)).expect(200).etag().to_owned();
    client.patch(&path(&world.candidate), &json!({ "stage_name": "Offer" })).expect(200);
    client
        .with("if-match", &old)
        .send("DELETE", &path(&world.candidate), None)
        .refused(412, "PRECONDITION_FAILED");
    let new = client.get(&path(&world.candidate)).expect(200).etag().to_owned();
    client.with("if-match", &new).send("DELETE", &path(&world.candidate), None).expect(200);
}

#[apply(each_engine)]
fn what_is_not_there_cannot_be_removed(workspace: &Workspace) {
    let (owner, client) = (workspace.client_of("another", "write"), workspace.writer());
    let theirs = World::build(&owner);
    let own = World::build(&client);
    for id in [
        theirs.candidate.as_str(),
        "cnd_00000000000000000000000000",
        &own.person,
        &own.job.id,
        "nobody",
    ] {
        client.send("DELETE", &path(id), None).refused(404, "NOT_FOUND");
    }
    owner.candidate(&theirs.candidate);
    client.candidate(&own.candidate);
}

#[apply(each_engine)]
fn a_reader_removes_nobody(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    workspace
        .client("read")
        .send("DELETE", &path(&world.candidate), None)
        .refused(403, "FORBIDDEN");
    client.candidate(&world.candidate);
}

#[apply(each_engine)]
fn a_removal_takes_neither_fields_nor_parameters(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let mut log = Log::begin(&client);
    let reply = client
        .send("DELETE", &path(&world.candidate), Some(&json!({ "reason": "x" })))
        .refused(400, "INVALID_REQUEST");
    assert_eq!(reply.flaw("reason"), "UNKNOWN_FIELD");
    let reply = client
        .send("DELETE", &format!("{}?force=true", path(&world.candidate)), None)
        .refused(400, "INVALID_REQUEST");
    assert_eq!(reply.flaw("force"), "UNKNOWN_FIELD");
    assert_eq!(log.new_events(), Vec::<Value>::new());
    client.send("DELETE", &path(&world.candidate), Some(&json!({}))).expect(200);
}

#[apply(each_engine)]
fn a_removal_sent_again_is_answered_again(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let once = client.with("idempotency-key", "remove-1");
    let first = once.send("DELETE", &path(&world.candidate), None).expect(200);
    let second = once.send("DELETE", &path(&world.candidate), None).expect(200);
    assert_eq!((second.header("idempotency-replayed"), &second.text), (Some("true"), &first.text));
}
