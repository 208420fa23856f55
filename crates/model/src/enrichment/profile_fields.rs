//! The parts of an answer that are read. Whatever else somebody says of a person is not kept.

use serde_json::{Map, Value};

use crate::career::MAX_ENTRIES;
use crate::text::limit;

/// A field by its name.
type Part = (&'static str, Shape);

/// What of a field is read.
enum Shape {
    /// A text or a number.
    Plain,
    /// The same, or its parts.
    Date,
    /// Entries that are plain or have these fields.
    List { most: usize, fields: &'static [&'static [Part]] },
}

const PROFILE: &[&[Part]] = &[&[
    ("name", Shape::Plain),
    ("first_name", Shape::Plain),
    ("last_name", Shape::Plain),
    ("social_url", Shape::Plain),
    ("current_job_title", Shape::Plain),
    ("company_name", Shape::Plain),
    ("social_location", Shape::Plain),
    ("social_headline", Shape::Plain),
    ("address", Shape::Plain),
    ("emails", CONTACTS),
    ("work_email", Shape::Plain),
    ("personal_email", Shape::Plain),
    ("phone_numbers", CONTACTS),
    ("phones", CONTACTS),
    ("mobile_phone", Shape::Plain),
    ("work_phone", Shape::Plain),
    ("work_experience", Shape::List { most: MAX_ENTRIES, fields: &[COMPANY, POSITION, POSITIONS] }),
    (
        "education_experience",
        Shape::List { most: MAX_ENTRIES, fields: &[COMPANY, SPAN, EDUCATION] },
    ),
    ("certifications", Shape::List { most: MAX_ENTRIES, fields: &[COMPANY, SPAN, CERTIFICATION] }),
]];
const CONTACTS: Shape = Shape::List { most: limit::CONTACTS, fields: &[CONTACT] };
const CONTACT: &[Part] = &[
    ("value", Shape::Plain),
    ("address", Shape::Plain),
    ("number", Shape::Plain),
    ("type", Shape::Plain),
    ("contact_data_type", Shape::Plain),
];
const COMPANY: &[Part] = &[
    ("company_name", Shape::Plain),
    ("company_social_url", Shape::Plain),
    ("company_social_id", Shape::Plain),
];
const POSITIONS: &[Part] = &[("positions", Shape::List { most: MAX_ENTRIES, fields: &[POSITION] })];
const POSITION: &[Part] = &[
    ("title", Shape::Plain),
    ("start_date", Shape::Date),
    ("end_date", Shape::Date),
    ("description", Shape::Plain),
    ("location", Shape::Plain),
    ("position_type", Shape::Plain),
];
const SPAN: &[Part] = &[("start_date", Shape::Date), ("end_date", Shape::Date)];
const EDUCATION: &[Part] = &[("degree", Shape::Plain), ("description", Shape::Plain)];
const CERTIFICATION: &[Part] = &[("name", Shape::Plain), ("credential_id", Shape::Plain)];
const DATE: &[&[Part]] =
    &[&[("year", Shape::Plain), ("month", Shape::Plain), ("day", Shape::Plain)]];

/// An answer without the fields that nobody looks at. It is read as the whole of it would be. What
/// is no object stays as it is.
#[must_use]
pub fn known_parts(value: Value) -> Value {
    match value {
        Value::Object(fields) => known_fields(fields, PROFILE),
        other => other,
    }
}

fn known_fields(fields: Map<String, Value>, known: &[&[Part]]) -> Value {
    let shape_of = |name: &str| {
        known.iter().copied().flatten().find(|(known, _)| *known == name).map(|(_, shape)| shape)
    };
    let kept = fields.into_iter().filter_map(|(name, value)| {
        let value = shape_of(&name)?.known_in(value);
        Some((name, value))
    });
    Value::Object(kept.collect())
}

impl Shape {
    fn known_in(&self, value: Value) -> Value {
        match (self, value) {
            (Self::List { most, fields }, Value::Array(entries)) => {
                let known = |entry: Value| match entry {
                    Value::Object(entry) => known_fields(entry, fields),
                    other => hollow(other),
                };
                // One more than is taken, which says that there were more.
                entries.into_iter().take(most + 1).map(known).collect()
            }
            (Self::Date, Value::Object(parts)) => known_fields(parts, DATE),
            (_, other) => hollow(other),
        }
    }
}

