//! Many persons in one call.

use serde_json::{Value, json};

use crate::support::{
    App, Log, Workspace, apply, each_engine, eventually, strings, together, types,
};

const PATH: &str = "/v1/persons/batch";

fn statuses(rows: &Value) -> Vec<u64> {
    rows.as_array().unwrap().iter().map(|row| row["status"].as_u64().unwrap()).collect()
}

#[apply(each_engine)]
fn each_row_has_its_result_in_order(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "persons": [{ "name": "Ada Lovelace", "work_email": "ada@engines.example" },
        { "name": "Grace Hopper" }] });
    let reply = client.post(PATH, &body).expect(200);
    let rows = reply.entries();
    assert_eq!(rows.len(), 2);
    let id = rows[0]["data"]["id"].as_str().unwrap();
    assert_eq!(
        rows[0],
        json!({
            "success": true, "status": 201, "error": null, "data": {
                "id": id, "name": "Ada Lovelace", "social_public_id": "", "current_job_title": "",
                "company_name": "", "social_location": "",
                "emails": [{ "contact_data_type": "work", "value": "ada@engines.example" }],
                "phones": [],
                "candidate_id": null, "client_contact_id": null, "external_source_id": null,
            }
        })
    );
    assert_eq!(client.person(id)["name"], "Ada Lovelace");
    assert_eq!(client.person(rows[1]["data"]["id"].as_str().unwrap())["name"], "Grace Hopper");
}

#[apply(each_engine)]
fn a_bad_row_does_not_stop_the_others(workspace: &Workspace) {
    let client = workspace.writer();
    let rows = json!([{ "name": "One" }, { "nmae": "Two" }, 3,
    { "name": "Four", "emails": ["x"], "work_phone": 7 }, { "name": "Five", "job_id": "job_no" },
    { "name": "Six" }]);
    let reply = client.post(PATH, &json!({ "persons": rows })).expect(200);
    assert_eq!(statuses(reply.data()), [201, 400, 400, 400, 404, 201]);
    let refused = &reply.entries()[3];
    assert_eq!(
        (&refused["success"], &refused["data"], &refused["error"]["code"]),
        (&json!(false), &Value::Null, &json!("INVALID_REQUEST"))
    );
    let fields: Vec<_> = refused["error"]["details"]
        .as_array()
        .unwrap()
        .iter()
        .map(|detail| detail["field"].as_str().unwrap())
        .collect();
    assert_eq!(fields, ["emails[0]", "work_phone"]);
    assert_eq!(client.get("/v1/persons").expect(200).json["meta"]["total"], 2);
}

#[apply(each_engine)]
fn a_row_is_refused_for_what_a_create_is_refused_for(workspace: &Workspace) {
    let client = workspace.writer();
    client.new_person(&json!({ "name": "Ada", "emails": ["ada@x.example"] }));
    client.new_person(&json!({ "name": "Grace", "external_source_id": "7" }));
    client.new_job("Twin", "One");
    client.new_job("Twin", "Two");
    let rows = [
        json!({ "name": "Both", "emails": ["ada@x.example"], "external_source_id": "7" }),
        json!({ "name": "Twin", "job_name": "twin" }),
        json!({ "name": "None", "job_name": "none" }),
        json!({ "name": "Ada", "emails": ["ada@x.example"], "job_name": "none",
            "company_name": "Never made" }),
    ];
    let reply = client.post(PATH, &json!({ "persons": rows })).expect(200);
    for (row, alone) in reply.entries().iter().zip(&rows) {
        let alone = client.post("/v1/persons", alone);
        assert_eq!(row["status"], alone.status);
        assert_eq!(row["error"]["code"], alone.json["error"]["code"]);
        assert_eq!(row["error"]["message"], alone.json["error"]["message"]);
        assert_eq!(row["error"]["details"], alone.json["error"]["details"]);
    }
    assert_eq!(client.get("/v1/companies?q=never").expect(200).json["meta"]["total"], 0);
}

#[apply(each_engine)]
fn rows_that_are_the_same_person_make_one(workspace: &Workspace) {
    let client = workspace.writer();
    let rows = json!([
        { "name": "Ada", "emails": ["ada@x.example"] },
        { "name": "Ada L", "emails": ["ADA@x.example"], "current_job_title": "Analyst" },
        { "name": "A", "emails": ["ada@x.example", "other@x.example"] },
        { "name": "O", "emails": ["other@x.example"] },
    ]);
    let reply = client.post(PATH, &json!({ "persons": rows })).expect(200);
    assert_eq!(statuses(reply.data()), [201, 200, 200, 200]);
    let ids: Vec<_> = reply.entries().iter().map(|row| &row["data"]["id"]).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    let person = client.person(ids[0].as_str().unwrap());
    assert_eq!((&person["name"], &person["current_job_title"]), (&json!("Ada"), &json!("Analyst")));
}

