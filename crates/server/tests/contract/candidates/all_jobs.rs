//! The candidates of all jobs in one list.

use serde_json::{Value, json};

use crate::support::{
    Client, Job, Workspace, World, apply, each_engine, next_millisecond, strings,
};

const PATH: &str = "/v1/candidates";

fn ids(client: &Client, query: &str) -> Vec<String> {
    strings(client.get(&format!("{PATH}{query}")).expect(200).data(), "id")
}

fn names(client: &Client, query: &str) -> Vec<String> {
    let reply = client.get(&format!("{PATH}?{query}")).expect(200);
    let names = strings(reply.data(), "name");
    assert_eq!(reply.json["meta"]["total"], names.len(), "{query}");
    names
}

/// Made in a millisecond of its own, so that its id comes behind those of other jobs too.
fn new_candidate(client: &Client, job: &Job, name: &str) -> String {
    next_millisecond();
    client.new_candidate(job, name)["id"].as_str().unwrap().to_owned()
}

fn move_to(client: &Client, id: &str, stage: &str) {
    client.patch(&format!("{PATH}/{id}"), &json!({ "stage_name": stage })).expect(200);
}

/// A moment between what was before and what comes next.
fn moment(client: &Client) -> String {
    next_millisecond();
    let marker = client
        .post("/v1/jobs", &json!({ "name": "Marker", "client_company_name": "Marker" }))
        .expect(201)
        .string("created_at");
    next_millisecond();
    marker
}

/// Two jobs with three candidates: Ada and Grace on the first, Mary on the second.
fn two_jobs(client: &Client) -> (Job, Job, [String; 3]) {
    let (one, two) = (client.new_job("One", "Acme"), client.new_job("Two", "Umbrella"));
    let ada = new_candidate(client, &one, "Ada");
    let mary = new_candidate(client, &two, "Mary");
    let grace = new_candidate(client, &one, "Grace");
    (one, two, [ada, mary, grace])
}

#[apply(each_engine)]
fn a_candidate_is_shown_with_its_job_and_its_stage(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    next_millisecond();
    move_to(&client, &world.candidate, "Interview");
    let single = client.candidate(&world.candidate);
    let reply = client.get(PATH).expect(200);
    let expected = json!({
        "id": world.candidate,
        "person_id": world.person,
        "name": "Ada Lovelace",
        "current_job_title": "",
        "current_company_name": "Analytical Engines",
        "current_company_id": world.employer,
        "current_pipeline_stage_name": "Interview",
        "current_pipeline_stage_id": world.job.stage("Interview"),
        "current_pipeline_stage_date": single["current_pipeline_stage_date"],
        "job_id": world.job.id,
        "job_name": "Engineer",
        "created_at": single["created_at"],
        "updated_at": single["current_pipeline_stage_date"],
    });
    assert_eq!(
        reply.json,
        json!({ "success": true, "data": [expected],
            "meta": { "total": 1, "offset": 0, "limit": 100 } })
    );
    let fields: Vec<_> = reply.entries()[0].as_object().unwrap().keys().cloned().collect();
    assert_eq!(fields, expected.as_object().unwrap().keys().cloned().collect::<Vec<_>>());
}

#[apply(each_engine)]
fn the_list_holds_the_candidates_of_all_jobs_in_the_order_of_their_making(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, two, first) = two_jobs(&client);
    let mut expected = first.to_vec();
    expected.extend([&two, &one, &two].map(|job| new_candidate(&client, job, "More")));
    for limit in 1..=expected.len() + 1 {
        let mut seen = Vec::new();
        for offset in (0..expected.len()).step_by(limit) {
            let reply = client.get(&format!("{PATH}?offset={offset}&limit={limit}")).expect(200);
            assert_eq!(reply.json["meta"], json!({ "total": 6, "offset": offset, "limit": limit }));
            seen.extend(strings(reply.data(), "id"));
        }
        assert_eq!(seen, expected, "by {limit}");
    }
    let past = client.get(&format!("{PATH}?offset=6")).expect(200);
    assert_eq!((past.entries().len(), &past.json["meta"]["total"]), (0, &json!(6)));
    expected.reverse();
    assert_eq!(ids(&client, "?sort=-created_at"), expected);
    assert_eq!(ids(&client, "?sort=-created_at&offset=1&limit=3"), expected[1..4]);
}

