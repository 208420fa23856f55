use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::career::{CareerCompany, Position};
use crate::clock::{Date, Timestamp};
use crate::contact::{Contact, ContactType};
use crate::id::{CompanyId, PersonId};
use crate::name::PersonName;

fn named(name: &str) -> PersonName {
    PersonName::complete(name.to_owned(), String::new(), String::new())
}

fn social(handle: &str) -> SocialProfile {
    SocialProfile::parse(format!("https://social.example/in/{handle}")).unwrap()
}

fn contacts(channel: Channel, values: &[&str]) -> Contacts {
    let contact = |value: &&str| Contact {
        contact_data_type: ContactType::Other,
        value: (*value).to_owned(),
    };
    Contacts::of(channel, values.iter().map(contact).collect())
}

/// Somebody of whom only the handle is known.
fn unknown() -> Current {
    let person = Person {
        id: PersonId::at(Timestamp::from_millis(1_000), 1),
        name: PersonName::stand_in("ada"),
        social: social("ada"),
        current_job_title: String::new(),
        company_id: None,
        social_location: String::new(),
        social_headline: String::new(),
        address: String::new(),
        external_source_id: None,
        emails: Contacts::new(Channel::Email),
        phones: Contacts::new(Channel::Phone),
    };
    let none = || "[]".to_owned();
    Current {
        person,
        company_name: String::new(),
        work_experience: none(),
        education_experience: none(),
        certifications: none(),
    }
}

fn company(name: &str) -> CareerCompany {
    CareerCompany {
        company_name: name.to_owned(),
        company_social_url: String::new(),
        company_social_id: 0,
        company_id: None,
    }
}

fn job(name: &str, title: &str, months: i64) -> WorkExperience {
    let position = Position {
        title: title.to_owned(),
        start_date: Date::parse("2020-01-01"),
        end_date: None,
        duration_in_months: months,
        description: String::new(),
        location: String::new(),
        position_type: String::new(),
    };
    WorkExperience { positions: vec![position], duration_in_months: months, company: company(name) }
}

fn school(name: &str) -> Education {
    Education {
        company_name: name.to_owned(),
        start_date: None,
        end_date: Date::parse("2010-12-31"),
        description: String::new(),
        degree: "BSc".to_owned(),
        company_social_url: String::new(),
        company_social_id: 0,
        company_id: None,
    }
}

fn certification(name: &str) -> Certification {
    Certification {
        name: name.to_owned(),
        credential_id: String::new(),
        start_date: None,
        end_date: None,
        company: company("Board"),
    }
}

fn text(list: &impl Serialize) -> String {
    serde_json::to_string(list).unwrap()
}

/// A profile that has every field.
fn full() -> Profile {
    let some = |text: &str| Some(text.to_owned());
    Profile {
        name: Some(named("Ada Lovelace")),
        social: Some(social("ada-lovelace")),
        current_job_title: some("Analyst"),
        company_name: some("Engines"),
        social_location: some("London"),
        social_headline: some("Countess"),
        address: some("12 St James's Square"),
        emails: contacts(Channel::Email, &["ada@engines.example"]),
        phones: contacts(Channel::Phone, &["+44 20 7946 0000"]),
        work_experience: vec![job("Engines", "Analyst", 82)],
        education_experience: vec![school("Home")],
        certifications: vec![certification("Notes")],
    }
}

/// The record when all that was decided is done.
fn applied(current: &Current, decision: &Decision) -> Current {
    let list = |new: Option<String>, old: &String| new.unwrap_or_else(|| old.clone());
    Current {
        person: decision.person.clone(),
        company_name: decision.company_name.clone().unwrap_or_else(|| current.company_name.clone()),
        work_experience: list(
            decision.work_experience.as_ref().map(text),
            &current.work_experience,
        ),
        education_experience: list(
            decision.education_experience.as_ref().map(text),
            &current.education_experience,
        ),
        certifications: list(decision.certifications.as_ref().map(text), &current.certifications),
    }
}

