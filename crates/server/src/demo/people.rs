//! Invented persons, as many as are asked for. The number of a person decides everything about
//! them, so that person 7 is the same on every machine, and no two share an e-mail address, a
//! handle or an outside id.

use slated_model::career::{CareerPatch, CompanyReference};
use slated_model::clock::Timestamp;
use slated_model::contact::{Channel, ContactType, Contacts};
use slated_model::id::CompanyId;
use slated_model::input::Reference;
use slated_model::name::PersonName;
use slated_model::patch::Patch;
use slated_model::person::{Association, NewPerson, OnDuplicate};
use slated_model::social::SocialProfile;
use slated_operations::Actor;
use slated_operations::etag::Precondition;
use slated_operations::persons::create::{CreatePerson, CreatedPerson};
use slated_operations::persons::history::ReplaceHistory;
use slated_store::{Operation, OperationError, Tx};

use super::career::Career;
use super::random::{Random, word_at};
use super::regions::{NAMES, REGIONS, Region, slug};
use super::role::Role;

/// How many persons there are before a name comes again.
const DIFFERENT_NAMES: u64 = (REGIONS.len() * NAMES * NAMES) as u64;
/// The numbers below that are shuffled bit by bit.
const _: () = assert!(DIFFERENT_NAMES.is_power_of_two());

const NOTES: &[&str] = &[
    "Met at the spring career fair; open to a move within six months.",
    "Prefers to be called after 17:00.",
    "Asked for remote work on two days a week.",
    "Referred by a former colleague who speaks highly of them.",
    "Salary expectation is above the band; worth a conversation anyway.",
    "Notice period is three months to the end of a quarter.",
    "Speaks three languages fluently.\nWould relocate with family.",
    "Was second choice last year and wants to hear of the next opening.",
    "Portfolio reviewed, very strong.",
    "Do not contact at work.",
];

/// All that is known of an invented person.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Profile {
    pub new: NewPerson,
    pub history: CareerPatch,
}

/// The person of that number as of `now`, in a line of work that the number decides.
#[must_use]
pub fn person(number: u64, now: Timestamp) -> Profile {
    person_as(number, &Role::any(number), now)
}

/// The person of that number as of `now`, in that role.
#[must_use]
pub fn person_as(number: u64, role: &Role, now: Timestamp) -> Profile {
    let mut random = Random::new(number);
    let identity = Identity::of(number);
    let career = Career::draw(&mut random, role, identity.region, now);
    let new = NewPerson {
        name: PersonName::complete(
            String::new(),
            identity.given.to_owned(),
            identity.family.to_owned(),
        ),
        social: if random.chance(85) { identity.social() } else { SocialProfile::default() },
        current_job_title: career.title,
        company_name: career.employer.map(str::to_owned),
        social_location: random.word(identity.region.cities).to_owned(),
        external_source_id: random.chance(35).then(|| format!("legacy-{:07}", 1000 + number)),
        emails: identity.draw_emails(&mut random, career.employer),
        phones: draw_phones(&mut random, identity.region.phone),
        notes: random.chance(20).then(|| (*random.pick(NOTES)).to_owned()),
        association: Association::default(),
        enrich: false,
        dropped: Vec::new(),
    };
    Profile { new, history: career.history }
}

/// Who a person is, and under which name they are known nowhere else.
struct Identity {
    region: &'static Region,
    given: &'static str,
    family: &'static str,
    /// Empty for the first person of that name.
    suffix: String,
}

impl Identity {
    fn of(number: u64) -> Self {
        let scattered = scatter(number % DIFFERENT_NAMES) as usize;
        let region = &REGIONS[scattered % REGIONS.len()];
        let suffix = match number / DIFFERENT_NAMES {
            0 => String::new(),
            earlier => (earlier + 1).to_string(),
        };
        Self {
            region,
            given: word_at(region.given, scattered / REGIONS.len() % NAMES),
            family: word_at(region.family, scattered / REGIONS.len() / NAMES),
            suffix,
        }
    }

    fn social(&self) -> SocialProfile {
        let handle = format!("{}-{}{}", slug(self.given), slug(self.family), self.suffix);
        SocialProfile { url: format!("https://social.example/in/{handle}"), handle }
    }

    fn draw_emails(&self, random: &mut Random, employer: Option<&str>) -> Contacts {
        let local = format!("{}.{}{}", slug(self.given), slug(self.family), self.suffix);
        let mut emails = Contacts::new(Channel::Email);
        if let Some(employer) = employer {
            emails.add_typed(ContactType::Work, format!("{local}@{}.example", slug(employer)));
        }
        if employer.is_none() || random.chance(45) {
            emails.add_typed(
                ContactType::Personal,
                format!("{local}@{}", random.word("example.com|example.org|example.net")),
            );
        }
        if random.chance(8) {
            emails.add_typed(ContactType::Other, format!("{local}@alumni.example"));
        }
        emails
    }
}

/// A reordering of the numbers below [`DIFFERENT_NAMES`], so that neighbours have little in common.
const fn scatter(number: u64) -> u64 {
    // Each step can be undone within that many bits, so no two numbers become one.
    let mixed = number.wrapping_mul(2731) % DIFFERENT_NAMES;
    let mixed = (mixed ^ (mixed >> 5)).wrapping_mul(1117) % DIFFERENT_NAMES;
    mixed ^ (mixed >> 7)
}

