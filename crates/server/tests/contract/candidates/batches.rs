//! Putting many persons on a job, and moving many candidates, in one call: all of them or none.

use serde_json::{Value, json};

use crate::support::{
    Client, Job, Log, Reply, Workspace, World, apply, each_engine, next_millisecond, strings,
    together, types,
};

const MOVE: &str = "/v1/candidates/move";

fn batch_path(job: &Job) -> String {
    format!("{}/batch", job.candidates_path())
}

fn new_persons(client: &Client, count: usize) -> Vec<String> {
    (0..count)
        .map(|number| client.new_person(&json!({ "name": format!("Person {number}") })))
        .collect()
}

/// Candidates of the job, by their ids.
fn new_candidates(client: &Client, job: &Job, names: &[&str]) -> Vec<String> {
    names
        .iter()
        .map(|name| client.new_candidate(job, name)["id"].as_str().unwrap().to_owned())
        .collect()
}

fn stage_names(client: &Client, candidates: &[String]) -> Vec<String> {
    candidates
        .iter()
        .map(|id| client.candidate(id)["current_pipeline_stage_name"].as_str().unwrap().to_owned())
        .collect()
}

#[apply(each_engine)]
fn all_who_were_erased_are_named(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let persons = new_persons(&client, 4);
    for erased in [&persons[1], &persons[3]] {
        client.send("DELETE", &format!("/v1/persons/{erased}"), None).expect(200);
    }
    let body = json!({ "person_ids": persons });
    let reply = client.post(&batch_path(&job), &body).refused(410, "ERASED");
    assert_eq!(reply.detail_fields(), ["person_ids[1]", "person_ids[3]"]);
    let reply = client.post("/v1/enrichments", &json!({ "filter": body })).refused(410, "ERASED");
    assert_eq!(reply.detail_fields(), ["filter.person_ids[1]", "filter.person_ids[3]"]);
    let reply = client
        .post(&job.candidates_path(), &json!({ "person_id": persons[1] }))
        .refused(410, "ERASED");
    assert_eq!(reply.detail_fields(), ["person_id"]);
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 0);
}

#[apply(each_engine)]
fn persons_are_put_on_a_job_in_the_order_of_the_request(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let mut persons = new_persons(&client, 4);
    persons.swap(0, 3);
    let reply = client.post(&batch_path(&job), &json!({ "person_ids": persons })).expect(200);
    let candidates = strings(reply.data(), "candidate_id");
    let expected = persons.iter().zip(&candidates);
    let expected: Vec<_> = expected
        .map(|(person, candidate)| {
            json!({ "person_id": person, "candidate_id": candidate,
                "is_new": true })
        })
        .collect();
    assert_eq!(reply.json, json!({ "success": true, "data": expected }));
    let listed = client.get(&job.candidates_path()).expect(200);
    assert_eq!(
        (strings(listed.data(), "id"), strings(listed.data(), "person_id")),
        (candidates, persons)
    );
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 4);
}

#[apply(each_engine)]
fn what_is_made_together_is_as_if_made_one_by_one(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let alone = client.new_candidate(&job, "Ada");
    let mut log = Log::begin(&client);
    let person = client.new_person(&json!({ "name": "Grace" }));
    let reply = client.post(&batch_path(&job), &json!({ "person_ids": [person] })).expect(200);
    let made = client.candidate(reply.data()[0]["candidate_id"].as_str().unwrap());
    let fields = |record: &Value| record.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(fields(&made), fields(&alone));
    assert_eq!(made["current_pipeline_stage_name"], "Sourced");
    assert_eq!(strings(&made["pipeline_stage_history"], "stage_name"), ["Sourced"]);
    let events = log.new_events();
    assert_eq!(types(&events), ["person.created", "candidate.created"]);
    assert_eq!(events[1]["record_id"], made["id"]);
    assert_eq!(events[1]["data"]["person"], json!({ "id": person, "name": "Grace" }));
    assert_eq!(events[1]["data"]["job"], json!({ "id": job.id, "name": "Engineer" }));
    let after = &events[1]["data"]["after"];
    assert_eq!(
        [&after["person_id"], &after["job_id"], &after["created_at"]],
        [&made["person_id"], &made["job_id"], &made["created_at"]]
    );
}

