//! The OpenAPI document: the committed one is the one that the program serves, and it says all that
//! there is to say.

use std::collections::BTreeSet;
use std::{env, fs};

use serde_json::Value;
use slated_model::problem::{ErrorCode, FieldErrorCode};

use crate::support::{OPERATIONS, Workspace, World, apply, each_engine, eventually};

const COMMITTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi.json");

fn document(workspace: &Workspace) -> Value {
    workspace.anonymous().get("/openapi.json").expect(200).json
}

/// Each operation of the interface with its name, such as `GET /v1/jobs`.
fn operations(document: &Value) -> Vec<(String, &Value)> {
    let methods = ["get", "post", "put", "patch", "delete"];
    let paths =
        document["paths"].as_object().unwrap().iter().filter(|(path, _)| path.starts_with("/v"));
    paths
        .flat_map(|(path, item)| {
            item.as_object()
                .unwrap()
                .iter()
                .map(move |(method, operation)| (path, method, operation))
        })
        .filter(|(_, method, _)| methods.contains(&method.as_str()))
        .map(|(path, method, operation)| (format!("{} {path}", method.to_uppercase()), operation))
        .collect()
}

/// The value, or what it refers to.
fn resolved<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    match value["$ref"].as_str() {
        Some(reference) => {
            document.pointer(&reference[1..]).unwrap_or_else(|| panic!("{reference} leads nowhere"))
        }
        None => value,
    }
}

/// Calls `visit` with every object in the document.
fn walk<'d>(value: &'d Value, visit: &mut impl FnMut(&'d serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            visit(object);
            object.values().for_each(|value| walk(value, visit));
        }
        Value::Array(entries) => entries.iter().for_each(|entry| walk(entry, visit)),
        _ => {}
    }
}

#[apply(each_engine)]
fn the_committed_document_is_the_one_that_is_served(workspace: &Workspace) {
    let pretty =
        |document: &Value| format!("{}\n", serde_json::to_string_pretty(document).unwrap());
    let served = pretty(&document(workspace));
    if env::var_os("UPDATE_OPENAPI").is_some() {
        fs::write(COMMITTED, &served).unwrap();
    }
    let committed = fs::read_to_string(COMMITTED).unwrap_or_default();
    let committed = pretty(&serde_json::from_str(&committed).unwrap_or_default());
    let place =
        served.lines().zip(committed.lines()).position(|(served, committed)| served != committed);
    assert!(
        served == committed,
        "openapi.json is out of date (first in line {place:?}); run the tests once with \
         UPDATE_OPENAPI=1"
    );
}

#[apply(each_engine)]
fn every_operation_says_what_it_is(workspace: &Workspace) {
    let document = document(workspace);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    let operations = operations(&document);
    let ids: BTreeSet<_> = operations
        .iter()
        .map(|(_, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    assert_eq!(ids.len(), operations.len());
    for (name, operation) in &operations {
        assert!(operation["summary"].is_string() || operation["description"].is_string(), "{name}");
        assert!(
            operation["security"]
                .as_array()
                .or_else(|| document["security"].as_array())
                .is_some_and(|list| !list.is_empty()),
            "{name}"
        );
        let has_body = !operation["requestBody"].is_null();
        let is_told_by_its_path = ["/test", "/resend", "/cancel", "/accept", "/reject"]
            .iter()
            .any(|end| name.ends_with(end));
        let needs_none =
            name.starts_with("GET") || name.starts_with("DELETE") || is_told_by_its_path;
        assert_eq!(has_body, !needs_none, "{name}");
    }
}

#[apply(each_engine)]
fn every_operation_names_the_scope_that_it_needs(workspace: &Workspace) {
    let document = document(workspace);
    // Ids are called otherwise in the table.
    let plain = |path: &str| {
        path.split('/')
            .map(|part| if part.starts_with('{') { "{}" } else { part })
            .collect::<Vec<_>>()
            .join("/")
    };
    let mut documented = 0;
    for (name, operation) in operations(&document) {
        let named = &operation["security"][0]["key"][0];
        let scope = OPERATIONS
            .iter()
            .find(|known| plain(&name) == format!("{} {}", known.method, plain(known.path)))
            .map(|known| known.scope);
        documented += usize::from(scope.is_some());
        if let Some(scope) = scope {
            assert_eq!(named, scope, "{name}");
        }
        assert!(
            operation["description"]
                .as_str()
                .unwrap()
                .ends_with(&format!("Needs a key with the scope `{}`.", named.as_str().unwrap())),
            "{name}"
        );
    }
    assert!(documented >= 40, "{documented} operations are in both tables");
}

#[apply(each_engine)]
fn every_event_says_what_its_shape_lists(workspace: &Workspace) {
    let (document, client) = (document(workspace), workspace.client("admin"));
    let world = World::build(&client);
    for operation in OPERATIONS.iter().filter(|operation| operation.writes()) {
        operation.send(&client, &world);
    }
    let mut events = Vec::new();
    eventually("the events are numbered", || {
        events = client.get("/v1/events?limit=1000").expect(200).entries().to_vec();
        events.iter().map(|event| event["type"].as_str().unwrap()).collect::<BTreeSet<_>>().len()
            >= 12
    });
    for event in &events {
        let kind = event["type"].as_str().unwrap();
        let body = &document["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"]
            ["schema"];
        let shape = &resolved(&document, body)["allOf"][1]["properties"];
        assert!(
            shape["type"]["enum"].as_array().unwrap().iter().any(|known| known == kind),
            "{kind}"
        );
        for side in ["before", "after"] {
            let listed = &resolved(&document, &shape["data"]["properties"][side])["properties"];
            let told = event["data"][side].as_object().into_iter().flatten();
            let unlisted: Vec<_> = told
                .map(|(field, _)| field)
                .filter(|field| listed.get(field.as_str()).is_none())
                .collect();
            assert!(unlisted.is_empty(), "{kind} tells {unlisted:?} {side}");
        }
    }
}

#[apply(each_engine)]
fn answers_may_grow_and_requests_may_not(workspace: &Workspace) {
    let document = document(workspace);
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        let is_request = name.contains("Body") || name.ends_with("Input");
        assert_eq!(schema["additionalProperties"] == false, is_request, "{name}");
        for (field, property) in schema["properties"].as_object().into_iter().flatten() {
            let is_moment = field.ends_with("_at") && !is_request && property["type"] != "boolean";
            assert!(
                !is_moment || property["format"] == "date-time" || property["$ref"].is_string(),
                "{name}.{field}: {property}"
            );
        }
    }
    assert_eq!(document["servers"][0]["url"], "/");
}

/// What stands in a path is sent as it is by who tries a call, so nobody is made up there.
#[apply(each_engine)]
fn no_path_comes_with_an_id_that_nobody_has(workspace: &Workspace) {
    let document = document(workspace);
    let mut count = 0;
    for (name, operation) in operations(&document) {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            let parameter = resolved(&document, parameter);
            if parameter["in"] == "path" {
                let schema = resolved(&document, &parameter["schema"]);
                let made_up = [
                    &parameter["example"],
                    &parameter["examples"],
                    &schema["example"],
                    &schema["examples"],
                    &schema["default"],
                ];
                assert!(made_up.iter().all(|example| example.is_null()), "{name}: {parameter}");
                count += 1;
            }
        }
    }
    assert!(count >= 40, "{count} parameters stand in paths");
}

