//! What an answer says of a person, brought into the shape of a record.

use serde_json::Value;

use super::Refused;
use super::careers::{read_certifications, read_education, read_work, with_scheme};
use super::contacts::read_contacts;
use super::group_positions::is_current;
use super::lenient_reader::Reader;
use super::value::type_name;
use crate::career::{Certification, Education, WorkExperience};
use crate::clock::Date;
use crate::contact::{Channel, Contacts, EMAIL_FIELDS, PHONE_FIELDS};
use crate::name::PersonName;
use crate::social::SocialProfile;
use crate::text::{comparison_key, limit};

pub use super::profile_fields::known_parts;

/// What somebody else knows of a person. No text in it is empty.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    pub name: Option<PersonName>,
    pub social: Option<SocialProfile>,
    pub current_job_title: Option<String>,
    pub company_name: Option<String>,
    pub social_location: Option<String>,
    pub social_headline: Option<String>,
    pub address: Option<String>,
    pub emails: Contacts,
    pub phones: Contacts,
    pub work_experience: Vec<WorkExperience>,
    pub education_experience: Vec<Education>,
    pub certifications: Vec<Certification>,
}

/// A profile, and what of the answer is not in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reading {
    pub profile: Profile,
    pub refused: Vec<Refused>,
}

impl Profile {
    /// The profile of somebody of whom nothing is known.
    #[must_use]
    pub const fn nothing() -> Self {
        Self {
            name: None,
            social: None,
            current_job_title: None,
            company_name: None,
            social_location: None,
            social_headline: None,
            address: None,
            emails: Contacts::new(Channel::Email),
            phones: Contacts::new(Channel::Phone),
            work_experience: Vec::new(),
            education_experience: Vec::new(),
            certifications: Vec::new(),
        }
    }

    /// Takes what can be taken. `today` is the last day that counts for a position that has not
    /// ended.
    #[must_use]
    pub fn read(value: &Value, today: Date) -> Reading {
        let mut refused = Vec::new();
        let profile = match value {
            Value::Object(object) => {
                Self::read_fields(&mut Reader::new(object, &mut refused), today)
            }
            other => {
                refused
                    .push(Refused::new("", format!("must be an object, not {}", type_name(other))));
                Self::nothing()
            }
        };
        Reading { profile, refused }
    }

    fn read_fields(reader: &mut Reader<'_, '_>, today: Date) -> Self {
        let mut profile = Self {
            name: read_name(reader),
            social: reader
                .parsed("social_url", limit::URL, |url| SocialProfile::parse(with_scheme(url))),
            current_job_title: reader.line("current_job_title", limit::NAME),
            company_name: reader.line("company_name", limit::NAME),
            social_location: reader.line("social_location", limit::NAME),
            social_headline: reader.line("social_headline", limit::NAME),
            address: reader.lines("address", limit::ADDRESS),
            emails: read_contacts(reader, Channel::Email, &["emails"], &EMAIL_FIELDS),
            phones: read_contacts(
                reader,
                Channel::Phone,
                &["phone_numbers", "phones"],
                &PHONE_FIELDS,
            ),
            work_experience: read_work(reader, today),
            education_experience: read_education(reader, today),
            certifications: read_certifications(reader, today),
        };
        profile.complete_from_work(today);
        profile
    }

    /// Who says where somebody works says what they do now. Title and company are those of one
    /// position: if one of the two is said, the other comes from a position that agrees with it, or
    /// is not known.
    fn complete_from_work(&mut self, today: Date) {
        let (said_title, said_company) =
            (self.current_job_title.as_deref(), self.company_name.as_deref());
        let agrees = |said: Option<&str>, held: &str| {
            said.is_none_or(|said| comparison_key(said) == comparison_key(held))
        };
        let held = self.work_experience.iter().flat_map(|entry| {
            entry.positions.iter().map(move |position| (&entry.company, position))
        });
        let newest = held
            .filter(|(_, position)| {
                is_current(position) && position.start_date.is_some_and(|start| start <= today)
            })
            .filter(|(company, position)| {
                agrees(said_title, &position.title) && agrees(said_company, &company.company_name)
            })
            .max_by_key(|(_, position)| position.start_date);
        let Some((company, position)) = newest else { return };
        let known = |text: &String| (!text.is_empty()).then(|| text.clone());
        let (title, company_name) = (known(&position.title), known(&company.company_name));
        self.current_job_title = self.current_job_title.take().or(title);
        self.company_name = self.company_name.take().or(company_name);
    }

    /// Whether it says nothing at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::nothing()
    }
}

