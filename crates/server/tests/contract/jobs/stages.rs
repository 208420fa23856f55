//! The pipeline of one job: its stages are listed, added, changed, put in order and removed.

use serde_json::{Value, json};

use crate::support::{
    Client, Job, Log, Reply, Workspace, apply, each_engine, next_millisecond, shape, strings,
    together, types,
};

/// A job with three stages: Applied, Interview and Rejected.
fn job(client: &Client) -> Job {
    client.new_job_with(&json!({
        "name": "Engineer",
        "client_company_name": "Acme",
        "pipeline_stages": [
            { "name": "Applied" },
            { "name": "Interview", "is_interviewing_stage": true },
            { "name": "Rejected", "is_rejection_stage": true },
        ],
    }))
}

fn names(client: &Client, job: &Job) -> Vec<String> {
    let reply = client.get(&job.stages_path()).expect(200);
    in_order(&reply)
}

/// The names of a list of stages, whose orders must be dense.
#[track_caller]
fn in_order(reply: &Reply) -> Vec<String> {
    let orders: Vec<_> =
        reply.entries().iter().map(|stage| stage["stage_order"].as_u64().unwrap()).collect();
    assert_eq!(orders, (1..=orders.len() as u64).collect::<Vec<_>>(), "{reply:#?}");
    strings(reply.data(), "name")
}

fn remove(client: &Client, path: &str) -> Reply {
    client.send("DELETE", path, None)
}

fn candidate(client: &Client, job: &Job, name: &str) -> String {
    client.new_candidate(job, name)["id"].as_str().unwrap().to_owned()
}

