//! What kind of JSON value something is.

use serde_json::{Number, Value};

pub(super) const fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// The number, if it is a whole one. JSON knows no integers: 3.0 is the number 3.
pub(super) fn whole(number: &Number) -> Option<i64> {
    let fraction =
        || number.as_f64().filter(|number| number.fract() == 0.0 && number.abs() < 9.1e15);
    number.as_i64().or_else(|| fraction().map(|number| number as i64))
}
