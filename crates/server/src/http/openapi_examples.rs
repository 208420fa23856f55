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
    for known in ["example", "const", "default"] {
        if let Some(value) = schema.get(known) {
            return value.clone();
        }
    }
    for choice in ["enum", "oneOf", "anyOf"] {
        if let Some(first) = schema[choice].get(0) {
            return if choice == "enum" { first.clone() } else { example_of(first, schemas) };
        }
    }
    match schema["type"].as_str() {
        Some("object") => {
            let properties = schema["properties"].as_object().into_iter().flatten();
            Value::Object(properties.map(|(name, property)| (name.clone(), example_of(property, schemas))).collect::<Map<_, _>>())
        }
        Some("array") => json!([example_of(&schema["items"], schemas)]),
        Some("integer") => schema.get("minimum").cloned().unwrap_or(json!(0)),
        Some("boolean") => json!(false),
        Some("string") => json!(""),
        _ => Value::Null,
    }
}