#[apply(each_engine)]
fn the_stages_of_a_job_show_how_many_are_in_them(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    client.new_candidate(&job, "Ada");
    client.new_candidate(&job, "Grace");
    let moved = candidate(&client, &job, "Mary");
    client
        .patch(&format!("/v1/candidates/{moved}"), &json!({ "stage_name": "Rejected" }))
        .expect(200);
    insta::assert_snapshot!(shape(&workspace.client("read").get(&job.stages_path()).expect(200)),
        @r#"
    {
      "success": true,
      "data": [
        {
          "id": "stg_1",
          "name": "Applied",
          "stage_order": 1,
          "is_rejection_stage": false,
          "is_interviewing_stage": false,
          "candidate_count": 2
        },
        {
          "id": "stg_2",
          "name": "Interview",
          "stage_order": 2,
          "is_rejection_stage": false,
          "is_interviewing_stage": true,
          "candidate_count": 0
        },
        {
          "id": "stg_3",
          "name": "Rejected",
          "stage_order": 3,
          "is_rejection_stage": true,
          "is_interviewing_stage": false,
          "candidate_count": 1
        }
      ],
      "meta": {
        "total": 3,
        "offset": 0,
        "limit": 100
      }
    }
    "#);
}

#[apply(each_engine)]
fn stages_come_in_pages(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    client
        .put(
            &format!("{}/order", job.stages_path()),
            &order(&job, &["Rejected", "Applied", "Interview"]),
        )
        .expect(200);
    let page = |query: &str| {
        let reply = client.get(&format!("{}?{query}", job.stages_path())).expect(200);
        (strings(reply.data(), "name"), reply.json["meta"].clone())
    };
    assert_eq!(
        page("limit=1&offset=1"),
        (vec!["Applied".to_owned()], json!({ "total": 3, "offset": 1, "limit": 1 }))
    );
    let (first, meta) = page("cursor=&limit=2");
    assert_eq!(first, ["Rejected", "Applied"]);
    let (rest, meta) = page(&format!("cursor={}&limit=2", meta["next_cursor"].as_str().unwrap()));
    assert_eq!((rest, &meta["next_cursor"]), (vec!["Interview".to_owned()], &Value::Null));
    // A stage that is gone has no place in an order of its own, so nothing behind it is left out.
    let (_, meta) = page("cursor=&limit=1");
    client
        .send("DELETE", &format!("{}/{}", job.stages_path(), job.stage("Rejected")), None)
        .expect(200);
    let (rest, _) = page(&format!("cursor={}&limit=2", meta["next_cursor"].as_str().unwrap()));
    assert_eq!(rest, ["Applied", "Interview"]);
    for query in ["limit=0", "cursor=x", "sort=name", "stage_name=Applied"] {
        client.get(&format!("{}?{query}", job.stages_path())).refused(400, "INVALID_REQUEST");
    }
}

#[apply(each_engine)]
fn a_stage_is_added_at_the_end_or_where_it_is_told(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    let path = job.stages_path();
    let added = client.post(&path, &json!({ "name": " Alumni " })).expect(201);
    insta::assert_snapshot!(shape(&added), @r#"
    {
      "success": true,
      "data": {
        "id": "stg_1",
        "name": "Alumni",
        "stage_order": 4,
        "is_rejection_stage": false,
        "is_interviewing_stage": false,
        "candidate_count": 0
      }
    }
    "#);
    let first = client.post(&path, &json!({ "name": "Sourced", "stage_order": 1 })).expect(201);
    assert_eq!(first.data()["stage_order"], 1);
    let talk = json!({ "name": "Talk", "stage_order": 3.0, "is_interviewing_stage": true,
    "is_rejection_stage": false });
    let talk = client.post(&path, &talk).expect(201);
    assert_eq!(
        (&talk.data()["stage_order"], &talk.data()["is_interviewing_stage"]),
        (&json!(3), &json!(true))
    );
    assert_eq!(
        client.post(&path, &json!({ "name": "Last", "stage_order": 50 })).expect(201).data()["stage_order"],
        7
    );
    client
        .post(&path, &json!({ "name": "No", "stage_order": null, "is_rejection_stage": true }))
        .expect(201);
    let expected = ["Sourced", "Applied", "Talk", "Interview", "Rejected", "Alumni", "Last", "No"];
    assert_eq!(names(&client, &job), expected);
    assert_eq!(strings(&client.get(&job.path()).data()["pipeline_stages"], "name"), expected);
    let moved = candidate(&client, &job, "Ada");
    let moved = client
        .patch(&format!("/v1/candidates/{moved}"), &json!({ "stage_id": talk.id() }))
        .expect(200);
    assert_eq!(moved.string("current_pipeline_stage_name"), "Talk");
}

#[apply(each_engine)]
fn a_job_has_at_most_fifty_stages(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    for number in 4..=50 {
        client.post(&job.stages_path(), &json!({ "name": format!("Stage {number}") })).expect(201);
    }
    client.post(&job.stages_path(), &json!({ "name": "One too many" })).refused(409, "TOO_MANY");
    assert_eq!(names(&client, &job).len(), 50);
}

#[apply(each_engine)]
fn a_stage_that_is_added_needs_a_name_and_a_sound_place(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    for (body, field, flaw) in [
        (json!({}), "name", "REQUIRED"),
        (json!({ "name": " " }), "name", "REQUIRED"),
        (json!({ "name": "x".repeat(256) }), "name", "TOO_LONG"),
        (json!({ "name": "New", "stage_order": 0 }), "stage_order", "OUT_OF_RANGE"),
        (json!({ "name": "New", "stage_order": -1 }), "stage_order", "OUT_OF_RANGE"),
        (json!({ "name": "New", "stage_order": 51 }), "stage_order", "OUT_OF_RANGE"),
        (json!({ "name": "New", "stage_order": 1.5 }), "stage_order", "OUT_OF_RANGE"),
        (json!({ "name": "New", "stage_order": "1" }), "stage_order", "INVALID_TYPE"),
        (json!({ "name": "New", "is_rejection_stage": 0 }), "is_rejection_stage", "INVALID_TYPE"),
        (json!({ "name": "New", "candidate_count": 0 }), "candidate_count", "UNKNOWN_FIELD"),
    ] {
        let reply = client.post(&job.stages_path(), &body).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw), "{body}");
    }
    assert_eq!(names(&client, &job), ["Applied", "Interview", "Rejected"]);
}

