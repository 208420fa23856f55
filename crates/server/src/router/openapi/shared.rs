//! What stands in many places of the OpenAPI document stands once, among its components: headers,
//! parameters, refusals and their examples.

use std::collections::HashMap;

use serde_json::{Map, Value, json};

pub fn share(document: &mut Value) {
    let mut components = document["components"].take();
    let mut parameters = Common::default();
    let mut headers = Common::default();
    each_operation(document, &mut |operation| {
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            parameters.count(parameter_name(parameter), parameter);
        }
        for (_, response) in operation["responses"].as_object().into_iter().flatten() {
            for (name, header) in response["headers"].as_object().into_iter().flatten() {
                headers.count(name.clone(), header);
            }
        }
    });
    let mut responses = Common::default();
    let mut examples = Map::new();
    each_operation(document, &mut |operation| {
        for parameter in
            operation.pointer_mut("/parameters").and_then(Value::as_array_mut).into_iter().flatten()
        {
            parameters.refer(&parameter_name(parameter), parameter, "parameters");
        }
        for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
            for (name, header) in response
                .pointer_mut("/headers")
                .and_then(Value::as_object_mut)
                .into_iter()
                .flatten()
            {
                headers.refer(name, header, "headers");
            }
            let name = refusal_name(status, response);
            for (code, example) in response
                .pointer_mut("/content/application~1json/examples")
                .and_then(Value::as_object_mut)
                .into_iter()
                .flatten()
            {
                let name = if name.ends_with("V0") { format!("{code}_V0") } else { code.clone() };
                examples.insert(
                    name.clone(),
                    std::mem::replace(
                        example,
                        json!({"$ref": format!("#/components/examples/{name}")}),
                    ),
                );
            }
            responses.count(name, response);
        }
    });
    each_operation(document, &mut |operation| {
        for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
            responses.refer(&refusal_name(status, response), response, "responses");
        }
    });
    for (kind, shared) in [
        ("parameters", parameters.shared()),
        ("headers", headers.shared()),
        ("responses", responses.shared()),
        ("examples", examples),
    ] {
        components[kind] = Value::Object(shared);
    }
    document["components"] = components;
}

fn each_operation(document: &mut Value, visit: &mut impl FnMut(&mut Value)) {
    for part in ["paths", "webhooks"] {
        for (_, methods) in document[part].as_object_mut().into_iter().flatten() {
            methods
                .as_object_mut()
                .into_iter()
                .flatten()
                .for_each(|(_, operation)| visit(operation));
        }
    }
}

/// Things by name and contents. One of each name is shared: what most have.
#[derive(Default)]
struct Common {
    counts: HashMap<String, Vec<(Value, usize)>>,
}

impl Common {
    /// What has no name is not shared.
    fn count(&mut self, name: String, value: &Value) {
        if name.is_empty() {
            return;
        }
        let known = self.counts.entry(name).or_default();
        match known.iter_mut().find(|(known, _)| known == value) {
            Some((_, count)) => *count += 1,
            None => known.push((value.clone(), 1)),
        }
    }

    fn most(&self, name: &str) -> Option<&Value> {
        let known = self.counts.get(name)?;
        // Of equals the first.
        let (value, count) = known.iter().rev().max_by_key(|(_, count)| *count)?;
        (*count > 1).then_some(value)
    }

    fn refer(&self, name: &str, value: &mut Value, kind: &str) {
        if self.most(name).is_some_and(|shared| shared == value) {
            *value = json!({"$ref": format!("#/components/{kind}/{name}")});
        }
    }

    fn shared(&self) -> Map<String, Value> {
        let mut names: Vec<_> =
            self.counts.keys().filter(|name| self.most(name).is_some()).collect();
        names.sort_unstable();
        names
            .into_iter()
            .filter_map(|name| Some((name.clone(), self.most(name)?.clone())))
            .collect()
    }
}

/// `Limit`, `IdempotencyKey`; an id is called after what it is of.
fn parameter_name(parameter: &Value) -> String {
    let name = parameter["name"].as_str().unwrap_or_default();
    let owner = parameter["description"]
        .as_str()
        .and_then(|about| about.strip_prefix("The ")?.split_once("'s id"));
    match (name, owner) {
        ("id", Some((owner, _))) => pascal(&format!("{owner} id")),
        _ => pascal(name),
    }
}

/// After the codes of a refusal; nothing for an answer that is none.
fn refusal_name(status: &str, response: &Value) -> String {
    if status == "304" {
        return "NotModified".to_owned();
    }
    let content = &response["content"]["application/json"];
    let Some(examples) = content["examples"].as_object().filter(|_| !status.starts_with('2'))
    else {
        return String::new();
    };
    let codes: Vec<_> = examples.keys().map(|code| pascal(&code.to_lowercase())).collect();
    let is_old = content["schema"]["$ref"].as_str().is_some_and(|schema| schema.ends_with("V0"));
    format!("{}{}", codes.join("Or"), if is_old { "V0" } else { "" })
}

/// `created_after` and `Idempotency-Key` as `CreatedAfter` and `IdempotencyKey`.
fn pascal(name: &str) -> String {
    let words = name.split([' ', '_', '-']).filter(|word| !word.is_empty());
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}
