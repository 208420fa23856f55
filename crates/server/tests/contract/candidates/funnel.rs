//! What became of the candidates of a job, and how long they stayed where.

use serde_json::{Value, json};

use crate::support::{Client, Job, Workspace, apply, each_engine, next_millisecond, strings};

fn new_candidate(client: &Client, job: &Job, name: &str, stages: &[&str]) -> String {
    let id = client.new_candidate(job, name)["id"].as_str().unwrap().to_owned();
    for stage in stages {
        client.patch(&format!("/v1/candidates/{id}"), &json!({ "stage_name": stage })).expect(200);
    }
    id
}

fn funnel(client: &Client, job: &Job) -> Value {
    client.get(&format!("{}/funnel", job.path())).expect(200).data().clone()
}

/// The stage with its numbers: entered, current, went on, rejected.
fn counts(funnel: &Value, stage: &str) -> [i64; 4] {
    let stages = funnel["stages"].as_array().unwrap();
    let found = stages
        .iter()
        .find(|entry| entry["stage_name"] == stage)
        .unwrap_or_else(|| panic!("no {stage} in {funnel}"));
    ["entered", "current", "went_on", "rejected"].map(|field| found[field].as_i64().unwrap())
}

#[apply(each_engine)]
fn a_funnel_shows_every_stage_in_order(workspace: &Workspace) {
    let client = workspace.writer();
    let stages = json!([{ "name": "New" }, { "name": "Talk" },
        { "name": "No", "is_rejection_stage": true }]);
    let job = client.new_job_with(
        &json!({ "name": "Pilot", "client_company_name": "Acme", "pipeline_stages": stages }),
    );
    new_candidate(&client, &job, "Ada", &["Talk"]);
    new_candidate(&client, &job, "Grace", &["No"]);
    new_candidate(&client, &job, "Mary", &[]);
    let stage = |name: &str, order: i64, is_rejection: bool, counts: [i64; 4], median: Value| {
        json!({
            "stage_id": job.stage(name), "stage_name": name,
            "stage_order": order, "is_rejection_stage": is_rejection,
            "entered": counts[0], "current": counts[1], "went_on": counts[2], "rejected": counts[3],
            "median_days": median,
        })
    };
    let expected = json!({
        "job_id": job.id,
        "candidate_count": 3,
        "stages": [
            stage("New", 1, false, [3, 1, 1, 1], json!(0.0)),
            stage("Talk", 2, false, [1, 1, 0, 0], Value::Null),
            stage("No", 3, true, [1, 1, 0, 0], Value::Null),
        ],
    });
    let reply = workspace.client("read").get(&format!("{}/funnel", job.path())).expect(200);
    assert_eq!(reply.json, json!({ "success": true, "data": expected }));
}

#[apply(each_engine)]
fn everybody_counts_in_the_stages_that_they_entered(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    new_candidate(&client, &job, "Hired", &["Screening", "Interview", "Offer", "Hired"]);
    new_candidate(&client, &job, "Jumped", &["Offer"]);
    new_candidate(&client, &job, "Rejected", &["Screening", "Rejected"]);
    new_candidate(&client, &job, "Came back", &["Screening", "Sourced", "Screening", "Interview"]);
    new_candidate(&client, &job, "Still there", &[]);
    let funnel = funnel(&client, &job);
    assert_eq!(funnel["candidate_count"], 5);
    assert_eq!(counts(&funnel, "Sourced"), [5, 1, 4, 0]);
    assert_eq!(counts(&funnel, "Contacted"), [0, 0, 0, 0]);
    assert_eq!(counts(&funnel, "Screening"), [3, 0, 2, 1]);
    assert_eq!(counts(&funnel, "Interview"), [2, 1, 1, 0]);
    assert_eq!(counts(&funnel, "Offer"), [2, 1, 1, 0]);
    assert_eq!(counts(&funnel, "Hired"), [1, 1, 0, 0]);
    assert_eq!(counts(&funnel, "Rejected"), [1, 1, 0, 0]);
}

#[apply(each_engine)]
fn who_is_removed_counts_no_more(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let gone = new_candidate(&client, &job, "Ada", &["Screening"]);
    new_candidate(&client, &job, "Grace", &["Screening"]);
    client.send("DELETE", &format!("/v1/candidates/{gone}"), None).expect(200);
    let funnel = funnel(&client, &job);
    assert_eq!(
        (&funnel["candidate_count"], counts(&funnel, "Screening")),
        (&json!(1), [1, 1, 0, 0])
    );
}

