//! E-mail addresses and phone numbers: their types, what makes one valid, and when two are the
//! same.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::input::Fields;
use crate::patch::Patch;
use crate::problem::FieldErrorCode;
use crate::text::{Lines, digits, limit};

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContactType {
    Work,
    Personal,
    Mobile,
    Home,
    /// Stored types that are not known are that too.
    #[serde(other)]
    Other,
}

/// Which of the two lists a contact stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Channel {
    Email,
    Phone,
}

impl Channel {
    /// The type of a contact that came without one.
    #[must_use]
    pub const fn default_type(self) -> ContactType {
        match self {
            Self::Email => ContactType::Work,
            Self::Phone => ContactType::Mobile,
        }
    }

    /// The names under which a type may be written, the short one first.
    #[must_use]
    pub const fn types(self) -> &'static [(&'static str, ContactType)] {
        match self {
            Self::Email => &[
                ("work", ContactType::Work),
                ("personal", ContactType::Personal),
                ("other", ContactType::Other),
                ("work_email", ContactType::Work),
                ("personal_email", ContactType::Personal),
            ],
            Self::Phone => &[
                ("mobile", ContactType::Mobile),
                ("work", ContactType::Work),
                ("home", ContactType::Home),
                ("other", ContactType::Other),
                ("mobile_phone", ContactType::Mobile),
                ("work_phone", ContactType::Work),
            ],
        }
    }

    const fn longest(self) -> usize {
        match self {
            Self::Email => limit::EMAIL,
            Self::Phone => limit::PHONE,
        }
    }

    fn check(self, value: String) -> Result<String, (FieldErrorCode, String)> {
        match self {
            Self::Email if is_email(&value) => Ok(value),
            Self::Email => Err((
                FieldErrorCode::InvalidEmail,
                "must be an e-mail address, as in ada@example.com".to_owned(),
            )),
            Self::Phone if is_phone(&value) => Ok(value),
            Self::Phone => Err((
                FieldErrorCode::InvalidPhone,
                "must be a phone number with at least three digits".to_owned(),
            )),
        }
    }

    /// Whether it is a value of this channel: one line, neither too long nor malformed.
    #[must_use]
    pub fn accepts(self, value: &str) -> bool {
        let is_sound = match self {
            Self::Email => is_email(value),
            Self::Phone => is_phone(value),
        };
        is_sound
            && value.chars().count() <= self.longest()
            && value.chars().all(|character| Lines::One.allow(character))
    }

    /// The form under which two contacts count as the same.
    #[must_use]
    pub fn key(self, value: &str) -> String {
        match self {
            Self::Email => email_key(value),
            Self::Phone => digits(value).collect(),
        }
    }

    fn same(self, one: &str, other: &str) -> bool {
        one == other || self.key(one) == self.key(other)
    }
}

fn is_email(value: &str) -> bool {
    let Some((local, domain)) = value.split_once('@') else { return false };
    let barred = |character: char| {
        character.is_whitespace()
            || character.is_control()
            || matches!(character, '@' | '<' | '>' | ',' | ';' | '"' | '(' | ')')
    };
    let labels_are_sound = domain.contains('.') && domain.split('.').all(|label| !label.is_empty());
    !local.is_empty() && labels_are_sound && !value.replacen('@', "", 1).contains(barred)
}

/// Case does not matter. In front of the @ that is said of ASCII alone: to other letters a mailbox
/// may tell things apart that look alike in lower case.
fn email_key(value: &str) -> String {
    match value.split_once('@') {
        Some((local, domain)) => {
            format!("{}@{}", local.to_ascii_lowercase(), domain.to_lowercase())
        }
        None => value.to_ascii_lowercase(),
    }
}

fn is_phone(value: &str) -> bool {
    digits(value).nth(2).is_some()
}

/// One entry of `emails` or `phones`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Contact {
    pub contact_data_type: ContactType,
    pub value: String,
}

/// A list of contacts of one channel, in which no value stands twice.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contacts {
    channel: Channel,
    entries: Vec<Contact>,
}

