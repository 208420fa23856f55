//! A webhook: where to call, about what.

use crate::event::{EventType, TypeFilter};
use crate::input::Fields;
use crate::patch::Patch;
use crate::problem::FieldErrorCode;
use crate::text::{Lines, did_you_mean, limit};

/// Webhooks that a workspace may have.
pub const MAX_WEBHOOKS: usize = 100;
pub const MAX_TYPES: usize = 50;
pub const MAX_DESCRIPTION_LENGTH: usize = 1000;
/// How long an old secret signs along with the new one, unless it is said otherwise, and at most.
pub const OVERLAP_SECONDS: i64 = 24 * 60 * 60;
pub const MAX_OVERLAP_SECONDS: i64 = 7 * OVERLAP_SECONDS;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewWebhook {
    pub url: String,
    pub types: TypeFilter,
    pub description: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct WebhookPatch {
    pub url: Option<String>,
    pub types: Option<TypeFilter>,
    pub description: Option<String>,
    pub is_enabled: Option<bool>,
}

/// Says what is wrong with a URL, or nothing.
pub trait UrlRule {
    fn check(&self, url: &str) -> Result<(), String>;
}

impl NewWebhook {
    pub fn read(fields: &mut Fields<'_>, rule: &impl UrlRule) -> Self {
        let url = fields.needed("url", |fields| read_url(fields, rule)).unwrap_or_default();
        let types = read_types(fields).unwrap_or_else(TypeFilter::everything);
        Self { url, types, description: read_description(fields).unwrap_or_default() }
    }
}

impl WebhookPatch {
    pub fn read(fields: &mut Fields<'_>, rule: &impl UrlRule) -> Self {
        let url = fields.kept("url", |fields| read_url(fields, rule));
        let is_enabled = fields.kept("is_enabled", |fields| fields.patch_flag("is_enabled"));
        Self { url, types: read_types(fields), description: read_description(fields), is_enabled }
    }
}

fn read_url(fields: &mut Fields<'_>, rule: &impl UrlRule) -> Patch<String> {
    fields.patch_parsed("url", limit::URL, |url| match rule.check(&url) {
        Ok(()) => Ok(url),
        Err(reason) => Err((FieldErrorCode::InvalidUrl, reason)),
    })
}

fn read_description(fields: &mut Fields<'_>) -> Option<String> {
    match fields.patch_text("description", MAX_DESCRIPTION_LENGTH, Lines::Many) {
        Patch::Absent => None,
        Patch::Clear => Some(String::new()),
        Patch::Set(text) => Some(text),
    }
}

/// Patterns of types; none at all are all.
fn read_types(fields: &mut Fields<'_>) -> Option<TypeFilter> {
    let patterns = fields.patch_strings("types", MAX_TYPES, limit::NAME, |pattern| {
        match TypeFilter::parse([pattern.as_str()]) {
            // A blank among others must not stand for all.
            Ok(_) if pattern.is_empty() => {
                Err((FieldErrorCode::InvalidValue, unknown_type(&pattern)))
            }
            Ok(_) => Ok(pattern),
            Err(unknown) => Err((FieldErrorCode::InvalidValue, unknown_type(&unknown))),
        }
    });
    match patterns {
        Patch::Absent => None,
        Patch::Clear => Some(TypeFilter::everything()),
        Patch::Set(patterns) => Some(
            TypeFilter::parse(patterns.iter().map(String::as_str))
                .unwrap_or_else(|_| TypeFilter::everything()),
        ),
    }
}

/// What to say of a pattern that fits no type of event.
#[must_use]
pub fn unknown_type(written: &str) -> String {
    let known: Vec<_> = EventType::ALL.iter().map(|kind| kind.name()).collect();
    let hint = did_you_mean(written, &known)
        .map_or_else(String::new, |near| format!("; did you mean {near}?"));
    format!("must be an event type such as person.created, a family such as person.*, or *{hint}")
}
