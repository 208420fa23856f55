//! Narrowing the lists of jobs and candidates.

use serde_json::json;

use crate::support::{
    AppBuilder, Client, Database, Engine, Job, Workspace, apply, each_engine, next_millisecond,
    strings,
};

#[track_caller]
fn names(client: &Client, path: &str) -> Vec<String> {
    let reply = client.get(path).expect(200);
    let names = strings(reply.data(), "name");
    assert_eq!(reply.json["meta"]["total"], names.len(), "{reply:#?}");
    names
}

fn new_job(client: &Client, name: &str, company: &str, status: &str) {
    client
        .post(
            "/v1/jobs",
            &json!({ "name": name, "client_company_name": company, "job_status_name": status }),
        )
        .expect(201);
}

#[apply(each_engine)]
fn jobs_by_status(workspace: &Workspace) {
    let client = workspace.writer();
    new_job(&client, "One", "Acme", "Open");
    new_job(&client, "Two", "Acme", "On hold");
    new_job(&client, "Three", "Acme", "Open");
    let held = client.get("/v1/jobs").entries()[1]["job_status_id"].as_str().unwrap().to_owned();
    assert_eq!(names(&client, "/v1/jobs?status=Open"), ["One", "Three"]);
    assert_eq!(names(&client, "/v1/jobs?status=On%20hold"), ["Two"]);
    assert_eq!(names(&client, "/v1/jobs?status=On+hold"), ["Two"]);
    assert_eq!(names(&client, &format!("/v1/jobs?status={held}")), ["Two"]);
    assert_eq!(names(&client, "/v1/jobs?status=Filled"), [""; 0]);
}

#[apply(each_engine)]
fn jobs_by_archive(workspace: &Workspace) {
    let client = workspace.writer();
    let old = client.new_job("Old", "Acme");
    client.new_job("New", "Acme");
    client.patch(&old.path(), &json!({ "is_archived": true })).expect(200);
    assert_eq!(names(&client, "/v1/jobs"), ["Old", "New"]);
    assert_eq!(names(&client, "/v1/jobs?is_archived=true"), ["Old"]);
    assert_eq!(names(&client, "/v1/jobs?is_archived=false"), ["New"]);
}

#[apply(each_engine)]
fn jobs_by_client(workspace: &Workspace) {
    let client = workspace.writer();
    let acme = client.new_job("One", "Acme");
    client.new_job("Two", "Umbrella");
    client.new_job("Three", "acme");
    assert_eq!(
        names(&client, &format!("/v1/jobs?client_company_id={}", acme.client_company)),
        ["One", "Three"]
    );
}

#[apply(each_engine)]
fn jobs_by_words(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_job("Senior Engineer", "Acme");
    client.new_job("Designer 100%", "Acme");
    client.new_job("ENGINEER of Übersee", "Acme");
    client.new_job("Pilot", "Umbrella Corporation");
    assert_eq!(names(&client, "/v1/jobs?q=umbrella"), ["Pilot"]);
    assert_eq!(names(&client, "/v1/jobs?q=engineer"), ["Senior Engineer", "ENGINEER of Übersee"]);
    assert_eq!(names(&client, "/v1/jobs?q=SENIOR"), ["Senior Engineer"]);
    assert_eq!(names(&client, "/v1/jobs?q=%C3%BCbersee"), ["ENGINEER of Übersee"]);
    assert_eq!(names(&client, "/v1/jobs?q=100%25"), ["Designer 100%"]);
    assert_eq!(names(&client, "/v1/jobs?q=nobody"), [""; 0]);
    assert_eq!(names(&client, "/v1/jobs?q=%27%20OR%201%3D1%20--"), [""; 0]);
}

#[test]
fn words_are_looked_for_whatever_the_database_takes_a_backslash_for() {
    for look in [jobs_by_words, candidates_by_words] {
        let database = Database::new(Engine::Postgres);
        database.execute(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET \
                standard_conforming_strings = off', current_database()); END $$",
        );
        look(&AppBuilder::new(Engine::Postgres).start_on(database));
    }
}