#[apply(each_engine)]
fn a_stage_is_changed_field_by_field(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    client.new_candidate(&job, "Ada");
    let path = job.stage_path("Applied");
    let mut expected = client.get(&job.stages_path()).expect(200).entries()[0].clone();
    for (patch, changed) in [
        (json!({}), json!({})),
        (json!({ "name": " Inbox " }), json!({ "name": "Inbox" })),
        (json!({ "is_interviewing_stage": true }), json!({ "is_interviewing_stage": true })),
        (json!({ "is_rejection_stage": true }), json!({ "is_rejection_stage": true })),
        (
            json!({ "is_rejection_stage": false, "stage_order": 2 }),
            json!({ "is_rejection_stage": false, "stage_order": 2 }),
        ),
    ] {
        for (field, value) in changed.as_object().unwrap() {
            expected[field.as_str()] = value.clone();
        }
        assert_eq!(client.patch(&path, &patch).expect(200).data(), &expected, "{patch}");
    }
    assert_eq!(client.get(&job.stages_path()).expect(200).entries()[1], expected);
    assert_eq!(names(&client, &job), ["Interview", "Inbox", "Rejected"]);
}

#[apply(each_engine)]
fn a_stage_goes_to_another_place(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    for (stage, place, expected) in [
        ("Rejected", 1, ["Rejected", "Applied", "Interview"]),
        ("Rejected", 2, ["Applied", "Rejected", "Interview"]),
        ("Applied", 3, ["Rejected", "Interview", "Applied"]),
        ("Rejected", 50, ["Interview", "Applied", "Rejected"]),
        ("Applied", 2, ["Interview", "Applied", "Rejected"]),
    ] {
        client.patch(&job.stage_path(stage), &json!({ "stage_order": place })).expect(200);
        assert_eq!(names(&client, &job), expected, "{stage} to {place}");
    }
}

#[apply(each_engine)]
fn a_renamed_stage_keeps_its_candidates_and_they_their_history(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    let id = candidate(&client, &job, "Ada");
    let before = client.get(&format!("/v1/candidates/{id}")).expect(200);
    client.patch(&job.stage_path("Applied"), &json!({ "name": "Inbox" })).expect(200);
    let after = client.get(&format!("/v1/candidates/{id}")).expect(200);
    assert_eq!(after.string("current_pipeline_stage_name"), "Inbox");
    assert_eq!(strings(&after.data()["pipeline_stage_history"], "stage_name"), ["Applied"]);
    assert_ne!(after.etag(), before.etag());
    let listed = client.get(&format!("{}?stage_name=inbox", job.candidates_path())).expect(200);
    assert_eq!(strings(listed.data(), "id"), [id]);
}

#[apply(each_engine)]
fn nothing_of_a_stage_can_be_cleared(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    for field in ["name", "stage_order", "is_rejection_stage", "is_interviewing_stage"] {
        let reply = client
            .patch(&job.stage_path("Applied"), &json!({ field: null }))
            .refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], "REQUIRED"));
    }
    for (body, field, flaw) in [
        (json!({ "name": 7 }), "name", "INVALID_TYPE"),
        (json!({ "stage_order": 0 }), "stage_order", "OUT_OF_RANGE"),
        (json!({ "is_interviewing_stage": "yes" }), "is_interviewing_stage", "INVALID_TYPE"),
        (json!({ "id": "x" }), "id", "UNKNOWN_FIELD"),
    ] {
        let reply = client.patch(&job.stage_path("Applied"), &body).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], flaw), "{body}");
    }
    assert_eq!(names(&client, &job), ["Applied", "Interview", "Rejected"]);
}

/// The body that puts the stages of the job in that order.
fn order(job: &Job, names: &[&str]) -> Value {
    json!({ "stage_ids": names.iter().map(|name| job.stage(name)).collect::<Vec<_>>() })
}

#[apply(each_engine)]
fn stages_are_put_in_order(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    client.new_candidate(&job, "Ada");
    let path = format!("{}/order", job.stages_path());
    let reply = client.put(&path, &order(&job, &["Rejected", "Interview", "Applied"])).expect(200);
    assert_eq!(in_order(&reply), ["Rejected", "Interview", "Applied"]);
    assert_eq!(reply.json["meta"], json!({ "total": 3, "offset": 0, "limit": 100 }));
    assert_eq!(reply.entries()[2]["candidate_count"], 1);
    assert_eq!(reply.text, client.get(&job.stages_path()).expect(200).text);
    assert_eq!(
        strings(&client.get(&job.path()).data()["pipeline_stages"], "name"),
        ["Rejected", "Interview", "Applied"]
    );
}

