//! Persons who are likely the same one, though nothing that identifies a person says so: for people
//! to look at, and to merge.

use crate::contact::{Channel, Contacts};
use crate::id::{CompanyId, PersonId};
use crate::person::{Identifier, IdentifierKind, identifiers};
use crate::search::words;
use crate::social::SocialProfile;
use crate::text::{comparison_key, digits};

/// How alike two names must be.
const LIKENESS: f64 = 0.85;
/// A shorter number is one within some house, and says nothing outside of it.
const MIN_DIGITS: usize = 6;

/// What is compared of a person, and shown of them beside another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    pub id: PersonId,
    pub name: String,
    pub social: SocialProfile,
    pub current_job_title: String,
    pub company_id: Option<CompanyId>,
    pub company_name: String,
    pub emails: Contacts,
    pub phones: Contacts,
}

/// What likely duplicates have in common, one of these at least.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum MatchSignal {
    /// A profile or an e-mail address, which several have who differ in a stronger identifier.
    Identifier(Identifier),
    /// A phone number, as its digits.
    Phone(String),
    /// The folded name, and where the person works.
    NameAtCompany(String, CompanyId),
    /// A handle on the social network, or the part of an e-mail address before the @.
    Handle(String),
}

impl Profile {
    /// What those have one of who are likely the same person.
    #[must_use]
    pub fn signs(&self) -> Vec<MatchSignal> {
        let phones = self.phones.entries().iter().filter(|phone| is_long(&phone.value));
        let mut signs: Vec<MatchSignal> =
            self.identifiers().into_iter().map(MatchSignal::Identifier).collect();
        signs.extend(phones.map(|phone| MatchSignal::Phone(Channel::Phone.key(&phone.value))));
        signs.extend(
            self.company_id
                .map(|company| MatchSignal::NameAtCompany(comparison_key(&self.name), company)),
        );
        for handle in self.handles() {
            let sign = MatchSignal::Handle(handle);
            if !signs.contains(&sign) {
                signs.push(sign);
            }
        }
        signs
    }

    fn identifiers(&self) -> Vec<Identifier> {
        identifiers(None, &self.social, &self.emails)
    }

    /// How the person calls themselves: on the social network, and before the @ of their addresses.
    fn handles(&self) -> Vec<String> {
        let social = (!self.social.handle.is_empty()).then(|| self.social.handle.clone());
        let addresses = self
            .emails
            .keys()
            .filter_map(|address| address.split_once('@').map(|(local, _)| local.to_owned()));
        social.into_iter().chain(addresses).collect()
    }
}

fn is_long(number: &str) -> bool {
    digits(number).count() >= MIN_DIGITS
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ReasonKind {
    SameSocialProfile,
    SameEmail,
    SamePhone,
    SameNameAndCompany,
    SimilarNameAndHandle,
}

impl ReasonKind {
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SameSocialProfile => "same_social_profile",
            Self::SameEmail => "same_email",
            Self::SamePhone => "same_phone",
            Self::SameNameAndCompany => "same_name_and_company",
            Self::SimilarNameAndHandle => "similar_name_and_handle",
        }
    }
}

/// Why two persons are likely the same: the profile, the address, the number, the company or the
/// handle that they have in common.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    pub kind: ReasonKind,
    pub value: String,
}

/// All that speaks for it that the two are one, of the signs that count; nothing if nothing does.
pub fn reasons(
    one: &Profile,
    other: &Profile,
    counts: impl Fn(&MatchSignal) -> bool,
) -> Vec<Reason> {
    let mut reasons = Vec::new();
    let shared = other.identifiers();
    for identifier in one.identifiers().into_iter().filter(|identifier| shared.contains(identifier))
    {
        let kind = match identifier.kind {
            IdentifierKind::Email => ReasonKind::SameEmail,
            IdentifierKind::SocialProfile | IdentifierKind::ExternalSource => {
                ReasonKind::SameSocialProfile
            }
        };
        let value = identifier.shown();
        if counts(&MatchSignal::Identifier(identifier)) {
            reasons.push(Reason { kind, value });
        }
    }
    for phone in one
        .phones
        .entries()
        .iter()
        .filter(|phone| is_long(&phone.value) && other.phones.contains(&phone.value))
    {
        if counts(&MatchSignal::Phone(Channel::Phone.key(&phone.value))) {
            reasons.push(Reason { kind: ReasonKind::SamePhone, value: phone.value.clone() });
        }
    }
    if let Some(company) = one.company_id.filter(|company| other.company_id == Some(*company))
        && comparison_key(&one.name) == comparison_key(&other.name)
        && counts(&MatchSignal::NameAtCompany(comparison_key(&one.name), company))
    {
        reasons
            .push(Reason { kind: ReasonKind::SameNameAndCompany, value: one.company_name.clone() });
    }
    let known = other.handles();
    let shared = one
        .handles()
        .into_iter()
        .find(|handle| known.contains(handle) && counts(&MatchSignal::Handle(handle.clone())));
    if let Some(value) = shared.filter(|_| are_similar(&one.name, &other.name)) {
        reasons.push(Reason { kind: ReasonKind::SimilarNameAndHandle, value });
    }
    reasons
}

/// Whether two names are alike, in whatever order their words stand.
fn are_similar(one: &str, other: &str) -> bool {
    let mut one: Vec<_> = words(one).collect();
    let mut other: Vec<_> = words(other).collect();
    if one.is_empty() || other.is_empty() {
        return false;
    }
    let alike = |one: &[String], other: &[String]| {
        strsim::jaro_winkler(&one.join(" "), &other.join(" ")) >= LIKENESS
    };
    if alike(&one, &other) {
        return true;
    }
    one.sort_unstable();
    other.sort_unstable();
    alike(&one, &other)
}

