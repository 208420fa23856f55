//! Texts with placeholders for what is known of a person: the URL and the body of a call.

use std::fmt::Write;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use serde_json::{Map, Value};
use slated_model::enrichment::Question;
use url::Origin;

use crate::outbound::AllowedAddresses;

/// What a URL may hold as it is.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placeholder {
    SocialUrl,
    SocialPublicId,
    Email,
    Phone,
    Name,
    FirstName,
    LastName,
    CompanyName,
    Location,
    ExternalSourceId,
}

impl Placeholder {
    const ALL: [(Self, &'static str); 10] = [
        (Self::SocialUrl, "social_url"),
        (Self::SocialPublicId, "social_public_id"),
        (Self::Email, "email"),
        (Self::Phone, "phone"),
        (Self::Name, "name"),
        (Self::FirstName, "first_name"),
        (Self::LastName, "last_name"),
        (Self::CompanyName, "company_name"),
        (Self::Location, "location"),
        (Self::ExternalSourceId, "external_source_id"),
    ];

    pub fn parse(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(_, known)| *known == name);
        found.map(|(placeholder, _)| placeholder).ok_or_else(|| {
            let known: Vec<_> = Self::ALL.iter().map(|(_, name)| *name).collect();
            format!(
                "names {name:?}, which is not a placeholder; the placeholders are {}",
                known.join(", ")
            )
        })
    }

    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.into_iter().find(|(known, _)| *known == self).map_or("", |(_, name)| name)
    }

    /// Whether it says by itself who is meant. Many have the same name, are in one place and work
    /// for one company.
    #[must_use]
    pub const fn tells_who(self) -> bool {
        matches!(
            self,
            Self::SocialUrl
                | Self::SocialPublicId
                | Self::Email
                | Self::Phone
                | Self::ExternalSourceId
        )
    }

    /// What is known in its place.
    #[must_use]
    pub fn value(self, question: &Question) -> Option<&str> {
        let value: &str = match self {
            Self::SocialUrl => &question.social_url,
            Self::SocialPublicId => &question.social_public_id,
            Self::Email => question.emails.first()?,
            Self::Phone => question.phones.first()?,
            Self::Name => &question.name,
            Self::FirstName => &question.first_name,
            Self::LastName => &question.last_name,
            Self::CompanyName => &question.company_name,
            Self::Location => &question.social_location,
            Self::ExternalSourceId => &question.external_source_id,
        };
        (!value.is_empty()).then_some(value)
    }
}

enum Piece {
    Text(String),
    Value(Placeholder),
}

/// A text, in which `{email}` and its like stand for what is known.
pub struct Template(Vec<Piece>);

impl Template {
    fn parse(written: &str) -> Result<Self, String> {
        if written.contains("${") {
            return Err(
                "must not contain an environment variable; use those in header values only"
                    .to_owned(),
            );
        }
        let mut pieces = Vec::new();
        let mut rest = written;
        while let Some(start) = rest.find('{') {
            let end = rest[start..].find('}').ok_or("has a { without a closing }")? + start;
            pieces.push(Piece::Text(rest[..start].to_owned()));
            pieces.push(Piece::Value(Placeholder::parse(&rest[start + 1..end])?));
            rest = &rest[end + 1..];
        }
        pieces.push(Piece::Text(rest.to_owned()));
        Ok(Self(pieces))
    }

    fn placeholders(&self) -> impl Iterator<Item = Placeholder> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Value(placeholder) => Some(*placeholder),
            Piece::Text(_) => None,
        })
    }

    /// None if one of the values is not known. `write` puts a value down as its place wants it.
    fn fill<'v>(
        &self,
        value: impl Fn(Placeholder) -> Option<&'v str>,
        write: impl Fn(&str, &mut String),
    ) -> Option<String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Value(placeholder) => write(value(*placeholder)?, &mut text),
            }
        }
        Some(text)
    }
}

fn write_encoded(value: &str, text: &mut String) {
    let _ = write!(text, "{}", utf8_percent_encode(value, ENCODED));
}

/// Where a call goes. Only what is behind the host depends on the person.
pub struct UrlTemplate {
    path: Template,
    parameters: Vec<Template>,
    /// Scheme, host and port.
    origin: Origin,
}

