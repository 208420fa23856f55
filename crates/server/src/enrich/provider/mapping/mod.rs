//! From a service's answer to a profile in our shape. A mapping says for each field where in the
//! answer it stands; dates, types and bounds are not its business, they are read afterwards like
//! those of any other answer.

mod form;
#[cfg(test)]
mod golden;
mod ready;

use reqwest::header::{HeaderMap, HeaderName};
use serde_json::{Map, Value};

pub struct Mapping {
    /// A JSON pointer to the person in the answer.
    root: String,
    fields: Vec<(&'static str, Target)>,
    cost: Option<Cost>,
}

/// Where one field comes from.
enum Target {
    One(Source),
    Many(Vec<List>),
}

/// Where a single value comes from. Pointers are those of JSON, and begin at the person or at the
/// entry of a list.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Source {
    Pointer(String),
    Text(String),
    /// The first that has something.
    First(Vec<Self>),
    /// The texts of all that have something.
    Join {
        parts: Vec<Self>,
        with: String,
    },
    /// Nothing, if the text begins with one of these.
    Unless {
        source: Box<Self>,
        beginnings: Vec<String>,
    },
}

/// Where entries of a list come from.
enum List {
    /// They are in our shape.
    AsTheyAre(String),
    /// Entries in which `needed` does not stand are left out.
    Each { each: String, fields: Vec<(&'static str, Target)>, needed: Option<&'static str> },
}

/// Where the service says what the answer cost.
enum Cost {
    Pointer(String),
    Header(HeaderName),
}

impl Mapping {
    /// `written` is the name of a mapping that is there, or one that the operator wrote.
    pub fn read(written: &Value) -> Result<Self, String> {
        match written {
            Value::String(name) => ready::find(name),
            other => form::read(other),
        }
    }

    /// The profile in our shape; none if the answer has no person.
    pub fn apply(&self, answer: &Value) -> Result<Option<Value>, String> {
        match answer.pointer(&self.root) {
            None | Some(Value::Null) => Ok(None),
            Some(person) if person.is_object() => {
                Ok(map_fields(&self.fields, person).map(Value::Object))
            }
            Some(_) => Err(match self.root.as_str() {
                "" => "its answer is not a JSON object".to_owned(),
                root => format!("its answer has no JSON object at {root}"),
            }),
        }
    }

    #[must_use]
    pub fn cost_in(&self, headers: &HeaderMap) -> Option<f64> {
        match &self.cost {
            Some(Cost::Header(name)) => read_cost(headers.get(name)?.to_str().ok()?),
            _ => None,
        }
    }