/// Nothing is read of a list or an object that stands where a text should, only that it is one.
fn hollow(value: Value) -> Value {
    match value {
        Value::Array(_) => Value::Array(Vec::new()),
        Value::Object(_) => Value::Object(Map::new()),
        plain => plain,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::clock::Date;
    use crate::enrichment::profile::{Profile, Reading};

    fn read(value: &Value) -> Reading {
        Profile::read(value, Date::parse("2026-11-15").unwrap())
    }

    #[test]
    fn what_is_read_is_kept() {
        let company = json!({ "company_name": "Engines",
            "company_social_url": "https://social.example/engines", "company_social_id": 7 });
        let with = |more: Value| {
            let mut entry = company.clone();
            entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            entry
        };
        let position = json!({
            "title": "Analyst", "start_date": { "year": 2020, "month": 1, "day": "7" },
            "end_date": "Present", "description": "Notes",
            "location": "London", "position_type": "Full-time",
        });
        let answer = json!({
            "name": "Ada Lovelace", "first_name": "Ada", "last_name": "Lovelace",
            "social_url": "https://social.example/in/ada",
            "current_job_title": "Analyst", "company_name": "Engines", "social_location": "London",
            "social_headline": "Countess",
            "address": "12 Square",
            "emails": ["a@x.example", { "value": "b@x.example", "type": "work" },
                { "address": "c@x.example" }],
            "work_email": "d@x.example", "personal_email": "e@x.example",
            "phones": [{ "number": "555 100", "contact_data_type": "home" }],
            "phone_numbers": ["555 200"], "mobile_phone": "555 300", "work_phone": "555 400",
            "work_experience": [with(position.clone()), with(json!({ "positions": [position] }))],
            "education_experience": [with(json!({ "degree": "BSc", "description": "Maths",
                "start_date": 2010, "end_date": "2012" }))],
            "certifications": [with(json!({ "name": "CPA", "credential_id": "G-1",
                "start_date": "2010", "end_date": "2012" }))],
        });
        assert_eq!(read(&answer).refused, []);
        assert_eq!(known_parts(answer.clone()), answer);
    }

    #[test]
    fn what_is_not_read_is_dropped() {
        let answer = json!({
            "name": "Ada", "external_source_id": "p-1", "salary": 7, "birth_date": "1815-12-10",
            "address": { "street": "12 Square" },
            "emails": ["a@x.example", { "value": "b@x.example", "is_leaked": true },
                ["c@x.example"], null, 7],
            "work_experience": [
                { "title": "Analyst", "salary": 7, "start_date": { "year": 2020, "week": 3 },
                    "company": { "name": "Engines" } },
                { "company_name": "Board",
                    "positions": [{ "title": "Adviser", "salary": 7, "location": ["London"] }],
                    "size": 9 },
            ],
            "certifications": { "name": "CPA" },
        });
        let expected = json!({
            "name": "Ada", "address": {},
            "emails": ["a@x.example", { "value": "b@x.example" }, [], null, 7],
            "work_experience": [
                { "title": "Analyst", "start_date": { "year": 2020 } },
                { "company_name": "Board", "positions": [{ "title": "Adviser", "location": [] }] },
            ],
            "certifications": {},
        });
        assert_eq!(known_parts(answer.clone()), expected);
        assert_eq!(read(&expected), read(&answer));
    }

    #[test]
    fn what_is_no_object_stays() {
        for value in [json!(null), json!("Ada"), json!(["Ada", { "salary": 7 }]), json!(7)] {
            assert_eq!(known_parts(value.clone()), value);
        }
    }

    #[test]
    fn a_list_that_is_too_long_is_still_told() {
        let emails: Vec<_> = (0..80).map(|number| format!("{number}@x.example")).collect();
        let answer =
            json!({ "emails": emails, "certifications": vec![json!({ "name": "CPA" }); 300] });
        let kept = known_parts(answer.clone());
        assert_eq!(
            (
                kept["emails"].as_array().unwrap().len(),
                kept["certifications"].as_array().unwrap().len()
            ),
            (51, 101)
        );
        assert_eq!((read(&kept).refused.len(), read(&kept)), (2, read(&answer)));
    }

    fn answers() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (1890..2030i64).prop_map(Value::from),
            "(a@b\\.example|2019-05|Present|\\+44 20|https://x\\.example/in/y|work| )"
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 48, 6, |inner| {
            let names = concat!(
                "(name|first_name|social_url|address|emails|phones|phone_numbers|work_email|mobile_phone|value|number|type|",
                "contact_data_type|company_name|company_social_url|company_social_id|title|description|degree|credential_id|",
                "start_date|end_date|year|month|day|location|work_experience|positions|education_experience|certifications|secret)"
            );
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                proptest::collection::vec((names, inner),
                    0..8).prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_left_is_read_like_the_whole(answer in answers()) {
            let kept = known_parts(answer.clone());
            prop_assert_eq!(read(&kept), read(&answer));
            prop_assert!(!answer.is_object() || !kept.to_string().contains("secret"), "{}", kept);
            prop_assert_eq!(known_parts(kept.clone()), kept);
        }
    }
}