/// How far the search for pairs has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// The last person whose pairs were looked for.
    pub person: PersonId,
    /// The other of their last pair; none if they have no more.
    pub partner: Option<PersonId>,
}

impl Place {
    #[must_use]
    pub fn parse(written: &str) -> Option<Self> {
        match written.split_once('.') {
            Some((person, partner)) => Some(Self {
                person: PersonId::parse(person)?,
                partner: Some(PersonId::parse(partner)?),
            }),
            None => Some(Self { person: PersonId::parse(written)?, partner: None }),
        }
    }

    #[must_use]
    pub fn write(&self) -> String {
        match self.partner {
            Some(partner) => format!("{}.{partner}", self.person),
            None => self.person.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::clock::Timestamp;
    use crate::contact::{Contact, ContactType};

    fn company(number: u128) -> Option<CompanyId> {
        Some(CompanyId::at(Timestamp::from_millis(1), number))
    }

    fn contacts(channel: Channel, values: &[&str]) -> Contacts {
        let contact = |value: &&str| Contact {
            contact_data_type: ContactType::Other,
            value: (*value).to_owned(),
        };
        Contacts::of(channel, values.iter().map(contact).collect())
    }

    fn named(name: &str) -> Profile {
        Profile {
            id: PersonId::at(Timestamp::from_millis(1), 1),
            name: name.to_owned(),
            social: SocialProfile::default(),
            current_job_title: String::new(),
            company_id: None,
            company_name: String::new(),
            emails: contacts(Channel::Email, &[]),
            phones: contacts(Channel::Phone, &[]),
        }
    }

    fn kinds(one: &Profile, other: &Profile) -> Vec<ReasonKind> {
        let reasons = |one: &Profile, other: &Profile| reasons(one, other, |_| true);
        assert_eq!(reasons(one, other).len(), reasons(other, one).len());
        reasons(one, other).into_iter().map(|reason| reason.kind).collect()
    }

    fn share_a_sign(one: &Profile, other: &Profile) -> bool {
        one.signs().iter().any(|sign| other.signs().contains(sign))
    }

    #[test]
    fn a_phone_number_counts_however_it_is_written() {
        let one =
            Profile { phones: contacts(Channel::Phone, &["+44 20 7946 0000"]), ..named("Ada") };
        let other =
            Profile { phones: contacts(Channel::Phone, &["123", "0044"]), ..named("Grace") };
        assert_eq!(kinds(&one, &other), []);
        let other =
            Profile { phones: contacts(Channel::Phone, &["(44) 2079460000"]), ..named("Grace") };
        assert_eq!(
            reasons(&one, &other, |_| true),
            [Reason { kind: ReasonKind::SamePhone, value: "+44 20 7946 0000".to_owned() }]
        );
        assert!(share_a_sign(&one, &other));
    }

    #[test]
    fn a_short_number_says_nothing() {
        let with = |name| Profile { phones: contacts(Channel::Phone, &["12345"]), ..named(name) };
        assert_eq!(kinds(&with("Ada"), &with("Grace")), []);
        assert!(with("Ada").signs().is_empty());
    }

    #[test]
    fn the_same_name_counts_within_a_company() {
        let at = |name: &str, number| Profile {
            company_id: company(number),
            company_name: "Engines".to_owned(),
            ..named(name)
        };
        assert_eq!(
            kinds(&at("Ada  Lovelace", 1), &at("ada lovelace", 1)),
            [ReasonKind::SameNameAndCompany]
        );
        assert!(share_a_sign(&at("Ada  Lovelace", 1), &at("ada lovelace", 1)));
        assert_eq!(kinds(&at("Ada Lovelace", 1), &at("Ada Lovelace", 2)), []);
        assert_eq!(kinds(&named("Ada Lovelace"), &named("Ada Lovelace")), []);
        assert_eq!(kinds(&at("Ada Lovelace", 1), &at("Ada Byron", 1)), []);
    }

    #[test]
    fn a_handle_counts_with_a_similar_name() {
        let with = |name: &str, handle: &str, email: &str| Profile {
            social: SocialProfile {
                url: email.replace('@', ".").replacen("", "https://", 1),
                handle: handle.to_owned(),
            },
            emails: contacts(Channel::Email, &[email]),
            ..named(name)
        };
        let ada = with("Ada Lovelace", "ada-l", "x@a.example");
        for (name, handle, email) in [
            ("Ada Lovelacé", "ada-l", "y@b.example"),
            ("Lovelace, Ada", "other", "ADA-L@b.example"),
            ("Ada K. Lovelace", "x", "z@b.example"),
        ] {
            let other = with(name, handle, email);
            assert_eq!(kinds(&ada, &other), [ReasonKind::SimilarNameAndHandle], "{name}");
            assert!(share_a_sign(&ada, &other), "{name}");
        }
        assert_eq!(kinds(&ada, &with("Grace Hopper", "ada-l", "y@b.example")), []);
        assert_eq!(kinds(&ada, &with("Ada Lovelace", "other", "y@b.example")), []);
    }

    proptest! {
        #[test]
        fn a_place_survives_being_written_and_read(one: u128, other: u128, is_done: bool) {
            let id = |random| PersonId::at(Timestamp::from_millis(1), random);
            let place = Place { person: id(one), partner: (!is_done).then(|| id(other)) };
            prop_assert_eq!(Place::parse(&place.write()), Some(place));
        }

        #[test]
        fn reading_a_place_never_panics(text in "\\PC*") {
            let _ = Place::parse(&text);
        }
    }
}