#[apply(each_engine)]
fn cursors_walk_to_the_end_and_no_further(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, _, _) = two_jobs(&client);
    for name in ["Emmy", "Sofya"] {
        new_candidate(&client, &one, name);
    }
    for filter in
        ["", "&sort=-created_at", "&is_rejected=false", "&is_rejected=false&sort=-created_at"]
    {
        let expected = ids(&client, &format!("?limit=100{filter}"));
        for limit in 1..=6 {
            let (mut seen, mut cursor) = (Vec::new(), String::new());
            loop {
                let reply = client
                    .get(&format!("{PATH}?limit={limit}&cursor={cursor}{filter}"))
                    .expect(200);
                assert_eq!(reply.json["meta"]["total"], 5);
                seen.extend(strings(reply.data(), "id"));
                match &reply.json["meta"]["next_cursor"] {
                    Value::Null => break,
                    next => next.as_str().unwrap().clone_into(&mut cursor),
                }
            }
            assert_eq!(seen, expected, "by {limit}{filter}");
        }
    }
}

#[apply(each_engine)]
fn candidates_by_job_person_and_stage(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, two, [ada, mary, _]) = two_jobs(&client);
    move_to(&client, &ada, "Offer");
    move_to(&client, &mary, "Offer");
    assert_eq!(names(&client, &format!("job_id={}", one.id)), ["Ada", "Grace"]);
    assert_eq!(names(&client, &format!("stage_id={}", two.stage("Offer"))), ["Mary"]);
    assert_eq!(
        names(
            &client,
            &format!("stage_id={}&job_id={}&stage_name=OFFER", one.stage("Offer"), one.id)
        ),
        ["Ada"]
    );
    let person = client.candidate(&ada)["person_id"].as_str().unwrap().to_owned();
    client.post(&two.candidates_path(), &json!({ "person_id": person })).expect(201);
    let reply = client.get(&format!("{PATH}?person_id={person}")).expect(200);
    assert_eq!(strings(reply.data(), "job_name"), ["One", "Two"]);
}

#[apply(each_engine)]
fn candidates_by_the_name_of_their_stage_on_any_job(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, _, [ada, mary, _]) = two_jobs(&client);
    let shouting = json!({ "name": "Three", "client_company_name": "Acme",
        "pipeline_stages": [{ "name": "OFFER" }] });
    let shouting = client.new_job_with(&shouting);
    new_candidate(&client, &shouting, "Emmy");
    move_to(&client, &ada, "Offer");
    move_to(&client, &mary, "Offer");
    assert_eq!(names(&client, "stage_name=offer"), ["Ada", "Mary", "Emmy"]);
    assert_eq!(names(&client, &format!("stage_name=offer&job_id={}", one.id)), ["Ada"]);
    assert_eq!(names(&client, "stage_name=Hired"), [""; 0]);
}

#[apply(each_engine)]
fn candidates_that_are_rejected_and_those_that_are_not(workspace: &Workspace) {
    let client = workspace.writer();
    let (_, _, [ada, _, _]) = two_jobs(&client);
    move_to(&client, &ada, "Rejected");
    assert_eq!(names(&client, "is_rejected=true"), ["Ada"]);
    assert_eq!(names(&client, "is_rejected=false"), ["Mary", "Grace"]);
}

#[apply(each_engine)]
fn candidates_by_when_they_entered_their_stage(workspace: &Workspace) {
    let client = workspace.writer();
    let (_, _, [ada, _, _]) = two_jobs(&client);
    let marker = moment(&client);
    move_to(&client, &ada, "Offer");
    assert_eq!(names(&client, &format!("entered_stage_after={marker}")), ["Ada"]);
    assert_eq!(names(&client, &format!("entered_stage_before={marker}")), ["Mary", "Grace"]);
    assert_eq!(
        names(&client, "entered_stage_after=2000-01-01&entered_stage_before=2999-12-31").len(),
        3
    );
}