#[apply(each_engine)]
fn an_order_names_every_stage_once(workspace: &Workspace) {
    let client = workspace.writer();
    let (job, other) = (job(&client), job(&client));
    let path = format!("{}/order", job.stages_path());
    for (body, field, flaw) in [
        (json!({}), "stage_ids", "REQUIRED"),
        (json!({ "stage_ids": null }), "stage_ids", "REQUIRED"),
        (json!({ "stage_ids": [] }), "stage_ids", "TOO_FEW"),
        (json!({ "stage_ids": "x" }), "stage_ids", "INVALID_TYPE"),
        (json!({ "stage_ids": [7] }), "stage_ids[0]", "INVALID_TYPE"),
        (json!({ "stage_ids": vec!["x"; 51] }), "stage_ids", "TOO_MANY"),
        (json!({ "stage_ids": [], "order": 1 }), "order", "UNKNOWN_FIELD"),
        (order(&job, &["Applied", "Interview"]), "stage_ids", "TOO_FEW"),
        (
            order(&job, &["Applied", "Interview", "Rejected", "Applied"]),
            "stage_ids[3]",
            "INVALID_VALUE",
        ),
        (order(&job, &["Applied", "Applied", "Rejected"]), "stage_ids", "TOO_FEW"),
    ] {
        let reply = client.put(&path, &body).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.flaw(field), flaw, "{body}");
    }
    for stranger in [other.stage("Applied"), "stg_00000000000000000000000000", "Applied"] {
        let mut body = order(&job, &["Applied", "Interview", "Rejected"]);
        body["stage_ids"][1] = json!(stranger);
        let reply = client.put(&path, &body).refused(404, "NOT_FOUND");
        assert_eq!(reply.detail_fields(), ["stage_ids[1]"], "{stranger}");
    }
    assert_eq!(names(&client, &job), ["Applied", "Interview", "Rejected"]);
}

#[apply(each_engine)]
fn a_stage_without_candidates_is_removed(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    client.new_candidate(&job, "Ada");
    let reply = remove(&client, &job.stage_path("Interview")).expect(200);
    assert_eq!(in_order(&reply), ["Applied", "Rejected"]);
    assert_eq!(reply.json["meta"], json!({ "total": 2, "offset": 0, "limit": 100 }));
    assert_eq!(
        [&reply.entries()[0]["candidate_count"], &reply.entries()[1]["candidate_count"]],
        [1, 0]
    );
    assert_eq!(reply.text, client.get(&job.stages_path()).expect(200).text);
    let moved = remove(
        &client,
        &format!("{}?move_to={}", job.stage_path("Rejected"), job.stage("Applied")),
    )
    .expect(200);
    assert_eq!(in_order(&moved), ["Applied"]);
    remove(&client, &job.stage_path("Interview")).refused(404, "NOT_FOUND");
}

#[apply(each_engine)]
fn a_stage_with_candidates_needs_another_that_takes_them(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    let other = client.new_job("Designer", "Acme");
    client.new_candidate(&job, "Ada");
    client.new_candidate(&job, "Grace");
    let path = job.stage_path("Applied");
    let reply = remove(&client, &path).refused(409, "STAGE_IN_USE");
    assert_eq!((reply.detail_fields(), reply.flaw("move_to")), (vec!["move_to"], "REQUIRED"));
    assert!(
        reply.json["error"]["message"].as_str().unwrap().contains("2 candidates"),
        "{reply:#?}"
    );
    for stranger in [other.stage("Sourced"), "stg_00000000000000000000000000", "Interview"] {
        let reply =
            remove(&client, &format!("{path}?move_to={stranger}")).refused(404, "NOT_FOUND");
        assert_eq!(reply.detail_fields(), ["move_to"], "{stranger}");
    }
    let itself = format!("move_to={}", job.stage("Applied"));
    for query in [itself.as_str(), "move_to=", "move_to=a&move_to=b", "stage_id=x"] {
        remove(&client, &format!("{path}?{query}")).refused(400, "INVALID_REQUEST");
    }
    assert_eq!(names(&client, &job), ["Applied", "Interview", "Rejected"]);
    assert_eq!(client.get(&job.stages_path()).expect(200).entries()[0]["candidate_count"], 2);
}

