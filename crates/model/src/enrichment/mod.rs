//! What others know of a person: what they are asked, how their answers are read, and what of them
//! becomes part of the record.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use crate::contact::{Channel, Contacts};
use crate::digest::sha256;
use crate::person::Person;
use crate::text::comparison_key;

/// Kinds that are kept and shown by a name.
macro_rules! named {
    ($(#[$about:meta])* $kind:ident { $($(#[$doc:meta])* $variant:ident $name:literal)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum $kind { $($(#[$doc])* $variant,)* }

        impl $kind {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            #[must_use]
            pub fn parse(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|known| known.name() == name)
            }
        }
    };
}

mod careers;
mod contacts;
pub mod dates;
mod field;
pub mod group_positions;
mod lenient_reader;
pub mod profile;
mod profile_fields;
pub mod proposal;
pub mod reconcile;
pub mod run;
mod value;

pub use self::field::Field;
pub use self::proposal::ProposalState;
pub use self::run::{NewRun, RunFilter, RunState};

named! {
    /// How far the enrichment of a person has come.
    State {
        /// It waits for its turn, or for another try.
        Queued "queued"
        Running "running"
        /// Everybody was asked who had to be, whether or not somebody knew the person.
        Done "done"
        /// Nobody was asked.
        Skipped "skipped"
        /// Somebody could not be asked, as often as it was tried.
        Failed "failed"
    }
}

/// What is told of a person to who may know more. What is not known is empty.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Question {
    pub name: String,
    pub first_name: String,
    pub last_name: String,
    pub social_url: String,
    pub social_public_id: String,
    pub emails: Vec<String>,
    pub phones: Vec<String>,
    pub current_job_title: String,
    pub company_name: String,
    pub social_location: String,
    pub external_source_id: String,
}

impl Question {
    /// A handle in the place of a name is no name.
    #[must_use]
    pub fn of(person: &Person, company_name: &str) -> Self {
        let values = |contacts: &Contacts| {
            contacts.entries().iter().map(|contact| contact.value.clone()).collect()
        };
        Self {
            name: known_name(person).to_owned(),
            first_name: person.name.first.clone(),
            last_name: person.name.last.clone(),
            social_url: person.social.url.clone(),
            social_public_id: person.social.handle.clone(),
            emails: values(&person.emails),
            phones: values(&person.phones),
            current_job_title: person.current_job_title.clone(),
            company_name: company_name.to_owned(),
            social_location: person.social_location.clone(),
            external_source_id: person.external_source_id.clone().unwrap_or_default(),
        }
    }

    /// Two questions with the same hash ask for the same person. It covers what identifies one: the
    /// handle, the e-mail addresses and phone numbers in any order, the name but for case and
    /// blanks, and the outside id. Title, company and location are not in it: with another of these
    /// nobody knows a person whom they did not know before.
    #[must_use]
    pub fn hash(&self) -> [u8; 32] {
        let keys = |channel: Channel, values: &[String]| {
            values.iter().map(|value| channel.key(value)).collect::<BTreeSet<_>>()
        };
        let (emails, phones) =
            (keys(Channel::Email, &self.emails), keys(Channel::Phone, &self.phones));
        let identity = (
            &self.social_public_id,
            emails,
            phones,
            comparison_key(&self.name),
            &self.external_source_id,
        );
        sha256(&[&serde_json::to_vec(&identity).unwrap_or_default()])
    }
}

/// The whole name, or nothing if a handle stands in its place.
fn known_name(person: &Person) -> &str {
    match person.name.is_known() {
        true => &person.name.whole,
        false => "",
    }
}

/// A part of an answer that is not taken, and why.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Refused {
    pub field: String,
    pub reason: String,
}

impl Refused {
    pub fn new(field: impl Into<String>, reason: impl Into<String>) -> Self {
        Self { field: field.into(), reason: reason.into() }
    }
}