#[apply(each_engine)]
fn candidates_by_stage(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    for (name, stage) in
        [("Ada", "Interview"), ("Grace", "Offer"), ("Mary", "Interview"), ("Joan", "Sourced")]
    {
        let candidate = client.new_candidate(&job, name);
        client
            .patch(
                &format!("/v1/candidates/{}", candidate["id"].as_str().unwrap()),
                &json!({ "stage_name": stage }),
            )
            .expect(200);
    }
    let path = job.candidates_path();
    assert_eq!(names(&client, &format!("{path}?stage_name=Interview")), ["Ada", "Mary"]);
    assert_eq!(names(&client, &format!("{path}?stage_id={}", job.stage("Offer"))), ["Grace"]);
    assert_eq!(names(&client, &format!("{path}?stage_name=Hired")), [""; 0]);
    assert_eq!(
        names(&client, &format!("{path}?stage_name=Interview&stage_id={}", job.stage("Interview"))),
        ["Ada", "Mary"]
    );
}

#[apply(each_engine)]
fn candidates_by_one_of_two_stages_of_a_name(workspace: &Workspace) {
    let client = workspace.writer();
    let stages = ["Interview", "Interview", "Offer"].map(|name| json!({ "name": name }));
    let job = client
        .post(
            "/v1/jobs",
            &json!({ "name": "Smith", "client_company_name": "Acme", "pipeline_stages": stages }),
        )
        .expect(201);
    let job = Job::from_data(job.data());
    client.new_candidate(&job, "Ada");
    let path = job.candidates_path();
    assert_eq!(
        names(&client, &format!("{path}?stage_name=interview&stage_id={}", job.stage("Interview"))),
        ["Ada"]
    );
    client.get(&format!("{path}?stage_name=Interview")).refused(400, "INVALID_REQUEST");
    client
        .get(&format!("{path}?stage_name=Offer&stage_id={}", job.stage("Interview")))
        .refused(400, "INVALID_REQUEST");
}

#[apply(each_engine)]
fn candidates_by_words(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    for name in ["Ada Lovelace", "Grace Hopper", "Ada Yonath"] {
        client.new_candidate(&job, name);
    }
    let path = job.candidates_path();
    let emmy = client
        .new_person(&json!({ "name": "Emmy Noether", "company_name": "Umbrella Corporation" }));
    client.post(&path, &json!({ "person_id": emmy })).expect(201);
    assert_eq!(names(&client, &format!("{path}?q=umbrella")), ["Emmy Noether"]);
    assert_eq!(names(&client, &format!("{path}?q=ada")), ["Ada Lovelace", "Ada Yonath"]);
    assert_eq!(names(&client, &format!("{path}?q=HOPPER")), ["Grace Hopper"]);
    assert_eq!(names(&client, &format!("{path}?q=love+ad")), ["Ada Lovelace"]);
    assert_eq!(names(&client, &format!("{path}?q=ace")), [""; 0]);
    client.get(&format!("{path}?q=-")).refused(400, "INVALID_REQUEST");
    assert_eq!(names(&client, &format!("{path}?q=nobody")), [""; 0]);
}

#[apply(each_engine)]
fn records_by_the_time_of_their_creation(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Job 0", "Acme");
    let mut markers = Vec::new();
    for number in 0..3 {
        if number > 0 {
            next_millisecond();
            client.new_job(&format!("Job {number}"), "Acme");
        }
        client.new_candidate(&job, &format!("Person {number}"));
        next_millisecond();
        markers.push(client.new_job(&format!("Marker {number}"), "Other").path());
    }
    let marker = client.get(&markers[1]).string("created_at");
    let own = format!("client_company_id={}", job.client_company);
    assert_eq!(names(&client, &format!("/v1/jobs?created_after={marker}&{own}")), ["Job 2"]);
    assert_eq!(
        names(&client, &format!("/v1/jobs?created_before={marker}&{own}")),
        ["Job 0", "Job 1"]
    );
    let path = job.candidates_path();
    assert_eq!(names(&client, &format!("{path}?created_after={marker}")), ["Person 2"]);
    assert_eq!(
        names(&client, &format!("{path}?created_before={marker}")),
        ["Person 0", "Person 1"]
    );
    assert_eq!(
        names(
            &client,
            &format!("{path}?created_after=2000-01-01&created_before=2999-12-31T23:59:59%2B01:00")
        )
        .len(),
        3
    );
    assert_eq!(names(&client, &format!("{path}?created_before=2000-01-01")), [""; 0]);
}

