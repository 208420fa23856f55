//! The log of changes: what every operation writes into it.

use serde_json::{Value, json};

use crate::support::{
    App, Engine, Log, OPERATIONS, Workspace, World, apply, each_engine, is_id, is_time,
    next_millisecond, shape, types,
};

const FEED: &str = "/v1/events";
const JOB: [&str; 8] = [
    "name",
    "is_archived",
    "client_company_name",
    "client_company_id",
    "job_status_name",
    "job_status_id",
    "pipeline_stages",
    "created_at",
];
const STAGE: [&str; 3] =
    ["current_pipeline_stage_id", "current_pipeline_stage_name", "current_pipeline_stage_date"];

/// Only these fields of a record.
fn part(record: &Value, fields: &[&str]) -> Value {
    fields.iter().map(|field| (*field, record[*field].clone())).collect()
}

/// The ids of the keys of that name, oldest first.
fn key_ids(app: &App, name: &str) -> Vec<String> {
    let list = app.database.ask(&["key", "list", "--workspace", "main"]);
    let mut ids: Vec<_> = list
        .lines()
        .filter(|line| line.contains(name))
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    ids.sort_unstable();
    ids.into_iter().map(str::to_owned).collect()
}

#[apply(each_engine)]
fn an_event_says_what_changed_when_and_by_whom(app: &App) {
    let client = app.writer();
    let mut log = Log::begin(&client);
    let first = client
        .post("/v1/jobs", &json!({ "name": "Engineer", "client_company_name": "Acme" }))
        .expect(201);
    client
        .with("x-request-id", "import-7")
        .patch(&format!("/v1/jobs/{}", first.id()), &json!({ "name": "Pilot" }))
        .expect(200);
    let events = log.new_events();
    assert_eq!(types(&events), ["company.created", "job.created", "job.updated"]);
    let keys = key_ids(app, "main write");
    for (event, request) in events.iter().zip([
        first.header("x-request-id"),
        first.header("x-request-id"),
        Some("import-7"),
    ]) {
        let fields: Vec<_> = event.as_object().unwrap().keys().collect();
        let expected = [
            "id",
            "sequence",
            "type",
            "created_at",
            "key_id",
            "request_id",
            "record_id",
            "data",
            "previous_hash",
        ];
        assert_eq!(fields, expected, "{event}");
        let text = |field: &str| event[field].as_str().unwrap_or_else(|| panic!("{event}"));
        assert!(
            text("id").starts_with("evt_") && is_id(text("id")) && is_time(text("created_at")),
            "{event}"
        );
        assert!(
            text("previous_hash").len() == 64
                && text("previous_hash").bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{event}"
        );
        assert_eq!(
            (Some(text("request_id")), text("key_id")),
            (request, keys[0].as_str()),
            "{event}"
        );
    }
    assert_eq!([&events[1]["record_id"], &events[2]["record_id"]], [&first.id(), &first.id()]);
    assert_eq!(
        events[2]["data"],
        json!({ "before": { "name": "Engineer" }, "after": { "name": "Pilot" } })
    );
}

#[apply(each_engine)]
fn a_new_person_is_told_with_all_that_is_known_in_either_version(workspace: &Workspace) {
    for (path, client) in [
        ("/v0/persons", workspace.client_of("zero", "write")),
        ("/v1/persons", workspace.client_of("one", "write")),
    ] {
        let job = client.new_job("Engineer", "Acme");
        let mut known = json!({
            "name": "Ada Lovelace", "social_url": "https://social.example/in/ada",
            "social_location": "London",
            "current_job_title": "Analyst", "external_source_id": "crm-1", "notes": "Met at the \
                fair.",
        });
        let mut body = known.clone();
        body["company_name"] = json!("Engines");
        body["emails"] = json!(["ada@x.example"]);
        body["job_id"] = json!(job.id);
        let mut log = Log::begin(&client);
        let reply = client.post(path, &body).expect(201);
        let events = log.new_events();
        assert_eq!(types(&events), ["company.created", "person.created", "candidate.created"]);
        let person = client.person(reply.json["data"]["id"].as_str().unwrap());
        for field in [
            "first_name",
            "last_name",
            "social_public_id",
            "current_company_id",
            "current_company_name",
            "emails",
            "phones",
        ] {
            known[field] = person[field].clone();
        }
        known["social_headline"] = json!("");
        known["address"] = json!("");
        assert_eq!(events[0]["data"], json!({ "before": {}, "after": { "name": "Engines" } }));
        assert_eq!(events[1]["data"], json!({ "before": {}, "after": known }));
        let records = [&events[0]["record_id"], &events[1]["record_id"], &events[2]["record_id"]];
        assert_eq!(
            records,
            [&person["current_company_id"], &person["id"], &reply.json["data"]["candidate_id"]]
        );
        assert!(
            events.iter().all(|event| event["request_id"] == events[0]["request_id"]),
            "{events:#?}"
        );
    }
}