impl Contacts {
    #[must_use]
    pub const fn new(channel: Channel) -> Self {
        Self { channel, entries: Vec::new() }
    }

    #[must_use]
    pub const fn of(channel: Channel, entries: Vec<Contact>) -> Self {
        Self { channel, entries }
    }

    /// What was stored as JSON, without those of which nothing can be made.
    #[must_use]
    pub fn from_stored(channel: Channel, stored: &str) -> Self {
        let entries = serde_json::from_str(stored).unwrap_or_else(|_| {
            let entries: Vec<&RawValue> = serde_json::from_str(stored).unwrap_or_default();
            entries.into_iter().filter_map(|entry| serde_json::from_str(entry.get()).ok()).collect()
        });
        Self { channel, entries }
    }

    #[must_use]
    pub fn entries(&self) -> &[Contact] {
        &self.entries
    }

    #[must_use]
    pub fn into_entries(self) -> Vec<Contact> {
        self.entries
    }

    fn find(&self, value: &str) -> Option<usize> {
        self.entries.iter().position(|entry| self.channel.same(&entry.value, value))
    }

    #[must_use]
    pub fn contains(&self, value: &str) -> bool {
        self.find(value).is_some()
    }

    /// Adds the value unless it is there already. True if it was added.
    pub fn add(&mut self, contact: Contact) -> bool {
        let fresh = !self.contains(&contact.value);
        if fresh {
            self.entries.push(contact);
        }
        fresh
    }

    /// Adds the value under that type; if it is there already it takes the type.
    pub fn add_typed(&mut self, kind: ContactType, value: String) {
        match self.find(&value) {
            Some(at) => self.entries[at].contact_data_type = kind,
            None => self.entries.push(Contact { contact_data_type: kind, value }),
        }
    }

    /// Puts the one value in the place of all entries of that type; none takes them away.
    pub fn replace_type(&mut self, kind: ContactType, value: Option<String>) {
        let place = self.entries.iter().position(|entry| entry.contact_data_type == kind);
        let same = |entry: &Contact| {
            value.as_deref().is_some_and(|value| self.channel.same(&entry.value, value))
        };
        let before = place
            .map_or(0, |place| self.entries[..place].iter().filter(|entry| same(entry)).count());
        let mut kept = std::mem::take(&mut self.entries);
        kept.retain(|entry| entry.contact_data_type != kind && !same(entry));
        if let Some(value) = value {
            let place = place.map_or(kept.len(), |place| place - before);
            kept.insert(place, Contact { contact_data_type: kind, value });
        }
        self.entries = kept;
    }

    /// Adds those of `other` that are missing here. True if any was.
    pub fn unite(&mut self, other: &Self) -> bool {
        let before = self.entries.len();
        for contact in &other.entries {
            if !self.contains(&contact.value) {
                self.entries.push(contact.clone());
            }
        }
        self.entries.len() > before
    }

    /// The form of each value under which it is compared.
    pub fn keys(&self) -> impl Iterator<Item = String> {
        self.entries.iter().map(|entry| self.channel.key(&entry.value))
    }
}