#[apply(each_engine)]
fn candidates_of_a_removed_stage_go_to_the_other(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    let moved = ["Ada", "Grace"].map(|name| candidate(&client, &job, name));
    let there = candidate(&client, &job, "Mary");
    client
        .patch(&format!("/v1/candidates/{there}"), &json!({ "stage_name": "Interview" }))
        .expect(200);
    let before = client.candidate(&there);
    client
        .patch(&format!("/v1/candidates/{}", moved[1]), &json!({ "stage_name": "Interview" }))
        .expect(200);
    client
        .patch(&format!("/v1/candidates/{}", moved[1]), &json!({ "stage_name": "Applied" }))
        .expect(200);
    next_millisecond();
    let reply = remove(
        &client,
        &format!("{}?move_to={}", job.stage_path("Applied"), job.stage("Interview")),
    )
    .expect(200);
    assert_eq!(
        (in_order(&reply), &reply.entries()[0]["candidate_count"]),
        (vec!["Interview".to_owned(), "Rejected".to_owned()], &json!(3))
    );
    for (id, history) in [
        (&moved[0], &["Applied", "Interview"][..]),
        (&moved[1], &["Applied", "Interview", "Applied", "Interview"]),
    ] {
        let candidate = client.candidate(id);
        assert_eq!(candidate["current_pipeline_stage_id"], job.stage("Interview"));
        assert_eq!(strings(&candidate["pipeline_stage_history"], "stage_name"), history);
        let dates = strings(&candidate["pipeline_stage_history"], "stage_date");
        assert!(dates.is_sorted(), "{candidate:#}");
        assert_eq!(candidate["current_pipeline_stage_date"], dates[dates.len() - 1]);
    }
    assert_eq!(client.candidate(&there), before);
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 3);
}

#[apply(each_engine)]
fn a_job_keeps_a_stage_that_candidates_can_enter(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    client.patch(&job.stage_path("Interview"), &json!({ "is_rejection_stage": true })).expect(200);
    client
        .patch(&job.stage_path("Applied"), &json!({ "is_rejection_stage": true }))
        .refused(409, "LAST_STAGE");
    let path = job.stage_path("Applied");
    remove(&client, &path).refused(409, "LAST_STAGE");
    remove(&client, &format!("{path}?move_to={}", job.stage("Rejected")))
        .refused(409, "LAST_STAGE");
    assert_eq!(names(&client, &job), ["Applied", "Interview", "Rejected"]);
    for stage in ["Interview", "Rejected"] {
        remove(&client, &job.stage_path(stage)).expect(200);
    }
    remove(&client, &path).refused(409, "LAST_STAGE");
    assert_eq!(names(&client, &job), ["Applied"]);
}

#[apply(each_engine)]
fn new_candidates_enter_at_the_first_stage_there_is(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    let entered =
        |name: &str| client.new_candidate(&job, name)["current_pipeline_stage_name"].clone();
    assert_eq!(entered("Ada"), "Applied");
    client.post(&job.stages_path(), &json!({ "name": "Sourced", "stage_order": 1 })).expect(201);
    assert_eq!(entered("Grace"), "Sourced");
    client
        .post(
            &job.stages_path(),
            &json!({ "name": "Barred", "stage_order": 1, "is_rejection_stage": true }),
        )
        .expect(201);
    assert_eq!(entered("Mary"), "Sourced");
    client.patch(&job.stage_path("Interview"), &json!({ "stage_order": 1 })).expect(200);
    assert_eq!(entered("Emmy"), "Interview");
}

#[apply(each_engine)]
fn whatever_names_no_stage_is_not_found(workspace: &Workspace) {
    let client = workspace.writer();
    let (job, other) = (job(&client), client.new_job("Designer", "Acme"));
    for stage in ["stg_00000000000000000000000000", "stg_", "x", other.stage("Sourced"), &job.id] {
        let path = format!("{}/{stage}", job.stages_path());
        client.patch(&path, &json!({ "name": "New" })).refused(404, "NOT_FOUND");
        remove(&client, &path).refused(404, "NOT_FOUND");
    }
    for unknown in ["job_00000000000000000000000000", "x"] {
        let path = format!("/v1/jobs/{unknown}/stages");
        client.get(&path).refused(404, "NOT_FOUND");
        client.post(&path, &json!({ "name": "New" })).refused(404, "NOT_FOUND");
        client.put(&format!("{path}/order"), &order(&job, &["Applied"])).refused(404, "NOT_FOUND");
        client
            .patch(&format!("{path}/{}", job.stage("Applied")), &json!({ "name": "New" }))
            .refused(404, "NOT_FOUND");
        remove(&client, &format!("{path}/{}", job.stage("Applied"))).refused(404, "NOT_FOUND");
    }
    client.get(&job.stage_path("Applied")).refused(405, "METHOD_NOT_ALLOWED");
}