#[apply(each_engine)]
fn many_persons_are_put_on_a_job_at_once(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    client.new_candidate(&job, "First");
    let persons = new_persons(&client, 60);
    let reply = client.post(&batch_path(&job), &json!({ "person_ids": persons })).expect(200);
    let candidates = strings(reply.data(), "candidate_id");
    let page = client.get(&format!("{}?offset=1", job.candidates_path())).expect(200);
    assert_eq!(
        (strings(page.data(), "id"), &page.json["meta"]["total"]),
        (candidates.clone(), &json!(61))
    );
    client.new_candidate(&job, "Last");
    let newest = client
        .get(&format!("{}?sort=-created_at&offset=1&limit=2", job.candidates_path()))
        .expect(200);
    assert_eq!(strings(newest.data(), "id"), [candidates[59].clone(), candidates[58].clone()]);
}

#[apply(each_engine)]
fn who_is_on_the_job_already_stays_as_they_are(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let known = client.new_candidate(&job, "Ada");
    let person = client.new_person(&json!({ "name": "Grace" }));
    let body = json!({ "person_ids": [person, known["person_id"]] });
    let first = client.post(&batch_path(&job), &body).expect(200);
    assert_eq!(
        first.data()[1],
        json!({ "person_id": known["person_id"], "candidate_id": known["id"], "is_new": false })
    );
    assert_eq!(first.data()[0]["is_new"], true);
    let mut log = Log::begin(&client);
    let second = client.post(&batch_path(&job), &body).expect(200);
    assert_eq!(strings(second.data(), "candidate_id"), strings(first.data(), "candidate_id"));
    assert_eq!([&second.data()[0]["is_new"], &second.data()[1]["is_new"]], [false, false]);
    assert_eq!(client.candidate(known["id"].as_str().unwrap()), known);
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 2);
    assert_eq!(log.new_events(), Vec::<Value>::new());
}

#[apply(each_engine)]
fn if_one_person_is_not_there_nobody_is_put_on_the_job(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let theirs = World::build(&workspace.client_of("another", "write")).person;
    let known = client.new_person(&json!({ "name": "Ada" }));
    // A company that went into another leads nowhere under the id of a person.
    let [kept, gone] = ["Kept", "Gone"]
        .map(|name| client.post("/v1/companies", &json!({ "name": name })).expect(201).id());
    client.post(&format!("/v1/companies/{kept}/merge"), &json!({ "company_id": gone })).expect(200);
    let gone = gone.replace("cmp_", "per_");
    let mut log = Log::begin(&client);
    let body = json!({ "person_ids": ["per_00000000000000000000000000", known, theirs, "Ada",
        job.id, gone] });
    let reply = client.post(&batch_path(&job), &body).refused(404, "NOT_FOUND");
    let fields =
        ["person_ids[0]", "person_ids[2]", "person_ids[3]", "person_ids[4]", "person_ids[5]"];
    assert_eq!(reply.detail_fields(), fields);
    assert!(fields.iter().all(|field| reply.flaw(field) == "NOT_FOUND"), "{reply:#?}");
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 0);
    assert_eq!(log.new_events(), Vec::<Value>::new());
}

#[apply(each_engine)]
fn a_list_of_persons_that_is_bad_is_refused_by_name(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let persons = new_persons(&client, 2);
    let (ada, grace) = (&persons[0], &persons[1]);
    let too_many: Vec<_> = (0..1001).map(|number| format!("per_{number}")).collect();
    for (body, field, flaw) in [
        (json!({}), "person_ids", "REQUIRED"),
        (json!({ "person_ids": null }), "person_ids", "REQUIRED"),
        (json!({ "person_ids": [] }), "person_ids", "TOO_FEW"),
        (json!({ "person_ids": too_many }), "person_ids", "TOO_MANY"),
        (json!({ "person_ids": [ada, 7] }), "person_ids[1]", "INVALID_TYPE"),
        (json!({ "person_ids": [ada, null] }), "person_ids[1]", "INVALID_TYPE"),
        (json!({ "person_ids": [" ", ada] }), "person_ids[0]", "REQUIRED"),
        (json!({ "person_ids": ["a\u{0}b"] }), "person_ids[0]", "INVALID_CHARACTER"),
        (json!({ "person_ids": ["x".repeat(256)] }), "person_ids[0]", "TOO_LONG"),
        (
            json!({ "person_ids": [ada, grace, format!(" {ada} ")] }),
            "person_ids[2]",
            "INVALID_VALUE",
        ),
        (json!({ "person_ids": [ada], "person_id": grace }), "person_id", "UNKNOWN_FIELD"),
    ] {
        let reply = client.post(&batch_path(&job), &body).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw), "{body}");
    }
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 0);
}

