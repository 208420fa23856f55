//! Every kind of bad input for every operation that writes: it is refused, named, and nothing of it
//! is stored.

use serde_json::{Value, json};

use crate::support::{Client, OPERATIONS, Operation, Reply, Workspace, World, apply, each_engine};

const JSON: &str = "application/json";

fn writes() -> impl Iterator<Item = &'static Operation> {
    OPERATIONS.iter().filter(|operation| operation.writes())
}

/// Sends bad requests and looks whether anything at all has changed.
fn refusing(workspace: &Workspace, send: impl Fn(&Client, &World)) {
    let client = workspace.writer();
    let world = World::build(&client);
    let before = world.contents(&client);
    send(&client, &world);
    assert_eq!(world.contents(&client), before);
    for operation in writes().filter(|operation| operation.path.ends_with("/persons")) {
        operation.send(&client, &world).expect(201);
    }
}

/// Expects that the refusal names the field, in whichever form the operation's version has.
#[track_caller]
fn assert_named(operation: &Operation, reply: Reply, field: &str, flaw: &str) {
    let reply = operation.assert_refused(reply, 400, "INVALID_REQUEST");
    match operation.is_version_zero() {
        true => assert!(reply.json["error"].as_str().unwrap().contains(field), "{reply:#?}"),
        false => assert_eq!(reply.flaw(field), flaw, "{reply:#?}"),
    }
}

#[apply(each_engine)]
fn what_is_not_sent_as_json_is_refused(workspace: &Workspace) {
    refusing(workspace, |client, world| {
        for operation in writes() {
            let path = operation.path_in(world);
            let body = operation.body_in(world).unwrap().to_string();
            let refused = |client: &Client| {
                let reply = client.send_bytes(operation.method, &path, body.as_bytes());
                operation.assert_refused(reply, 415, "UNSUPPORTED_MEDIA_TYPE");
            };
            refused(client);
            for kind in [
                "",
                "text/plain",
                "text/json",
                "application/jsonp",
                "application/xml",
                "application/x-www-form-urlencoded",
                "json",
                "*/*",
            ] {
                refused(&client.with("content-type", kind));
            }
        }
    });
}

#[apply(each_engine)]
fn json_is_taken_whatever_its_parameters(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    for kind in [
        JSON,
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/json ;charset=UTF-8",
    ] {
        for operation in writes() {
            let reply = operation.send(&client.with("content-type", kind), &world);
            assert!([200, 201, 202].contains(&reply.status), "{kind}: {reply:#?}");
        }
    }
}

#[apply(each_engine)]
fn malformed_json_is_refused(workspace: &Workspace) {
    let bodies: [&[u8]; 16] = [
        b"",
        b" ",
        b"{",
        b"}",
        b"{]",
        b"nope",
        b"{} {}",
        b"{\"name\": \"Ada\",}",
        b"{'name': 'Ada'}",
        b"{\"name\": Ada}",
        b"{\"name\": \"Ada}",
        b"{\"name\": \"\\ud800\"}",
        b"{\"name\": \"\xff\xfe\"}",
        b"{\"name\": NaN}",
        b"{\"name\": \"Ada\", \"name\": \"Grace\"}",
        b"{\"name\": \"a\nb\"}",
    ];
    refusing(workspace, |client, world| {
        let client = client.with("content-type", JSON);
        for operation in writes() {
            for body in bodies {
                let reply = client.send_bytes(operation.method, &operation.path_in(world), body);
                operation.assert_refused(reply, 400, "MALFORMED_JSON");
            }
        }
    });
}

#[apply(each_engine)]
fn what_is_no_object_is_refused(workspace: &Workspace) {
    refusing(workspace, |client, world| {
        for operation in writes() {
            for body in [
                json!([]),
                json!([{ "name": "Ada" }]),
                json!("Ada"),
                json!(7),
                json!(true),
                json!(null),
            ] {
                let reply = client.send(operation.method, &operation.path_in(world), Some(&body));
                operation.assert_refused(reply, 400, "INVALID_REQUEST");
            }
        }
    });
}

#[apply(each_engine)]
fn an_unknown_field_is_refused_by_name(workspace: &Workspace) {
    refusing(workspace, |client, world| {
        for operation in writes() {
            for field in ["id", "created_at", "success", "Name", "__proto__", "naïve"] {
                let mut body = operation.body_in(world).unwrap();
                body[field] = json!("x");
                let reply = client.send(operation.method, &operation.path_in(world), Some(&body));
                assert_named(operation, reply, field, "UNKNOWN_FIELD");
            }
        }
    });
}

/// The fields of a request by their type.
struct Fields {
    strings: &'static [&'static str],
    arrays: &'static [&'static str],
    flags: &'static [&'static str],
}

