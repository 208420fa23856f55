//! What a line of a directory is found by.

use serde::Deserialize;
use serde_json::Value;
use slated_model::contact::Channel;
use slated_model::enrichment::Question;
use slated_model::name::PersonName;
use slated_model::social::SocialProfile;
use slated_model::text::comparison_key;
use xxhash_rust::xxh3::xxh3_64;

/// In the order in which they are tried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyKind {
    SocialHandle = 1,
    Email = 2,
    ExternalSource = 3,
    /// Others may have it as well, so it counts only where one line has it.
    NameAtCompany = 4,
}

impl KeyKind {
    /// Those that are enough by themselves. With any other, the line must not say in these that it
    /// is about somebody else.
    const SURE: [Self; 2] = [Self::SocialHandle, Self::Email];
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Key {
    pub kind: KeyKind,
    text: String,
}

impl Key {
    fn new(kind: KeyKind, text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (!text.is_empty()).then_some(Self { kind, text })
    }

    fn name_at_company(name: &str, company: &str) -> Option<Self> {
        let (name, company) = (comparison_key(name), comparison_key(company));
        match name.is_empty() || company.is_empty() {
            true => None,
            false => Self::new(KeyKind::NameAtCompany, format!("{name}\u{1f}{company}")),
        }
    }

    #[must_use]
    pub fn hash(&self) -> u64 {
        let mut bytes = Vec::with_capacity(1 + self.text.len());
        bytes.push(self.kind as u8);
        bytes.extend_from_slice(self.text.as_bytes());
        xxh3_64(&bytes)
    }
}

/// The keys under which the person may stand, those first that say most.
pub fn of_question(question: &Question) -> Vec<Key> {
    let mut keys = Vec::new();
    keys.extend(Key::new(KeyKind::SocialHandle, question.social_public_id.as_str()));
    keys.extend(
        question
            .emails
            .iter()
            .filter_map(|email| Key::new(KeyKind::Email, Channel::Email.key(email.trim()))),
    );
    keys.extend(Key::new(KeyKind::ExternalSource, question.external_source_id.trim()));
    keys.extend(Key::name_at_company(&question.name, &question.company_name));
    keys
}

/// Whether a line with `found` among its keys is about the person: not if both have handles, or
/// e-mail addresses, and share none.
pub fn is_same_person(found: &Key, asked: &[Key], line: &[Key]) -> bool {
    let contradicts = |kind: KeyKind| {
        let mut told = line.iter().filter(|key| key.kind == kind).peekable();
        let is_asked = asked.iter().any(|key| key.kind == kind);
        is_asked && told.peek().is_some() && !told.any(|key| asked.contains(key))
    };
    KeyKind::SURE.contains(&found.kind) || !KeyKind::SURE.into_iter().any(contradicts)
}

/// The parts of a profile that make keys. Whatever else they are is dealt with when the profile is
/// read.
#[derive(Deserialize, Default)]
#[serde(default)]
struct Line {
    name: Value,
    first_name: Value,
    last_name: Value,
    company_name: Value,
    social_url: Value,
    external_source_id: Value,
    emails: Value,
    work_email: Value,
    personal_email: Value,
}

/// The keys of a line; none if it is no JSON object.
pub fn of_line(line: &[u8]) -> Option<Vec<Key>> {
    if line.trim_ascii_start().first() != Some(&b'{') {
        return None;
    }
    let line: Line = serde_json::from_slice(line).ok()?;
    let mut keys = Vec::new();
    let social = SocialProfile::parse(with_scheme(text(&line.social_url))).ok();
    keys.extend(social.and_then(|social| Key::new(KeyKind::SocialHandle, social.handle)));
    let listed = line.emails.as_array().into_iter().flatten().map(|entry| match entry {
        Value::Object(fields) => {
            text(fields.get("value").or_else(|| fields.get("address")).unwrap_or(&Value::Null))
        }
        entry => text(entry),
    });
    // A text that is no address finds nobody, and says of nobody that they are somebody else.
    let emails = listed
        .chain([text(&line.work_email), text(&line.personal_email)])
        .filter(|email| email.contains('@'));
    keys.extend(emails.filter_map(|email| Key::new(KeyKind::Email, Channel::Email.key(email))));
    keys.extend(Key::new(KeyKind::ExternalSource, text(&line.external_source_id)));
    let name = PersonName::complete(
        text(&line.name).to_owned(),
        text(&line.first_name).to_owned(),
        text(&line.last_name).to_owned(),
    );
    keys.extend(Key::name_at_company(&name.whole, text(&line.company_name)));
    Some(keys)
}

/// An address is known by its handle, with or without what stands in front of it.
fn with_scheme(url: &str) -> String {
    match url.is_empty() || url.contains("://") {
        true => url.to_owned(),
        false => format!("https://{url}"),
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default().trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(keys: &[Key]) -> Vec<(KeyKind, &str)> {
        keys.iter().map(|key| (key.kind, key.text.as_str())).collect()
    }

    #[test]
    fn a_line_and_a_question_have_the_same_keys() {
        let line = br#" {"first_name": "Ada", "last_name": "LOVELACE", "company_name": "Acme  Ltd", "external_source_id": "x-1",
            "social_url": "https://social.example/in/Ada/", "work_email": "d@x.com",
            "emails": ["Ada@x.com", {"value": "b@x.com"}, {"address": "c@x.com"}, 7]}"#;
        let question = Question {
            name: "ada lovelace".to_owned(),
            company_name: "ACME ltd".to_owned(),
            social_public_id: "ada".to_owned(),
            external_source_id: "x-1".to_owned(),
            emails: ["ADA@x.com", "b@x.com", "c@x.com", "d@X.com"].map(str::to_owned).to_vec(),
            ..Question::default()
        };
        let expected = [
            (KeyKind::SocialHandle, "ada"),
            (KeyKind::Email, "ada@x.com"),
            (KeyKind::Email, "b@x.com"),
            (KeyKind::Email, "c@x.com"),
            (KeyKind::Email, "d@x.com"),
            (KeyKind::ExternalSource, "x-1"),
            (KeyKind::NameAtCompany, "ada lovelace\u{1f}acme ltd"),
        ];
        assert_eq!(shown(&of_line(line).unwrap()), expected);
        assert_eq!(shown(&of_question(&question)), expected);
    }

    #[test]
    fn what_is_not_said_makes_no_key() {
        let bare = of_line(br#"{"social_url": "social.example/in/Ada"}"#).unwrap();
        assert_eq!(shown(&bare), [(KeyKind::SocialHandle, "ada")]);
        assert_eq!(
            of_line(br#"{"emails": ["n/a", "", {"value": "unknown"}], "work_email": "-"}"#),
            Some(Vec::new())
        );
        assert_eq!(of_line(br#"{"name": "Ada", "social_url": "nowhere", "emails": "none", "external_source_id": 7}"#), Some(Vec::new()));
        assert!(
            of_question(&Question { name: "Ada".to_owned(), ..Question::default() }).is_empty()
        );
        for wrong in ["", "[]", "null", "\"Ada\"", "{\"name\": ", "[{\"name\": \"Ada\"}]"] {
            assert_eq!(of_line(wrong.as_bytes()), None, "{wrong}");
        }
    }

    #[test]
    fn who_has_another_handle_or_no_address_in_common_is_somebody_else() {
        let key = |kind, text: &str| Key::new(kind, text).unwrap();
        let (ada, bob) = (key(KeyKind::SocialHandle, "ada"), key(KeyKind::SocialHandle, "bob"));
        let [a, b, c] = ["a@x.com", "b@x.com", "c@x.com"].map(|email| key(KeyKind::Email, email));
        for unsure in
            [key(KeyKind::ExternalSource, "x-1"), key(KeyKind::NameAtCompany, "ada\u{1f}acme")]
        {
            for (asked, line, expected) in [
                (vec![], vec![&ada, &a], true),
                (vec![&ada, &a], vec![], true),
                (vec![&ada], vec![&a], true),
                (vec![&ada], vec![&ada], true),
                (vec![&ada], vec![&bob], false),
                (vec![&a, &b], vec![&c, &b], true),
                (vec![&a, &b], vec![&c], false),
                (vec![&ada, &a], vec![&ada, &c], false),
                (vec![&ada, &a], vec![&bob, &a], false),
            ] {
                let with = |keys: &[&Key]| -> Vec<Key> {
                    keys.iter().map(|key| (*key).clone()).chain([unsure.clone()]).collect()
                };
                let (asked, line) = (with(&asked), with(&line));
                assert_eq!(is_same_person(&unsure, &asked, &line), expected, "{asked:?} {line:?}");
            }
        }
        let (asked, line) = ([ada.clone(), a.clone()], [bob, a.clone()]);
        assert!(is_same_person(&a, &asked, &line));
        assert!(is_same_person(&ada, &asked, &[ada.clone(), c]));
    }

    #[test]
    fn a_text_of_another_kind_is_another_key() {
        let key = |kind| Key::new(kind, "ada").unwrap().hash();
        assert_ne!(key(KeyKind::ExternalSource), key(KeyKind::SocialHandle));
    }
}
