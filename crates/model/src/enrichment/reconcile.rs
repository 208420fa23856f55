//! What of an answer becomes part of a record. Nothing that a caller wrote is overwritten: what is
//! empty is filled, contacts are added, what enrichment itself set is renewed, and whatever else
//! differs is proposed. What a caller took away again does not come back.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::profile::Profile;
use super::{Field, Refused, known_name, value_hash};
use crate::career::{Certification, Education, WorkExperience};
use crate::contact::{Channel, Contacts, too_many};
use crate::name::PersonName;
use crate::person::Person;
use crate::social::SocialProfile;
use crate::text::{comparison_key, limit};

/// What is kept of a person when an answer comes in. The lists are JSON, as a read shows them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Current {
    pub person: Person,
    pub company_name: String,
    pub work_experience: String,
    pub education_experience: String,
    pub certifications: String,
}

/// A value that enrichment set.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Sourced {
    pub field: Field,
    pub value_hash: [u8; 16],
}

/// The bytes of a hash that are the same for values that differ only in what does not count when
/// two are compared.
const ALIKE: usize = 8;

impl Sourced {
    /// Of any field but contacts, which have a hash each. One half of the hash is that of what
    /// counts when two values are compared, the other that of the value as it is.
    #[must_use]
    pub fn of(field: Field, value: &Value) -> Self {
        let alike = value_hash(&comparable(field, value).to_string());
        let mut value_hash = value_hash(&value.to_string());
        value_hash[..ALIKE].copy_from_slice(&alike[..ALIKE]);
        Self { field, value_hash }
    }

    /// Whether the values are the same, however they are written. The one that is kept has ids of
    /// companies and the durations of its day, and a company is called as the workspace calls it.
    fn is_like(&self, other: &Self) -> bool {
        self.field == other.field && self.value_hash[..ALIKE] == other.value_hash[..ALIKE]
    }
}

/// What an answer changes of a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decision {
    /// The person as they are to be, all but the company.
    pub person: Person,
    /// The company at which the person is from now on.
    pub company_name: Option<String>,
    pub work_experience: Option<Vec<WorkExperience>>,
    pub education_experience: Option<Vec<Education>>,
    pub certifications: Option<Vec<Certification>>,
    /// The values that are set: one for each field, and one for each contact that is added. Whoever
    /// stores another form of a value takes its hash anew.
    pub set: Vec<Sourced>,
    pub proposals: Vec<(Field, Value)>,
    pub refused: Vec<Refused>,
}

impl Decision {
    /// The fields that are set.
    #[must_use]
    pub fn fields(&self) -> Vec<Field> {
        let fields: BTreeSet<Field> = self.set.iter().map(|sourced| sourced.field).collect();
        fields.into_iter().collect()
    }

    /// Whether anything but the career history changes.
    #[must_use]
    pub fn changes_person(&self, before: &Person) -> bool {
        self.company_name.is_some() || self.person != *before
    }
}

/// What is to become of the fields that a profile has.
#[must_use]
pub fn decide(current: &Current, profile: &Profile, sourced: &[Sourced]) -> Decision {
    let mut deciding = Deciding::new(current, sourced);
    if let Some(name) = &profile.name
        && deciding.takes(Field::Name, Value::from(name.whole.as_str()))
    {
        deciding.decision.person.name = name.clone();
    }
    if let Some(social) = &profile.social
        && deciding.takes(Field::SocialUrl, Value::from(social.url.as_str()))
    {
        deciding.decision.person.social = social.clone();
        if !deciding.decision.person.name.is_known() {
            deciding.decision.person.name = PersonName::stand_in(&social.handle);
        }
    }
    deciding.text(Field::SocialLocation, profile.social_location.as_deref(), |person| {
        &mut person.social_location
    });
    deciding.text(Field::SocialHeadline, profile.social_headline.as_deref(), |person| {
        &mut person.social_headline
    });
    deciding.text(Field::Address, profile.address.as_deref(), |person| &mut person.address);
    deciding.text(Field::CurrentJobTitle, profile.current_job_title.as_deref(), |person| {
        &mut person.current_job_title
    });
    if let Some(name) = &profile.company_name
        && deciding.takes(Field::CurrentCompanyName, Value::from(name.as_str()))
    {
        deciding.decision.company_name = Some(name.clone());
    }
    deciding.contacts(Channel::Email, &profile.emails);
    deciding.contacts(Channel::Phone, &profile.phones);
    deciding.decision.work_experience =
        deciding.list(Field::WorkExperience, &profile.work_experience);
    deciding.decision.education_experience =
        deciding.list(Field::EducationExperience, &profile.education_experience);
    deciding.decision.certifications =
        deciding.list(Field::Certifications, &profile.certifications);
    deciding.decision
}

struct Deciding<'d> {
    current: &'d Current,
    sourced: &'d [Sourced],
    decision: Decision,
}

