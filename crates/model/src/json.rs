//! Strict reading of JSON: depth and number of values are bounded, and a name that stands twice in
//! one object is refused, since either value would be lost without a word.

use std::cell::Cell;
use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};

use crate::problem::{ErrorCode, Problem};
use crate::text::shorten;

/// How deep objects and arrays may be nested.
pub const MAX_DEPTH: usize = 16;
const MAX_FIELDS: usize = 100;
/// Far more than a thousand persons with all that they can have. Each takes many times the bytes in
/// memory that it was written with.
const MAX_VALUES: usize = 500_000;

/// A JSON value. Objects are small and read once, so a list of their fields is all that is needed.
#[derive(Clone, PartialEq, Debug)]
pub enum Json {
    Null,
    Bool(bool),
    Integer(i64),
    /// Any number that is no `i64`.
    Number(f64),
    String(String),
    Array(Vec<Json>),
    Object(Vec<(String, Json)>),
}

impl Json {
    #[must_use]
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "a boolean",
            Self::Integer(_) | Self::Number(_) => "a number",
            Self::String(_) => "a string",
            Self::Array(_) => "an array",
            Self::Object(_) => "an object",
        }
    }
}

pub fn parse(bytes: &[u8]) -> Result<Json, Problem> {
    if bytes.is_empty() {
        return Err(Problem::new(
            ErrorCode::MalformedJson,
            "The body is empty; it must be a JSON object.",
        ));
    }
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    Strict { depth: 0, left: &Cell::new(MAX_VALUES) }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| {
            Problem::new(ErrorCode::MalformedJson, format!("The body is not valid JSON: {error}."))
        })
}

struct Strict<'c> {
    depth: usize,
    /// Values that may still come.
    left: &'c Cell<usize>,
}

impl Strict<'_> {
    fn deeper<E: de::Error>(&self) -> Result<Self, E> {
        match self.depth < MAX_DEPTH {
            true => Ok(Self { depth: self.depth + 1, left: self.left }),
            false => Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Json;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        let left = self.left.get().checked_sub(1);
        self.left.set(left.ok_or_else(|| {
            de::Error::custom(format_args!("there are more than {MAX_VALUES} values"))
        })?);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(i64::try_from(value).map_or(Json::Number(value as f64), Json::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_element_seed(self.deeper()?)? {
            list.push(entry);
        }
        Ok(Json::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object: Vec<(String, Json)> = Vec::new();
        while let Some(name) = entries.next_key::<String>()? {
            // Past that many fields most are unknown anyway, and comparing each with each would
            // take long.
            if object.len() >= MAX_FIELDS {
                return Err(de::Error::custom(format_args!(
                    "an object has more than {MAX_FIELDS} fields"
                )));
            }
            if object.iter().any(|(known, _)| *known == name) {
                return Err(de::Error::custom(format_args!(
                    "the field {:?} appears twice",
                    shorten(&name)
                )));
            }
            object.push((name, entries.next_value_seed(self.deeper()?)?));
        }
        Ok(Json::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_field_that_stands_twice_is_refused_by_name() {
        let problem = parse(br#"{"a": {"name": 1, "name": 2}}"#).unwrap_err();
        assert_eq!(problem.code, ErrorCode::MalformedJson);
        assert!(problem.message.contains("\"name\" appears twice"), "{}", problem.message);
    }

    #[test]
    fn the_number_of_values_is_bounded() {
        let ones = |count: usize| format!("[{}1]", "1,".repeat(count - 1));
        assert!(parse(ones(MAX_VALUES - 1).as_bytes()).is_ok());
        let problem = parse(ones(MAX_VALUES).as_bytes()).unwrap_err();
        assert!(problem.message.contains("more than 500000 values"), "{}", problem.message);
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |depth: usize| [b"[".repeat(depth), b"]".repeat(depth)].concat();
        assert!(parse(&nested(MAX_DEPTH)).is_ok());
        assert!(parse(&nested(MAX_DEPTH + 1)).is_err());
        assert!(parse(&nested(100_000)).is_err());
    }

    #[test]
    fn what_follows_the_value_is_refused() {
        assert!(parse(b"{} {}").is_err());
        assert!(parse(b"").is_err());
        assert!(parse(b"\"\\ud800\"").is_err());
        assert!(parse(b"1e999").is_err());
    }

    proptest! {
        #[test]
        fn what_is_read_strictly_is_json(bytes in "[\\[\\]{}:,\"a1. ]{0,24}") {
            if parse(bytes.as_bytes()).is_ok() {
                prop_assert!(serde_json::from_str::<serde_json::Value>(&bytes).is_ok());
            }
        }
    }
}