#[apply(each_engine)]
fn a_match_tells_what_it_filled(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let person = client.new_person(
        &json!({ "name": "Ada", "external_source_id": "crm-1", "emails": ["a@x.example"] }),
    );
    let mut log = Log::begin(&client);
    let fields = ["current_job_title", "current_company_id", "current_company_name", "emails"];
    let before = part(&client.person(&person), &fields);
    let mut body = json!({
        "name": "A. L.", "external_source_id": "crm-1", "emails": ["b@x.example"],
        "current_job_title": "Analyst",
        "company_name": "Engines", "job_id": job.id,
    });
    client.post("/v1/persons", &body).expect(200);
    let events = log.new_events();
    assert_eq!(types(&events), ["company.created", "person.updated", "candidate.created"]);
    assert_eq!(events[1]["record_id"], person);
    assert_eq!(
        events[1]["data"],
        json!({ "before": before, "after": part(&client.person(&person), &fields) })
    );
    body["notes"] = json!("Met at the fair.");
    client.post("/v1/persons", &body).expect(200);
    let events = log.new_events();
    assert_eq!(types(&events), ["person.updated"]);
    assert_eq!(events[0]["data"]["after"], json!({ "notes": "Met at the fair." }));
}

#[apply(each_engine)]
fn an_update_tells_what_was_and_what_is(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let person = client.new_person(&json!({ "name": "Ada Lovelace", "emails": ["ada@x.example"],
        "current_job_title": "Analyst" }));
    let emails = client.person(&person)["emails"].clone();
    let company = |side: &str| {
        json!({ "current_company_id": side,
        "current_company_name": if side.is_empty() { "" } else { "Acme" } })
    };
    let mut log = Log::begin(&client);
    for (patch, before, after) in [
        (
            json!({ "last_name": "King" }),
            json!({ "name": "Ada Lovelace", "last_name": "Lovelace" }),
            json!({ "name": "Ada King", "last_name": "King" }),
        ),
        (
            json!({ "current_job_title": null }),
            json!({ "current_job_title": "Analyst" }),
            json!({ "current_job_title": "" }),
        ),
        (json!({ "emails": [] }), json!({ "emails": emails }), json!({ "emails": [] })),
        (
            json!({ "address": "London", "social_headline": "First" }),
            json!({ "address": "", "social_headline": "" }),
            json!({ "address": "London", "social_headline": "First" }),
        ),
        (json!({ "company_name": "ACME" }), company(""), company(&job.client_company)),
        (json!({ "company_name": null }), company(&job.client_company), company("")),
    ] {
        client.update_person(&person, &patch);
        let events = log.new_events();
        assert_eq!(
            (types(&events), &events[0]["record_id"]),
            (vec!["person.updated"], &json!(person)),
            "{patch}"
        );
        assert_eq!(events[0]["data"], json!({ "before": before, "after": after }), "{patch}");
    }
    client.update_person(&person, &json!({ "company_name": "Umbrella", "job_id": job.id }));
    assert_eq!(
        types(&log.new_events()),
        ["company.created", "person.updated", "candidate.created"]
    );
}

#[apply(each_engine)]
fn a_history_is_told_as_it_is_read(workspace: &Workspace) {
    let client = workspace.writer();
    let person = client.new_person(&json!({ "name": "Ada" }));
    let mut log = Log::begin(&client);
    let history = json!({ "certifications": [{ "name": "One" }],
        "education_experience": [{ "degree": "Mathematics" }] });
    let read = client.put(&format!("/v1/persons/{person}/history"), &history).expect(200);
    let events = log.new_events();
    assert_eq!(types(&events), ["person.updated"]);
    let after = part(read.data(), &["certifications", "education_experience"]);
    assert_eq!(
        events[0]["data"],
        json!({ "before": { "certifications": [], "education_experience": [] }, "after": after })
    );
}

#[apply(each_engine)]
fn a_candidate_is_told_with_person_and_job(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let mut log = Log::begin(&client);
    let before = client.new_candidate(&job, "Ada");
    next_millisecond();
    let after = client
        .patch(
            &format!("/v1/candidates/{}", before["id"].as_str().unwrap()),
            &json!({ "stage_name": "Offer" }),
        )
        .expect(200);
    let events = log.new_events();
    assert_eq!(types(&events), ["person.created", "candidate.created", "candidate.moved"]);
    assert_eq!([&events[1]["record_id"], &events[2]["record_id"]], [&before["id"], &before["id"]]);
    let whole = part(&before, &[&["person_id", "job_id", "created_at"][..], &STAGE].concat());
    for (event, before, after) in [
        (&events[1], json!({}), whole),
        (&events[2], part(&before, &STAGE), part(after.data(), &STAGE)),
    ] {
        let (person, job) = (
            json!({ "id": events[0]["record_id"], "name": "Ada" }),
            json!({ "id": job.id, "name": "Engineer" }),
        );
        assert_eq!(
            event["data"],
            json!({ "before": before, "after": after, "person": person, "job": job })
        );
    }
}