#[apply(each_engine)]
fn stages_belong_to_their_workspace(workspace: &Workspace) {
    let (owner, stranger) =
        (workspace.client_of("owner", "write"), workspace.client_of("stranger", "write"));
    let (theirs, own) = (job(&owner), job(&stranger));
    let before = owner.get(&theirs.stages_path()).expect(200).text;
    stranger.get(&theirs.stages_path()).refused(404, "NOT_FOUND");
    stranger.post(&theirs.stages_path(), &json!({ "name": "New" })).refused(404, "NOT_FOUND");
    stranger
        .patch(&theirs.stage_path("Applied"), &json!({ "name": "New" }))
        .refused(404, "NOT_FOUND");
    remove(&stranger, &theirs.stage_path("Interview")).refused(404, "NOT_FOUND");
    stranger
        .put(
            &format!("{}/order", theirs.stages_path()),
            &order(&theirs, &["Rejected", "Interview", "Applied"]),
        )
        .refused(404, "NOT_FOUND");
    let path = format!("{}/{}", own.stages_path(), theirs.stage("Interview"));
    stranger.patch(&path, &json!({ "name": "New" })).refused(404, "NOT_FOUND");
    let reply = remove(
        &stranger,
        &format!("{}?move_to={}", own.stage_path("Interview"), theirs.stage("Applied")),
    )
    .refused(404, "NOT_FOUND");
    assert_eq!(reply.detail_fields(), ["move_to"]);
    assert_eq!(owner.get(&theirs.stages_path()).expect(200).text, before);
}

#[apply(each_engine)]
fn who_may_only_read_changes_no_stage(workspace: &Workspace) {
    let (client, reader) = (workspace.writer(), workspace.client("read"));
    let job = job(&client);
    reader.post(&job.stages_path(), &json!({ "name": "New" })).refused(403, "FORBIDDEN");
    reader.patch(&job.stage_path("Applied"), &json!({ "name": "New" })).refused(403, "FORBIDDEN");
    remove(&reader, &job.stage_path("Interview")).refused(403, "FORBIDDEN");
    let body = order(&job, &["Rejected", "Interview", "Applied"]);
    reader.put(&format!("{}/order", job.stages_path()), &body).refused(403, "FORBIDDEN");
    assert_eq!(names(&reader, &job), ["Applied", "Interview", "Rejected"]);
}

/// Every way to change the pipeline of a job.
fn changes(job: &Job) -> [(&'static str, String, Option<Value>); 4] {
    [
        ("POST", job.stages_path(), Some(json!({ "name": "Alumni", "stage_order": 3 }))),
        ("PATCH", job.stage_path("Applied"), Some(json!({ "name": "Inbox" }))),
        ("DELETE", job.stage_path("Interview"), None),
        ("PATCH", job.stage_path("Rejected"), Some(json!({ "stage_order": 1 }))),
    ]
}

#[apply(each_engine)]
fn a_change_of_the_pipeline_changes_the_job(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    let mut seen = client.get(&job.path()).expect(200);
    for (method, path, body) in changes(&job) {
        next_millisecond();
        let since = client
            .post("/v1/jobs", &json!({ "name": "Clock", "client_company_name": "Acme" }))
            .expect(201)
            .string("created_at");
        next_millisecond();
        let reply = client.send(method, &path, body.as_ref());
        assert!([200, 201].contains(&reply.status), "{reply:#?}");
        let now = client.get(&job.path()).expect(200);
        assert_ne!(
            (now.etag(), &now.data()["pipeline_stages"]),
            (seen.etag(), &seen.data()["pipeline_stages"]),
            "{method} {path}"
        );
        assert_ne!(now.etag(), seen.etag());
        let changed = client.get(&format!("/v1/jobs?updated_after={since}")).expect(200);
        assert_eq!(strings(changed.data(), "id"), [job.id.as_str()], "{method} {path}");
        seen = now;
    }
}

#[apply(each_engine)]
fn a_change_under_an_old_tag_is_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    let tag = client.get(&job.path()).expect(200).etag().to_owned();
    client
        .with("if-match", &tag)
        .post(&job.stages_path(), &json!({ "name": "Alumni" }))
        .expect(201);
    let before = client.get(&job.stages_path()).expect(200).text;
    for (method, path, body) in changes(&job) {
        client
            .with("if-match", &tag)
            .send(method, &path, body.as_ref())
            .refused(412, "PRECONDITION_FAILED");
    }
    let reordered = order(&job, &["Rejected", "Interview", "Applied"]);
    client
        .with("if-match", &tag)
        .put(&format!("{}/order", job.stages_path()), &reordered)
        .refused(412, "PRECONDITION_FAILED");
    assert_eq!(client.get(&job.stages_path()).expect(200).text, before);
    client
        .with("if-match", "*")
        .patch(&job.stage_path("Applied"), &json!({ "name": "Inbox" }))
        .expect(200);
}