#[apply(each_engine)]
fn a_new_job_has_an_empty_funnel(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let funnel = funnel(&client, &job);
    assert_eq!(funnel["candidate_count"], 0);
    let stages = funnel["stages"].as_array().unwrap();
    assert_eq!(stages.len(), 8);
    for stage in stages {
        assert_eq!(
            (counts(&funnel, stage["stage_name"].as_str().unwrap()), &stage["median_days"]),
            ([0; 4], &Value::Null)
        );
    }
}

#[apply(each_engine)]
fn a_funnel_of_what_is_no_job_is_not_found(workspace: &Workspace) {
    let client = workspace.writer();
    for id in ["job_00000000000000000000000000", "nothing"] {
        client.get(&format!("/v1/jobs/{id}/funnel")).refused(404, "NOT_FOUND");
    }
    let job = client.new_job("Engineer", "Acme");
    let reply =
        client.get(&format!("{}/funnel?limit=1", job.path())).refused(400, "INVALID_REQUEST");
    assert_eq!(reply.detail_fields(), ["limit"]);
}

#[apply(each_engine)]
fn the_time_in_each_stage_adds_up_to_the_history(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let id = new_candidate(&client, &job, "Ada", &[]);
    for stage in ["Screening", "Offer"] {
        next_millisecond();
        client.patch(&format!("/v1/candidates/{id}"), &json!({ "stage_name": stage })).expect(200);
    }
    let history = client.candidate(&id)["pipeline_stage_history"].clone();
    let reply =
        workspace.client("read").get(&format!("/v1/candidates/{id}/stage-times")).expect(200);
    let data = reply.data();
    assert_eq!(
        data.as_object().unwrap().keys().collect::<Vec<_>>(),
        ["id", "job_id", "stays", "totals"]
    );
    assert_eq!((&data["id"], &data["job_id"]), (&json!(id), &json!(job.id)));
    assert_eq!(strings(&data["stays"], "stage_name"), ["Sourced", "Screening", "Offer"]);
    for (place, stay) in data["stays"].as_array().unwrap().iter().enumerate() {
        let (entry, next) = (&history[place], &history[place + 1]["stage_date"]);
        assert!(
            stay["seconds"].as_i64().is_some_and(|seconds| (0..60).contains(&seconds)),
            "{stay}"
        );
        let expected = json!({
            "stage_id": entry["stage_id"], "stage_name": entry["stage_name"],
            "entered_at": entry["stage_date"], "left_at": next,
            "seconds": stay["seconds"],
        });
        assert_eq!(stay, &expected);
    }
    assert_eq!(data["stays"][2]["left_at"], Value::Null);
    let total = |stay: &Value| {
        json!({ "stage_id": stay["stage_id"],
        "stage_name": stay["stage_name"], "times_entered": 1, "seconds": stay["seconds"] })
    };
    let expected: Vec<_> = data["stays"].as_array().unwrap().iter().map(total).collect();
    assert_eq!(data["totals"], json!(expected));
}

#[apply(each_engine)]
fn a_stage_that_is_entered_again_is_added_up(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let id = new_candidate(&client, &job, "Ada", &["Screening", "Sourced", "Offer", "Sourced"]);
    let reply = client.get(&format!("/v1/candidates/{id}/stage-times")).expect(200);
    let totals = &reply.data()["totals"];
    assert_eq!(strings(totals, "stage_name"), ["Sourced", "Screening", "Offer"]);
    let times: Vec<_> = totals
        .as_array()
        .unwrap()
        .iter()
        .map(|total| total["times_entered"].as_i64().unwrap())
        .collect();
    assert_eq!(times, [3, 1, 1]);
    assert_eq!(reply.data()["stays"].as_array().unwrap().len(), 5);
}

#[apply(each_engine)]
fn the_times_of_what_is_no_candidate_are_not_found(workspace: &Workspace) {
    let client = workspace.writer();
    for id in ["cnd_00000000000000000000000000", "nobody"] {
        client.get(&format!("/v1/candidates/{id}/stage-times")).refused(404, "NOT_FOUND");
    }
}