fn proposed(decision: &Decision) -> Vec<Field> {
    decision.proposals.iter().map(|(field, _)| *field).collect()
}

#[test]
fn what_is_empty_is_filled() {
    let current = Current {
        person: Person { social: SocialProfile::default(), ..unknown().person },
        ..unknown()
    };
    let decision = decide(&current, &full(), &[]);
    let is_ours = |field: &Field| *field != Field::ExternalSourceId;
    assert_eq!(decision.fields(), Field::ALL.iter().copied().filter(is_ours).collect::<Vec<_>>());
    assert_eq!((decision.proposals.len(), decision.refused.len()), (0, 0));
    let Decision { person, company_name, work_experience, .. } = &decision;
    assert_eq!(
        (person.name.last.as_str(), person.social.handle.as_str()),
        ("Lovelace", "ada-lovelace")
    );
    assert_eq!(
        (person.current_job_title.as_str(), person.address.as_str()),
        ("Analyst", "12 St James's Square")
    );
    assert_eq!((person.company_id, company_name.as_deref()), (None, Some("Engines")));
    assert_eq!(person.external_source_id, None);
    assert_eq!(work_experience.as_deref(), Some(&full().work_experience[..]));
    assert!(decision.changes_person(&current.person));
}

/// Invariant 14.
#[test]
fn what_a_caller_wrote_stays_and_what_differs_is_proposed() {
    let person = Person {
        name: named("Augusta King"),
        current_job_title: "Writer".to_owned(),
        social_location: "Paris".to_owned(),
        social_headline: "Poet".to_owned(),
        address: "Elsewhere".to_owned(),
        external_source_id: Some("crm-1".to_owned()),
        ..unknown().person
    };
    let current = Current {
        person,
        company_name: "Other".to_owned(),
        work_experience: text(&[job("Other", "Writer", 3)]),
        education_experience: text(&[school("Other")]),
        certifications: text(&[certification("Other")]),
    };
    let profile = Profile {
        emails: Contacts::new(Channel::Email),
        phones: Contacts::new(Channel::Phone),
        ..full()
    };
    let decision = decide(&current, &profile, &[]);
    assert_eq!((&decision.person, decision.set.len()), (&current.person, 0));
    assert!(!decision.changes_person(&current.person));
    let is_never_proposed =
        |field: &Field| matches!(field, Field::ExternalSourceId | Field::Emails | Field::Phones);
    assert_eq!(
        proposed(&decision),
        Field::ALL.iter().copied().filter(|field| !is_never_proposed(field)).collect::<Vec<_>>()
    );
    assert_eq!(decision.proposals[0], (Field::Name, json!("Ada Lovelace")));
    assert_eq!(
        decision.proposals[1],
        (Field::SocialUrl, json!("https://social.example/in/ada-lovelace"))
    );
    assert_eq!(decision.proposals[7].1[0]["positions"][0]["title"], "Analyst");
}

#[test]
fn text_that_differs_in_case_and_blanks_is_the_same() {
    let person = Person {
        name: named("ADA LOVELACE"),
        current_job_title: "analyst".to_owned(),
        ..unknown().person
    };
    let current = Current { person, company_name: "ENGINES".to_owned(), ..unknown() };
    let profile = Profile {
        name: Some(named("Ada  Lovelace")),
        current_job_title: Some("Analyst".to_owned()),
        company_name: Some("Engines".to_owned()),
        social: Some(
            SocialProfile::parse("http://www.social.example/in/ADA/?x=1".to_owned()).unwrap(),
        ),
        ..Profile::nothing()
    };
    let decision = decide(&current, &profile, &[]);
    assert_eq!(
        (&decision.person, decision.set, decision.proposals),
        (&current.person, vec![], vec![])
    );
}

