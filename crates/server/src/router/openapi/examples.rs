//! An example for every answer, put together from the examples that the fields of its shape have.

use serde_json::{Map, Value, json};

pub fn add_examples(operation: &mut Value, schemas: &Value) {
    for (status, response) in operation["responses"].as_object_mut().into_iter().flatten() {
        let Some(content) = response.pointer_mut("/content/application~1json") else { continue };
        if status.starts_with('2') && content["example"].is_null() {
            let example = example_of(&content["schema"], schemas);
            content["example"] = example;
        }
    }
}

fn example_of(schema: &Value, schemas: &Value) -> Value {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        return example_of(&schemas[name], schemas);
    }
    if let Some(value) = stated(schema) {
        return value;
    }
    for choice in ["oneOf", "anyOf"] {
        if let Some(first) = schema[choice].get(0) {
            return example_of(first, schemas);
        }
    }
    match schema["type"].as_str() {
        Some("object") => object(schema, schemas),
        Some("array") => json!([example_of(&schema["items"], schemas)]),
        Some("integer") => schema.get("minimum").cloned().unwrap_or(json!(0)),
        Some("boolean") => json!(false),
        Some("string") => json!(""),
        _ => Value::Null,
    }
}

/// What the shape itself says.
fn stated(schema: &Value) -> Option<Value> {
    let value = ["example", "const", "default"].into_iter().find_map(|known| schema.get(known));
    value.or_else(|| schema["enum"].get(0)).cloned()
}

/// With the fields that are always there; others come when they are asked for.
fn object(schema: &Value, schemas: &Value) -> Value {
    let is_required = |name: &str| {
        schema["required"]
            .as_array()
            .is_none_or(|names| names.iter().any(|required| required == name))
    };
    let properties = schema["properties"]
        .as_object()
        .into_iter()
        .flatten()
        .filter(|(name, _)| is_required(name));
    let example = |name: &str, property: &Value| {
        let usual = || usual(name).filter(|value| may_be(property, value));
        stated(property).or_else(usual).unwrap_or_else(|| example_of(property, schemas))
    };
    Value::Object(
        properties
            .map(|(name, property)| (name.clone(), example(name, property)))
            .collect::<Map<_, _>>(),
    )
}

fn may_be(property: &Value, value: &Value) -> bool {
    match property["type"].as_str() {
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("array") => value.is_array(),
        _ => false,
    }
}

/// What a field of that name usually holds.
fn usual(name: &str) -> Option<Value> {
    Some(match name {
        "phones" => json!([{"contact_data_type": "mobile", "value": "+44 20 7946 0018"}]),
        "total" => json!(1),
        "limit" => json!(100),
        "sequence" | "next_after" => json!(42),
        "title" | "current_job_title" => json!("Analyst"),
        "social_public_id" => json!("ada-lovelace"),
        "start_date" => json!("2023-02-01"),
        "end_date" => json!("2025-12-31"),
        "duration_in_months" => json!(35),
        "description" => json!("Notes on the engine."),
        "location" | "social_location" => json!("London"),
        "position_type" => json!("Full-time"),
        "company_name" => json!("Analytical Engines"),
        "company_social_url" => json!("https://social.example/company/analytical-engines"),
        "company_social_id" => json!(1842),
        "degree" => json!("BSc Mathematics"),
        "credential_id" => json!("AE-1842"),
        "provider" => json!("directory"),
        "field" => json!("current_job_title"),
        "reason" => json!("must be text"),
        "at" | "created_at" | "requested_at" => json!("2026-11-15T09:30:00.000Z"),
        "person_id" => json!("per_01m1v0e8k7f3vs8xq2zr6c4ybd"),
        _ => return None,
    })
}