    #[must_use]
    pub fn cost_of(&self, answer: &Value) -> Option<f64> {
        let Some(Cost::Pointer(pointer)) = &self.cost else { return None };
        match answer.pointer(pointer)? {
            Value::Number(number) => number.as_f64().filter(is_cost),
            Value::String(text) => read_cost(text),
            _ => None,
        }
    }
}

fn read_cost(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(is_cost)
}

/// Nothing is paid back, and nothing costs without end.
fn is_cost(cost: &f64) -> bool {
    cost.is_finite() && *cost >= 0.0
}

/// None if nothing is there but what is always said.
fn map_fields(fields: &[(&'static str, Target)], from: &Value) -> Option<Map<String, Value>> {
    let mut mapped = Map::new();
    let mut is_known = false;
    for (name, target) in fields {
        let found = match target {
            Target::One(source) => source.find(from),
            Target::Many(lists) => {
                let entries: Vec<_> = lists.iter().flat_map(|list| list.find(from)).collect();
                (!entries.is_empty()).then_some(Value::Array(entries))
            }
        };
        if let Some(found) = found {
            is_known |= !target.is_constant();
            mapped.insert((*name).to_owned(), found);
        }
    }
    is_known.then_some(mapped)
}

impl Target {
    fn is_constant(&self) -> bool {
        matches!(self, Self::One(source) if source.is_constant())
    }
}

impl Source {
    fn find(&self, from: &Value) -> Option<Value> {
        match self {
            Self::Pointer(pointer) => {
                from.pointer(pointer).filter(|found| says_something(found)).cloned()
            }
            Self::Text(text) => Some(Value::String(text.clone())),
            Self::First(sources) => sources.iter().find_map(|source| source.find(from)),
            Self::Join { parts, with } => {
                let mut texts = Vec::new();
                let mut is_known = false;
                for part in parts {
                    let Some(found) = part.find(from) else { continue };
                    is_known |= !part.is_constant();
                    gather(&found, &mut texts);
                }
                (is_known && !texts.is_empty()).then(|| Value::String(texts.join(with)))
            }
            Self::Unless { source, beginnings } => source.find(from).filter(|found| {
                let text = found.as_str().unwrap_or_default().to_lowercase();
                !beginnings.iter().any(|beginning| text.starts_with(&beginning.to_lowercase()))
            }),
        }
    }

    /// Whether it says the same of everybody.
    fn is_constant(&self) -> bool {
        match self {
            Self::Pointer(_) => false,
            Self::Text(_) => true,
            Self::First(sources) | Self::Join { parts: sources, .. } => {
                sources.iter().all(Self::is_constant)
            }
            Self::Unless { source, .. } => source.is_constant(),
        }
    }
}

impl List {
    fn find(&self, from: &Value) -> Vec<Value> {
        match self {
            Self::AsTheyAre(pointer) => entries_at(pointer, from).cloned().collect(),
            Self::Each { each, fields, needed } => {
                let mapped = entries_at(each, from).filter_map(|entry| map_fields(fields, entry));
                mapped
                    .filter(|entry| needed.is_none_or(|needed| entry.contains_key(needed)))
                    .map(Value::Object)
                    .collect()
            }
        }
    }
}

/// A single value counts as a list of one.
fn entries_at<'v>(pointer: &str, from: &'v Value) -> impl Iterator<Item = &'v Value> {
    let entries = match from.pointer(pointer) {
        Some(Value::Array(entries)) => entries.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    entries.iter().filter(|entry| says_something(entry))
}

/// A flag says nothing either: some services only tell with it that there is something to be
/// bought.
fn says_something(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(_) => false,
        Value::Number(_) => true,
        Value::String(text) => !text.trim().is_empty(),
        Value::Array(entries) => !entries.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
    }
}

/// The texts in a value, each as it is.
fn gather(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) if !text.trim().is_empty() => texts.push(text.trim().to_owned()),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(entries) => entries.iter().for_each(|entry| gather(entry, texts)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn mapping(written: &Value) -> Mapping {
        Mapping::read(written).unwrap_or_else(|reason| panic!("{reason}"))
    }

    fn mapped(written: &Value, answer: &Value) -> Option<Value> {
        mapping(written).apply(answer).unwrap_or_else(|reason| panic!("{reason}"))
    }

    #[test]
    fn single_values_come_from_where_the_mapping_says() {
        let written = json!({
            "root": "/data",
            "name": "/full_name",
            "current_job_title": ["/title", "/job/title", { "text": "unknown" }],
            "social_location": { "join": ["/city", "/region", "/country"], "with": ", " },
            "address": { "join": [{ "text": "c/o" }, "/street"], "with": " " },
            "social_url": "/profile",
            "work_email": { "from": "/email", "unless_begins_with": ["hidden@"] },
            "work_phone": "/phone"
        });
        let answer = json!({ "data": {
            "full_name": "Ada", "title": " ", "job": { "title": "Analyst" }, "city": "London",
            "region": null, "country": "UK",
            "street": true, "profile": "social.example/in/ada", "email": "Hidden@example.com",
            "phone": 7
        } });
        let expected = json!({
            "name": "Ada", "current_job_title": "Analyst", "social_location": "London, UK",
            "social_url": "social.example/in/ada",
            "work_phone": 7
        });
        assert_eq!(mapped(&written, &answer), Some(expected));
    }

    #[test]
    fn lists_come_entry_by_entry() {
        let written = json!({
            "emails": [
                { "each": "/emails", "value": "/address", "type": "/type" },
                { "each": "/personal", "value": "", "type": { "text": "personal" } },
                "/more"
            ],
            "phones": "/phone",
            "work_experience": {
                "each": "/jobs", "company_name": "/company/name",
                "company_social_url": "/company/url",
                "positions": { "each": "/roles", "title": "/name", "start_date": "/from" }
            }
        });
        let answer = json!({
            "emails": [{ "address": "a@x.com", "type": "work" }, { "type": "other" }, null],
            "personal": ["b@x.com", "", false],
            "more": [{ "value": "c@x.com" }],
            "phone": "030 123",
            "jobs": [
                { "company": { "name": "Acme", "url": "acme.example/about" },
                    "roles": [{ "name": "CTO", "from": { "year": 2020 } }, {}] },
                { "company": {} }
            ]
        });
        let expected = json!({
            "emails": [{ "value": "a@x.com", "type": "work" },
                { "value": "b@x.com", "type": "personal" }, { "value": "c@x.com" }],
            "phone_numbers": ["030 123"],
            "work_experience": [{
                "company_name": "Acme", "company_social_url": "acme.example/about",
                "positions": [{ "title": "CTO", "start_date": { "year": 2020 } }]
            }]
        });
        assert_eq!(mapped(&written, &answer), Some(expected));
    }

    #[test]
    fn an_answer_without_a_person_is_empty_and_a_wrong_one_is_told() {
        let written = json!({ "root": "/data", "name": "/name", "address": { "text": "earth" } });
        for nobody in
            [json!({}), json!({ "data": null }), json!([]), json!({ "data": { "name": "" } })]
        {
            assert_eq!(mapped(&written, &nobody), None, "{nobody}");
        }
        assert!(
            mapping(&written)
                .apply(&json!({ "data": ["Ada"] }))
                .is_err_and(|reason| reason.contains("/data"))
        );
        assert!(mapping(&json!({ "name": "/name" })).apply(&json!("Ada")).is_err());
    }

    #[test]
    fn the_cost_stands_in_the_answer_or_in_a_header() {
        let in_answer = mapping(&json!({ "name": "/name", "cost": "/meta/credits" }));
        assert_eq!(in_answer.cost_of(&json!({ "meta": { "credits": 1.5 } })), Some(1.5));
        assert_eq!(in_answer.cost_of(&json!({ "meta": { "credits": "2" } })), Some(2.0));
        assert_eq!(in_answer.cost_of(&json!({ "meta": { "credits": 0 } })), Some(0.0));
        for none in [
            json!("free"),
            json!(-1),
            json!(-0.5),
            json!("-1"),
            json!("inf"),
            json!("NaN"),
            json!(true),
            json!([1]),
        ] {
            assert_eq!(in_answer.cost_of(&json!({ "meta": { "credits": none } })), None, "{none}");
        }
        assert_eq!(in_answer.cost_of(&json!({})), None);
        let in_header = mapping(&json!({ "name": "/name", "cost": { "header": "X-Credits" } }));
        let mut headers = HeaderMap::new();
        assert_eq!(in_header.cost_in(&headers), None);
        headers.insert("x-credits", "3".parse().unwrap());
        assert_eq!(in_header.cost_in(&headers), Some(3.0));
        for none in ["-3", "inf", "NaN", "free"] {
            headers.insert("x-credits", none.parse().unwrap());
            assert_eq!(in_header.cost_in(&headers), None, "{none}");
        }
    }
}
