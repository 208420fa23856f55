//! Two records of one person made one: what the one that stays takes from the other, and where a
//! candidate stands who was on a job twice.

use crate::clock::Timestamp;
use crate::contact::too_many;
use crate::id::StageId;
use crate::person::Person;
use crate::problem::{FieldErrorCode, Problem};
use crate::stage::Stage;
use crate::text::limit;

/// Fills what is empty of the person from the other and unites the contacts; nothing that is known
/// is overwritten.
pub fn absorb(person: &mut Person, other: &Person) -> Result<(), Problem> {
    let fill = |field: &mut String, value: &String| {
        if field.is_empty() {
            field.clone_from(value);
        }
    };
    if !person.name.is_known() && other.name.is_known() {
        person.name = other.name.clone();
    }
    if person.social.handle.is_empty() {
        person.social = other.social.clone();
    }
    fill(&mut person.current_job_title, &other.current_job_title);
    fill(&mut person.social_location, &other.social_location);
    fill(&mut person.social_headline, &other.social_headline);
    fill(&mut person.address, &other.address);
    person.company_id = person.company_id.or(other.company_id);
    if person.external_source_id.is_none() {
        person.external_source_id.clone_from(&other.external_source_id);
    }
    person.emails.unite(&other.emails);
    person.phones.unite(&other.phones);
    for (contacts, noun) in
        [(&person.emails, "e-mail addresses"), (&person.phones, "phone numbers")]
    {
        let count = contacts.entries().len();
        if count > limit::CONTACTS {
            let message = format!("the merged person would have {count} {noun}; {}", too_many());
            return Err(Problem::invalid("person_id", FieldErrorCode::TooMany, message));
        }
    }
    Ok(())
}

/// The stage that a candidate is in, and since when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CandidatePosition {
    pub stage: StageId,
    pub since: Timestamp,
}

/// Where somebody stands who was on the job twice: in the further of the two stages that is no
/// rejection stage; if both are, in the one that was entered last.
#[must_use]
pub fn further(
    stages: &[Stage],
    one: CandidatePosition,
    other: CandidatePosition,
) -> CandidatePosition {
    let reached = |standing: CandidatePosition| {
        let stage =
            stages.iter().find(|stage| stage.id == standing.stage && !stage.is_rejection_stage);
        stage.map(|stage| stage.stage_order)
    };
    match (reached(one), reached(other)) {
        (None, None) if other.since > one.since => other,
        (one_reached, other_reached) if other_reached > one_reached => other,
        _ => one,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::contact::{Channel, Contact, ContactType, Contacts};
    use crate::id::{CompanyId, PersonId};
    use crate::name::PersonName;
    use crate::social::SocialProfile;

    fn person(number: u128) -> Person {
        Person {
            id: PersonId::at(Timestamp::from_millis(1_000), number),
            name: PersonName::stand_in("ada"),
            social: SocialProfile::default(),
            current_job_title: String::new(),
            company_id: None,
            social_location: String::new(),
            social_headline: String::new(),
            address: String::new(),
            external_source_id: None,
            emails: Contacts::new(Channel::Email),
            phones: Contacts::new(Channel::Phone),
        }
    }

    fn email(number: usize) -> Contact {
        Contact { contact_data_type: ContactType::Work, value: format!("{number}@x.example") }
    }

    fn stages() -> Vec<Stage> {
        let stage = |order: i64, is_rejection_stage| Stage {
            id: stage_id(order),
            name: format!("Stage {order}"),
            stage_order: order,
            is_rejection_stage,
            is_interviewing_stage: false,
        };
        vec![stage(1, false), stage(2, false), stage(3, true), stage(4, true)]
    }

    fn stage_id(order: i64) -> StageId {
        StageId::at(Timestamp::from_millis(order), 1)
    }

    fn standing(order: i64, since: i64) -> CandidatePosition {
        CandidatePosition { stage: stage_id(order), since: Timestamp::from_millis(since) }
    }

    #[test]
    fn what_is_empty_is_filled_and_what_is_known_stays() {
        let mut kept = Person { address: "London".to_owned(), ..person(1) };
        let other = Person {
            name: PersonName::complete("Ada Lovelace".to_owned(), String::new(), String::new()),
            address: "Paris".to_owned(),
            social_headline: "Countess".to_owned(),
            company_id: Some(CompanyId::at(Timestamp::from_millis(1), 1)),
            external_source_id: Some("crm-1".to_owned()),
            ..person(2)
        };
        absorb(&mut kept, &other).unwrap();
        assert_eq!(
            (kept.id, kept.name.whole.as_str(), kept.address.as_str()),
            (person(1).id, "Ada Lovelace", "London")
        );
        assert_eq!(
            (kept.social_headline.as_str(), kept.company_id),
            ("Countess", other.company_id)
        );
        assert_eq!(kept.external_source_id, other.external_source_id);
    }

    #[test]
    fn a_known_name_stays() {
        let named =
            |name: &str| PersonName::complete(name.to_owned(), String::new(), String::new());
        let mut kept = Person { name: named("Ada"), ..person(1) };
        absorb(&mut kept, &Person { name: named("Ada Lovelace"), ..person(2) }).unwrap();
        assert_eq!(kept.name, named("Ada"));
    }

    #[test]
    fn contacts_are_united_within_their_bound() {
        let with = |from: usize, to: usize| Person {
            emails: Contacts::of(Channel::Email, (from..to).map(email).collect()),
            ..person(1)
        };
        let mut kept = with(0, 30);
        absorb(&mut kept, &with(10, 50)).unwrap();
        assert_eq!(kept.emails.entries().len(), 50);
        let problem = absorb(&mut kept, &with(50, 51)).unwrap_err();
        assert_eq!(
            (problem.details[0].field.as_str(), problem.details[0].code),
            ("person_id", FieldErrorCode::TooMany)
        );
    }

    #[test]
    fn the_further_stage_counts_and_a_rejection_only_beside_another() {
        for (one, other, wanted) in [
            (standing(1, 5), standing(2, 1), standing(2, 1)),
            (standing(2, 1), standing(1, 5), standing(2, 1)),
            (standing(4, 9), standing(1, 1), standing(1, 1)),
            (standing(1, 1), standing(3, 9), standing(1, 1)),
            (standing(3, 1), standing(4, 2), standing(4, 2)),
            (standing(3, 2), standing(4, 1), standing(3, 2)),
            (standing(2, 1), standing(2, 5), standing(2, 1)),
        ] {
            assert_eq!(further(&stages(), one, other), wanted, "{one:?} {other:?}");
        }
    }

    proptest! {
        #[test]
        fn it_does_not_matter_which_of_the_two_stays(one in 1..5i64, other in 1..5i64,
            since in 0..3i64, then in 3..6i64) {
            let (one, other) = (standing(one, since), standing(other, then));
            prop_assert_eq!(further(&stages(), one, other).stage,
                further(&stages(), other, one).stage);
        }
    }
}