/// Times that the server waited for its database, if that is elsewhere.
fn round_trips(app: &App) -> f64 {
    let metrics = app.anonymous().get("/metrics").expect(200).text;
    let count =
        metrics.lines().find_map(|line| line.strip_prefix("slated_store_round_trips_total "));
    count.map_or(0.0, |count| count.parse().unwrap())
}

#[apply(each_engine)]
fn rows_do_what_as_many_creates_do(workspace: &Workspace) {
    let client = workspace.writer();
    let jobs = ["One", "Two"].map(|name| client.new_job(name, "Acme").id);
    let rows_of = |tag: &str| {
        client.new_person(&json!({ "name": "Ada", "external_source_id": format!("ada-{tag}"),
            "emails": [format!("ada@{tag}.example")] }));
        client.new_person(&json!({ "name": "Grace",
                "social_url": format!("https://social.example/in/grace-{tag}"),
                "company_name": "Navy" }));
        [
            json!({ "name": "A", "external_source_id": format!("ada-{tag}"),
                "emails": [format!("new@{tag}.example")], "job_id": jobs[0] }),
            // The same person by what was there, and by what the row before brought.
            json!({ "name": "A", "emails": [format!("ada@{tag}.example")],
                "current_job_title": "Analyst", "job_id": jobs[1], "notes": "Plays whist" }),
            json!({ "name": "A", "emails": [format!("new@{tag}.example")],
                "company_name": format!("Engines {tag}"), "job_id": jobs[0] }),
            json!({ "name": "New", "emails": [format!("n@{tag}.example")],
                "company_name": format!("ENGINES {tag}"), "job_id": jobs[0] }),
            json!({ "name": "Same", "emails": [format!("n@{tag}.example")], "job_id": jobs[0],
                "mobile_phone": "555 1" }),
            // Keeps the company.
            json!({ "name": "G", "social_url": format!("https://social.example/in/grace-{tag}"),
                "company_name": format!("Cobol {tag}"), "client_name": format!("Client {tag}") }),
            json!({ "name": "Other", "company_name": format!("Cobol {tag}"),
                "external_source_id": format!("o-{tag}"), "job_id": jobs[1] }),
            json!({ "name": "Last", "company_name": format!("client {tag}"), "notes": "Plays \
                whist" }),
            json!({ "name": "G", "social_url": format!("https://social.example/in/grace-{tag}"),
                "job_name": "two", "notes": "Found a moth" }),
            json!({ "name": "No", "job_id": "job_no" }),
        ]
    };
    let singly: Vec<_> = rows_of("x")
        .iter()
        .map(|row| client.post("/v1/persons", row))
        .map(|reply| (reply.status, reply.json))
        .collect();
    let together = client.post(PATH, &json!({ "persons": rows_of("y") })).expect(200);
    // Ids are told apart by where they first stand.
    let shown = |data: &mut Value, ids: &mut Vec<String>| {
        for field in ["id", "candidate_id", "client_contact_id"] {
            if let Some(id) = data[field].as_str() {
                let id = id.to_owned();
                let place = ids.iter().position(|known| *known == id).unwrap_or_else(|| {
                    ids.push(id);
                    ids.len() - 1
                });
                data[field] = json!(place);
            }
        }
        data.to_string()
            .replace("@y.example", "@x.example")
            .replace("-y\"", "-x\"")
            .replace(" y\"", " x\"")
    };
    let (mut single_ids, mut batch_ids) = (Vec::new(), Vec::new());
    for ((status, mut alone), row) in singly.into_iter().zip(together.entries()) {
        let mut row = row.clone();
        assert_eq!(row["status"], status, "{row} {alone}");
        assert_eq!(
            shown(&mut alone["data"], &mut single_ids),
            shown(&mut row["data"], &mut batch_ids)
        );
    }
    assert_eq!(single_ids.len(), batch_ids.len());
    for (alone, row) in
        single_ids.iter().zip(&batch_ids).filter(|(alone, _)| alone.starts_with("per_"))
    {
        let [alone, row] = [alone, row].map(|id| client.person(id));
        for field in ["name", "current_job_title", "phones"] {
            assert_eq!(alone[field], row[field]);
        }
        let stages = |person: &Value| person["jobs"].as_array().map(Vec::len);
        assert_eq!(stages(&alone), stages(&row));
    }
    for (words, count) in
        [("whist", 4), ("moth", 2), ("analyst", 2), ("engines", 4), ("cobol", 2), ("navy", 2)]
    {
        assert_eq!(
            client.get(&format!("/v1/persons?q={words}")).expect(200).json["meta"]["total"],
            count,
            "{words}"
        );
    }
}

