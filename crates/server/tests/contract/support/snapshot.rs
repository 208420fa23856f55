use std::collections::BTreeMap;

use serde_json::Value;

use super::client::Reply;

/// The body as it came, field by field in its order, with what differs from run to run replaced:
/// ids by their kind and the order of their appearance, times by `<time>`, and sentences for the
/// human reader by `<sentence>`.
pub fn shape(reply: &Reply) -> String {
    let mut body = reply.json.clone();
    Normaliser::default().visit("", &mut body);
    serde_json::to_string_pretty(&body).unwrap()
}

#[derive(Default)]
struct Normaliser {
    seen: BTreeMap<String, Vec<String>>,
}

impl Normaliser {
    fn visit(&mut self, name: &str, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                fields.iter_mut().for_each(|(name, value)| self.visit(name, value))
            }
            Value::Array(entries) => entries.iter_mut().for_each(|entry| self.visit("", entry)),
            Value::String(text) if is_id(text) => *text = self.number(text),
            Value::String(text) if is_time(text) => "<time>".clone_into(text),
            Value::String(text) if name == "next_cursor" => "<cursor>".clone_into(text),
            Value::String(text) if ["message", "error"].contains(&name) && !text.is_empty() => {
                "<sentence>".clone_into(text)
            }
            _ => {}
        }
    }

    fn number(&mut self, id: &str) -> String {
        let prefix = &id[..3];
        let seen = self.seen.entry(prefix.to_owned()).or_default();
        let place = seen.iter().position(|known| known == id).unwrap_or_else(|| {
            seen.push(id.to_owned());
            seen.len() - 1
        });
        format!("{prefix}_{}", place + 1)
    }
}

/// Three letters for the kind, then 26 characters of Crockford's base 32.
pub fn is_id(text: &str) -> bool {
    let Some((prefix, rest)) = text.split_once('_') else { return false };
    let is_digit = |byte: u8| b"0123456789abcdefghjkmnpqrstvwxyz".contains(&byte);
    prefix.len() == 3
        && prefix.bytes().all(|byte| byte.is_ascii_lowercase())
        && rest.len() == 26
        && rest.bytes().all(is_digit)
}

/// Exactly `2026-11-15T09:30:00.000Z`.
pub fn is_time(text: &str) -> bool {
    let pattern = b"0000-00-00T00:00:00.000Z";
    let fits = |(byte, wanted): (u8, &u8)| {
        if *wanted == b'0' { byte.is_ascii_digit() } else { byte == *wanted }
    };
    text.len() == pattern.len() && text.bytes().zip(pattern).all(fits)
}
