//! What a create says of somebody who is there already: what of it fills gaps of theirs, and what
//! differs and is kept back.

use crate::enrichment::Field;
use crate::enrichment::reconcile::comparable;
use crate::person::{Identifier, IdentifierKind, NewPerson, Person};
use serde_json::Value;

/// A value that differs from the one that is known, which stays.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Differing {
    /// As the create calls it.
    pub field: &'static str,
    pub value: String,
    pub current: String,
    /// For which field it can be proposed.
    pub proposable: Option<Field>,
}

/// What differs of the person whom `by` points at. What they are called and work for counts without
/// case, and a profile by whom it names.
#[must_use]
pub fn differing(
    person: &Person,
    company_name: &str,
    new: &NewPerson,
    by: &[Identifier],
) -> Vec<Differing> {
    let mut differing = Vec::new();
    let mut compare = |field, current: &str, value: &str, proposable: Option<Field>| {
        let is_same = match proposable {
            Some(field) => {
                comparable(field, &Value::from(current)) == comparable(field, &Value::from(value))
            }
            None => current == value,
        };
        let differs = !current.is_empty() && !value.is_empty() && !is_same;
        if differs {
            differing.push(Differing {
                field,
                value: value.to_owned(),
                current: current.to_owned(),
                proposable,
            });
        }
        differs
    };
    if person.name.is_known()
        && new.name.is_known()
        && !compare("name", &person.name.whole, &new.name.whole, Some(Field::Name))
    {
        // The whole name is split otherwise.
        compare("first_name", &person.name.first, &new.name.first, None);
        compare("last_name", &person.name.last, &new.name.last, None);
    }
    // Whoever was merged into them may have had the profile.
    if by.iter().all(|by| by.kind != IdentifierKind::SocialProfile) {
        compare("social_url", &person.social.url, &new.social.url, Some(Field::SocialUrl));
    }
    compare(
        "current_job_title",
        &person.current_job_title,
        &new.current_job_title,
        Some(Field::CurrentJobTitle),
    );
    compare(
        "social_location",
        &person.social_location,
        &new.social_location,
        Some(Field::SocialLocation),
    );
    compare(
        "company_name",
        company_name,
        new.company_name.as_deref().unwrap_or_default(),
        Some(Field::CurrentCompanyName),
    );
    differing
}

/// Whether a create says anything of a field that can be proposed.
#[must_use]
pub fn says(new: &NewPerson, field: Field) -> bool {
    match field {
        Field::Name => new.name.is_known(),
        Field::SocialUrl => !new.social.handle.is_empty(),
        Field::CurrentJobTitle => !new.current_job_title.is_empty(),
        Field::SocialLocation => !new.social_location.is_empty(),
        Field::CurrentCompanyName => new.company_name.is_some(),
        _ => false,
    }
}

/// The fields of a create that filled gaps, or added contacts.
#[must_use]
pub fn filled(before: &Person, after: &Person) -> Vec<&'static str> {
    let changes = [
        ("name", before.name != after.name),
        ("social_url", before.social != after.social),
        ("current_job_title", before.current_job_title != after.current_job_title),
        ("company_name", before.company_id != after.company_id),
        ("social_location", before.social_location != after.social_location),
        ("external_source_id", before.external_source_id != after.external_source_id),
        ("emails", before.emails != after.emails),
        ("phone_numbers", before.phones != after.phones),
    ];
    changes.into_iter().filter(|(_, is_filled)| *is_filled).map(|(field, _)| field).collect()
}
