//! Strict reading of JSON: depth is bounded, and a name that stands twice in one object is refused, since either value would
//! be lost without a word.

use std::fmt;

use serde::de::{self, DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::problem::{Code, Problem};

/// How deep objects and arrays may be nested.
pub const MAX_DEPTH: usize = 16;

pub fn parse(bytes: &[u8]) -> Result<Value, Problem> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    Strict { depth: 0 }
        .deserialize(&mut deserializer)
        .and_then(|value| deserializer.end().map(|()| value))
        .map_err(|error| Problem::new(Code::MalformedJson, format!("The body is not valid JSON: {error}.")))
}

struct Strict {
    depth: usize,
}

impl Strict {
    fn deeper<E: de::Error>(&self) -> Result<Self, E> {
        match self.depth < MAX_DEPTH {
            true => Ok(Self { depth: self.depth + 1 }),
            false => Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels"))),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: de::Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_element_seed(self.deeper()?)? {
            list.push(entry);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(name) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(self.deeper()?)?;
            if object.contains_key(&name) {
                return Err(de::Error::custom(format_args!("the field {name:?} stands twice")));
            }
            object.insert(name, value);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_field_that_stands_twice_is_refused_by_name() {
        let problem = parse(br#"{"a": {"name": 1, "name": 2}}"#).unwrap_err();
        assert_eq!(problem.code, Code::MalformedJson);
        assert!(problem.message.contains("\"name\" stands twice"), "{}", problem.message);
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
        fn strict_reading_agrees_with_the_usual_one(bytes in "[\\[\\]{}:,\"a1. ]{0,24}") {
            if let Ok(value) = parse(bytes.as_bytes()) {
                prop_assert_eq!(serde_json::from_str::<Value>(&bytes).unwrap(), value);
            }
        }
    }
}
