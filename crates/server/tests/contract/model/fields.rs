//! How the model reads bodies: the form of each field, and the meaning of a merge patch.

use serde_json::Value;

use super::answers::Refusal;

#[derive(Clone, Copy)]
pub enum Form {
    Line,
    Email,
    Phone,
    Url,
    Text,
    Flag,
    /// A place in a pipeline, from 1 to 50.
    Order,
    List(&'static Form),
    /// Objects with these fields; the first is required.
    Entries(&'static [(&'static str, Form)]),
    Word(&'static [&'static str]),
}

/// Refuses a body that is not made of these fields, with the first flaw in it.
pub fn check(body: &Value, known: &[(&str, Form)]) -> Result<(), Refusal> {
    check_at("", body, known)
}

fn check_at(prefix: &str, body: &Value, known: &[(&str, Form)]) -> Result<(), Refusal> {
    for (name, value) in body.as_object().into_iter().flatten() {
        let path = format!("{prefix}{name}");
        match known.iter().find(|(known, _)| known == name) {
            None => return Err(Refusal::flaw(path, "UNKNOWN_FIELD")),
            Some(_) if value.is_null() => {}
            Some((_, form)) => check_value(&path, value, *form)?,
        }
    }
    Ok(())
}

fn check_value(path: &str, value: &Value, form: Form) -> Result<(), Refusal> {
    let wrong = |code| Err(Refusal::flaw(path, code));
    match (form, value) {
        (Form::Flag, Value::Bool(_)) => Ok(()),
        (Form::Order, Value::Number(number)) => match number.as_u64() {
            Some(1..=50) => Ok(()),
            _ => wrong("OUT_OF_RANGE"),
        },
        (Form::List(form), Value::Array(entries)) => {
            let mut places = entries.iter().enumerate();
            places.try_for_each(|(place, entry)| {
                check_value(&format!("{path}[{place}]"), entry, *form)
            })
        }
        (Form::Entries(fields), Value::Array(entries)) => {
            let mut places = entries.iter().enumerate();
            places.try_for_each(|(place, entry)| {
                check_entry(&format!("{path}[{place}]"), entry, fields)
            })
        }
        (Form::Flag | Form::Order | Form::List(_) | Form::Entries(_), _) => wrong("INVALID_TYPE"),
        (form, Value::String(text)) => flaw_of(form, text).map_or(Ok(()), wrong),
        _ => wrong("INVALID_TYPE"),
    }
}

fn check_entry(path: &str, entry: &Value, fields: &[(&str, Form)]) -> Result<(), Refusal> {
    if !entry.is_object() {
        return Err(Refusal::flaw(path, "INVALID_TYPE"));
    }
    check_at(&format!("{path}."), entry, fields)?;
    expect_given(entry, fields[0].0)
        .map_err(|_| Refusal::flaw(format!("{path}.{}", fields[0].0), "REQUIRED"))
}

fn flaw_of(form: Form, text: &str) -> Option<&'static str> {
    let longest = match form {
        Form::Email => 254,
        Form::Phone => 64,
        Form::Url => 2048,
        Form::Text => 65_536,
        _ => 255,
    };
    let trimmed = text.trim();
    let is_sound = |is_sound: bool, code| (!is_sound && !trimmed.is_empty()).then_some(code);
    match form {
        _ if text.chars().count() > longest => Some("TOO_LONG"),
        Form::Text => is_sound(!trimmed.contains('\u{7}'), "INVALID_CHARACTER"),
        _ if trimmed.contains(char::is_control) => Some("INVALID_CHARACTER"),
        Form::Email => is_sound(is_email(trimmed), "INVALID_EMAIL"),
        Form::Phone => is_sound(digits(trimmed).len() >= 3, "INVALID_PHONE"),
        Form::Url => is_sound(handle(trimmed).is_some(), "INVALID_URL"),
        Form::Word(words) => is_sound(words.contains(&trimmed), "INVALID_VALUE"),
        _ => None,
    }
}

fn is_email(text: &str) -> bool {
    let domain = text
        .split_once('@')
        .filter(|(local, _)| !local.is_empty())
        .map_or("", |(_, domain)| domain);
    domain.contains('.')
        && domain.split('.').all(|label| !label.is_empty())
        && !domain.contains('@')
        && !text.contains(' ')
}

pub fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// The address of a profile, with the scheme that it may lack.
pub fn full_url(url: &str) -> String {
    let has_host = url.split('/').next().is_some_and(|host| host.contains('.'));
    if has_host && !url.contains("://") { format!("https://{url}") } else { url.to_owned() }
}

/// The network of a profile: the host without `www.` and the language in front.
pub fn network(url: &str) -> String {
    let full = full_url(url).to_lowercase();
    let host = full.split('/').nth(2).unwrap_or_default();
    let host = host.strip_prefix("www.").unwrap_or(host);
    host.strip_prefix("de.").unwrap_or(host).to_owned()
}

pub fn handle(url: &str) -> Option<String> {
    let full = full_url(url);
    let rest = full.strip_prefix("https://").or_else(|| full.strip_prefix("http://"))?;
    let path = rest.split(['?', '#']).next()?;
    let segments: Vec<_> = path.split('/').skip(1).filter(|segment| !segment.is_empty()).collect();
    let found = match segments.iter().position(|segment| *segment == "in") {
        Some(place) => segments.get(place + 1),
        None => segments.last(),
    };
    found.map(|handle| handle.to_lowercase())
}

/// The text of a field, unless it is absent, null or blank.
pub fn text(body: &Value, field: &str) -> Option<String> {
    body[field].as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

pub fn texts(body: &Value, field: &str) -> Vec<String> {
    let entries = body[field].as_array().into_iter().flatten().filter_map(Value::as_str);
    entries.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).collect()
}

/// Refuses a body without the field.
pub fn expect_given(body: &Value, field: &str) -> Result<(), Refusal> {
    match patch(body, field) {
        Patch::Set(_) => Ok(()),
        Patch::Absent | Patch::Clear => Err(Refusal::flaw(field, "REQUIRED")),
    }
}

/// Refuses a body that clears one of these fields.
pub fn expect_kept(body: &Value, fields: &[&str]) -> Result<(), Refusal> {
    match fields.iter().find(|field| matches!(patch(body, field), Patch::Clear)) {
        Some(field) => Err(Refusal::flaw(*field, "REQUIRED")),
        None => Ok(()),
    }
}

/// Refuses a body with two fields that say the same in two ways.
pub fn expect_one(body: &Value, field: &str, beside: &str) -> Result<(), Refusal> {
    match (text(body, field), text(body, beside)) {
        (Some(_), Some(_)) => Err(Refusal::flaw(field, "CONTRADICTION")),
        _ => Ok(()),
    }
}

#[derive(Clone, PartialEq)]
pub enum Patch {
    Absent,
    Clear,
    /// The text, or the JSON of another type.
    Set(String),
}

pub fn patch(body: &Value, field: &str) -> Patch {
    match body.get(field) {
        None => Patch::Absent,
        Some(Value::Null) => Patch::Clear,
        Some(Value::String(text)) if text.trim().is_empty() => Patch::Clear,
        Some(Value::String(text)) => Patch::Set(text.trim().to_owned()),
        Some(other) => Patch::Set(other.to_string()),
    }
}

impl Patch {
    pub fn apply(&self, field: &mut String) {
        match self {
            Self::Absent => {}
            Self::Clear => field.clear(),
            Self::Set(text) => text.clone_into(field),
        }
    }
}

/// The form in which names are compared.
pub fn fold(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}