impl UrlTemplate {
    pub fn parse(written: &str, targets: &AllowedAddresses) -> Result<Self, String> {
        if written.contains('#') {
            return Err("must not contain #, since the part after it is not sent".to_owned());
        }
        if written.contains(char::is_control) {
            return Err("must not contain control characters".to_owned());
        }
        let behind_scheme =
            written.strip_prefix("https://").or_else(|| written.strip_prefix("http://"));
        let behind_scheme = behind_scheme.ok_or("must begin with http:// or https://")?;
        let host = behind_scheme.split(['/', '?']).next().unwrap_or_default();
        if host.is_empty() || host.starts_with('\\') {
            return Err("must name a host right after http:// or https://".to_owned());
        }
        if host.contains('{') {
            return Err("may have placeholders only after the host, as in \
                https://api.example.com/person?email={email}"
                .to_owned());
        }
        let (path, query) = written.split_once('?').unwrap_or((written, ""));
        let path = Template::parse(path)?;
        if path.placeholders().any(|placeholder| placeholder == Placeholder::SocialUrl) {
            return Err(
                "may have {social_url} only after a ?, since its slashes would change the \
                path"
                    .to_owned(),
            );
        }
        let parameters: Vec<_> = query
            .split('&')
            .filter(|parameter| !parameter.is_empty())
            .map(Template::parse)
            .collect::<Result<_, _>>()?;
        let example = compose(&path, &parameters, |_| Some("x")).ok_or("cannot be filled in")?;
        let example = Url::parse(&example).map_err(|error| format!("is not a URL: {error}"))?;
        targets.check(&example)?;
        Ok(Self { path, parameters, origin: example.origin() })
    }

    pub fn placeholders(&self) -> impl Iterator<Item = Placeholder> {
        self.path.placeholders().chain(self.parameters.iter().flat_map(Template::placeholders))
    }

    /// A parameter whose value is not known is left out; nothing if one in the path is not known.
    #[must_use]
    pub fn fill(&self, question: &Question) -> Option<Url> {
        let filled =
            compose(&self.path, &self.parameters, |placeholder| placeholder.value(question))?;
        // Whatever a value holds, it goes to nobody else.
        Url::parse(&filled).ok().filter(|url| url.origin() == self.origin)
    }
}

fn compose<'v>(
    path: &Template,
    parameters: &[Template],
    value: impl Fn(Placeholder) -> Option<&'v str>,
) -> Option<String> {
    let mut url = path
        .fill(|placeholder| value(placeholder).filter(|value| is_segment(value)), write_encoded)?;
    let parameters =
        parameters.iter().filter_map(|parameter| parameter.fill(&value, write_encoded));
    for (place, parameter) in parameters.enumerate() {
        url.push(match place {
            0 => '?',
            _ => '&',
        });
        url.push_str(&parameter);
    }
    Some(url)
}

/// Whether a value may stand in a path. Dots alone lead to another path, and so do slashes where a
/// service decodes them too early.
fn is_segment(value: &str) -> bool {
    !value.contains(['/', '\\']) && value.bytes().any(|byte| byte != b'.')
}

/// What a call holds: JSON, whose texts may have placeholders.
pub enum BodyTemplate {
    Text(Template),
    List(Vec<Self>),
    Object(Vec<(String, Self)>),
    Other(Value),
}

impl BodyTemplate {
    pub fn parse(fields: &Map<String, Value>) -> Result<Self, String> {
        Self::object(fields, "body")
    }

    fn object(fields: &Map<String, Value>, place: &str) -> Result<Self, String> {
        let read = |(name, value): (&String, &Value)| {
            Self::read(value, &format!("{place}.{name}")).map(|value| (name.clone(), value))
        };
        fields.iter().map(read).collect::<Result<_, _>>().map(Self::Object)
    }

