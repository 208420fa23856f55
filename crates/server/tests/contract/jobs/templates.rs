//! Pipeline templates: named pipelines that jobs are opened with.

use serde_json::{Value, json};

use crate::support::{
    Client, Log, Workspace, apply, each_engine, next_millisecond, shape, strings, together, types,
};

const PATH: &str = "/v1/pipeline-templates";
const STANDARD: [&str; 8] = [
    "Sourced",
    "Contacted",
    "Screening",
    "Interview",
    "Final interview",
    "Offer",
    "Hired",
    "Rejected",
];

/// A template with these stages.
fn body(name: &str, stages: &[&str]) -> Value {
    json!({ "name": name,
        "pipeline_stages": stages.iter().map(|stage| json!({ "name": stage })).collect::<Vec<_>>() })
}

fn names(client: &Client) -> Vec<String> {
    strings(client.get(PATH).expect(200).data(), "name")
}

/// The names of the templates that are the default, which is one.
fn defaults(client: &Client) -> Vec<String> {
    let list = client.get(PATH).expect(200);
    list.entries()
        .iter()
        .filter(|template| template["is_default"] == true)
        .map(|template| template["name"].as_str().unwrap().to_owned())
        .collect()
}

fn path_of(id: &str) -> String {
    format!("{PATH}/{id}")
}

/// The stages of a new job that is opened with this.
fn stages_of_job(client: &Client, more: &Value) -> Vec<String> {
    let mut job = json!({ "name": "Engineer", "client_company_name": "Acme" });
    for (field, value) in more.as_object().unwrap() {
        job[field.as_str()] = value.clone();
    }
    strings(&client.post("/v1/jobs", &job).expect(201).data()["pipeline_stages"], "name")
}

#[apply(each_engine)]
fn a_workspace_begins_with_the_standard_template(workspace: &Workspace) {
    let client = workspace.client("read");
    let list = client.get(PATH).expect(200);
    assert_eq!(list.json["meta"], json!({ "total": 1, "offset": 0, "limit": 100 }));
    let template = &list.entries()[0];
    assert_eq!((&template["name"], &template["is_default"]), (&json!("Standard"), &json!(true)));
    let stages = &template["pipeline_stages"];
    assert_eq!(strings(stages, "name"), STANDARD);
    for (index, stage) in stages.as_array().unwrap().iter().enumerate() {
        let name = stage["name"].as_str().unwrap();
        assert_eq!(stage["stage_order"], index + 1);
        assert_eq!(
            stage["is_interviewing_stage"],
            name.to_lowercase().contains("interview"),
            "{name}"
        );
        assert_eq!(stage["is_rejection_stage"], name == "Rejected", "{name}");
    }
    let read = client.get(&path_of(template["id"].as_str().unwrap())).expect(200);
    assert_eq!(read.data(), template);
}

