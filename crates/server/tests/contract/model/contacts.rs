//! The e-mail addresses and phone numbers of a person in the model.

use serde_json::{Value, json};

use super::fields::{Form, Patch, digits, patch, text, texts};

#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Channel {
    Emails,
    Phones,
}

const EMAIL_TYPES: &[&str] = &["work", "personal", "other", "work_email", "personal_email"];
const PHONE_TYPES: &[&str] = &["mobile", "work", "home", "other", "mobile_phone", "work_phone"];
pub const EMAIL_ENTRIES: Form =
    Form::Entries(&[("value", Form::Email), ("contact_data_type", Form::Word(EMAIL_TYPES))]);
pub const PHONE_ENTRIES: Form =
    Form::Entries(&[("value", Form::Phone), ("contact_data_type", Form::Word(PHONE_TYPES))]);

impl Channel {
    const fn list(self) -> &'static str {
        match self {
            Self::Emails => "emails",
            Self::Phones => "phone_numbers",
        }
    }

    /// The typed fields, each with its type.
    const fn typed(self) -> [(&'static str, &'static str); 2] {
        match self {
            Self::Emails => [("work_email", "work"), ("personal_email", "personal")],
            Self::Phones => [("mobile_phone", "mobile"), ("work_phone", "work")],
        }
    }

    const fn default_type(self) -> &'static str {
        match self {
            Self::Emails => "work",
            Self::Phones => "mobile",
        }
    }

    fn is_same(self, one: &str, other: &str) -> bool {
        match self {
            Self::Emails => one.to_lowercase() == other.to_lowercase(),
            Self::Phones => digits(one) == digits(other),
        }
    }
}

/// The contacts of one channel: pairs of type and value.
#[derive(Clone, PartialEq, Debug)]
pub struct Contacts {
    channel: Channel,
    entries: Vec<(String, String)>,
}

impl Contacts {
    pub fn new(channel: Channel, body: &Value) -> Self {
        let mut contacts = Self { channel, entries: Vec::new() };
        for value in texts(body, channel.list()) {
            contacts.add(channel.default_type(), &value);
        }
        for (field, kind) in channel.typed() {
            let Some(value) = text(body, field) else { continue };
            contacts.add_typed(kind, &value);
        }
        contacts
    }

    fn place_of(&self, value: &str) -> Option<usize> {
        self.entries.iter().position(|(_, known)| self.channel.is_same(known, value))
    }

    fn add(&mut self, kind: &str, value: &str) {
        if self.place_of(value).is_none() {
            self.entries.push((kind.to_owned(), value.to_owned()));
        }
    }

    /// Adds the value under that type, which it takes if it is there.
    fn add_typed(&mut self, kind: &str, value: &str) {
        match self.place_of(value) {
            Some(place) => kind.clone_into(&mut self.entries[place].0),
            None => self.add(kind, value),
        }
    }

    pub fn unite(&mut self, other: &Self) {
        for (kind, value) in &other.entries {
            self.add(kind, value);
        }
    }

    pub fn update(&mut self, body: &Value) {
        let list = body.get(self.channel.list());
        if let Some(list) = list {
            self.entries.clear();
            for entry in list.as_array().into_iter().flatten() {
                let written = text(entry, "contact_data_type")
                    .unwrap_or_else(|| self.channel.default_type().to_owned());
                let kind = written.split('_').next().unwrap_or_default();
                self.add(kind, &text(entry, "value").unwrap_or_default());
            }
        }
        for (field, kind) in self.channel.typed() {
            match patch(body, field) {
                Patch::Absent => {}
                Patch::Set(value) if list.is_some() => self.add_typed(kind, &value),
                Patch::Clear if list.is_some() => {}
                Patch::Clear => self.entries.retain(|(known, _)| known != kind),
                Patch::Set(value) => self.replace_type(kind, &value),
            }
        }
    }

    /// Replaces all entries of the type, and the same value under another type, by one in the place
    /// of the first.
    fn replace_type(&mut self, kind: &str, value: &str) {
        let mut place = None;
        let mut kept = Vec::new();
        for (known, old) in std::mem::take(&mut self.entries) {
            if known == kind {
                place.get_or_insert(kept.len());
            } else if !self.channel.is_same(&old, value) {
                kept.push((known, old));
            }
        }
        let place = place.unwrap_or(kept.len());
        kept.insert(place, (kind.to_owned(), value.to_owned()));
        self.entries = kept;
    }

    pub fn values(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|(_, value)| value.as_str())
    }

    pub fn show(&self) -> Value {
        self.entries
            .iter()
            .map(|(kind, value)| json!({ "contact_data_type": kind, "value": value }))
            .collect()
    }
}