#[apply(each_engine)]
fn the_same_persons_at_one_instant_are_put_on_the_job_once(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let persons = new_persons(&client, 10);
    let replies = together(4, |_| {
        client.post(&batch_path(&job), &json!({ "person_ids": persons })).expect(200)
    });
    let candidates = strings(replies[0].data(), "candidate_id");
    for reply in &replies {
        assert_eq!(strings(reply.data(), "candidate_id"), candidates);
    }
    let is_new = |reply: &&Reply| reply.data()[0]["is_new"] == true;
    assert_eq!(replies.iter().filter(is_new).count(), 1);
    assert_eq!(strings(client.get(&job.candidates_path()).expect(200).data(), "id"), candidates);
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 10);
}

#[apply(each_engine)]
fn candidates_are_moved_in_the_order_of_the_request(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let mut candidates = new_candidates(&client, &job, &["Ada", "Grace", "Mary"]);
    client
        .patch(&format!("/v1/candidates/{}", candidates[1]), &json!({ "stage_name": "Interview" }))
        .expect(200);
    let before = client.candidate(&candidates[1]);
    candidates.reverse();
    next_millisecond();
    let reply = client
        .post(MOVE, &json!({ "candidate_ids": candidates, "stage_id": job.stage("Interview") }))
        .expect(200);
    let entry = |id: &String, is_moved: bool| {
        json!({
            "id": id, "job_id": job.id, "current_pipeline_stage_id": job.stage("Interview"),
            "current_pipeline_stage_name": "Interview",
            "is_moved": is_moved,
        })
    };
    let expected =
        [entry(&candidates[0], true), entry(&candidates[1], false), entry(&candidates[2], true)];
    assert_eq!(reply.json, json!({ "success": true, "data": expected }));
    assert_eq!(client.candidate(&candidates[1]), before);
    let moved = client.candidate(&candidates[0]);
    assert_eq!(strings(&moved["pipeline_stage_history"], "stage_name"), ["Sourced", "Interview"]);
    assert_eq!(
        moved["pipeline_stage_history"][1]["stage_date"],
        moved["current_pipeline_stage_date"]
    );
    assert!(
        moved["current_pipeline_stage_date"].as_str() > moved["created_at"].as_str(),
        "{moved}"
    );
}

#[apply(each_engine)]
fn a_joint_move_is_told_for_each_that_moved(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let candidates = new_candidates(&client, &job, &["Ada", "Grace", "Mary"]);
    client
        .patch(&format!("/v1/candidates/{}", candidates[1]), &json!({ "stage_name": "Offer" }))
        .expect(200);
    let mut log = Log::begin(&client);
    let body = json!({ "candidate_ids": candidates, "stage_name": "offer" });
    client.post(MOVE, &body).expect(200);
    let events = log.new_events();
    assert_eq!(types(&events), ["candidate.moved", "candidate.moved"]);
    for (event, (id, name)) in
        events.iter().zip([(&candidates[0], "Ada"), (&candidates[2], "Mary")])
    {
        assert_eq!(
            (&event["record_id"], &event["data"]["person"]["name"]),
            (&json!(id), &json!(name))
        );
        assert_eq!(event["data"]["job"], json!({ "id": job.id, "name": "Engineer" }));
        let stages = ["before", "after"]
            .map(|side| event["data"][side]["current_pipeline_stage_name"].clone());
        assert_eq!(stages, ["Sourced", "Offer"]);
    }
    client.post(MOVE, &body).expect(200);
    assert_eq!(log.new_events(), Vec::<Value>::new());
}