#[test]
fn careers_that_differ_in_durations_and_ids_are_the_same() {
    let mut kept = job("Engines", "Analyst", 81);
    kept.company.company_id = Some(CompanyId::at(Timestamp::from_millis(1), 1));
    let current = Current { work_experience: text(&[kept]), ..unknown() };
    let profile =
        Profile { work_experience: vec![job("Engines", "Analyst", 82)], ..Profile::nothing() };
    let decision = decide(&current, &profile, &[]);
    assert_eq!((decision.work_experience, decision.proposals), (None, vec![]));
    let profile = Profile {
        work_experience: vec![job("Engines", "Chief Analyst", 82)],
        ..Profile::nothing()
    };
    assert_eq!(proposed(&decide(&current, &profile, &[])), [Field::WorkExperience]);
}

#[test]
fn what_enrichment_set_is_renewed_until_somebody_changes_it() {
    let person =
        Person { name: named("Ada"), current_job_title: "Analyst".to_owned(), ..unknown().person };
    let work_experience = text(&[job("Engines", "Analyst", 82)]);
    let mut current =
        Current { person, company_name: "Engines".to_owned(), work_experience, ..unknown() };
    let fields = [
        Field::Name,
        Field::SocialUrl,
        Field::CurrentJobTitle,
        Field::CurrentCompanyName,
        Field::WorkExperience,
    ];
    let sourced = fields.map(|field| Sourced::of(field, &value_of(&current, field)));
    let profile = Profile {
        name: Some(named("Ada Lovelace")),
        social: Some(social("lovelace")),
        current_job_title: Some("Chief".to_owned()),
        company_name: Some("Umbrella".to_owned()),
        work_experience: vec![job("Umbrella", "Chief", 1)],
        ..Profile::nothing()
    };
    let decision = decide(&current, &profile, &sourced);
    assert_eq!((decision.fields(), proposed(&decision)), (fields.to_vec(), vec![]));
    assert_eq!(
        (decision.person.name.whole.as_str(), decision.person.social.handle.as_str()),
        ("Ada Lovelace", "lovelace")
    );
    "Writer".clone_into(&mut current.person.current_job_title);
    let decision = decide(&current, &profile, &sourced);
    assert_eq!(proposed(&decision), [Field::CurrentJobTitle]);
    assert_eq!(decision.person.current_job_title, "Writer");
}

#[test]
fn contacts_are_added_up_to_their_bound() {
    let many: Vec<_> = (0..49).map(|number| format!("{number}@x.example")).collect();
    let many: Vec<_> = many.iter().map(String::as_str).collect();
    let current = Current {
        person: Person { emails: contacts(Channel::Email, &many), ..unknown().person },
        ..unknown()
    };
    let profile = Profile {
        emails: contacts(
            Channel::Email,
            &["0@X.example", "new@x.example", "more@x.example", "most@x.example", "1@x.example"],
        ),
        phones: contacts(Channel::Phone, &["+44 20 7946"]),
        ..Profile::nothing()
    };
    let decision = decide(&current, &profile, &[]);
    assert_eq!(decision.person.emails.entries().len(), 50);
    assert_eq!(decision.person.emails.entries()[49].value, "new@x.example");
    let sourced =
        |field, channel, value| Sourced { field, value_hash: contact_hash(channel, value) };
    let expected = [
        sourced(Field::Emails, Channel::Email, "New@x.example"),
        sourced(Field::Phones, Channel::Phone, "44207946"),
    ];
    assert_eq!(decision.set, expected);
    assert_eq!(
        decision.refused,
        [Refused::new("emails", "a person can have at most 50 entries of each kind")]
    );
}