#[apply(each_engine)]
fn rows_share_new_companies(workspace: &Workspace) {
    let client = workspace.writer();
    let rows = json!([
        { "name": "One", "company_name": "Acme" }, { "name": "Two", "company_name": "ACME" },
        { "name": "Three", "client_name": "acme" },
        { "name": "Four", "company_name": "Zed", "client_name": "Beta" },
        { "name": "Five", "company_name": "Beta" },
    ]);
    assert_eq!(
        statuses(client.post(PATH, &json!({ "persons": rows })).expect(200).data()),
        [201; 5]
    );
    assert_eq!(client.get("/v1/companies").expect(200).json["meta"]["total"], 3);
}

#[apply(each_engine)]
fn rows_are_put_on_jobs(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let rows: Vec<_> = (0..5)
        .map(|number| json!({ "name": format!("Person {number}"), "job_id": job.id }))
        .collect();
    let reply = client.post(PATH, &json!({ "persons": rows })).expect(200);
    let made: Vec<_> =
        reply.entries().iter().map(|row| row["data"]["candidate_id"].clone()).collect();
    let listed: Vec<_> = client
        .get(&job.candidates_path())
        .entries()
        .iter()
        .map(|candidate| candidate["id"].clone())
        .collect();
    assert_eq!(made, listed);
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 5);
}

#[apply(each_engine)]
fn candidates_of_several_jobs_are_in_the_order_in_which_they_were_made(workspace: &Workspace) {
    let client = workspace.writer();
    let jobs: Vec<_> =
        (0..5).map(|number| client.new_job(&format!("Job {number}"), "Acme")).collect();
    // Each has a last candidate already, behind which the next comes.
    jobs.iter().for_each(|job| drop(client.new_candidate(job, "First")));
    let mut log = Log::begin(&client);
    for round in 0..10 {
        let (same, others): (Vec<_>, Vec<_>) = jobs
            .iter()
            .enumerate()
            .map(|(place, job)| {
                let address = |name: &str| json!([format!("{name}{round}@x.example")]);
                let same = json!({ "name": "Ada", "emails": address("ada"), "job_id": job.id });
                (
                    same,
                    json!({ "name": "Grace", "emails": address(&format!("grace{place}-")),
                    "job_id": job.id }),
                )
            })
            .unzip();
        let reply = client.post(PATH, &json!({ "persons": same })).expect(200);
        let ada = client.person(reply.entries()[0]["data"]["id"].as_str().unwrap());
        assert_eq!(
            strings(&ada["jobs"], "job_name"),
            ["Job 0", "Job 1", "Job 2", "Job 3", "Job 4"]
        );
        client.post(PATH, &json!({ "persons": others })).expect(200);
    }
    let told: Vec<_> =
        log.new_events().into_iter().filter(|event| event["type"] == "candidate.created").collect();
    let listed = client.get("/v1/candidates?limit=100&sort=-created_at").expect(200);
    let mut listed = strings(listed.data(), "id");
    listed.reverse();
    assert_eq!(listed[listed.len() - told.len()..], strings(&Value::from(told), "record_id"));
}

#[apply(each_engine)]
fn every_row_tells_its_events(workspace: &Workspace) {
    let client = workspace.writer();
    client
        .post(
            PATH,
            &json!({ "persons": [{ "name": "One", "company_name": "Acme" }, { "nmae": "Two" },
                { "name": "Three" }] }),
        )
        .expect(200);
    eventually("the events are told", || {
        let page = client.get("/v1/events?types=person.*,company.*").expect(200);
        types(page.entries()) == ["company.created", "person.created", "person.created"]
    });
}

#[apply(each_engine)]
fn an_idempotency_key_covers_the_whole_batch(workspace: &Workspace) {
    let client = workspace.writer().with("Idempotency-Key", "batch-1");
    let body = json!({ "persons": [{ "name": "One" }, { "name": "Two" }] });
    let first = client.post(PATH, &body).expect(200);
    let again = client.post(PATH, &body).expect(200);
    assert_eq!(
        (first.text, again.header("idempotency-replayed")),
        (again.text.clone(), Some("true"))
    );
    client
        .post(PATH, &json!({ "persons": [{ "name": "One" }] }))
        .refused(409, "IDEMPOTENCY_CONFLICT");
    assert_eq!(workspace.writer().get("/v1/persons").expect(200).json["meta"]["total"], 2);
}