    fn read(value: &Value, place: &str) -> Result<Self, String> {
        match value {
            Value::String(text) => {
                Template::parse(text).map(Self::Text).map_err(|reason| format!("{place} {reason}"))
            }
            Value::Array(entries) => {
                let read = |(index, entry): (usize, &Value)| {
                    Self::read(entry, &format!("{place}[{index}]"))
                };
                entries.iter().enumerate().map(read).collect::<Result<_, _>>().map(Self::List)
            }
            Value::Object(fields) if fields.keys().any(|name| name.starts_with("$__toml")) => {
                Err(format!("{place} must not be a date; write it as a string, in quotes"))
            }
            Value::Object(fields) => Self::object(fields, place),
            other => Ok(Self::Other(other.clone())),
        }
    }

    #[must_use]
    pub fn placeholders(&self) -> Vec<Placeholder> {
        match self {
            Self::Text(template) => template.placeholders().collect(),
            Self::List(entries) => entries.iter().flat_map(Self::placeholders).collect(),
            Self::Object(fields) => {
                fields.iter().flat_map(|(_, value)| value.placeholders()).collect()
            }
            Self::Other(_) => Vec::new(),
        }
    }

    /// A text of which a value is not known is left out.
    #[must_use]
    pub fn fill(&self, question: &Question) -> Option<Value> {
        match self {
            Self::Text(template) => {
                let filled = template.fill(
                    |placeholder| placeholder.value(question),
                    |value, text| text.push_str(value),
                );
                filled.map(Value::String)
            }
            Self::List(entries) => Some(Value::Array(
                entries.iter().filter_map(|entry| entry.fill(question)).collect(),
            )),
            Self::Object(fields) => {
                let filled = fields
                    .iter()
                    .filter_map(|(name, value)| Some((name.clone(), value.fill(question)?)));
                Some(Value::Object(filled.collect()))
            }
            Self::Other(value) => Some(value.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn ada() -> Question {
        Question {
            name: "Ada Lovelace".to_owned(),
            social_url: "https://social.example/in/ada?x=1&y".to_owned(),
            social_public_id: "ada".to_owned(),
            emails: vec!["ada+home@example.com".to_owned(), "ada@example.org".to_owned()],
            ..Question::default()
        }
    }

    fn url(written: &str) -> UrlTemplate {
        UrlTemplate::parse(written, &AllowedAddresses::default())
            .unwrap_or_else(|reason| panic!("{written} {reason}"))
    }

    fn filled(written: &str) -> Option<String> {
        url(written).fill(&ada()).map(String::from)
    }

    #[test]
    fn values_are_encoded_and_unknown_parameters_left_out() {
        for (written, expected) in [
            ("https://api.example.com/person", "https://api.example.com/person"),
            (
                "https://api.example.com?email={email}",
                "https://api.example.com/?email=ada%2Bhome%40example.com",
            ),
            (
                "https://api.example.com/v1?phone={phone}&profile={social_url}&exact=true&who={first_name}.{name}",
                "https://api.example.com/v1?profile=https%3A%2F%2Fsocial.example%2Fin%2Fada%3Fx%3D1%26y&exact=true",
            ),
            (
                "https://api.example.com/by/{social_public_id}/{name}",
                "https://api.example.com/by/ada/Ada%20Lovelace",
            ),
        ] {
            assert_eq!(filled(written).as_deref(), Some(expected), "{written}");
        }
        assert_eq!(filled("https://api.example.com/by/{phone}"), None);
    }

    #[test]
    fn a_value_in_the_path_does_not_lead_elsewhere() {
        for handle in [".", "..", "../admin", "a/b", "/", "a\\b", "\\"] {
            let question = Question { social_public_id: handle.to_owned(), ..Question::default() };
            assert_eq!(
                url("https://api.example.com/by/{social_public_id}/secret").fill(&question),
                None,
                "{handle}"
            );
            let in_query = url("https://api.example.com/by?handle={social_public_id}")
                .fill(&question)
                .unwrap();
            assert_eq!(in_query.query_pairs().next().unwrap().1, handle);
        }
    }

    #[test]
    fn only_some_say_by_themselves_who_is_meant() {
        let telling =
            Placeholder::ALL.into_iter().filter(|(placeholder, _)| placeholder.tells_who());
        let telling: Vec<_> = telling.map(|(_, name)| name).collect();
        assert_eq!(
            telling,
            ["social_url", "social_public_id", "email", "phone", "external_source_id"]
        );
        for (placeholder, name) in Placeholder::ALL {
            assert_eq!((placeholder.name(), Placeholder::parse(name)), (name, Ok(placeholder)));
        }
    }

    #[test]
    fn urls_that_cannot_be_called_are_refused_at_the_start() {
        for (written, part) in [
            ("https://{name}.example.com/", "after the host"),
            ("https://api.example.com{name}", "after the host"),
            ("https://api.example.com:{phone}/", "after the host"),
            ("https://api.example.com\\{name}", "after the host"),
            ("https://{name}", "after the host"),
            ("{social_url}", "must begin with http:// or https://"),
            ("https:{name}/x", "must begin with http:// or https://"),
            ("https:/{name}/x", "must begin with http:// or https://"),
            ("https:///{name}/x", "must name a host"),
            ("https://\\{name}/x", "must name a host"),
            ("https://", "must name a host"),
            ("https://?x={name}", "must name a host"),
            ("https://\t/{name}/x", "not contain control characters"),
            ("https://api.example.com/{social_url}", "only after a ?"),
            ("https://api.example.com/?key=${TOKEN}", "header values"),
            ("https://api.example.com/?x={favourite_colour}", "favourite_colour"),
            ("https://api.example.com/?x={email", "without a closing }"),
            ("https://api.example.com/#{email}", "#"),
            ("api.example.com/{email}", "must begin with http:// or https://"),
            ("api.example.com", "must begin with http:// or https://"),
            ("ftp://api.example.com/{email}", "must begin with http:// or https://"),
            ("https://me:secret@api.example.com/{email}", "password"),
            ("http://127.0.0.1/{email}", "--allow-private-targets"),
        ] {
            let refused = UrlTemplate::parse(written, &AllowedAddresses::default())
                .err()
                .unwrap_or_else(|| panic!("taken: {written}"));
            assert!(refused.contains(part), "{written}: {refused}");
        }
    }

    #[test]
    fn a_body_holds_what_is_known() {
        let form = json!({
            "email": "{email}", "phone": "{phone}",
            "deep": { "names": ["{name}", "{last_name}"], "exact": true, "limit": 1 },
            "text": "is it {name}?", "none": "is it {last_name}?"
        });
        let body = BodyTemplate::parse(form.as_object().unwrap())
            .unwrap_or_else(|reason| panic!("{reason}"));
        assert_eq!(
            body.fill(&ada()),
            Some(json!({
                "email": "ada+home@example.com",
                "deep": { "names": ["Ada Lovelace"], "exact": true, "limit": 1 },
                "text": "is it Ada Lovelace?"
            }))
        );
        assert_eq!(body.placeholders().len(), 6);
        for (wrong, part) in [
            (json!({ "a": { "b": ["{colour}"] } }), "body.a.b[0]"),
            (json!({ "a": "${TOKEN}" }), "header values"),
            (
                json!({ "a": { "$__toml_private_datetime": "2020-01-01" } }),
                "body.a must not be a date",
            ),
        ] {
            let refused = BodyTemplate::parse(wrong.as_object().unwrap()).err().unwrap();
            assert!(refused.contains(part), "{refused}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_known_stays_a_value(name in "\\PC{1,40}", email in "\\PC{1,40}") {
            let question = Question { name: name.clone(), emails: vec![email.clone()],
                ..Question::default() };
            let template = url("https://api.example.com/by/{name}/end?first=1&email={email}&last=2");
            match template.fill(&question) {
                None => prop_assert!(name.contains(['/',
                    '\\']) || name.bytes().all(|byte| byte == b'.')),
                Some(filled) => {
                    prop_assert!(!name.contains(['/', '\\']));
                    prop_assert_eq!(filled.host_str(), Some("api.example.com"));
                    let segments: Vec<_> = filled.path_segments().unwrap().collect();
                    prop_assert_eq!(segments.len(), 3);
                    prop_assert_eq!(segments[2], "end");
                    let given = filled.query_pairs().find(|(known, _)| known == "email").map(|(_,
                        value)| value.into_owned());
                    prop_assert_eq!(given, Some(email));
                    prop_assert_eq!(filled.query_pairs().last().unwrap().1, "2");
                }
            }
        }
    }
}