#[apply(each_engine)]
fn candidates_by_the_time_of_their_last_change(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let moved = client.new_candidate(&job, "Moved");
    client.new_candidate(&job, "Still");
    next_millisecond();
    let marker = client
        .post("/v1/jobs", &json!({ "name": "Marker", "client_company_name": "Acme" }))
        .expect(201)
        .string("created_at");
    next_millisecond();
    client
        .patch(
            &format!("/v1/candidates/{}", moved["id"].as_str().unwrap()),
            &json!({ "stage_name": "Offer" }),
        )
        .expect(200);
    let path = job.candidates_path();
    assert_eq!(names(&client, &format!("{path}?updated_after={marker}")), ["Moved"]);
    assert_eq!(names(&client, &format!("{path}?updated_before={marker}")), ["Still"]);
    assert_eq!(names(&client, &format!("{path}?created_before={marker}")), ["Moved", "Still"]);
}

#[apply(each_engine)]
fn jobs_by_the_time_of_their_last_change(workspace: &Workspace) {
    let client = workspace.writer();
    let changed = client.new_job("Old name", "Acme");
    client.new_job("Still", "Acme");
    next_millisecond();
    let marker = client
        .post("/v1/jobs", &json!({ "name": "Marker", "client_company_name": "Other" }))
        .expect(201);
    next_millisecond();
    client.patch(&changed.path(), &json!({ "name": "New name" })).expect(200);
    let (marker, own) = (marker.string("created_at"), &changed.client_company);
    assert_eq!(
        names(&client, &format!("/v1/jobs?updated_after={marker}&client_company_id={own}")),
        ["New name"]
    );
    assert_eq!(
        names(&client, &format!("/v1/jobs?updated_before={marker}&client_company_id={own}")),
        ["Still"]
    );
}

#[apply(each_engine)]
fn filters_narrow_each_other(workspace: &Workspace) {
    let client = workspace.writer();
    new_job(&client, "Engineer", "Acme", "Open");
    new_job(&client, "Engineer", "Acme", "Closed");
    new_job(&client, "Designer", "Acme", "Open");
    new_job(&client, "Engineer", "Umbrella", "Open");
    let acme =
        client.get("/v1/jobs").entries()[0]["client_company_id"].as_str().unwrap().to_owned();
    let path = format!(
        "/v1/jobs?q=engineer&status=Open&client_company_id={acme}&is_archived=false&created_after=2000-01-01"
    );
    assert_eq!(names(&client, &path), ["Engineer"]);
    assert_eq!(names(&client, &format!("{path}&created_before=2000-01-01")), [""; 0]);
}

#[apply(each_engine)]
fn a_filtered_list_pages_like_any_other(workspace: &Workspace) {
    let client = workspace.writer();
    for number in 0..10 {
        new_job(
            &client,
            &format!("Job {number}"),
            "Acme",
            if number % 2 == 0 { "Open" } else { "Closed" },
        );
    }
    let page = client.get("/v1/jobs?status=Open&offset=1&limit=2&sort=-created_at").expect(200);
    assert_eq!(strings(page.data(), "name"), ["Job 6", "Job 4"]);
    assert_eq!(page.json["meta"], json!({ "total": 5, "offset": 1, "limit": 2 }));
    let first = client.get("/v1/jobs?status=Open&limit=3&cursor=").expect(200);
    assert_eq!(first.json["meta"]["total"], 5);
    let cursor = first.json["meta"]["next_cursor"].as_str().unwrap();
    let second = client.get(&format!("/v1/jobs?status=Open&limit=3&cursor={cursor}")).expect(200);
    assert_eq!(strings(second.data(), "name"), ["Job 6", "Job 8"]);
    assert!(second.json["meta"]["next_cursor"].is_null());
    let past = client.get("/v1/jobs?status=Open&offset=9").expect(200);
    assert_eq!((past.entries().len(), &past.json["meta"]["total"]), (0, &json!(5)));
}