#[apply(each_engine)]
fn the_body_must_be_a_list_of_a_bearable_length(workspace: &Workspace) {
    let client = workspace.writer();
    let many = vec![json!({ "name": "Same", "external_source_id": "1" }); 1001];
    for persons in [json!([]), json!(many), json!({}), Value::Null] {
        let refused =
            client.post(PATH, &json!({ "persons": persons })).refused(400, "INVALID_REQUEST");
        assert_eq!(refused.detail_fields(), ["persons"]);
    }
    assert_eq!(
        client.post(PATH, &json!({ "persons": many[1..] })).expect(200).entries().len(),
        1000
    );
    let long = "x".repeat(60 * 1024);
    let large: Vec<_> =
        (0..100).map(|number| json!({ "name": format!("P{number}"), "notes": long })).collect();
    client.post(PATH, &json!({ "persons": large })).expect(200);
    let too_large: Vec<_> =
        (0..150).map(|number| json!({ "name": format!("P{number}"), "notes": long })).collect();
    client.post(PATH, &json!({ "persons": too_large })).refused(413, "PAYLOAD_TOO_LARGE");
}

#[apply(each_engine)]
fn on_duplicate_holds_for_every_row(workspace: &Workspace) {
    let client = workspace.writer();
    let body = json!({ "persons": [{ "name": "Ada", "emails": ["ada@x.example"] },
        { "name": "Ada", "emails": ["ada@x.example"] }] });
    assert_eq!(
        statuses(client.post(&format!("{PATH}?on_duplicate=error"), &body).expect(200).data()),
        [201, 409]
    );
    assert_eq!(
        statuses(client.post(&format!("{PATH}?on_duplicate=create"), &body).expect(200).data()),
        [201, 201]
    );
    client.post(&format!("{PATH}?on_duplicate=maybe"), &body).refused(400, "INVALID_REQUEST");
}

#[apply(each_engine)]
fn batches_at_the_same_time_make_each_person_once(workspace: &Workspace) {
    let client = workspace.writer();
    let row = |number: usize| {
        json!({ "name": format!("Person {number}"),
        "external_source_id": number.to_string(), "company_name": format!("C{}", number % 3) })
    };
    let counts = together(4, |thread| {
        let mut rows: Vec<_> = (0..40).map(row).collect();
        rows.rotate_left(thread * 10);
        let reply = client.post(PATH, &json!({ "persons": rows })).expect(200);
        statuses(reply.data()).iter().filter(|status| **status == 201).count()
    });
    assert_eq!(counts.iter().sum::<usize>(), 40);
    assert_eq!(client.get("/v1/persons").expect(200).json["meta"]["total"], 40);
    assert_eq!(client.get("/v1/companies").expect(200).json["meta"]["total"], 3);
}

/// So many rows are written in several goes. The second call finds all of them, and puts some on a
/// job.
#[apply(each_engine)]
fn a_full_batch_is_made_and_made_again(app: &App) {
    let client = app.writer();
    let job = client.new_job("Engineer", "Acme");
    let row = |number: usize| {
        json!({ "name": format!("Person {number}"),
        "emails": [format!("{number}@x.example")],
        "company_name": format!("Company {}", number % 20) })
    };
    let rows: Vec<_> = (0..1000).map(row).collect();
    let made = client.post(PATH, &json!({ "persons": rows })).expect(200);
    assert_eq!(statuses(made.data()), vec![201; 1000]);
    let again = |number: usize| {
        let mut row = row(number);
        row["current_job_title"] = json!("Engineer");
        row["mobile_phone"] = json!(format!("555 {number}"));
        if number > 900 {
            row["job_id"] = json!(job.id);
        }
        row
    };
    let rows: Vec<_> = (0..1000).map(again).collect();
    let before = round_trips(app);
    let matched = client.post(PATH, &json!({ "persons": rows })).expect(200);
    let waited = round_trips(app) - before;
    assert!(waited < 500.0, "a round trip for each row: {waited}");
    assert_eq!(statuses(matched.data()), vec![200; 1000]);
    let ids = |rows: &[Value]| rows.iter().map(|row| row["data"]["id"].clone()).collect::<Vec<_>>();
    assert_eq!(ids(made.entries()), ids(matched.entries()));
    assert_eq!(
        client.get("/v1/persons?q=engineer&limit=1").expect(200).json["meta"]["total"],
        1000
    );
    assert_eq!(client.get(&job.path()).data()["candidate_count"], 99);
    let last = client.person(matched.entries()[999]["data"]["id"].as_str().unwrap());
    assert_eq!(
        (&last["name"], &last["phones"][0]["value"]),
        (&json!("Person 999"), &json!("555 999"))
    );
}
