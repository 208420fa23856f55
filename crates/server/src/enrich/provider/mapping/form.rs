//! How a mapping is written.

use reqwest::header::HeaderName;
use serde_json::{Map, Value};
use slated_model::text::did_you_mean;

use super::{Cost, List, Mapping, Source, Target};

/// The fields of a profile that have one value.
const SINGLE: &[&str] = &[
    "name",
    "first_name",
    "last_name",
    "social_url",
    "current_job_title",
    "company_name",
    "social_location",
    "social_headline",
    "address",
    "work_email",
    "personal_email",
    "mobile_phone",
    "work_phone",
];

/// A field that is a list, and the fields of its entries.
struct ListForm {
    name: &'static str,
    fields: &'static [&'static str],
    /// Lists in an entry.
    lists: &'static [Self],
    /// Without this one an entry says nothing.
    needed: Option<&'static str>,
}

const CONTACT: &[&str] = &["value", "type"];

const LISTS: &[ListForm] = &[
    ListForm { name: "emails", fields: CONTACT, lists: &[], needed: Some("value") },
    ListForm { name: "phone_numbers", fields: CONTACT, lists: &[], needed: Some("value") },
    ListForm {
        name: "work_experience",
        fields: &[
            "company_name",
            "company_social_url",
            "company_social_id",
            "title",
            "start_date",
            "end_date",
            "description",
            "location",
            "position_type",
        ],
        lists: &[ListForm {
            name: "positions",
            fields: &[
                "title",
                "start_date",
                "end_date",
                "description",
                "location",
                "position_type",
            ],
            lists: &[],
            needed: None,
        }],
        needed: None,
    },
    ListForm {
        name: "education_experience",
        fields: &[
            "company_name",
            "company_social_url",
            "company_social_id",
            "degree",
            "start_date",
            "end_date",
            "description",
        ],
        lists: &[],
        needed: None,
    },
    ListForm {
        name: "certifications",
        fields: &[
            "name",
            "credential_id",
            "company_name",
            "company_social_url",
            "company_social_id",
            "start_date",
            "end_date",
        ],
        lists: &[],
        needed: None,
    },
];

pub fn read(written: &Value) -> Result<Mapping, String> {
    let Value::Object(written) = written else {
        return Err(
            "mapping must be the name of a mapping, or a table that says where the fields are"
                .to_owned(),
        );
    };
    let mut mapping = Mapping { root: String::new(), fields: Vec::new(), cost: None };
    for (name, value) in written {
        let place = format!("mapping.{name}");
        match name.as_str() {
            "root" => mapping.root = read_pointer(value, &place)?,
            "cost" => mapping.cost = Some(read_cost(value, &place)?),
            // The name under which a read shows them.
            "phones" => {
                mapping.fields.push(read_field("phone_numbers", value, &place, SINGLE, LISTS)?)
            }
            name => mapping.fields.push(read_field(name, value, &place, SINGLE, LISTS)?),
        }
    }
    match mapping.fields.is_empty() {
        true => {
            Err("mapping must say where at least one field is, as in name = \"/full_name\""
                .to_owned())
        }
        false => Ok(mapping),
    }
}

fn read_field(
    name: &str,
    value: &Value,
    place: &str,
    single: &'static [&'static str],
    lists: &'static [ListForm],
) -> Result<(&'static str, Target), String> {
    if let Some(known) = single.iter().copied().find(|known| *known == name) {
        return Ok((known, Target::One(read_source(value, place)?)));
    }
    if let Some(form) = lists.iter().find(|form| form.name == name) {
        return Ok((form.name, Target::Many(read_lists(value, place, form)?)));
    }
    let known: Vec<_> = single.iter().copied().chain(lists.iter().map(|form| form.name)).collect();
    Err(match did_you_mean(name, &known) {
        Some(near) => format!("{place} is unknown; did you mean {near}?"),
        None => format!("{place} is unknown; the known names are {}", known.join(", ")),
    })
}

fn read_pointer(value: &Value, place: &str) -> Result<String, String> {
    match value {
        Value::String(pointer) if pointer.is_empty() || pointer.starts_with('/') => {
            Ok(pointer.clone())
        }
        _ => Err(format!("{place} must be a JSON pointer, as in \"/data/name\"")),
    }
}

fn read_source(value: &Value, place: &str) -> Result<Source, String> {
    match value {
        Value::String(_) => read_pointer(value, place).map(Source::Pointer),
        Value::Array(entries) if !entries.is_empty() => {
            read_sources(entries, place).map(Source::First)
        }
        Value::Object(fields) => read_table(fields, place),
        _ => Err(format!(
            "{place} must be a JSON pointer, a list of \
             pointers of which the first with a value counts, \
             {{ join = [\"/a\", \"/b\"], with = \", \" }}, {{ text = \"…\" }} or {{ from = \
             \"/a\", unless_begins_with = [\"…\"] }}"
        )),
    }
}

fn read_sources(entries: &[Value], place: &str) -> Result<Vec<Source>, String> {
    entries
        .iter()
        .enumerate()
        .map(|(index, entry)| read_source(entry, &format!("{place}[{index}]")))
        .collect()
}