#[apply(each_engine)]
fn likely_duplicates_are_two_persons(workspace: &Workspace) {
    let document = document(workspace);
    let response = &document["paths"]["/v1/persons/duplicates"]["get"]["responses"]["200"];
    let content = &resolved(&document, response)["content"]["application/json"];
    let example = content
        .get("example")
        .or_else(|| content["examples"].as_object()?.values().next()?.get("value"))
        .unwrap();
    let pair = &example["data"][0]["persons"];
    assert!(
        pair[0]["id"].is_string() && pair[1]["id"].is_string() && pair[0]["id"] != pair[1]["id"],
        "{pair}"
    );
}

#[apply(each_engine)]
fn every_success_has_an_example(workspace: &Workspace) {
    let document = document(workspace);
    for (name, operation) in
        operations(&document).into_iter().filter(|(name, _)| !name.ends_with("/stream"))
    {
        let successes = operation["responses"]
            .as_object()
            .unwrap()
            .iter()
            .filter(|(status, _)| status.starts_with('2'));
        let mut count = 0;
        for (status, response) in successes {
            let content = &resolved(&document, response)["content"]["application/json"];
            let example = content
                .get("example")
                .or_else(|| content["examples"].as_object()?.values().next()?.get("value"));
            let example = example.unwrap_or_else(|| panic!("{name} {status} has no example"));
            assert!(
                example["data"].is_object() || example["data"].is_array(),
                "{name} {status}: {example}"
            );
            count += 1;
        }
        assert!(count > 0, "{name}");
    }
}

#[apply(each_engine)]
fn every_operation_documents_its_refusals(workspace: &Workspace) {
    let document = document(workspace);
    for (name, operation) in operations(&document) {
        let documented = &operation["responses"];
        let mut statuses = vec!["400", "401", "429", "500", "503"];
        if !name.starts_with("GET") {
            statuses.extend(["403", "413", "415"]);
        }
        if !name.starts_with("GET") && !name.ends_with("/resolve") {
            statuses.push("409");
        }
        if name.contains('{') {
            statuses.push("404");
        }
        for status in statuses {
            assert!(documented.get(status).is_some(), "{name} does not document {status}");
        }
    }
}

#[apply(each_engine)]
fn every_error_code_that_is_documented_exists_and_the_other_way_round(workspace: &Workspace) {
    let document = document(workspace);
    let codes: BTreeSet<_> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    let flaws: BTreeSet<_> = FieldErrorCode::ALL.iter().map(|flaw| flaw.name()).collect();
    let mut shown = BTreeSet::new();
    walk(&document, &mut |object| {
        shown.extend(object.get("code").and_then(Value::as_str));
        let listed = object
            .get("enum")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str);
        shown.extend(listed.filter(|word| {
            word.len() > 3 && word.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_')
        }));
    });
    let unknown: Vec<_> =
        shown.iter().filter(|word| !codes.contains(*word) && !flaws.contains(*word)).collect();
    assert!(unknown.is_empty(), "{unknown:?} is documented and does not exist");
    let text = document.to_string();
    let missing: Vec<_> = codes.union(&flaws).filter(|word| !text.contains(**word)).collect();
    assert!(missing.is_empty(), "{missing:?} is not documented");
}

#[apply(each_engine)]
fn every_reference_leads_somewhere(workspace: &Workspace) {
    let document = document(workspace);
    walk(&document, &mut |object| {
        if let Some(reference) = object.get("$ref").and_then(Value::as_str) {
            assert!(
                reference.starts_with("#/") && document.pointer(&reference[1..]).is_some(),
                "{reference} leads nowhere"
            );
        }
    });
}