fn draw_phones(random: &mut Random, pattern: &str) -> Contacts {
    let mut phones = Contacts::new(Channel::Phone);
    for (kind, percent) in
        [(ContactType::Mobile, 90), (ContactType::Work, 30), (ContactType::Home, 10)]
    {
        if random.chance(percent) {
            let digit = |mark: char| {
                if mark == '#' { char::from(b'0' + random.below(10) as u8) } else { mark }
            };
            phones.add_typed(kind, pattern.chars().map(digit).collect());
        }
    }
    phones
}

/// Stores a person together with their history.
pub struct AddPerson {
    pub actor: Actor,
    pub profile: Profile,
}

impl Operation for AddPerson {
    type Output = CreatedPerson;

    async fn run(&self, tx: &mut Tx) -> Result<CreatedPerson, OperationError> {
        let Self { actor, profile } = self;
        let create = CreatePerson::new(actor.clone(), profile.new.clone(), OnDuplicate::Merge);
        let created = create.run(tx).await?;
        let career = with_employer(profile.history.clone(), created.person.company_id);
        let replace = ReplaceHistory {
            actor: actor.clone(),
            id: created.person.id,
            career,
            precondition: Precondition::None,
        };
        replace.run(tx).await?;
        Ok(created)
    }
}

/// The history with the id of the company at which the person is now.
fn with_employer(mut history: CareerPatch, employer: Option<CompanyId>) -> CareerPatch {
    if let (Some(id), Patch::Set(work)) = (employer, &mut history.work_experience)
        && let Some(newest) = work.first_mut()
    {
        newest.company.company_id = Some(id);
        let company = Reference { written: id.to_string(), id: Some(id) };
        history
            .companies
            .push(CompanyReference { field: "work_experience[0].company_id".to_owned(), company });
    }
    history
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn now() -> Timestamp {
        Timestamp::parse("2026-11-15T09:30:00Z").unwrap()
    }

    fn some_persons() -> impl Iterator<Item = Profile> {
        (0..500).map(|number| person(number, now()))
    }

    #[test]
    fn a_number_always_means_the_same_person() {
        for number in [0, 7, 4095, 4096, 999_999] {
            assert_eq!(person(number, now()), person(number, now()));
        }
        assert_ne!(person(1, now()).new.name, person(2, now()).new.name);
    }

    #[test]
    fn no_two_persons_share_an_identifier() {
        let mut seen = HashSet::new();
        for number in 0..3 * DIFFERENT_NAMES {
            let new = person(number, now()).new;
            assert!(!new.emails.entries().is_empty(), "{number}");
            for key in new.emails.keys().chain(new.external_source_id) {
                assert!(seen.insert(key.clone()), "{number}: {key}");
            }
            assert!(
                new.social.handle.is_empty() || seen.insert(new.social.handle.clone()),
                "{number}: {}",
                new.social.handle
            );
        }
    }

    #[test]
    fn handles_are_those_that_a_client_would_get() {
        for profile in some_persons().filter(|profile| !profile.new.social.url.is_empty()) {
            assert_eq!(
                SocialProfile::parse(profile.new.social.url.clone()),
                Ok(profile.new.social)
            );
        }
    }

    #[test]
    fn every_shape_of_contacts_occurs() {
        let mut kinds = HashSet::new();
        for profile in some_persons() {
            kinds.extend(
                profile
                    .new
                    .emails
                    .entries()
                    .iter()
                    .map(|entry| format!("e-mail {:?}", entry.contact_data_type)),
            );
            kinds.extend(
                profile
                    .new
                    .phones
                    .entries()
                    .iter()
                    .map(|entry| format!("phone {:?}", entry.contact_data_type)),
            );
        }
        assert_eq!(kinds.len(), 6, "{kinds:?}");
        assert!(some_persons().any(|profile| profile.new.company_name.is_none()));
        assert!(some_persons().any(|profile| profile.new.emails.entries().len() == 3));
    }

    #[test]
    fn work_is_told_from_the_newest_to_the_oldest() {
        for profile in some_persons() {
            let work = profile.history.work_experience.set().unwrap();
            let spans: Vec<_> = work
                .iter()
                .flat_map(|entry| &entry.positions)
                .map(|position| {
                    (position.start_date.unwrap(), position.end_date.unwrap_or(now().date()))
                })
                .collect();
            assert!(spans.iter().all(|(start, end)| start <= end), "{spans:?}");
            assert!(spans.windows(2).all(|pair| pair[1].1 < pair[0].0), "{spans:?}");
            assert_eq!(work[0].positions[0].end_date.is_none(), profile.new.company_name.is_some());
            assert!(work.iter().all(|entry| entry.duration_in_months > 0));
        }
    }

    #[test]
    fn degrees_come_before_work_and_certificates_after_its_start() {
        for profile in some_persons() {
            let work = profile.history.work_experience.set().unwrap();
            let begun = work
                .last()
                .and_then(|entry| entry.positions.last())
                .and_then(|position| position.start_date)
                .unwrap();
            let mut after = begun;
            for degree in profile.history.education_experience.set().unwrap() {
                assert!(
                    degree.start_date.unwrap() < degree.end_date.unwrap()
                        && degree.end_date.unwrap() < after
                );
                after = degree.start_date.unwrap();
            }
            for certificate in profile.history.certifications.set().unwrap() {
                assert!(
                    begun < certificate.start_date.unwrap()
                        && certificate.start_date.unwrap() < now().date()
                );
                assert!(
                    certificate.end_date.is_none_or(|end| certificate.start_date.unwrap() < end)
                );
            }
        }
    }

    #[test]
    fn some_careers_have_grouped_positions() {
        assert!(some_persons().any(|profile| {
            profile
                .history
                .work_experience
                .set()
                .unwrap()
                .iter()
                .any(|entry| entry.positions.len() == 3)
        }));
    }
}