#[apply(each_engine)]
fn a_bad_filter_is_refused_and_never_an_empty_page(workspace: &Workspace) {
    let client = workspace.writer();
    let (job, other) = (client.new_job("Engineer", "Acme"), client.new_job("Designer", "Acme"));
    let long = "x".repeat(256);
    let times = ["created_after", "created_before", "updated_after", "updated_before"];
    let bad_times =
        ["", "yesterday", "2026-13-01", "2026-02-30", "2026-11-15T25:00:00Z", "1700000000"];
    let mut cases: Vec<_> =
        times.iter().flat_map(|field| bad_times.map(|value| (false, *field, value))).collect();
    cases.extend(times.iter().flat_map(|field| bad_times.map(|value| (true, *field, value))));
    cases.extend([
        (false, "status", "Nope"),
        (false, "status", ""),
        (false, "status", "sts_00000000000000000000000000"),
        (false, "is_archived", "maybe"),
        (false, "is_archived", ""),
        (false, "is_archived", "1"),
        (false, "client_company_id", "acme"),
        (false, "client_company_id", ""),
        (false, "client_company_id", "cmp_00000000000000000000000000"),
        (false, "q", ""),
        (false, "q", "%20"),
        (false, "q", "%ff"),
        (false, "q", long.as_str()),
        (false, "stage_id", job.stage("Offer")),
        (true, "stage_id", "Offer"),
        (true, "stage_id", ""),
        (true, "stage_id", other.stage("Offer")),
        (true, "stage_id", "stg_00000000000000000000000000"),
        (true, "stage_name", "Lunch"),
        (true, "stage_name", ""),
        (true, "q", ""),
        (true, "status", "Open"),
        (true, "is_archived", "true"),
    ]);
    for (of_candidates, field, value) in cases {
        let path = if of_candidates { job.candidates_path() } else { "/v1/jobs".to_owned() };
        let reply = client.get(&format!("{path}?{field}={value}")).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), [field], "{path}?{field}={value}");
    }
}

#[apply(each_engine)]
fn every_bad_filter_is_named(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    for (path, fields) in [
        ("/v1/jobs?status=Nope&client_company_id=acme".to_owned(), ["client_company_id", "status"]),
        (
            format!("{}?stage_id=Offer&stage_name=Lunch", job.candidates_path()),
            ["stage_id", "stage_name"],
        ),
        ("/v1/persons?company_id=acme&job_id=Engineer".to_owned(), ["company_id", "job_id"]),
        ("/v1/candidates?person_id=Ada&job_id=Engineer".to_owned(), ["job_id", "person_id"]),
        (
            format!("/v1/candidates?person_id=Ada&job_id={}&stage_name=Lunch", job.id),
            ["person_id", "stage_name"],
        ),
        ("/v1/jobs?q=%ff&limit=0".to_owned(), ["limit", "q"]),
    ] {
        let reply = client.get(&path).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), fields, "{path}");
    }
}

#[apply(each_engine)]
fn moments_far_away_are_moments_too(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_job("Engineer", "Acme");
    let far = [
        ("created_after=-004800-01-01T00:00:00Z", 1),
        ("created_before=-004800-01-01T00:00:00Z", 0),
        ("created_before=9999-12-31T23:59:59Z", 1),
    ];
    for (filter, total) in far {
        let reply = client.get(&format!("/v1/jobs?{filter}")).expect(200);
        assert_eq!(reply.json["meta"]["total"], total, "{filter}");
    }
}