#[apply(each_engine)]
fn candidates_of_several_jobs_are_moved_by_the_name_of_a_stage(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, two) = (client.new_job("One", "Acme"), client.new_job("Two", "Acme"));
    let candidates = [
        new_candidates(&client, &one, &["Ada", "Grace"]),
        new_candidates(&client, &two, &["Mary"]),
    ]
    .concat();
    let reply = client
        .post(MOVE, &json!({ "candidate_ids": candidates, "stage_name": " FINAL interview " }))
        .expect(200);
    let stage = "Final interview";
    assert_eq!(
        strings(reply.data(), "current_pipeline_stage_id"),
        [one.stage(stage), one.stage(stage), two.stage(stage)]
    );
    assert_eq!(
        strings(reply.data(), "job_id"),
        [one.id.as_str(), one.id.as_str(), two.id.as_str()]
    );
    assert_eq!(stage_names(&client, &candidates), [stage; 3]);
}

#[apply(each_engine)]
fn if_one_candidate_is_not_there_none_is_moved(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let theirs = World::build(&workspace.client_of("another", "write")).candidate;
    let own = new_candidates(&client, &job, &["Ada"]);
    let mut log = Log::begin(&client);
    let body = json!({ "candidate_ids": [theirs, own[0], "cnd_00000000000000000000000000", "Ada"],
        "stage_name": "Offer" });
    let reply = client.post(MOVE, &body).refused(404, "NOT_FOUND");
    assert_eq!(reply.detail_fields(), ["candidate_ids[0]", "candidate_ids[2]", "candidate_ids[3]"]);
    assert_eq!(stage_names(&client, &own), ["Sourced"]);
    assert_eq!(log.new_events(), Vec::<Value>::new());
}

#[apply(each_engine)]
fn if_one_job_lacks_the_stage_none_is_moved(workspace: &Workspace) {
    let client = workspace.writer();
    let one = client.new_job("One", "Acme");
    let two = json!({ "name": "Two", "client_company_name": "Acme",
        "pipeline_stages": [{ "name": "New" }, { "name": "Done" }] });
    let two = client.new_job_with(&two);
    let candidates =
        [new_candidates(&client, &two, &["Ada"]), new_candidates(&client, &one, &["Grace"])]
            .concat();
    for (body, field) in [
        (
            json!({ "candidate_ids": candidates, "stage_id": one.stage("Offer") }),
            "candidate_ids[0]",
        ),
        (json!({ "candidate_ids": candidates, "stage_id": two.stage("Done") }), "candidate_ids[1]"),
        (json!({ "candidate_ids": candidates, "stage_name": "Offer" }), "candidate_ids[0]"),
    ] {
        let reply = client.post(MOVE, &body).refused(404, "NOT_FOUND");
        assert_eq!(reply.detail_fields(), [field], "{body}");
    }
    let nowhere = client
        .post(MOVE, &json!({ "candidate_ids": candidates, "stage_name": "Lunch" }))
        .refused(404, "NOT_FOUND");
    assert_eq!(nowhere.detail_fields(), ["candidate_ids[0]", "candidate_ids[1]"]);
    assert_eq!(stage_names(&client, &candidates), ["New", "Sourced"]);
}

#[apply(each_engine)]
fn a_stage_that_their_only_job_lacks_is_not_found(workspace: &Workspace) {
    let client = workspace.writer();
    let (job, other) = (client.new_job("Engineer", "Acme"), client.new_job("Designer", "Acme"));
    let candidates = new_candidates(&client, &job, &["Ada", "Grace"]);
    for (field, stage) in [
        ("stage_id", other.stage("Offer")),
        ("stage_id", "stg_00000000000000000000000000"),
        ("stage_id", "Offer"),
        ("stage_name", "Lunch"),
    ] {
        let reply = client
            .post(MOVE, &json!({ "candidate_ids": candidates, field: stage }))
            .refused(404, "NOT_FOUND");
        assert_eq!(reply.detail_fields(), [field], "{stage}");
    }
    assert_eq!(stage_names(&client, &candidates), ["Sourced", "Sourced"]);
}