fn read_name(reader: &mut Reader<'_, '_>) -> Option<PersonName> {
    let [whole, first, last] = ["name", "first_name", "last_name"]
        .map(|part| reader.line(part, limit::NAME).unwrap_or_default());
    let name = PersonName::complete(whole, first, last);
    if name.whole.chars().count() > limit::NAME {
        reader.refuse("name", format!("is longer than {} characters", limit::NAME));
        return None;
    }
    (!name.whole.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::contact::{Contact, ContactType};

    fn today() -> Date {
        Date::parse("2026-11-15").unwrap()
    }

    fn read(value: &Value) -> Profile {
        let reading = Profile::read(value, today());
        assert_eq!(reading.refused, [], "{value}");
        reading.profile
    }

    fn refused(value: &Value) -> (Profile, Vec<(String, String)>) {
        let Reading { profile, refused } = Profile::read(value, today());
        (profile, refused.into_iter().map(|refused| (refused.field, refused.reason)).collect())
    }

    fn some(text: &str) -> Option<String> {
        Some(text.to_owned())
    }

    #[test]
    fn every_field_is_read() {
        let profile = read(&json!({
            "name": " Ada  King\tLovelace ",
            "social_url": "https://social.example/in/Ada",
            "current_job_title": "Analyst",
            "company_name": "Engines",
            "social_location": "London",
            "social_headline": "Enchantress of numbers",
            "address": " 12 St James's Square\nLondon ",
            "emails": ["ada@engines.example"],
            "phone_numbers": ["+44 20 7946 0000"],
            "work_experience": [{ "company_name": "Engines", "title": "Analyst",
                "start_date": "2020" }],
            "education_experience": [{ "company_name": "Home", "degree": "Mathematics" }],
            "certifications": [{ "name": "Notes" }],
            "external_source_id": "p-1815",
            "notes": "ignored",
            "job_id": 7,
            "unknown": { "as": ["it", "is"] },
        }));
        let name = PersonName {
            whole: "Ada King Lovelace".to_owned(),
            first: "Ada King".to_owned(),
            last: "Lovelace".to_owned(),
        };
        assert_eq!(profile.name, Some(name));
        assert_eq!(profile.social.as_ref().map(|social| social.handle.as_str()), Some("ada"));
        assert_eq!(
            (profile.current_job_title.clone(), profile.company_name.clone()),
            (some("Analyst"), some("Engines"))
        );
        assert_eq!(
            (profile.social_location.clone(), profile.social_headline.clone()),
            (some("London"), some("Enchantress of numbers"))
        );
        assert_eq!(profile.address, some("12 St James's Square\nLondon"));
        let email = Contact {
            contact_data_type: ContactType::Work,
            value: "ada@engines.example".to_owned(),
        };
        assert_eq!((profile.emails.entries(), profile.phones.entries().len()), (&[email][..], 1));
        let lists = (
            profile.work_experience.len(),
            profile.education_experience.len(),
            profile.certifications.len(),
        );
        assert_eq!(lists, (1, 1, 1));
        assert!(!profile.is_empty());
    }

    #[test]
    fn what_is_empty_is_absent() {
        for value in [
            json!({}),
            json!({ "name": "", "social_url": " ", "emails": [], "phones": null,
                "work_experience": [], "address": "\n" }),
            json!({ "work_email": "", "mobile_phone": null, "first_name": "\t" }),
            json!({ "notes": "x", "enrich_record": true, "external_source_id": "p-1815" }),
        ] {
            assert!(read(&value).is_empty(), "{value}");
        }
    }

    #[test]
    fn names_complete_each_other() {
        let name = |value: Value| {
            read(&value).name.map(|name| (name.whole, name.first, name.last)).unwrap()
        };
        let ada = ("Ada Lovelace".to_owned(), "Ada".to_owned(), "Lovelace".to_owned());
        assert_eq!(name(json!({ "first_name": "Ada", "last_name": "Lovelace" })), ada);
        assert_eq!(name(json!({ "name": "Ada Lovelace", "first_name": null })), ada);
        assert_eq!(name(json!({ "name": "Ada Lovelace", "last_name": "Lovelace" })), ada);
        let long = "x".repeat(200);
        let (profile, reasons) = refused(&json!({ "first_name": long, "last_name": long }));
        assert_eq!(
            (profile.name, reasons),
            (None, vec![("name".to_owned(), "is longer than 255 characters".to_owned())])
        );
    }

    #[test]
    fn addresses_may_lack_their_scheme() {
        let social = read(&json!({ "social_url": "social.example/in/ada" })).social.unwrap();
        assert_eq!(
            (social.url.as_str(), social.handle.as_str()),
            ("https://social.example/in/ada", "ada")
        );
    }

    #[test]
    fn each_field_is_refused_alone() {
        let (profile, reasons) = refused(&json!({
            "name": ["Ada"],
            "last_name": "Lovelace",
            "social_url": "ftp://social.example/in/ada",
            "current_job_title": "x".repeat(256),
            "social_headline": "a\u{1}b",
            "social_location": "London",
            "emails": ["ada", "ada@engines.example"],
            "work_experience": [{ "company_name": "Engines", "title": "Analyst",
                "start_date": "2019-02-30" }],
        }));
        let fields: Vec<_> = reasons.iter().map(|(field, _)| field.as_str()).collect();
        let expected = [
            "name",
            "social_url",
            "current_job_title",
            "social_headline",
            "emails[0]",
            "work_experience[0].start_date",
        ];
        assert_eq!(fields, expected);
        assert_eq!(profile.name.map(|name| name.whole), some("Lovelace"));
        assert_eq!((profile.social, profile.social_location), (None, some("London")));
        assert_eq!((profile.emails.entries().len(), profile.work_experience.len()), (1, 1));
    }

    #[test]
    fn only_an_object_is_a_profile() {
        for value in [json!([]), json!("Ada"), json!(7), json!(null)] {
            let (profile, reasons) = refused(&value);
            assert!(profile.is_empty());
            assert_eq!((reasons.len(), reasons[0].0.as_str()), (1, ""));
        }
    }

    #[test]
    fn the_current_position_says_what_somebody_does() {
        let work = json!([
            { "company_name": "Old", "title": "Trainee", "start_date": "2010", "end_date": "2015" },
            { "company_name": "Board", "title": "Adviser", "start_date": "2016" },
            { "company_name": "Engines", "title": "Analyst", "start_date": "2020-03",
                "end_date": "Present" },
            { "company_name": "Soon", "title": "Director", "start_date": "2027-01" },
            { "company_name": "Undated", "title": "Ghost" },
            { "company_name": "Wrong", "title": "Nobody", "start_date": "2024",
                "end_date": "2023" },
        ]);
        let reading = Profile::read(&json!({ "work_experience": work }), today());
        assert_eq!(reading.refused.len(), 1);
        assert_eq!(
            (reading.profile.current_job_title, reading.profile.company_name),
            (some("Analyst"), some("Engines"))
        );
    }

    #[test]
    fn title_and_company_are_those_of_one_position() {
        let work = json!([
            { "company_name": "Engines", "title": "Analyst", "start_date": "2020" },
            { "company_name": "Board", "title": "Adviser", "start_date": "2016" },
            { "company_name": "Club", "title": "Adviser", "start_date": "2012" },
            { "company_name": "Board", "title": "Clerk", "start_date": "2014" },
            { "company_name": "Old", "title": "Trainee", "start_date": "2010", "end_date": "2015" },
            { "company_name": "Soon", "title": "Director", "start_date": "2027-01" },
            { "title": "Freelancer", "start_date": "2021" },
        ]);
        for (title, company, expected) in [
            (" ADVISER ", "", ("ADVISER", "Board")),
            ("", "board", ("Adviser", "board")),
            ("", "Engines", ("Analyst", "Engines")),
            ("Countess", "", ("Countess", "")),
            ("Trainee", "", ("Trainee", "")),
            ("Director", "", ("Director", "")),
            ("freelancer", "", ("freelancer", "")),
            ("", "Home", ("", "Home")),
            ("Analyst", "Home", ("Analyst", "Home")),
            ("", "", ("Freelancer", "")),
        ] {
            let profile = read(&json!({ "work_experience": work, "current_job_title": title,
                    "company_name": company }));
            let seen = (
                profile.current_job_title.unwrap_or_default(),
                profile.company_name.unwrap_or_default(),
            );
            assert_eq!((seen.0.as_str(), seen.1.as_str()), expected, "{title} {company}");
        }
    }

    #[test]
    fn without_a_current_position_nothing_is_said_of_today() {
        let past = json!([{ "company_name": "Old", "title": "Trainee", "start_date": "2010",
            "end_date": "2015" }, { "title": "?" }]);
        let profile = read(&json!({ "work_experience": past }));
        assert_eq!((profile.current_job_title, profile.company_name), (None, None));
        let nameless =
            read(&json!({ "work_experience": [{ "title": "Freelancer", "start_date": "2010" }] }));
        assert_eq!((nameless.current_job_title, nameless.company_name), (some("Freelancer"), None));
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,12}".prop_map(Value::from),
            "(a@b\\.example|2019-05|Present|\\+44 20|https://x\\.example/in/y)"
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 5, |inner| {
            let names = concat!(
                "(name|social_url|emails|phones|work_email|value|type|company_name|title|start_date|end_date|",
                "work_experience|positions|education_experience|certifications)"
            );
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec((names, inner),
                    0..6).prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_answer_is_read(value in values()) {
            let Reading { profile, refused } = Profile::read(&value, today());
            prop_assert!(refused.len() <= 101);
            prop_assert!(profile.name.is_none_or(|name| name.is_known() && !name.whole.is_empty()));
            for text in [&profile.current_job_title, &profile.company_name, &profile.address] {
                prop_assert!(text.as_ref().is_none_or(|text| !text.trim().is_empty()));
            }
        }
    }
}