#[apply(each_engine)]
fn changes_of_the_pipeline_are_told(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    let mut log = Log::begin(&client);
    let pipeline = || client.get(&job.path()).expect(200).data()["pipeline_stages"].clone();
    let reordered = order(&job, &["Rejected", "Applied", "Interview"]);
    for (method, path, body, kind, stage) in [
        (
            "PUT",
            format!("{}/order", job.stages_path()),
            Some(reordered),
            "job.stages_reordered",
            None,
        ),
        (
            "PATCH",
            job.stage_path("Applied"),
            Some(json!({ "name": "Inbox" })),
            "job.stage_updated",
            Some((job.stage("Applied"), "Inbox")),
        ),
        (
            "PATCH",
            job.stage_path("Rejected"),
            Some(json!({ "stage_order": 3 })),
            "job.stage_updated",
            Some((job.stage("Rejected"), "Rejected")),
        ),
        (
            "DELETE",
            job.stage_path("Interview"),
            None,
            "job.stage_removed",
            Some((job.stage("Interview"), "Interview")),
        ),
    ] {
        let before = pipeline();
        client.send(method, &path, body.as_ref()).expect(200);
        let events = log.new_events();
        assert_eq!(
            (types(&events), &events[0]["record_id"]),
            (vec![kind], &json!(job.id)),
            "{method} {path}"
        );
        let mut data = json!({ "before": { "pipeline_stages": before },
            "after": { "pipeline_stages": pipeline() } });
        if let Some((id, name)) = stage {
            data["stage"] = json!({ "id": id, "name": name });
        }
        assert_eq!(events[0]["data"], data, "{method} {path}");
    }
    let before = pipeline();
    let added = client
        .post(&job.stages_path(), &json!({ "name": "Talk", "stage_order": 2 }))
        .expect(201)
        .id();
    let events = log.new_events();
    assert_eq!(types(&events), ["job.stage_added"]);
    let after = json!({ "pipeline_stages": pipeline() });
    assert_eq!(
        events[0]["data"],
        json!({ "before": { "pipeline_stages": before },
            "after": after, "stage": { "id": added, "name": "Talk" } })
    );
}

#[apply(each_engine)]
fn candidates_that_go_to_another_stage_are_told(workspace: &Workspace) {
    const STAGE: [&str; 3] =
        ["current_pipeline_stage_id", "current_pipeline_stage_name", "current_pipeline_stage_date"];
    let part = |record: &Value| -> Value {
        STAGE.iter().map(|field| (*field, record[*field].clone())).collect()
    };
    let client = workspace.writer();
    let job = job(&client);
    let ids = ["Ada", "Grace"].map(|name| candidate(&client, &job, name));
    let before = ids.each_ref().map(|id| client.candidate(id));
    let mut log = Log::begin(&client);
    remove(&client, &format!("{}?move_to={}", job.stage_path("Applied"), job.stage("Interview")))
        .expect(200);
    let events = log.new_events();
    assert_eq!(types(&events), ["candidate.moved", "candidate.moved", "job.stage_removed"]);
    for ((event, id), (before, name)) in
        events.iter().zip(&ids).zip(before.iter().zip(["Ada", "Grace"]))
    {
        let person = json!({ "id": before["person_id"], "name": name });
        let data = json!({
            "before": part(before), "after": part(&client.candidate(id)), "person": person,
            "job": { "id": job.id, "name": "Engineer" },
        });
        assert_eq!((&event["record_id"], &event["data"]), (&json!(id), &data));
    }
    let moved_to = json!({ "id": job.stage("Interview"), "name": "Interview" });
    assert_eq!(events[2]["data"]["moved_to"], moved_to);
    assert_eq!(
        events[2]["data"]["stage"],
        json!({ "id": job.stage("Applied"), "name": "Applied" })
    );
}