fn fields_of(operation: &Operation) -> Fields {
    match (operation.method, operation.path) {
        ("POST", "/v0/persons") => Fields {
            strings: &[
                "name",
                "first_name",
                "last_name",
                "social_url",
                "current_job_title",
                "social_location",
                "company_name",
                "email",
                "phone_number",
                "notes",
                "job_id",
                "job_name",
                "client_name",
                "client_id",
                "external_source_id",
            ],
            arrays: &["emails", "phone_numbers"],
            flags: &[],
        },
        ("POST", "/v1/persons") => Fields {
            strings: &[
                "name",
                "first_name",
                "last_name",
                "social_url",
                "current_job_title",
                "social_location",
                "company_name",
                "work_email",
                "work_phone",
                "personal_email",
                "mobile_phone",
                "notes",
                "job_id",
                "job_name",
                "client_name",
                "client_id",
                "external_source_id",
            ],
            arrays: &["emails", "phone_numbers"],
            flags: &["enrich_record"],
        },
        ("PATCH", "/v1/persons/{id}") => Fields {
            strings: &[
                "social_url",
                "name",
                "first_name",
                "last_name",
                "current_job_title",
                "company_name",
                "social_location",
                "social_headline",
                "address",
                "work_email",
                "personal_email",
                "mobile_phone",
                "work_phone",
                "job_id",
            ],
            arrays: &["emails", "phone_numbers"],
            flags: &["enrich_record"],
        },
        ("PUT", "/v1/persons/{id}/history") => Fields {
            strings: &[],
            arrays: &["work_experience", "education_experience", "certifications"],
            flags: &[],
        },
        ("POST", "/v1/persons/{id}/notes") => {
            Fields { strings: &["body"], arrays: &[], flags: &[] }
        }
        ("POST", "/v1/enrichments") => Fields { strings: &[], arrays: &[], flags: &["refresh"] },
        ("PATCH", "/v1/candidates/{id}") => Fields {
            strings: &["stage_id", "stage_name", "from_stage_id"],
            arrays: &[],
            flags: &[],
        },
        ("POST", "/v1/jobs") => Fields {
            strings: &[
                "name",
                "client_company_name",
                "client_company_id",
                "job_status_name",
                "pipeline_template_id",
            ],
            arrays: &["pipeline_stages"],
            flags: &[],
        },
        ("PATCH", "/v1/jobs/{id}") => Fields {
            strings: &[
                "name",
                "job_status_name",
                "job_status_id",
                "client_company_name",
                "client_company_id",
            ],
            arrays: &[],
            flags: &["is_archived"],
        },
        ("POST", "/v1/persons/batch") => Fields { strings: &[], arrays: &["persons"], flags: &[] },
        ("POST", "/v1/jobs/{id}/candidates/batch") => {
            Fields { strings: &[], arrays: &["person_ids"], flags: &[] }
        }
        ("POST", "/v1/jobs/{id}/stages") => Fields {
            strings: &["name"],
            arrays: &[],
            flags: &["is_rejection_stage", "is_interviewing_stage"],
        },
        ("POST", "/v1/jobs/{id}/candidates") => {
            Fields { strings: &["person_id"], arrays: &[], flags: &[] }
        }
        ("POST", "/v1/companies") | ("PATCH", "/v1/companies/{id}") => {
            Fields { strings: &["name"], arrays: &[], flags: &[] }
        }
        ("POST", "/v1/companies/{id}/contacts") => {
            Fields { strings: &["person_id"], arrays: &[], flags: &[] }
        }
        (method, path) => panic!("the fields of {method} {path} are not listed here"),
    }
}

#[apply(each_engine)]
fn a_value_of_the_wrong_type_is_refused_by_name(workspace: &Workspace) {
    refusing(workspace, |client, world| {
        for operation in writes() {
            let Fields { strings, arrays, flags } = fields_of(operation);
            let wrong: [(&[&str], [Value; 4]); 3] = [
                (strings, [json!(7), json!(true), json!(["x"]), json!({ "x": "y" })]),
                (arrays, [json!("x"), json!(7), json!(false), json!({})]),
                (flags, [json!("true"), json!(1), json!([]), json!({})]),
            ];
            for (fields, values) in wrong {
                for (field, value) in
                    fields.iter().flat_map(|field| values.iter().map(move |value| (*field, value)))
                {
                    let mut body = operation.body_in(world).unwrap();
                    body[field] = value.clone();
                    let reply =
                        client.send(operation.method, &operation.path_in(world), Some(&body));
                    assert_named(operation, reply, field, "INVALID_TYPE");
                }
            }
        }
    });
}

#[apply(each_engine)]
fn a_control_character_is_refused_by_name(workspace: &Workspace) {
    refusing(workspace, |client, world| {
        for operation in writes() {
            for field in fields_of(operation).strings {
                for text in ["A\u{0}da", "Ada\u{7}x", "A\u{1b}[31m"] {
                    let mut body = operation.body_in(world).unwrap();
                    body[field] = json!(text);
                    let reply =
                        client.send(operation.method, &operation.path_in(world), Some(&body));
                    assert_named(operation, reply, field, "INVALID_CHARACTER");
                }
            }
        }
    });
}

#[apply(each_engine)]
fn an_unknown_parameter_is_refused_by_name(workspace: &Workspace) {
    let client = workspace.writer();
    let world = World::build(&client);
    let before = world.contents(&client);
    for operation in &OPERATIONS {
        let path = format!("{}?nonsense=true", operation.path_in(&world));
        let reply = client.send(operation.method, &path, operation.body_in(&world).as_ref());
        assert_named(operation, reply, "nonsense", "UNKNOWN_FIELD");
    }
    assert_eq!(world.contents(&client), before);
}

#[apply(each_engine)]
fn a_bad_field_is_named_once(workspace: &Workspace) {
    let client = workspace.writer();
    let job = client.new_job("Engineer", "Acme");
    for (path, body, field) in [
        ("/v1/persons".to_owned(), json!({ "name": 7 }), "name"),
        ("/v1/persons".to_owned(), json!({ "name": "x".repeat(256) }), "name"),
        ("/v1/persons".to_owned(), json!({ "social_url": 7 }), "social_url"),
        ("/v1/jobs".to_owned(), json!({ "name": 7, "client_company_name": "Acme" }), "name"),
        (
            "/v1/jobs".to_owned(),
            json!({ "name": "Engineer", "client_company_name": 7 }),
            "client_company_name",
        ),
        (job.candidates_path(), json!({ "person_id": 7 }), "person_id"),
    ] {
        let reply = client.post(&path, &body).refused(400, "INVALID_REQUEST");
        assert_eq!(reply.detail_fields(), [field], "{path} {body}");
    }
}