/// A typed field of a request: `work_email` and its like.
pub type TypedField = (&'static str, ContactType);

pub const EMAIL_FIELDS: [TypedField; 2] =
    [("work_email", ContactType::Work), ("personal_email", ContactType::Personal)];
pub const PHONE_FIELDS: [TypedField; 2] =
    [("mobile_phone", ContactType::Mobile), ("work_phone", ContactType::Work)];

/// The contacts of a create: plain strings in `list`, single strings in `singles`, then the typed
/// fields.
pub fn read_new(
    fields: &mut Fields<'_>,
    channel: Channel,
    list: &'static str,
    singles: &[&'static str],
    typed: &[TypedField],
) -> Contacts {
    let mut contacts = Contacts::new(channel);
    let plain = |value| Contact { contact_data_type: channel.default_type(), value };
    for name in singles {
        if let Some(value) = fields.parsed(name, channel.longest(), |value| channel.check(value)) {
            contacts.add(plain(value));
        }
    }
    for value in
        fields.strings(list, limit::CONTACTS, channel.longest(), |value| channel.check(value))
    {
        contacts.add(plain(value));
    }
    for (name, kind) in typed {
        if let Some(value) = fields.parsed(name, channel.longest(), |value| channel.check(value)) {
            contacts.add_typed(*kind, value);
        }
    }
    if contacts.entries.len() > limit::CONTACTS {
        fields.refuse(list, FieldErrorCode::TooMany, too_many());
    }
    contacts
}

#[must_use]
pub fn too_many() -> String {
    format!("a person can have at most {} entries of each kind", limit::CONTACTS)
}

/// What an update says of one channel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ContactsPatch {
    list: Patch<Contacts>,
    typed: Vec<(ContactType, Patch<String>)>,
}

impl ContactsPatch {
    pub fn read(
        fields: &mut Fields<'_>,
        channel: Channel,
        list: &'static str,
        typed: &[TypedField],
    ) -> Self {
        let entries = fields.patch_objects(list, limit::CONTACTS, |entry| {
            let kind =
                entry.parsed("contact_data_type", 64, |written| read_type(channel, &written));
            let value = entry.needed("value", |entry| {
                entry.patch_parsed("value", channel.longest(), |value| channel.check(value))
            })?;
            Some(Contact { contact_data_type: kind.unwrap_or(channel.default_type()), value })
        });
        let list = match entries {
            Patch::Absent => Patch::Absent,
            Patch::Clear => Patch::Clear,
            Patch::Set(entries) => {
                let mut contacts = Contacts::new(channel);
                entries.into_iter().flatten().for_each(|contact| {
                    contacts.add(contact);
                });
                Patch::Set(contacts)
            }
        };
        let mut read_typed = |(name, kind): &TypedField| {
            (*kind, fields.patch_parsed(name, channel.longest(), |value| channel.check(value)))
        };
        Self { list, typed: typed.iter().map(&mut read_typed).collect() }
    }

    /// True when the patch changed the contacts. A typed field takes the place of what is stored of
    /// its type; beside a list of the same request it adds to that, as on create.
    pub fn apply(&self, contacts: &mut Contacts) -> bool {
        let before = contacts.clone();
        let list = match &self.list {
            Patch::Absent => None,
            Patch::Clear => Some(Contacts::new(contacts.channel)),
            Patch::Set(list) => Some(list.clone()),
        };
        let has_list = list.is_some();
        if let Some(list) = list {
            *contacts = list;
        }
        for (kind, value) in &self.typed {
            match value {
                Patch::Set(value) if has_list => contacts.add_typed(*kind, value.clone()),
                Patch::Set(value) => contacts.replace_type(*kind, Some(value.clone())),
                Patch::Clear if !has_list => contacts.replace_type(*kind, None),
                Patch::Clear | Patch::Absent => {}
            }
        }
        *contacts != before
    }
}

fn read_type(channel: Channel, written: &str) -> Result<ContactType, (FieldErrorCode, String)> {
    let known = channel.types();
    known.iter().find(|(name, _)| *name == written).map(|(_, kind)| *kind).ok_or_else(|| {
        let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
        (FieldErrorCode::InvalidValue, format!("must be one of {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::input::read_body;

    fn email(kind: ContactType, value: &str) -> Contact {
        Contact { contact_data_type: kind, value: value.to_owned() }
    }

    #[test]
    fn addresses_are_told_from_what_is_none() {
        for good in [
            "ada@example.com",
            "ADA+x@sub.example.co",
            "o'neil@example.org",
            "jürgen@bücher.example",
            "a!#$%&'*/=?^_`{|}~@b.cd",
        ] {
            assert!(is_email(good), "{good}");
        }
        for bad in [
            "ada",
            "@example.com",
            "ada@",
            "ada@example",
            "ada@@example.com",
            "a b@example.com",
            "ada@example..com",
            "ada@.com",
            "Ada <ada@example.com>",
        ] {
            assert!(!is_email(bad), "{bad}");
        }
    }

    #[test]
    fn only_ascii_letters_of_a_mailbox_have_no_case() {
        let key = |value| Channel::Email.key(value);
        assert_eq!(key("ADA@Bücher.EXAMPLE"), "ada@bücher.example");
        assert_eq!(key("ada@BÜCHER.example"), "ada@bücher.example");
        assert_ne!(key("\u{212a}ate@example.com"), key("kate@example.com"));
        assert_ne!(key("\u{212b}sa@example.com"), key("åsa@example.com"));
    }

    #[test]
    fn a_value_given_twice_takes_the_type_of_its_field() {
        let body = br#"{"emails": ["Ada@x.com", "b@x.com", "ada@X.com"], "personal_email": "ADA@x.com", "work_email": "c@x.com"}"#;
        let contacts = read_body(body, |fields| {
            read_new(fields, Channel::Email, "emails", &[], &EMAIL_FIELDS)
        })
        .unwrap();
        assert_eq!(
            contacts.entries(),
            [
                email(ContactType::Personal, "Ada@x.com"),
                email(ContactType::Work, "b@x.com"),
                email(ContactType::Work, "c@x.com")
            ]
        );
    }

    #[test]
    fn a_typed_patch_takes_the_place_of_its_type() {
        let entries = vec![
            email(ContactType::Personal, "p@x.com"),
            email(ContactType::Work, "a@x.com"),
            email(ContactType::Other, "o@x.com"),
            email(ContactType::Work, "b@x.com"),
        ];
        let mut contacts = Contacts::of(Channel::Email, entries);
        contacts.replace_type(ContactType::Work, Some("p@x.com".to_owned()));
        assert_eq!(
            contacts.entries(),
            [email(ContactType::Work, "p@x.com"), email(ContactType::Other, "o@x.com")]
        );
        contacts.replace_type(ContactType::Work, None);
        assert_eq!(contacts.entries(), [email(ContactType::Other, "o@x.com")]);
        contacts.replace_type(ContactType::Personal, Some("n@x.com".to_owned()));
        assert_eq!(contacts.entries()[1], email(ContactType::Personal, "n@x.com"));
    }

    #[test]
    fn an_unknown_type_is_refused_with_the_allowed_ones() {
        let body = br#"{"phone_numbers": [{"contact_data_type": "fax", "value": "030 123"}]}"#;
        let problem = read_body(body, |fields| {
            ContactsPatch::read(fields, Channel::Phone, "phone_numbers", &PHONE_FIELDS)
        })
        .unwrap_err();
        assert_eq!(problem.details[0].field, "phone_numbers[0].contact_data_type");
        assert!(problem.details[0].message.contains("mobile, work, home, other"));
    }

    fn lists() -> impl Strategy<Value = Contacts> {
        let kinds = prop_oneof![
            Just(ContactType::Work),
            Just(ContactType::Personal),
            Just(ContactType::Other)
        ];
        proptest::collection::vec((kinds, "[a-cA-C]@x\\.yz"), 0..8).prop_map(|entries| {
            let mut contacts = Contacts::new(Channel::Email);
            for (kind, value) in entries {
                contacts.add(email(kind, &value));
            }
            contacts
        })
    }

    proptest! {
        #[test]
        fn uniting_twice_adds_nothing(mut one in lists(), other in lists()) {
            one.unite(&other);
            let once = one.clone();
            prop_assert!(!one.unite(&other));
            prop_assert_eq!(one, once);
        }

        #[test]
        fn a_replaced_type_holds_just_that_value(mut contacts in lists(),
            value in "[a-cA-C]@x\\.yz") {
            contacts.replace_type(ContactType::Work, Some(value.clone()));
            let work: Vec<_> = contacts.entries().iter().filter(|entry| entry.contact_data_type == ContactType::Work).collect();
            prop_assert_eq!(work.len(), 1);
            prop_assert_eq!(&work[0].value, &value);
            let mut keys: Vec<_> = contacts.keys().collect();
            keys.sort();
            keys.dedup();
            prop_assert_eq!(keys.len(), contacts.entries().len());
        }
    }
}