#[apply(each_engine)]
fn what_changes_nothing_is_not_told(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    client.new_candidate(&job, "Ada");
    let before = client.get(&job.path()).expect(200);
    let mut log = Log::begin(&client);
    for patch in [
        json!({}),
        json!({ "name": " Applied", "stage_order": 1 }),
        json!({ "is_rejection_stage": false }),
    ] {
        client.patch(&job.stage_path("Applied"), &patch).expect(200);
    }
    client.patch(&job.stage_path("Rejected"), &json!({ "stage_order": 50 })).expect(200);
    client
        .put(
            &format!("{}/order", job.stages_path()),
            &order(&job, &["Applied", "Interview", "Rejected"]),
        )
        .expect(200);
    remove(&client, &job.stage_path("Applied")).expect(409);
    client.post(&job.stages_path(), &json!({ "name": "" })).expect(400);
    assert_eq!(log.new_events(), Vec::<Value>::new());
    let after = client.get(&job.path()).expect(200);
    assert_eq!((after.text.as_str(), after.etag()), (before.text.as_str(), before.etag()));
}

#[apply(each_engine)]
fn a_removal_that_is_sent_again_is_answered_again(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    let once = client.with("idempotency-key", "same");
    let first = remove(&once, &job.stage_path("Interview")).expect(200);
    let second = remove(&once, &job.stage_path("Interview")).expect(200);
    assert_eq!(
        (second.text.as_str(), second.header("idempotency-replayed")),
        (first.text.as_str(), Some("true"))
    );
    remove(&once, &job.stage_path("Rejected")).refused(409, "IDEMPOTENCY_CONFLICT");
}

#[apply(each_engine)]
fn stages_that_are_added_at_once_all_get_a_place(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    together(8, |number| {
        client
            .post(
                &job.stages_path(),
                &json!({ "name": format!("Stage {number}"), "stage_order": 2 }),
            )
            .expect(201)
            .status
    });
    assert_eq!(names(&client, &job).len(), 11);
}

#[apply(each_engine)]
fn nobody_is_lost_when_a_stage_goes_while_candidates_move(workspace: &Workspace) {
    let client = workspace.writer();
    let job = job(&client);
    let ids: Vec<_> =
        (0..7).map(|number| candidate(&client, &job, &format!("Person {number}"))).collect();
    let removal = format!("{}?move_to={}", job.stage_path("Interview"), job.stage("Rejected"));
    together(8, |number| match ids.get(number) {
        Some(id) => {
            let reply = client.patch(
                &format!("/v1/candidates/{id}"),
                &json!({ "stage_id": job.stage("Interview") }),
            );
            assert!([200, 404].contains(&reply.status), "{reply:#?}");
        }
        None => drop(remove(&client, &removal).expect(200)),
    });
    let list = client.get(&job.stages_path()).expect(200);
    assert_eq!(in_order(&list), ["Applied", "Rejected"]);
    let counted: Vec<_> =
        list.entries().iter().map(|stage| stage["candidate_count"].as_u64().unwrap()).collect();
    assert_eq!(counted.iter().sum::<u64>(), 7);
    let rejected =
        client.get(&format!("{}?stage_name=Rejected", job.candidates_path())).expect(200);
    for candidate in rejected.entries() {
        let candidate = client.candidate(candidate["id"].as_str().unwrap());
        assert_eq!(
            strings(&candidate["pipeline_stage_history"], "stage_name"),
            ["Applied", "Interview", "Rejected"]
        );
    }
    assert_eq!(rejected.entries().len() as u64, counted[1]);
}