impl<'d> Deciding<'d> {
    fn new(current: &'d Current, sourced: &'d [Sourced]) -> Self {
        let decision = Decision {
            person: current.person.clone(),
            company_name: None,
            work_experience: None,
            education_experience: None,
            certifications: None,
            set: Vec::new(),
            proposals: Vec::new(),
            refused: Vec::new(),
        };
        Self { current, sourced, decision }
    }

    /// True if the value is to be set. If a caller wrote another, it is proposed instead.
    fn takes(&mut self, field: Field, value: Value) -> bool {
        let known = value_of(self.current, field);
        let (was_empty, new) = (is_empty(&known), Sourced::of(field, &value));
        let is_settled = match was_empty {
            // It was set before, and a caller cleared it.
            true => self.sourced.iter().any(|sourced| sourced.is_like(&new)),
            false => comparable(field, &known) == comparable(field, &value),
        };
        if is_settled {
            return false;
        }
        let is_ours = was_empty || self.sourced.contains(&Sourced::of(field, &known));
        match is_ours {
            true => self.decision.set.push(new),
            false => self.decision.proposals.push((field, value)),
        }
        is_ours
    }

    fn text(&mut self, field: Field, value: Option<&str>, place: fn(&mut Person) -> &mut String) {
        if let Some(value) = value
            && self.takes(field, Value::from(value))
        {
            value.clone_into(place(&mut self.decision.person));
        }
    }

    fn contacts(&mut self, channel: Channel, answered: &Contacts) {
        let Decision { person, set, refused, .. } = &mut self.decision;
        let (field, known) = match channel {
            Channel::Email => (Field::Emails, &mut person.emails),
            Channel::Phone => (Field::Phones, &mut person.phones),
        };
        for contact in answered.entries() {
            let new = Sourced { field, value_hash: contact_hash(channel, &contact.value) };
            // One that was added before and is gone was removed by a caller.
            if known.contains(&contact.value) || self.sourced.contains(&new) {
                continue;
            }
            if known.entries().len() >= limit::CONTACTS {
                refused.push(Refused::new(field.name(), too_many()));
                return;
            }
            set.push(new);
            known.add(contact.clone());
        }
    }

    fn list<T: Clone + Serialize>(&mut self, field: Field, answered: &[T]) -> Option<Vec<T>> {
        let value = serde_json::to_value(answered).unwrap_or_default();
        (!is_empty(&value) && self.takes(field, value)).then(|| answered.to_vec())
    }
}

/// The value of a field of a person: `""` or `[]` if it is empty. Contacts have a source each and
/// are no value here.
#[must_use]
pub fn value_of(current: &Current, field: Field) -> Value {
    let Current { person, .. } = current;
    let list = |text: &str| serde_json::from_str(text).unwrap_or_else(|_| Value::Array(Vec::new()));
    match field {
        Field::Name => known_name(person).into(),
        Field::SocialUrl => person.social.url.as_str().into(),
        Field::SocialLocation => person.social_location.as_str().into(),
        Field::SocialHeadline => person.social_headline.as_str().into(),
        Field::Address => person.address.as_str().into(),
        Field::CurrentJobTitle => person.current_job_title.as_str().into(),
        Field::CurrentCompanyName => current.company_name.as_str().into(),
        Field::ExternalSourceId => person.external_source_id.as_deref().unwrap_or_default().into(),
        Field::Emails | Field::Phones => Value::Array(Vec::new()),
        Field::WorkExperience => list(&current.work_experience),
        Field::EducationExperience => list(&current.education_experience),
        Field::Certifications => list(&current.certifications),
    }
}

/// By which a contact that enrichment added is known again, however it is written.
#[must_use]
pub fn contact_hash(channel: Channel, value: &str) -> [u8; 16] {
    value_hash(&Value::from(channel.key(value)).to_string())
}

/// What counts of a value when two are compared: text without case, a profile's network and handle,
/// and careers without what time and the workspace add to them.
#[must_use]
pub fn comparable(field: Field, value: &Value) -> Value {
    match (field, value) {
        (Field::SocialUrl, Value::String(url)) => SocialProfile::parse(url.clone())
            .map_or_else(|_| comparison_key(url).into(), |profile| profile.identity().into()),
        (_, Value::String(text)) => comparison_key(text).into(),
        (_, list) => lasting(list),
    }
}

fn lasting(value: &Value) -> Value {
    match value {
        Value::Array(entries) => entries.iter().map(lasting).collect(),
        Value::Object(fields) => {
            let kept = fields
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "duration_in_months" | "company_id"));
            Value::Object(kept.map(|(name, value)| (name.clone(), lasting(value))).collect())
        }
        other => other.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(entries) => entries.is_empty(),
        other => other.is_null(),
    }
}

#[cfg(test)]
mod tests;