fn read_table(fields: &Map<String, Value>, place: &str) -> Result<Source, String> {
    let mut names: Vec<_> = fields.keys().map(String::as_str).collect();
    names.sort_unstable();
    match names.as_slice() {
        ["text"] => read_text(&fields["text"], &format!("{place}.text")).map(Source::Text),
        ["join"] | ["join", "with"] => {
            let with = fields
                .get("with")
                .map_or(Ok(" ".to_owned()), |with| read_text(with, &format!("{place}.with")))?;
            let Value::Array(parts) = &fields["join"] else {
                return Err(format!("{place}.join must be a list of JSON pointers"));
            };
            Ok(Source::Join { parts: read_sources(parts, &format!("{place}.join"))?, with })
        }
        ["from", "unless_begins_with"] => {
            let place_of_texts = format!("{place}.unless_begins_with");
            let beginnings: Vec<String> = match &fields["unless_begins_with"] {
                Value::Array(texts) => texts
                    .iter()
                    .map(|text| read_text(text, &place_of_texts))
                    .collect::<Result<_, _>>()?,
                text => vec![read_text(text, &place_of_texts)?],
            };
            Ok(Source::Unless {
                source: Box::new(read_source(&fields["from"], &format!("{place}.from"))?),
                beginnings,
            })
        }
        _ => Err(format!("{place} must have join and with, text, or from and unless_begins_with")),
    }
}

fn read_text(value: &Value, place: &str) -> Result<String, String> {
    value.as_str().map(str::to_owned).ok_or_else(|| format!("{place} must be a string"))
}

/// Several tables are one list after the other.
fn read_lists(value: &Value, place: &str, form: &'static ListForm) -> Result<Vec<List>, String> {
    match value {
        Value::Array(entries) if !entries.is_empty() => entries
            .iter()
            .enumerate()
            .map(|(index, entry)| read_list(entry, &format!("{place}[{index}]"), form))
            .collect(),
        one => Ok(vec![read_list(one, place, form)?]),
    }
}

fn read_list(value: &Value, place: &str, form: &'static ListForm) -> Result<List, String> {
    let Value::Object(written) = value else {
        return read_pointer(value, place).map(List::AsTheyAre).map_err(|_| {
            format!(
                "{place} must be a JSON pointer to a list, or {{ each = \
                \"/list\", {} = \"/name\" }}",
                form.fields[0]
            )
        });
    };
    let mut fields = Vec::new();
    for (name, value) in written {
        if name != "each" {
            fields.push(read_field(
                name,
                value,
                &format!("{place}.{name}"),
                form.fields,
                form.lists,
            )?);
        }
    }
    let each = written.get("each").ok_or_else(|| {
        format!("{place} must say in each where the list is, as in each = \"/emails\"")
    })?;
    let says_enough = match form.needed {
        Some(needed) => fields.iter().any(|(name, _)| *name == needed),
        None => !fields.is_empty(),
    };
    match says_enough {
        true => Ok(List::Each {
            each: read_pointer(each, &format!("{place}.each"))?,
            fields,
            needed: form.needed,
        }),
        false => Err(format!(
            "{place} must say where {} is in an entry, as in {} = \"/name\"",
            form.fields[0], form.fields[0]
        )),
    }
}

fn read_cost(value: &Value, place: &str) -> Result<Cost, String> {
    match value {
        Value::Object(fields) if fields.len() == 1 && fields.contains_key("header") => {
            let name = read_text(&fields["header"], &format!("{place}.header"))?;
            HeaderName::from_bytes(name.as_bytes())
                .map(Cost::Header)
                .map_err(|_| format!("{place}.header is not a valid header name"))
        }
        Value::String(_) => read_pointer(value, place).map(Cost::Pointer),
        _ => Err(format!(
            "{place} must be a JSON pointer, as in \"/credits\", or {{ header = \"X-Credits\" }}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn wrong_mappings_are_told() {
        for (written, part) in [
            (json!(7), "the name of a mapping"),
            (json!({}), "at least one field"),
            (json!({ "root": "data", "name": "/n" }), "mapping.root must be a JSON pointer"),
            (json!({ "nmae": "/n" }), "did you mean name?"),
            (json!({ "favourite_colour": "/n" }), "the known names are name, first_name"),
            (json!({ "external_source_id": "/id" }), "mapping.external_source_id is unknown"),
            (json!({ "name": "full_name" }), "mapping.name must be a JSON pointer"),
            (json!({ "name": 7 }), "unless_begins_with"),
            (json!({ "name": [] }), "mapping.name must be"),
            (json!({ "name": ["/a", "b"] }), "mapping.name[1]"),
            (json!({ "name": { "join": "/a" } }), "mapping.name.join must be a list"),
            (json!({ "name": { "join": ["/a"], "by": "," } }), "mapping.name must have"),
            (json!({ "name": { "text": 1 } }), "mapping.name.text must be a string"),
            (json!({ "emails": { "value": "/v" } }), "mapping.emails must say in each"),
            (
                json!({ "emails": { "each": "/v", "type": "/t" } }),
                "mapping.emails must say where value is",
            ),
            (
                json!({ "certifications": { "each": "/v" } }),
                "mapping.certifications must say where name is",
            ),
            (
                json!({ "emails": [{ "each": "/v", "adress": "/a" }] }),
                "mapping.emails[0].adress is unknown; the known names are value, type",
            ),
            (json!({ "phones": 7 }), "mapping.phones must be a JSON pointer to a list"),
            (
                json!({ "work_experience": { "each": "/w",
                    "positions": { "each": "/p", "titel": "/t" } } }),
                "positions.titel is unknown",
            ),
            (json!({ "name": "/n", "cost": 1 }), "mapping.cost must be"),
            (json!({ "name": "/n", "cost": { "header": "a b" } }), "not a valid header name"),
        ] {
            let reason = read(&written).err().unwrap_or_else(|| panic!("taken: {written}"));
            assert!(reason.contains(part), "{reason}");
        }
    }
}