#[apply(each_engine)]
fn a_job_is_told_with_all_its_fields(workspace: &Workspace) {
    let client = workspace.writer();
    let mut log = Log::begin(&client);
    let read = client
        .post("/v1/jobs", &json!({ "name": "Engineer", "client_company_name": "Acme" }))
        .expect(201);
    client.new_job("Designer", "ACME");
    let events = log.new_events();
    assert_eq!(types(&events), ["company.created", "job.created", "job.created"]);
    assert_eq!(
        [&events[0]["record_id"], &events[1]["record_id"]],
        [&read.data()["client_company_id"], &read.data()["id"]]
    );
    assert_eq!(events[1]["data"], json!({ "before": {}, "after": part(read.data(), &JOB) }));
}

#[apply(each_engine)]
fn a_change_of_a_job_is_told_by_its_kind(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    let mut log = Log::begin(&client);
    let (company, status) =
        (["client_company_id", "client_company_name"], ["job_status_id", "job_status_name"]);
    for (patch, kinds, fields) in [
        (json!({ "name": "Pilot" }), &["job.updated"][..], &["name"][..]),
        (json!({ "job_status_name": "On hold" }), &["job.updated"], &status),
        (
            json!({ "client_company_name": "Umbrella" }),
            &["company.created", "job.updated"],
            &company,
        ),
        (json!({ "is_archived": true }), &["job.archived"], &["is_archived"]),
        (json!({ "is_archived": false }), &["job.restored"], &["is_archived"]),
    ] {
        let before = client.get(&job.path()).data().clone();
        let after = client.patch(&job.path(), &patch).expect(200);
        let events = log.new_events();
        let last = events.last().unwrap_or_else(|| panic!("nothing about {patch}"));
        assert_eq!(
            (types(&events), &last["record_id"]),
            (kinds.to_vec(), &json!(job.id)),
            "{patch}"
        );
        assert_eq!(
            last["data"],
            json!({ "before": part(&before, fields), "after": part(after.data(), fields) }),
            "{patch}"
        );
    }
    client.patch(&job.path(), &json!({ "name": "Engineer", "is_archived": true })).expect(200);
    let events = log.new_events();
    let mut kinds = types(&events);
    kinds.sort_unstable();
    assert_eq!(kinds, ["job.archived", "job.updated"]);
}

#[apply(each_engine)]
fn a_client_contact_is_told_of_the_company(workspace: &Workspace) {
    let client = workspace.writer();
    let company = client.new_job("Engineer", "Acme").client_company;
    let mut log = Log::begin(&client);
    let body = json!({ "name": "Ada", "external_source_id": "crm-1", "client_id": company });
    let reply = client.post("/v1/persons", &body).expect(201);
    client.post("/v1/persons", &body).expect(200);
    let events = log.new_events();
    assert_eq!(types(&events), ["person.created", "company.contact_added"]);
    let after =
        json!({ "client_contact_id": reply.string("client_contact_id"), "person_id": reply.id() });
    let data =
        json!({ "before": {}, "after": after, "person": { "id": reply.id(), "name": "Ada" } });
    assert_eq!((&events[1]["record_id"], &events[1]["data"]), (&json!(company), &data));
    client
        .post("/v1/persons", &json!({ "name": "Grace", "client_name": "A new client" }))
        .expect(201);
    let events = log.new_events();
    let mut kinds = types(&events);
    assert_eq!(kinds.pop(), Some("company.contact_added"));
    kinds.sort_unstable();
    assert_eq!(kinds, ["company.created", "person.created"]);
}

#[apply(each_engine)]
fn keys_of_the_command_line_are_told_without_a_caller(app: &App) {
    let mut log = Log::begin(&app.writer());
    let secret = app.database.create_key("main", "read", &[]);
    let old = key_ids(app, "main read").remove(0);
    app.database.ask(&["key", "rotate", &old, "--overlap", "24h", "--workspace", "main"]);
    for _ in 0..2 {
        app.database.ask(&["key", "revoke", &old, "--workspace", "main"]);
    }
    let mut events = log.new_events();
    assert!(
        events.iter().all(|event| event["key_id"].is_null() && event["request_id"].is_null()),
        "{events:#?}"
    );
    assert!(!json!(events).to_string().contains(&secret[secret.len() - 20..]), "{events:#?}");
    events.retain(|event| event["record_id"] == old);
    assert_eq!(types(&events), ["key.created", "key.rotated", "key.revoked"]);
    assert_eq!(
        events[0]["data"],
        json!({ "before": {}, "after": { "name": "main read", "scope": "read",
            "expires_at": null } })
    );
    assert_eq!(events[1]["data"]["before"], json!({ "expires_at": null }));
    assert_eq!(events[1]["data"]["after"]["replaced_by"], key_ids(app, "main read")[1]);
    let times =
        [&events[1]["data"]["after"]["expires_at"], &events[2]["data"]["after"]["revoked_at"]];
    assert!(times.iter().all(|time| time.as_str().is_some_and(is_time)), "{events:#?}");
}