#[test]
fn a_contact_that_a_caller_removed_does_not_come_back() {
    let sourced = [
        Sourced {
            field: Field::Emails,
            value_hash: contact_hash(Channel::Email, "ADA@engines.example"),
        },
        Sourced { field: Field::Phones, value_hash: contact_hash(Channel::Phone, "4420") },
    ];
    let profile = Profile {
        emails: contacts(Channel::Email, &["ada@engines.example", "ada@home.example"]),
        phones: contacts(Channel::Phone, &["+44 20", "+44 21"]),
        ..Profile::nothing()
    };
    let decision = decide(&unknown(), &profile, &sourced);
    assert_eq!(decision.person.emails, contacts(Channel::Email, &["ada@home.example"]));
    assert_eq!(decision.person.phones, contacts(Channel::Phone, &["+44 21"]));
    assert_eq!((decision.set.len(), decision.refused.len()), (2, 0));
    // Whether it is the same contact is a matter of its kind.
    let swapped = sourced.map(|Sourced { field, value_hash }| match field {
        Field::Emails => Sourced { field: Field::Phones, value_hash },
        _ => Sourced { field: Field::Emails, value_hash },
    });
    assert_eq!(decide(&unknown(), &profile, &swapped).set.len(), 4);
}

#[test]
fn what_a_caller_cleared_is_filled_with_another_value_only() {
    let sourced = [
        Sourced::of(Field::Name, &json!("Ada Lovelace")),
        Sourced::of(Field::SocialUrl, &json!("https://social.example/in/Ada-Lovelace/")),
        Sourced::of(Field::CurrentJobTitle, &json!("analyst")),
        Sourced::of(Field::Address, &json!("Elsewhere")),
        // As the workspace calls it.
        Sourced::of(Field::CurrentCompanyName, &json!("ENGINES")),
        // A value of one field says nothing of another.
        Sourced::of(Field::SocialHeadline, &json!("London")),
    ];
    let current = Current {
        person: Person { social: SocialProfile::default(), ..unknown().person },
        ..unknown()
    };
    let profile = Profile {
        emails: Contacts::new(Channel::Email),
        phones: Contacts::new(Channel::Phone),
        ..full()
    };
    let decision = decide(&current, &profile, &sourced);
    let lists = [Field::WorkExperience, Field::EducationExperience, Field::Certifications];
    let filled: Vec<_> = [Field::SocialLocation, Field::SocialHeadline, Field::Address]
        .into_iter()
        .chain(lists)
        .collect();
    assert_eq!((decision.fields(), proposed(&decision)), (filled, vec![]));
    assert_eq!(
        (decision.person.name, decision.person.social),
        (current.person.name, SocialProfile::default())
    );
    assert_eq!((decision.person.current_job_title.as_str(), decision.company_name), ("", None));
}

#[test]
fn a_list_that_a_caller_cleared_is_known_again_whatever_the_day_and_the_companies_are() {
    let mut kept = job("Engines", "Analyst", 70);
    kept.company.company_id = Some(CompanyId::at(Timestamp::from_millis(1), 1));
    let sourced = [
        Sourced::of(Field::WorkExperience, &json!([kept])),
        Sourced::of(Field::EducationExperience, &json!([school("Home")])),
        Sourced::of(Field::Certifications, &json!([certification("Another")])),
    ];
    let (work_experience, education_experience) =
        (full().work_experience, full().education_experience);
    let profile = Profile {
        work_experience,
        education_experience,
        certifications: full().certifications,
        ..Profile::nothing()
    };
    let decision = decide(&unknown(), &profile, &sourced);
    assert_eq!((decision.fields(), proposed(&decision)), (vec![Field::Certifications], vec![]));
    assert_eq!((decision.work_experience, decision.education_experience), (None, None));
    let profile = Profile {
        work_experience: vec![job("Engines", "Chief Analyst", 82)],
        ..Profile::nothing()
    };
    assert_eq!(decide(&unknown(), &profile, &sourced).fields(), [Field::WorkExperience]);
}

#[test]
fn a_value_that_is_written_otherwise_is_not_the_one_that_was_set() {
    let sourced = [Sourced::of(Field::CurrentJobTitle, &json!("Analyst"))];
    let profile = Profile { current_job_title: Some("Chief".to_owned()), ..Profile::nothing() };
    for (title, is_renewed) in [("Analyst", true), ("ANALYST", false)] {
        let person = Person { current_job_title: title.to_owned(), ..unknown().person };
        let decision = decide(&Current { person, ..unknown() }, &profile, &sourced);
        assert_eq!(
            (decision.set.len(), decision.proposals.len()),
            (usize::from(is_renewed), usize::from(!is_renewed)),
            "{title}"
        );
    }
}