/// By which a value is known again, given its JSON without blanks.
#[must_use]
pub fn value_hash(json_text: &str) -> [u8; 16] {
    xxh3_128(json_text.as_bytes()).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::contact::{Contact, ContactType};
    use crate::id::PersonId;
    use crate::name::PersonName;
    use crate::social::SocialProfile;

    fn ada() -> Person {
        let email = Contact {
            contact_data_type: ContactType::Work,
            value: "ada@engines.example".to_owned(),
        };
        Person {
            id: PersonId::at(Timestamp::from_millis(1_000), 1),
            name: PersonName::complete("Ada Lovelace".to_owned(), String::new(), String::new()),
            social: SocialProfile::parse("https://social.example/in/Ada".to_owned()).unwrap(),
            current_job_title: "Analyst".to_owned(),
            company_id: None,
            social_location: "London".to_owned(),
            social_headline: "Countess".to_owned(),
            address: String::new(),
            external_source_id: Some("crm-1".to_owned()),
            emails: Contacts::of(Channel::Email, vec![email]),
            phones: Contacts::new(Channel::Phone),
        }
    }

    #[test]
    fn names_are_read_back() {
        for state in State::ALL {
            assert_eq!(State::parse(state.name()), Some(*state));
        }
        for field in Field::ALL {
            assert_eq!(Field::parse(field.name()), Some(*field));
        }
        assert_eq!((State::parse("Queued"), Field::parse("notes")), (None, None));
        assert!(Field::ALL.is_sorted());
    }

    #[test]
    fn a_question_has_what_identifies_the_person() {
        let question = Question::of(&ada(), "Engines");
        assert_eq!(
            serde_json::to_string(&question).unwrap(),
            concat!(
                r#"{"name":"Ada Lovelace","first_name":"Ada","last_name":"Lovelace","social_url":"https://social.example/in/Ada","#,
                r#""social_public_id":"ada","emails":["ada@engines.example"],"phones":[],"current_job_title":"Analyst","#,
                r#""company_name":"Engines","social_location":"London","external_source_id":"crm-1"}"#
            )
        );
    }

    #[test]
    fn a_handle_is_not_asked_for_as_a_name() {
        let person =
            Person { name: PersonName::stand_in("ada"), external_source_id: None, ..ada() };
        let question = Question::of(&person, "");
        assert_eq!((question.name.as_str(), question.social_public_id.as_str()), ("", "ada"));
        assert_eq!(question.external_source_id, "");
    }

    #[test]
    fn who_is_known_by_something_else_is_another_question() {
        let question =
            || Question { phones: vec!["+44 20".to_owned()], ..Question::of(&ada(), "Engines") };
        let text = |text: &str| text.to_owned();
        for other in [
            Question { social_public_id: text("ada-2"), ..question() },
            Question { emails: vec![], ..question() },
            Question {
                emails: vec![text("ada@engines.example"), text("ada@home.example")],
                ..question()
            },
            Question { phones: vec![text("+44 21")], ..question() },
            Question { emails: question().phones, phones: question().emails, ..question() },
            Question { name: text("Ada King"), ..question() },
            Question { external_source_id: text("CRM-1"), ..question() },
            Question { name: String::new(), external_source_id: question().name, ..question() },
        ] {
            assert_ne!(other.hash(), question().hash(), "{other:?}");
        }
    }

    #[test]
    fn what_somebody_does_and_where_is_no_other_question() {
        let [one, other] = ["ada@engines.example", "ada@home.example"].map(str::to_owned);
        let question = Question {
            emails: vec![one.clone(), other.clone()],
            phones: vec!["+44 20".to_owned(), "4421".to_owned()],
            ..Question::of(&ada(), "Engines")
        };
        let same = Question {
            name: " ADA  lovelace".to_owned(),
            emails: vec![other.to_uppercase(), one],
            phones: vec!["+44 21".to_owned(), "44 (20)".to_owned(), "4420".to_owned()],
            current_job_title: "Countess".to_owned(),
            company_name: "Home".to_owned(),
            social_location: String::new(),
            ..question.clone()
        };
        assert_eq!(same.hash(), question.hash());
    }

    #[test]
    fn a_value_is_known_again_by_its_hash() {
        assert_eq!(value_hash("\"Analyst\""), xxh3_128(b"\"Analyst\"").to_be_bytes());
        assert_ne!(value_hash("\"Analyst\""), value_hash("\"analyst\""));
    }
}