#[apply(each_engine)]
fn candidates_by_when_they_were_made_and_changed(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, _, [ada, _, _]) = two_jobs(&client);
    let marker = moment(&client);
    move_to(&client, &ada, "Offer");
    new_candidate(&client, &one, "Emmy");
    assert_eq!(names(&client, &format!("created_after={marker}")), ["Emmy"]);
    assert_eq!(names(&client, &format!("created_before={marker}")), ["Ada", "Mary", "Grace"]);
    assert_eq!(names(&client, &format!("updated_after={marker}")), ["Ada", "Emmy"]);
    assert_eq!(names(&client, &format!("updated_before={marker}")), ["Mary", "Grace"]);
}

#[apply(each_engine)]
fn candidates_by_name_or_company(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, two, _) = two_jobs(&client);
    let person = client.new_person(&json!({ "name": "Emmy 50%", "company_name": "Adamant" }));
    client.post(&two.candidates_path(), &json!({ "person_id": person })).expect(201);
    assert_eq!(names(&client, "q=ADA"), ["Ada", "Emmy 50%"]);
    assert_eq!(names(&client, "q=50%25"), ["Emmy 50%"]);
    assert_eq!(names(&client, "q=%25a"), [""; 0]);
    assert_eq!(names(&client, &format!("q=ada&job_id={}", one.id)), ["Ada"]);
}

#[apply(each_engine)]
fn filters_narrow_each_other(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, _, [ada, mary, grace]) = two_jobs(&client);
    for id in [&ada, &mary, &grace] {
        move_to(&client, id, "Rejected");
    }
    let all = format!(
        "job_id={}&is_rejected=true&stage_name=rejected&q=ada&created_after=2000-01-01",
        one.id
    );
    assert_eq!(names(&client, &all), ["Ada"]);
    assert_eq!(names(&client, &format!("{all}&entered_stage_before=2000-01-01")), [""; 0]);
}

#[apply(each_engine)]
fn a_bad_filter_is_refused_by_name(workspace: &Workspace) {
    let client = workspace.writer();
    let (one, two, [ada, _, _]) = two_jobs(&client);
    let theirs = World::build(&workspace.client_of("another", "write"));
    let long = "x".repeat(256);
    for (field, value) in [
        ("job_id", ""),
        ("job_id", "One"),
        ("job_id", "job_00000000000000000000000000"),
        ("job_id", ada.as_str()),
        ("job_id", theirs.job.id.as_str()),
        ("person_id", "Ada"),
        ("person_id", "per_00000000000000000000000000"),
        ("person_id", theirs.person.as_str()),
        ("stage_id", "Offer"),
        ("stage_id", "stg_00000000000000000000000000"),
        ("stage_id", theirs.job.stage("Offer")),
        ("stage_name", ""),
        ("stage_name", "Lunch"),
        ("is_rejected", "maybe"),
        ("is_rejected", ""),
        ("entered_stage_after", "yesterday"),
        ("entered_stage_after", ""),
        ("entered_stage_before", "2026-02-30"),
        ("updated_after", "1700000000"),
        ("q", ""),
        ("q", long.as_str()),
        ("limit", "0"),
        ("cursor", "nonsense"),
        ("sort", "name"),
        ("status", "Open"),
    ] {
        let reply = client.get(&format!("{PATH}?{field}={value}")).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), [field], "{field}={value}");
    }
    let (job, other) = (&one.id, two.stage("Offer"));
    for (query, field) in [
        (format!("job_id={job}&stage_id={other}"), "stage_id"),
        (format!("job_id={job}&stage_name=Lunch"), "stage_name"),
        (format!("stage_id={other}&stage_name=Hired"), "stage_name"),
    ] {
        let reply = client.get(&format!("{PATH}?{query}")).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), [field], "{query}");
    }
}

#[apply(each_engine)]
fn no_candidate_of_another_workspace_is_listed(workspace: &Workspace) {
    let (owner, stranger) =
        (workspace.client_of("owner", "write"), workspace.client_of("stranger", "read"));
    two_jobs(&owner);
    let reply = stranger.get(PATH).expect(200);
    assert_eq!((reply.entries().len(), &reply.json["meta"]["total"]), (0, &json!(0)));
    assert_eq!(workspace.client_of("owner", "read").get(PATH).expect(200).entries().len(), 3);
}