#[apply(each_engine)]
fn what_changes_nothing_is_not_told(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let (person, history) =
        (format!("/v1/persons/{}", world.person), json!({ "certifications": [{ "name": "One" }] }));
    client.put(&format!("{person}/history"), &history).expect(200);
    let mut log = Log::begin(&client);
    for (method, path, body) in [
        ("PATCH", person.clone(), json!({})),
        (
            "PATCH",
            person.clone(),
            json!({ "name": "Ada Lovelace", "company_name": "analytical engines",
                "job_id": world.job.id }),
        ),
        ("PUT", format!("{person}/history"), json!({})),
        ("PUT", format!("{person}/history"), history),
        (
            "PATCH",
            format!("/v1/candidates/{}", world.candidate),
            json!({ "stage_name": "Sourced" }),
        ),
        (
            "PATCH",
            world.job.path(),
            json!({ "name": "Engineer", "is_archived": false, "client_company_name": "ACME" }),
        ),
        ("POST", world.job.candidates_path(), json!({ "person_id": world.person })),
        (
            "POST",
            "/v1/persons".to_owned(),
            json!({ "name": "Ada", "external_source_id": "crm-1", "job_id": world.job.id }),
        ),
    ] {
        client.send(method, &path, Some(&body)).expect(200);
        assert_eq!(log.new_events(), Vec::<Value>::new(), "{method} {path} {body}");
    }
}

/// Invariant 4.
#[apply(each_engine)]
fn what_is_refused_is_not_told(workspace: &Workspace) {
    let (client, reader) = (workspace.writer(), workspace.client("read"));
    let world = World::build(&client);
    let job = world.job.path();
    let mut log = Log::begin(&client);
    client
        .post("/v1/persons", &json!({ "name": "Ada", "company_name": "New", "job_name": "Nope" }))
        .expect(404);
    client
        .post(
            "/v1/persons?on_duplicate=error",
            &json!({ "name": "Ada", "external_source_id": "crm-1" }),
        )
        .expect(409);
    client
        .patch(&job, &json!({ "client_company_name": "New", "job_status_name": "Nope" }))
        .expect(404);
    client.with("if-match", "\"0\"").patch(&job, &json!({ "name": "Pilot" })).expect(412);
    client
        .patch(&format!("/v1/candidates/{}", world.candidate), &json!({ "stage_name": "Lunch" }))
        .expect(404);
    client.patch(&job, &json!({ "name": 7 })).expect(400);
    reader.patch(&job, &json!({ "name": "Pilot" })).expect(403);
    workspace.anonymous().patch(&job, &json!({ "name": "Pilot" })).expect(401);
    assert_eq!(log.new_events(), Vec::<Value>::new());
}

#[apply(each_engine)]
fn a_replayed_answer_is_not_told_again(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let mut log = Log::begin(&client);
    for (number, operation) in
        OPERATIONS.iter().filter(|operation| operation.scope == "write").enumerate()
    {
        let once = client.with("idempotency-key", &format!("key-{number}"));
        operation.send(&once, &world);
        log.new_events();
        assert_eq!(operation.send(&once, &world).header("idempotency-replayed"), Some("true"));
        assert_eq!(
            log.new_events(),
            Vec::<Value>::new(),
            "{} {}",
            operation.method,
            operation.path
        );
    }
}

/// The whole log after every write there is, without what differs from run to run.
fn told_of_every_write(engine: Engine) -> String {
    let app = engine.app().start();
    let client = app.writer();
    let world = World::build(&client);
    for operation in OPERATIONS.iter().filter(|operation| operation.scope == "write") {
        operation.send(&client, &world);
    }
    Log::begin(&client);
    let mut feed = client.get(&format!("{FEED}?limit=1000")).expect(200);
    for event in feed.json["data"].as_array_mut().unwrap() {
        event["previous_hash"].take();
    }
    shape(&feed)
}

/// Invariant 15.
#[test]
fn both_engines_tell_the_same() {
    assert_eq!(told_of_every_write(Engine::Sqlite), told_of_every_write(Engine::Postgres));
}
