//! E-mail addresses and phone numbers of an answer, each with a type: the one that is said, or the
//! one that it likely has.

use serde_json::{Map, Value};

use super::lenient_reader::Reader;
use super::value::type_name;
use crate::contact::{Channel, Contact, ContactType, Contacts, TypedField};
use crate::text::{comparison_key, limit};

/// Where people have addresses of their own.
const PRIVATE_DOMAINS: [&str; 22] = [
    "aol.com",
    "fastmail.com",
    "freenet.de",
    "gmail.com",
    "googlemail.com",
    "hey.com",
    "icloud.com",
    "mac.com",
    "mail.com",
    "mail.ru",
    "mailbox.org",
    "me.com",
    "msn.com",
    "pm.me",
    "posteo.de",
    "proton.me",
    "protonmail.com",
    "qq.com",
    "t-online.de",
    "tutanota.com",
    "web.de",
    "ymail.com",
];
/// The same in many countries: `yahoo.com`, `yahoo.co.uk`.
const PRIVATE_NAMES: [&str; 6] = ["gmx", "hotmail", "live", "outlook", "yahoo", "yandex"];
/// The end of a country's domain is no longer.
const MAX_ENDING: usize = "com.br".len();

/// The contacts of a channel: those of the lists, then those of the fields that say what they are.
pub(super) fn read_contacts(
    reader: &mut Reader<'_, '_>,
    channel: Channel,
    lists: &[&str],
    typed: &[TypedField],
) -> Contacts {
    let mut contacts = Contacts::new(channel);
    for list in lists {
        for (index, value) in reader.list(list, limit::CONTACTS).iter().enumerate() {
            match read_entry(value, channel) {
                Ok(Some(contact)) => {
                    contacts.add(contact);
                }
                Ok(None) => {}
                Err(reason) => reader.refuse(&format!("{list}[{index}]"), reason),
            }
        }
    }
    for (name, kind) in typed {
        match reader.get(name).map(|value| read_value(value, channel)) {
            Some(Ok(Some(value))) => contacts.add_typed(*kind, value),
            Some(Err(reason)) => reader.refuse(name, reason),
            Some(Ok(None)) | None => {}
        }
    }
    contacts
}

/// An entry of a list: a value, or an object that holds one.
fn read_entry(entry: &Value, channel: Channel) -> Result<Option<Contact>, String> {
    let (value, said) = match entry {
        Value::Object(object) => {
            (first_of(object, &["value", "address", "number"]), said_type(object, channel))
        }
        other => (Some(other), None),
    };
    let Some(value) = value else { return Ok(None) };
    let typed = |value: String| Contact {
        contact_data_type: said.unwrap_or_else(|| likely_type(&value, channel)),
        value,
    };
    Ok(read_value(value, channel)?.map(typed))
}

fn first_of<'v>(object: &'v Map<String, Value>, names: &[&str]) -> Option<&'v Value> {
    names.iter().filter_map(|name| object.get(*name)).find(|value| !value.is_null())
}

/// The type that an entry says it has, if it is one of the channel's.
fn said_type(object: &Map<String, Value>, channel: Channel) -> Option<ContactType> {
    let said = comparison_key(first_of(object, &["contact_data_type", "type"])?.as_str()?);
    channel.types().iter().find(|(name, _)| *name == said).map(|(_, kind)| *kind)
}

/// Nothing if it is empty.
fn read_value(value: &Value, channel: Channel) -> Result<Option<String>, String> {
    let text = match value {
        Value::Null => return Ok(None),
        Value::String(text) => text.split_whitespace().collect::<Vec<_>>().join(" "),
        other => return Err(format!("must be a string, not {}", type_name(other))),
    };
    match (text.is_empty(), channel.accepts(&text), channel) {
        (true, ..) => Ok(None),
        (false, true, _) => Ok(Some(text)),
        (false, false, Channel::Email) => Err("is not a valid e-mail address".to_owned()),
        (false, false, Channel::Phone) => Err("is not a valid phone number".to_owned()),
    }
}

fn likely_type(value: &str, channel: Channel) -> ContactType {
    match channel {
        Channel::Email if is_private(value) => ContactType::Personal,
        Channel::Email | Channel::Phone => channel.default_type(),
    }
}