#[apply(each_engine)]
fn a_name_that_several_stages_have_moves_nobody(workspace: &Workspace) {
    let client = workspace.writer();
    let stages = json!([{ "name": "New" }, { "name": "Talk" }, { "name": "talk" }]);
    let twice = client.new_job_with(
        &json!({ "name": "Twice", "client_company_name": "Acme", "pipeline_stages": stages }),
    );
    let once = client.new_job_with(&json!({ "name": "Once", "client_company_name": "Acme",
        "pipeline_stages": [stages[0], stages[1]] }));
    let candidates =
        [new_candidates(&client, &once, &["Ada"]), new_candidates(&client, &twice, &["Grace"])]
            .concat();
    let reply = client
        .post(MOVE, &json!({ "candidate_ids": candidates, "stage_name": "Talk" }))
        .refused(409, "AMBIGUOUS_STAGE");
    assert_eq!(reply.record_ids(), [twice.stage("Talk"), twice.stage("talk")]);
    assert_eq!(stage_names(&client, &candidates), ["New", "New"]);
}

#[apply(each_engine)]
fn a_joint_move_that_is_bad_is_refused_by_name(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let own = new_candidates(&client, &job, &["Ada"]);
    let id = &own[0];
    let too_many: Vec<_> = (0..1001).map(|number| format!("cnd_{number}")).collect();
    for (body, field, flaw) in [
        (json!({ "stage_name": "Offer" }), "candidate_ids", "REQUIRED"),
        (json!({ "candidate_ids": [], "stage_name": "Offer" }), "candidate_ids", "TOO_FEW"),
        (json!({ "candidate_ids": id, "stage_name": "Offer" }), "candidate_ids", "INVALID_TYPE"),
        (json!({ "candidate_ids": too_many, "stage_name": "Offer" }), "candidate_ids", "TOO_MANY"),
        (
            json!({ "candidate_ids": [id, id], "stage_name": "Offer" }),
            "candidate_ids[1]",
            "INVALID_VALUE",
        ),
        (
            json!({ "candidate_ids": [id, {}], "stage_name": "Offer" }),
            "candidate_ids[1]",
            "INVALID_TYPE",
        ),
        (json!({ "candidate_ids": [id] }), "stage_id", "REQUIRED"),
        (
            json!({ "candidate_ids": [id], "stage_id": null, "stage_name": " " }),
            "stage_id",
            "REQUIRED",
        ),
        (
            json!({ "candidate_ids": [id], "stage_id": job.stage("Offer"), "stage_name": "Offer" }),
            "stage_name",
            "CONTRADICTION",
        ),
        (json!({ "candidate_ids": [id], "stage_name": 7 }), "stage_name", "INVALID_TYPE"),
        (
            json!({ "candidate_ids": [id],
                "stage_name": "Offer", "from_stage_id": job.stage("Sourced") }),
            "from_stage_id",
            "UNKNOWN_FIELD",
        ),
    ] {
        let reply = client.post(MOVE, &body).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw), "{body}");
    }
    let reply = client.post(
        &format!("{MOVE}?job_id={}", job.id),
        &json!({ "candidate_ids": [id], "stage_name": "Offer" }),
    );
    assert_eq!(reply.refused(400, "INVALID_REQUEST").detail_fields(), ["job_id"]);
    assert_eq!(stage_names(&client, &own), ["Sourced"]);
}

#[apply(each_engine)]
fn a_reader_moves_nobody(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let own = new_candidates(&client, &job, &["Ada"]);
    workspace
        .client("read")
        .post(MOVE, &json!({ "candidate_ids": own, "stage_name": "Offer" }))
        .refused(403, "FORBIDDEN");
    assert_eq!(stage_names(&client, &own), ["Sourced"]);
}

#[apply(each_engine)]
fn a_joint_move_sent_again_is_answered_again(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let own = new_candidates(&client, &job, &["Ada"]);
    let once = client.with("idempotency-key", "move-1");
    let body = json!({ "candidate_ids": own, "stage_name": "Offer" });
    let first = once.post(MOVE, &body).expect(200);
    client.post(MOVE, &json!({ "candidate_ids": own, "stage_name": "Hired" })).expect(200);
    let second = once.post(MOVE, &body).expect(200);
    assert_eq!((second.header("idempotency-replayed"), &second.text), (Some("true"), &first.text));
    assert_eq!(stage_names(&client, &own), ["Hired"]);
}