#[apply(each_engine)]
fn a_template_is_made_and_read(workspace: &Workspace) {
    let client = workspace.writer();
    let reply = client.post(
        PATH,
        &json!({
            "name": " Engineering ",
            "pipeline_stages": [
                { "name": "Applied" },
                { "name": "Code review", "is_interviewing_stage": true },
                { "name": "Rejected", "is_rejection_stage": true, "is_interviewing_stage": null },
            ],
        }),
    );
    let reply = reply.expect(201);
    insta::assert_snapshot!(shape(&reply), @r#"
    {
      "success": true,
      "data": {
        "id": "tpl_1",
        "name": "Engineering",
        "is_default": false,
        "pipeline_stages": [
          {
            "name": "Applied",
            "stage_order": 1,
            "is_rejection_stage": false,
            "is_interviewing_stage": false
          },
          {
            "name": "Code review",
            "stage_order": 2,
            "is_rejection_stage": false,
            "is_interviewing_stage": true
          },
          {
            "name": "Rejected",
            "stage_order": 3,
            "is_rejection_stage": true,
            "is_interviewing_stage": false
          }
        ],
        "created_at": "<time>",
        "updated_at": "<time>"
      }
    }
    "#);
    assert_eq!(client.get(&path_of(&reply.id())).expect(200).text, reply.text);
    assert_eq!(names(&client), ["Standard", "Engineering"]);
}

#[apply(each_engine)]
fn a_job_without_a_pipeline_takes_the_default_template(workspace: &Workspace) {
    let client = workspace.writer();
    assert_eq!(stages_of_job(&client, &json!({})), STANDARD);
    let mut short = body("Short", &["Applied", "Hired"]);
    short["is_default"] = json!(true);
    client.post(PATH, &short).expect(201);
    assert_eq!(stages_of_job(&client, &json!({})), ["Applied", "Hired"]);
    assert_eq!(
        stages_of_job(&client, &json!({ "pipeline_stages": null, "pipeline_template_id": null })),
        ["Applied", "Hired"]
    );
    assert_eq!(
        stages_of_job(&client, &json!({ "pipeline_template_id": "" })),
        ["Applied", "Hired"]
    );
}

#[apply(each_engine)]
fn a_job_takes_the_template_that_it_names(workspace: &Workspace) {
    let client = workspace.writer();
    let template = json!({ "name": "Short", "pipeline_stages": [
        { "name": "Applied" }, { "name": "Talk", "is_interviewing_stage": true },
        { "name": "No", "is_rejection_stage": true }] });
    let template = client.post(PATH, &template).expect(201);
    let job = json!({ "name": "Engineer", "client_company_name": "Acme",
        "pipeline_template_id": template.id() });
    let job = client.post("/v1/jobs", &job).expect(201);
    let mut stages = job.data()["pipeline_stages"].clone();
    for stage in stages.as_array_mut().unwrap() {
        assert!(stage.as_object_mut().unwrap().shift_remove("id").is_some());
    }
    assert_eq!(stages, template.data()["pipeline_stages"]);
}

#[apply(each_engine)]
fn a_job_takes_either_stages_or_a_template(workspace: &Workspace) {
    let client = workspace.writer();
    let template = client.post(PATH, &body("Short", &["Applied"])).expect(201).id();
    let job = |id: &str, stages: Value| {
        json!({ "name": "Engineer", "client_company_name": "New",
        "pipeline_template_id": id, "pipeline_stages": stages })
    };
    let both = client
        .post("/v1/jobs", &job(&template, json!([{ "name": "Applied" }])))
        .refused(400, "INVALID_REQUEST");
    assert_eq!(both.flaw("pipeline_template_id"), "CONTRADICTION");
    client.post("/v1/jobs", &job(&template, Value::Null)).expect(201);
    client.post("/v1/jobs", &job(" ", json!([{ "name": "Applied" }]))).expect(201);
    for id in ["tpl_00000000000000000000000000", "Short", "tpl_"] {
        let reply = client.post("/v1/jobs", &job(id, Value::Null)).refused(404, "NOT_FOUND");
        assert_eq!(reply.detail_fields(), ["pipeline_template_id"]);
    }
}

#[apply(each_engine)]
fn a_template_is_changed_field_by_field(workspace: &Workspace) {
    let client = workspace.writer();
    let created = client.post(PATH, &body("Short", &["Applied", "Hired"])).expect(201);
    let path = path_of(&created.id());
    next_millisecond();
    let renamed = client.patch(&path, &json!({ "name": "Brief" })).expect(200);
    let mut expected = created.data().clone();
    expected["name"] = json!("Brief");
    expected["updated_at"] = renamed.data()["updated_at"].clone();
    assert_eq!(renamed.data(), &expected);
    assert!(renamed.string("updated_at") > created.string("updated_at"), "{renamed:#?}");
    let stages = json!({ "pipeline_stages": [{ "name": "Talk", "is_interviewing_stage": true }] });
    let changed = client.patch(&path, &stages).expect(200);
    let only = json!([{ "name": "Talk", "stage_order": 1, "is_rejection_stage": false,
        "is_interviewing_stage": true }]);
    assert_eq!(
        (changed.string("name"), &changed.data()["pipeline_stages"]),
        ("Brief".to_owned(), &only)
    );
    assert_eq!(client.get(&path).expect(200).text, changed.text);
}

#[apply(each_engine)]
fn jobs_keep_their_stages_when_their_template_changes(workspace: &Workspace) {
    let client = workspace.writer();
    let template = client.post(PATH, &body("Short", &["Applied", "Hired"])).expect(201).id();
    let job = client.new_job_with(&json!({ "name": "Engineer", "client_company_name": "Acme",
        "pipeline_template_id": template }));
    let before = client.get(&job.path()).expect(200);
    client.patch(&path_of(&template), &body("Other", &["Talk"])).expect(200);
    client.send("DELETE", &path_of(&template), None).expect(200);
    let after = client.get(&job.path()).expect(200);
    assert_eq!((after.text.as_str(), after.etag()), (before.text.as_str(), before.etag()));
}

#[apply(each_engine)]
fn there_is_always_one_default(workspace: &Workspace) {
    let client = workspace.writer();
    let short = client.post(PATH, &body("Short", &["Applied"])).expect(201).id();
    assert_eq!(defaults(&client), ["Standard"]);
    assert_eq!(
        client.patch(&path_of(&short), &json!({ "is_default": true })).expect(200).data()["is_default"],
        true
    );
    assert_eq!(defaults(&client), ["Short"]);
    let mut long = body("Long", &["Applied", "Talk", "Hired"]);
    long["is_default"] = json!(true);
    client.post(PATH, &long).expect(201);
    assert_eq!(defaults(&client), ["Long"]);
    assert_eq!(
        client.patch(&path_of(&short), &json!({ "is_default": false })).expect(200).data()["is_default"],
        false
    );
    assert_eq!(names(&client), ["Standard", "Short", "Long"]);
}

#[apply(each_engine)]
fn the_default_template_stays(workspace: &Workspace) {
    let client = workspace.writer();
    let standard = path_of(client.get(PATH).expect(200).entries()[0]["id"].as_str().unwrap());
    let before = client.get(&standard).text;
    client.send("DELETE", &standard, None).refused(409, "DEFAULT_TEMPLATE");
    client
        .patch(&standard, &json!({ "is_default": false, "name": "Old" }))
        .refused(409, "DEFAULT_TEMPLATE");
    assert_eq!(client.get(&standard).expect(200).text, before);
    let mut short = body("Short", &["Applied"]);
    short["is_default"] = json!(true);
    client.post(PATH, &short).expect(201);
    client.send("DELETE", &standard, None).expect(200);
    assert_eq!(names(&client), ["Short"]);
}

#[apply(each_engine)]
fn a_template_is_deleted(workspace: &Workspace) {
    let client = workspace.writer();
    let path = path_of(&client.post(PATH, &body("Short", &["Applied"])).expect(201).id());
    insta::assert_snapshot!(shape(&client.send("DELETE", &path, None).expect(200)), @r#"
    {
      "success": true,
      "data": {
        "message": "<sentence>"
      }
    }
    "#);
    client.get(&path).refused(404, "NOT_FOUND");
    client.patch(&path, &json!({ "name": "Other" })).refused(404, "NOT_FOUND");
    client.send("DELETE", &path, None).refused(404, "NOT_FOUND");
    assert_eq!(names(&client), ["Standard"]);
    client.post(PATH, &body("Short", &["Applied"])).expect(201);
    client.send("DELETE", &format!("{path}?x=1"), None).refused(400, "INVALID_REQUEST");
}

#[apply(each_engine)]
fn a_name_belongs_to_one_template(workspace: &Workspace) {
    let client = workspace.writer();
    let standard = client.get(PATH).expect(200).entries()[0]["id"].as_str().unwrap().to_owned();
    let taken = client.post(PATH, &body(" STANDARD ", &["Applied"])).refused(409, "NAME_TAKEN");
    assert_eq!(
        (taken.detail_fields(), taken.record_ids()),
        (vec!["name"], vec![standard.as_str()])
    );
    let short = client.post(PATH, &body("Short", &["Applied"])).expect(201).id();
    client
        .patch(&path_of(&short), &json!({ "name": "standard", "is_default": true }))
        .refused(409, "NAME_TAKEN");
    assert_eq!(defaults(&client), ["Standard"]);
    assert_eq!(
        client.patch(&path_of(&short), &json!({ "name": "SHORT" })).expect(200).string("name"),
        "SHORT"
    );
}

#[apply(each_engine)]
fn stages_that_make_no_pipeline_are_refused(workspace: &Workspace) {
    let client = workspace.writer();
    let path = path_of(&client.post(PATH, &body("Short", &["Applied"])).expect(201).id());
    let many: Vec<_> = (0..51).map(|number| json!({ "name": format!("Stage {number}") })).collect();
    for (stages, field) in [
        (json!([]), "pipeline_stages"),
        (json!([{ "name": "Rejected", "is_rejection_stage": true }]), "pipeline_stages"),
        (json!(many), "pipeline_stages"),
        (json!("Applied"), "pipeline_stages"),
        (json!([7]), "pipeline_stages[0]"),
        (json!([{ "name": "Applied" }, {}]), "pipeline_stages[1].name"),
        (json!([{ "name": "Applied", "id": "x" }]), "pipeline_stages[0].id"),
        (
            json!([{ "name": "Applied", "is_rejection_stage": 1 }]),
            "pipeline_stages[0].is_rejection_stage",
        ),
        (json!([{ "name": "x".repeat(256) }]), "pipeline_stages[0].name"),
    ] {
        for (method, path) in [("POST", PATH), ("PATCH", path.as_str())] {
            let reply = client
                .send(method, path, Some(&json!({ "name": "Bad", "pipeline_stages": stages })))
                .refused(400, "INVALID_REQUEST");
            assert!(reply.detail_fields().contains(&field), "{field}: {reply:#?}");
        }
    }
    for (body, fields) in [
        (json!({}), vec!["name", "pipeline_stages"]),
        (json!({ "name": " ", "pipeline_stages": null }), vec!["name", "pipeline_stages"]),
        (
            json!({ "name": "Bad", "pipeline_stages": [{ "name": "Applied" }],
                "is_default": "yes" }),
            vec!["is_default"],
        ),
        (
            json!({ "name": "Bad", "pipeline_stages": [{ "name": "Applied" }], "position": 1 }),
            vec!["position"],
        ),
    ] {
        assert_eq!(
            client.post(PATH, &body).refused(400, "INVALID_REQUEST").detail_fields(),
            fields,
            "{body}"
        );
    }
    assert_eq!(names(&client), ["Standard", "Short"]);
}

#[apply(each_engine)]
fn nothing_of_a_template_can_be_cleared(workspace: &Workspace) {
    let client = workspace.writer();
    let path = path_of(&client.post(PATH, &body("Short", &["Applied"])).expect(201).id());
    let before = client.get(&path).text;
    for field in ["name", "pipeline_stages", "is_default"] {
        let reply = client.patch(&path, &json!({ field: null })).refused(400, "INVALID_REQUEST");
        assert_eq!((reply.detail_fields(), reply.flaw(field)), (vec![field], "REQUIRED"));
    }
    assert_eq!(client.get(&path).text, before);
}

#[apply(each_engine)]
fn what_is_no_template_is_not_found(workspace: &Workspace) {
    let client = workspace.writer();
    for id in ["tpl_00000000000000000000000000", "tpl_", "x", "Standard"] {
        client.get(&path_of(id)).refused(404, "NOT_FOUND");
        client.patch(&path_of(id), &json!({ "name": "New" })).refused(404, "NOT_FOUND");
        client.send("DELETE", &path_of(id), None).refused(404, "NOT_FOUND");
    }
}

#[apply(each_engine)]
fn templates_belong_to_their_workspace(workspace: &Workspace) {
    let (owner, stranger) =
        (workspace.client_of("owner", "write"), workspace.client_of("stranger", "write"));
    let theirs = owner.post(PATH, &body("Short", &["Applied"])).expect(201);
    let path = path_of(&theirs.id());
    stranger.get(&path).refused(404, "NOT_FOUND");
    stranger.patch(&path, &json!({ "is_default": true })).refused(404, "NOT_FOUND");
    stranger.send("DELETE", &path, None).refused(404, "NOT_FOUND");
    let job = json!({ "name": "Spy", "client_company_name": "Acme",
        "pipeline_template_id": theirs.id() });
    let reply = stranger.post("/v1/jobs", &job).refused(404, "NOT_FOUND");
    assert_eq!(reply.detail_fields(), ["pipeline_template_id"]);
    let mut own = body("Short", &["Applied"]);
    own["is_default"] = json!(true);
    stranger.post(PATH, &own).expect(201);
    assert_eq!(
        (defaults(&owner), owner.get(&path).expect(200).text),
        (vec!["Standard".to_owned()], theirs.text)
    );
}

#[apply(each_engine)]
fn who_may_only_read_changes_no_template(workspace: &Workspace) {
    let (client, reader) = (workspace.writer(), workspace.client("read"));
    let path = path_of(&client.post(PATH, &body("Short", &["Applied"])).expect(201).id());
    reader.get(&path).expect(200);
    reader.post(PATH, &body("New", &["Applied"])).refused(403, "FORBIDDEN");
    reader.patch(&path, &json!({ "name": "New" })).refused(403, "FORBIDDEN");
    reader.send("DELETE", &path, None).refused(403, "FORBIDDEN");
    assert_eq!(names(&reader), ["Standard", "Short"]);
}

#[apply(each_engine)]
fn templates_come_in_pages(workspace: &Workspace) {
    let client = workspace.writer();
    for name in ["One", "Two", "Three"] {
        client.post(PATH, &body(name, &["Applied"])).expect(201);
    }
    let page = |query: &str| {
        let reply = client.get(&format!("{PATH}?{query}")).expect(200);
        (strings(reply.data(), "name"), reply.json["meta"].clone())
    };
    assert_eq!(
        page("limit=2&offset=1"),
        (vec!["One".to_owned(), "Two".to_owned()], json!({ "total": 4, "offset": 1, "limit": 2 }))
    );
    assert_eq!(page("sort=-created_at").0, ["Three", "Two", "One", "Standard"]);
    let (first, meta) = page("cursor=&limit=3");
    assert_eq!(first, ["Standard", "One", "Two"]);
    let (rest, meta) = page(&format!("cursor={}&limit=3", meta["next_cursor"].as_str().unwrap()));
    assert_eq!((rest, &meta["next_cursor"]), (vec!["Three".to_owned()], &Value::Null));
    for query in ["limit=0", "cursor=x", "sort=name", "q=Short"] {
        client.get(&format!("{PATH}?{query}")).refused(400, "INVALID_REQUEST");
    }
}

#[apply(each_engine)]
fn there_are_at_most_a_hundred(workspace: &Workspace) {
    let client = workspace.writer();
    for number in 2..=100 {
        client.post(PATH, &body(&format!("Template {number}"), &["Applied"])).expect(201);
    }
    client.post(PATH, &body("One too many", &["Applied"])).refused(409, "TOO_MANY");
    let last = client.get(&format!("{PATH}?offset=99")).expect(200).entries()[0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    client.send("DELETE", &path_of(&last), None).expect(200);
    client.post(PATH, &body("Not too many", &["Applied"])).expect(201);
}

#[apply(each_engine)]
fn templates_are_told_of(workspace: &Workspace) {
    let client = workspace.writer();
    let standard = client.get(PATH).expect(200).entries()[0].clone();
    let mut log = Log::begin(&client);
    let created = client.post(PATH, &body("Short", &["Applied"])).expect(201);
    let path = path_of(&created.id());
    client.patch(&path, &json!({ "name": "Brief", "is_default": true })).expect(200);
    client
        .patch(&path_of(standard["id"].as_str().unwrap()), &json!({ "is_default": true }))
        .expect(200);
    let deleted = client.get(&path).expect(200);
    client.send("DELETE", &path, None).expect(200);
    let events = log.new_events();
    let (short, standard) = (created.data()["id"].clone(), standard["id"].clone());
    let told: Vec<_> =
        types(&events).into_iter().zip(events.iter().map(|event| &event["record_id"])).collect();
    assert_eq!(
        told,
        [
            ("template.created", &short),
            ("template.updated", &standard),
            ("template.updated", &short),
            ("template.updated", &short),
            ("template.updated", &standard),
            ("template.deleted", &short),
        ]
    );
    let fields = |data: &Value| {
        json!({ "name": data["name"], "is_default": data["is_default"],
        "pipeline_stages": data["pipeline_stages"] })
    };
    assert_eq!(events[0]["data"], json!({ "before": {}, "after": fields(created.data()) }));
    assert_eq!(
        events[1]["data"],
        json!({ "before": { "is_default": true }, "after": { "is_default": false } })
    );
    let (before, after) = (
        json!({ "name": "Short", "is_default": false }),
        json!({ "name": "Brief", "is_default": true }),
    );
    assert_eq!(events[2]["data"], json!({ "before": before, "after": after }));
    assert_eq!(events[5]["data"], json!({ "before": fields(deleted.data()), "after": {} }));
}

#[apply(each_engine)]
fn what_changes_nothing_is_not_told(workspace: &Workspace) {
    let client = workspace.writer();
    let created = client.post(PATH, &body("Short", &["Applied"])).expect(201);
    let path = path_of(&created.id());
    let mut log = Log::begin(&client);
    for patch in [
        json!({}),
        json!({ "name": " Short" }),
        body("Short", &["Applied"]),
        json!({ "is_default": false }),
    ] {
        assert_eq!(client.patch(&path, &patch).expect(200).text, created.text, "{patch}");
    }
    client.patch(&path, &json!({ "name": "Standard" })).expect(409);
    client.post(PATH, &body("Short", &["Applied"])).expect(409);
    assert_eq!(log.new_events(), Vec::<Value>::new());
}

#[apply(each_engine)]
fn a_create_that_is_sent_again_is_answered_again(workspace: &Workspace) {
    let client = workspace.writer().with("idempotency-key", "same");
    let first = client.post(PATH, &body("Short", &["Applied"])).expect(201);
    let second = client.post(PATH, &body("Short", &["Applied"])).expect(201);
    assert_eq!(
        (second.text.as_str(), second.header("idempotency-replayed")),
        (first.text.as_str(), Some("true"))
    );
}

#[apply(each_engine)]
fn of_many_that_become_the_default_one_is_it(workspace: &Workspace) {
    let client = workspace.writer();
    together(8, |number| {
        let mut template = body(&format!("Template {number}"), &["Applied"]);
        template["is_default"] = json!(true);
        client.post(PATH, &template).expect(201);
    });
    assert_eq!((defaults(&client).len(), names(&client).len()), (1, 9));
}