#[test]
fn values_are_those_that_a_read_shows() {
    let decision = decide(&unknown(), &full(), &[]);
    let current = applied(&unknown(), &decision);
    for field in Field::ALL.iter().copied() {
        let empty = value_of(&unknown(), field);
        assert!(
            matches!(field, Field::SocialUrl) || empty == json!("") || empty == json!([]),
            "{}",
            field.name()
        );
    }
    assert_eq!(value_of(&current, Field::Name), json!("Ada Lovelace"));
    assert_eq!(value_of(&current, Field::ExternalSourceId), json!(""));
    assert_eq!(value_of(&current, Field::Emails), json!([]));
    for (field, stored) in [
        (Field::WorkExperience, &current.work_experience),
        (Field::EducationExperience, &current.education_experience),
        (Field::Certifications, &current.certifications),
    ] {
        assert_eq!(value_of(&current, field).to_string(), *stored);
        assert!(
            decision.set.contains(&Sourced::of(field, &value_of(&current, field))),
            "{}",
            field.name()
        );
    }
    assert_eq!(contact_hash(Channel::Email, "Ada@X.example"), value_hash("\"ada@x.example\""));
    assert_eq!(contact_hash(Channel::Phone, "+44 (20)"), value_hash("\"4420\""));
}

fn word() -> impl Strategy<Value = String> {
    proptest::sample::select(vec!["", "a", "A", "b", "c d"]).prop_map(str::to_owned)
}

fn known_word() -> impl Strategy<Value = Option<String>> {
    word().prop_map(|text| (!text.is_empty()).then_some(text))
}

fn addresses(channel: Channel) -> impl Strategy<Value = Contacts> {
    let all = match channel {
        Channel::Email => ["a@x.example", "B@x.example", "c@x.example"],
        Channel::Phone => ["+111", "222", "3 3 3"],
    };
    proptest::sample::subsequence(all.to_vec(), 0..=3)
        .prop_map(move |values| contacts(channel, &values))
}

fn careers() -> impl Strategy<Value = (Vec<WorkExperience>, Vec<Education>, Vec<Certification>)> {
    (known_word(), 0..3i64, known_word(), known_word()).prop_map(
        |(title, months, school_name, name)| {
            let work = title.map(|title| job("Engines", &title, months));
            let education = school_name.map(|name| school(&name));
            let certifications = name.map(|name| certification(&name));
            (
                work.into_iter().collect(),
                education.into_iter().collect(),
                certifications.into_iter().collect(),
            )
        },
    )
}

fn records() -> impl Strategy<Value = Current> {
    let contacts = (addresses(Channel::Email), addresses(Channel::Phone));
    let texts = (word(), word(), word(), word(), word(), word(), known_word());
    (texts, contacts, careers()).prop_map(
        |(
            (name, title, location, headline, address, company_name, id),
            (emails, phones),
            careers,
        )| {
            let person = Person {
                name: if name.is_empty() { PersonName::stand_in("ada") } else { named(&name) },
                current_job_title: title,
                social_location: location,
                social_headline: headline,
                address,
                external_source_id: id,
                emails,
                phones,
                ..unknown().person
            };
            let (work, education, certifications) = careers;
            Current {
                person,
                company_name,
                work_experience: text(&work),
                education_experience: text(&education),
                certifications: text(&certifications),
            }
        },
    )
}

