//! Values that a model cannot know beforehand: ids, times, cursors and hashes. The model writes a
//! placeholder such as `<per 3>` for each. The first answer that shows the value binds the
//! placeholder, and from then on the value must stay the same.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::{is_id, is_time};

/// Stands for any text for the human reader.
pub const SENTENCE: &str = "<sentence>";

/// The placeholder of that kind and number. The kind of an id is its prefix.
pub fn placeholder(kind: &str, number: u64) -> String {
    format!("<{kind} {number}>")
}

/// The number of a placeholder, if it is of that kind.
pub fn number(kind: &str, text: &str) -> Option<u64> {
    parts(text).filter(|(known, _)| *known == kind).map(|(_, number)| number)
}

fn parts(text: &str) -> Option<(&str, u64)> {
    let (kind, number) = text.strip_prefix('<')?.strip_suffix('>')?.split_once(' ')?;
    Some((kind, number.parse().ok()?))
}

/// The values of all placeholders that were bound.
#[derive(Clone, Default)]
pub struct Learned {
    values: BTreeMap<String, String>,
    /// Ids and hashes, each of which belongs to one placeholder.
    taken: BTreeSet<String>,
    /// Times by the numbers of their placeholders. They must grow together.
    times: BTreeMap<u64, String>,
}

impl Learned {
    /// The text with values in the place of its placeholders.
    #[track_caller]
    pub fn write(&self, text: &str) -> String {
        self.try_write(text).unwrap_or_else(|| panic!("no answer has shown all of {text}"))
    }

    /// Whether all placeholders of the text are bound.
    pub fn knows(&self, text: &str) -> bool {
        self.try_write(text).is_some()
    }

    fn try_write(&self, text: &str) -> Option<String> {
        let mut written = String::new();
        let mut rest = text;
        while let Some((before, from)) = rest.split_once('<') {
            let (name, behind) = from.split_once('>')?;
            written.push_str(before);
            written.push_str(self.values.get(&format!("<{name}>"))?);
            rest = behind;
        }
        written.push_str(rest);
        Some(written)
    }

    #[track_caller]
    pub fn write_body(&self, body: &Value) -> Value {
        serde_json::from_str(&self.write(&body.to_string())).unwrap()
    }

    /// Compares a value with the expected one, and binds the placeholders that it shows.
    pub fn compare(&mut self, expected: &Value, actual: &Value) -> Result<(), String> {
        self.compare_at("", expected, actual)
    }

    fn compare_at(&mut self, path: &str, expected: &Value, actual: &Value) -> Result<(), String> {
        match (expected, actual) {
            (Value::Object(wanted), Value::Object(found)) => {
                let names: [Vec<_>; 2] =
                    [wanted, found].map(|fields| fields.keys().map(String::as_str).collect());
                if names[0] != names[1] {
                    return Err(format!(
                        "{path} has the fields {:?}, not {:?}",
                        names[1], names[0]
                    ));
                }
                wanted.iter().try_for_each(|(name, value)| {
                    self.compare_at(&format!("{path}.{name}"), value, &found[name])
                })
            }
            (Value::Array(wanted), Value::Array(found)) if wanted.len() == found.len() => {
                let mut pairs = wanted.iter().zip(found).enumerate();
                pairs.try_for_each(|(place, (wanted, found))| {
                    self.compare_at(&format!("{path}[{place}]"), wanted, found)
                })
            }
            (Value::String(wanted), Value::String(found)) => self.compare_text(path, wanted, found),
            _ if expected == actual => Ok(()),
            _ => Err(format!("{path} is {actual}, not {expected}")),
        }
    }

    fn compare_text(&mut self, path: &str, wanted: &str, found: &str) -> Result<(), String> {
        if wanted == found || (wanted == SENTENCE && !found.is_empty()) {
            return Ok(());
        }
        let Some((kind, number)) = parts(wanted) else {
            return Err(format!("{path} is {found:?}, not {wanted:?}"));
        };
        match self.values.get(wanted) {
            Some(known) if known == found => Ok(()),
            Some(known) => Err(format!("{path} is {found}, but {wanted} is {known}")),
            None => self
                .learn(wanted, kind, number, found)
                .map_err(|flaw| format!("{path}: {found} cannot be {wanted}: {flaw}")),
        }
    }

    fn learn(&mut self, name: &str, kind: &str, number: u64, found: &str) -> Result<(), String> {
        let is_sound = match kind {
            "time" => is_time(found) && self.is_in_order(number, found),
            "hash" => found.len() == 64 && found.bytes().all(|byte| byte.is_ascii_hexdigit()),
            "cursor" => !found.is_empty(),
            _ => is_id(found) && found.starts_with(kind),
        };
        if !is_sound {
            return Err("it is malformed, or earlier than an older time".to_owned());
        }
        match kind {
            "time" => drop(self.times.insert(number, found.to_owned())),
            // Two reads of one page may give the same cursor.
            "cursor" => {}
            _ if !self.taken.insert(found.to_owned()) => {
                return Err("another placeholder has it".to_owned());
            }
            _ => {}
        }
        self.values.insert(name.to_owned(), found.to_owned());
        Ok(())
    }

    fn is_in_order(&self, number: u64, found: &str) -> bool {
        let before = self.times.range(..number).next_back();
        let after = self.times.range(number..).next();
        before.is_none_or(|(_, time)| time.as_str() <= found)
            && after.is_none_or(|(_, time)| found <= time.as_str())
    }
}

/// All strings in a value, without the names of fields.
pub fn strings(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(entries) => entries.iter().flat_map(strings).collect(),
        Value::Object(fields) => fields.values().flat_map(strings).collect(),
        _ => Vec::new(),
    }
}