fn is_private(address: &str) -> bool {
    let Some((_, domain)) = address.rsplit_once('@') else { return false };
    let domain = domain.to_lowercase();
    let in_a_country = domain
        .split_once('.')
        .is_some_and(|(name, ending)| PRIVATE_NAMES.contains(&name) && ending.len() <= MAX_ENDING);
    in_a_country || PRIVATE_DOMAINS.contains(&domain.as_str())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::contact::{EMAIL_FIELDS, PHONE_FIELDS};
    use crate::enrichment::Refused;

    type Entries = Vec<(ContactType, String)>;

    fn read(
        value: &Value,
        channel: Channel,
        lists: &[&str],
        typed: &[TypedField],
    ) -> (Entries, Vec<Refused>) {
        let mut refused = Vec::new();
        let contacts = read_contacts(
            &mut Reader::new(value.as_object().unwrap(), &mut refused),
            channel,
            lists,
            typed,
        );
        (
            contacts
                .into_entries()
                .into_iter()
                .map(|contact| (contact.contact_data_type, contact.value))
                .collect(),
            refused,
        )
    }

    fn emails(value: &Value) -> (Entries, Vec<Refused>) {
        read(value, Channel::Email, &["emails"], &EMAIL_FIELDS)
    }

    fn phones(value: &Value) -> (Entries, Vec<Refused>) {
        read(value, Channel::Phone, &["phone_numbers", "phones"], &PHONE_FIELDS)
    }

    #[test]
    fn addresses_have_the_type_that_is_said_or_likely() {
        let value = json!({
            "emails": [
                "ada@engines.example",
                "Ada@Gmail.com",
                { "value": "a@x.example", "type": "personal" },
                { "address": "b@yahoo.co.uk", "contact_data_type": "work_email" },
                { "value": "c@gmx.de", "type": "professional" },
                { "value": "d@x.example", "type": 7 },
                { "value": "e@x.example", "type": "Other" },
                { "type": "work" },
                null,
                " ",
                "ADA@engines.example",
            ],
            "work_email": "ada@gmail.com",
            "personal_email": "f@x.example",
        });
        let (entries, refused) = emails(&value);
        let expected = [
            (ContactType::Work, "ada@engines.example"),
            (ContactType::Work, "Ada@Gmail.com"),
            (ContactType::Personal, "a@x.example"),
            (ContactType::Work, "b@yahoo.co.uk"),
            (ContactType::Personal, "c@gmx.de"),
            (ContactType::Work, "d@x.example"),
            (ContactType::Other, "e@x.example"),
            (ContactType::Personal, "f@x.example"),
        ];
        assert_eq!(entries, expected.map(|(kind, value)| (kind, value.to_owned())));
        assert_eq!(refused, []);
    }

    #[test]
    fn numbers_have_the_type_that_is_said_or_are_mobile() {
        let value = json!({
            "phone_numbers": ["+44  20 7946 0000", { "number": "111", "type": "home" },
                { "value": "222", "type": "fax" }],
            "phones": [{ "value": "333", "type": "work_phone" }, "+442079460000"],
            "work_phone": "444",
            "mobile_phone": "",
        });
        let expected = [
            (ContactType::Mobile, "+44 20 7946 0000"),
            (ContactType::Home, "111"),
            (ContactType::Mobile, "222"),
            (ContactType::Work, "333"),
            (ContactType::Work, "444"),
        ];
        assert_eq!(
            phones(&value),
            (expected.map(|(kind, value)| (kind, value.to_owned())).to_vec(), vec![])
        );
    }

    #[test]
    fn what_is_none_is_refused_and_the_rest_is_taken() {
        let list = json!(["ada", 7, { "value": true }, "a@b.example", "a\u{0}@b.example"]);
        let value = json!({ "emails": list, "work_email": true, "personal_email": "x" });
        let (entries, refused) = emails(&value);
        assert_eq!(entries, [(ContactType::Work, "a@b.example".to_owned())]);
        assert_eq!(
            refused,
            [
                Refused::new("emails[0]", "is not a valid e-mail address"),
                Refused::new("emails[1]", "must be a string, not a number"),
                Refused::new("emails[2]", "must be a string, not a boolean"),
                Refused::new("emails[4]", "is not a valid e-mail address"),
                Refused::new("work_email", "must be a string, not a boolean"),
                Refused::new("personal_email", "is not a valid e-mail address"),
            ]
        );
        assert_eq!(
            phones(&json!({ "phones": ["call me"] })),
            (vec![], vec![Refused::new("phones[0]", "is not a valid phone number")])
        );
        assert_eq!(
            emails(&json!({ "emails": true })),
            (vec![], vec![Refused::new("emails", "must be an array, not a boolean")])
        );
    }

    #[test]
    fn a_list_has_its_bound() {
        let many: Vec<_> = (0..60).map(|number| format!("{number}@x.example")).collect();
        let (entries, refused) = emails(&json!({ "emails": many }));
        assert_eq!(entries.len(), limit::CONTACTS);
        assert_eq!(refused, [Refused::new("emails", "has more than 50 entries")]);
    }

    #[test]
    fn private_addresses_are_known_by_their_domain() {
        for private in [
            "a@gmail.com",
            "a@GMX.net",
            "a@yahoo.com.br",
            "a@hotmail.fr",
            "a@outlook.com",
            "a@proton.me",
            "a@web.de",
        ] {
            assert!(is_private(private), "{private}");
        }
        for other in [
            "a@engines.example",
            "a@live.engines.example",
            "a@mygmail.com",
            "a@gmail.com.engines.example",
            "a@gmx",
            "yahoo.com",
        ] {
            assert!(!is_private(other), "{other}");
        }
    }
}