fn profiles() -> impl Strategy<Value = Profile> {
    let contacts = (addresses(Channel::Email), addresses(Channel::Phone));
    let texts = (
        known_word(),
        known_word(),
        known_word(),
        known_word(),
        known_word(),
        known_word(),
        known_word(),
    );
    (texts, contacts, careers()).prop_map(
        |(texts, (emails, phones), (work_experience, education_experience, certifications))| {
            let (
                name,
                handle,
                current_job_title,
                company_name,
                social_location,
                social_headline,
                address,
            ) = texts;
            Profile {
                name: name.as_deref().map(named),
                social: handle.map(|handle| social(&handle.replace(' ', "-"))),
                current_job_title,
                company_name,
                social_location,
                social_headline,
                address,
                emails,
                phones,
                work_experience,
                education_experience,
                certifications,
            }
        },
    )
}

fn some_fields() -> impl Strategy<Value = Vec<Field>> {
    proptest::sample::subsequence(Field::ALL.to_vec(), 0..=Field::ALL.len())
}

fn sources_of(current: &Current, fields: &[Field]) -> Vec<Sourced> {
    fields.iter().map(|field| Sourced::of(*field, &value_of(current, *field))).collect()
}

proptest! {
    #[test]
    fn nothing_known_is_overwritten(current in records(), profile in profiles(),
        ours in some_fields()) {
        let decision = decide(&current, &profile, &sources_of(&current, &ours));
        let after = applied(&current, &decision);
        for field in Field::ALL.iter().copied().filter(|field| !ours.contains(field)) {
            let known = value_of(&current, field);
            prop_assert!(is_empty(&known) || value_of(&after, field) == known, "{}", field.name());
        }
        for (before, after) in [(&current.person.emails, &after.person.emails),
            (&current.person.phones, &after.person.phones)] {
            prop_assert!(after.entries().starts_with(before.entries()));
        }
        prop_assert_eq!(after.person.company_id, current.person.company_id);
        prop_assert_eq!(after.person.external_source_id, current.person.external_source_id);
    }

    #[test]
    fn what_was_set_and_taken_away_stays_away(current in records(), profile in profiles()) {
        let first = decide(&current, &profile, &[]);
        let second = decide(&current, &profile, &first.set);
        prop_assert!(second.set.is_empty(), "{:?}", second.set);
        prop_assert!(!second.changes_person(&current.person));
        prop_assert_eq!((second.work_experience, second.education_experience,
            second.certifications), (None, None, None));
        prop_assert_eq!(second.proposals, first.proposals);
    }

    #[test]
    fn deciding_again_changes_nothing(current in records(), profile in profiles(),
        ours in some_fields()) {
        let mut sourced = sources_of(&current, &ours);
        let first = decide(&current, &profile, &sourced);
        sourced.extend(first.set.iter().cloned());
        let second = decide(&applied(&current, &first), &profile, &sourced);
        prop_assert!(second.set.is_empty(), "{:?}", second.set);
        prop_assert!(!second.changes_person(&first.person));
        prop_assert_eq!((second.work_experience, second.education_experience,
            second.certifications), (None, None, None));
        prop_assert_eq!(second.proposals, first.proposals);
    }

    #[test]
    fn what_is_set_is_known_again(current in records(), profile in profiles(),
        ours in some_fields()) {
        let decision = decide(&current, &profile, &sources_of(&current, &ours));
        let after = applied(&current, &decision);
        for field in decision.fields() {
            match field {
                Field::Emails | Field::Phones => {}
                _ => prop_assert!(decision.set.contains(&Sourced::of(field,
                    &value_of(&after, field))), "{}", field.name()),
            }
        }
        prop_assert!(decision.proposals.iter().all(|(field,
            _)| !decision.fields().contains(field)));
        prop_assert!(decision.fields().is_sorted());
    }

    #[test]
    fn somebody_of_whom_nothing_is_known_gets_everything(profile in profiles()) {
        let decision = decide(&unknown(), &profile, &sources_of(&unknown(), &[Field::SocialUrl]));
        let after = applied(&unknown(), &decision);
        prop_assert!(decision.proposals.is_empty(), "{:?}", decision.proposals);
        prop_assert_eq!(after.company_name, profile.company_name.unwrap_or_default());
        prop_assert_eq!(after.work_experience, text(&profile.work_experience));
    }
}
