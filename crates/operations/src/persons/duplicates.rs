//! Looking for persons who are likely the same one.

use std::collections::{BTreeSet, HashMap};

use slated_model::duplicate::{MatchSignal, Place, Profile, Reason, reasons};
use slated_model::id::{PersonId, WorkspaceId};
use slated_store::records::duplicate;
use slated_store::{Operation, OperationError, StoreError, Tx};

/// Persons that a page looks at.
const MAX_LOOKED_AT: usize = 500;
/// Persons that are looked at together.
const AT_ONCE: usize = 100;
/// What more persons have in common is no sign that two of them are one: the number of a
/// switchboard, an address such as info@.
const MAX_ALIKE: usize = 20;

pub struct FindDuplicates {
    pub workspace: WorkspaceId,
    /// Where the page before ended.
    pub after: Option<Place>,
    pub limit: usize,
}

/// Two persons, the lower id first.
pub struct Pair {
    pub persons: [Profile; 2],
    pub reasons: Vec<Reason>,
}

impl Operation for FindDuplicates {
    /// With the place to go on from, if the end was not reached.
    type Output = (Vec<Pair>, Option<Place>);

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let mut pairs: Vec<Pair> = Vec::new();
        let mut place = self.after;
        let mut looked_at = 0;
        loop {
            let some = self.next_persons(tx, place).await?;
            let partners = self.partners(tx, &some).await?;
            for one in &some {
                let seen =
                    place.filter(|place| place.person == one.id).and_then(|place| place.partner);
                for other in partners.of(one, seen) {
                    let reasons = reasons(one, other, |sign| partners.counts(sign));
                    if reasons.is_empty() {
                        continue;
                    }
                    if pairs.len() == self.limit {
                        return Ok((pairs, place));
                    }
                    place = Some(Place { person: one.id, partner: Some(other.id) });
                    pairs.push(Pair { persons: [one.clone(), other.clone()], reasons });
                }
            }
            let Some(last) = some.last().filter(|_| some.len() == AT_ONCE) else {
                return Ok((pairs, None));
            };
            place = Some(Place { person: last.id, partner: None });
            looked_at += some.len();
            if looked_at >= MAX_LOOKED_AT || pairs.len() == self.limit {
                return Ok((pairs, place));
            }
        }
    }
}

impl FindDuplicates {
    /// The next persons, beginning with the one at the place if that has more pairs.
    async fn next_persons(
        &self,
        tx: &mut Tx,
        place: Option<Place>,
    ) -> Result<Vec<Profile>, StoreError> {
        let first = place.map_or(PersonId::from_bytes([0; 16]), |place| place.person);
        let done = place.filter(|place| place.partner.is_none()).map(|place| place.person);
        let mut some =
            duplicate::profiles_from(tx, self.workspace, first, AT_ONCE as i64 + 1).await?;
        some.retain(|profile| Some(profile.id) != done);
        some.truncate(AT_ONCE);
        Ok(some)
    }

    /// All who have something in common with one of these persons.
    async fn partners(&self, tx: &mut Tx, some: &[Profile]) -> Result<Partners, StoreError> {
        let mut signs: Vec<MatchSignal> = Vec::new();
        let mut places: HashMap<MatchSignal, usize> = HashMap::new();
        for sign in some.iter().flat_map(Profile::signs) {
            places.entry(sign).or_insert_with_key(|sign| {
                signs.push(sign.clone());
                signs.len() - 1
            });
        }
        let mut sharing = duplicate::sharing(tx, self.workspace, &signs).await?;
        for persons in &mut sharing {
            persons.sort_unstable();
            persons.dedup();
            if persons.len() > MAX_ALIKE {
                persons.clear();
            }
        }
        let ids: BTreeSet<PersonId> = sharing.iter().flatten().copied().collect();
        let ids: Vec<_> = ids.into_iter().collect();
        let profiles = duplicate::profiles(tx, self.workspace, &ids).await?;
        let profiles = profiles.into_iter().map(|profile| (profile.id, profile)).collect();
        Ok(Partners { places, sharing, profiles })
    }
}

/// Who has what in common.
struct Partners {
    places: HashMap<MatchSignal, usize>,
    sharing: Vec<Vec<PersonId>>,
    profiles: HashMap<PersonId, Profile>,
}

impl Partners {
    /// Whether it says something: what very many share does not.
    fn counts(&self, sign: &MatchSignal) -> bool {
        self.places
            .get(sign)
            .and_then(|place| self.sharing.get(*place))
            .is_some_and(|sharing| !sharing.is_empty())
    }

    /// Those with a higher id who share a sign with the person, in the order of their ids, from
    /// behind the one that was seen last.
    fn of(&self, person: &Profile, seen: Option<PersonId>) -> Vec<&Profile> {
        let from = seen.map_or(person.id, |seen| seen.max(person.id));
        let signs = person.signs();
        let sharing = signs
            .iter()
            .filter_map(|sign| self.places.get(sign))
            .filter_map(|place| self.sharing.get(*place))
            .flatten();
        let ids: BTreeSet<PersonId> = sharing.copied().filter(|id| *id > from).collect();
        ids.iter().filter_map(|id| self.profiles.get(id)).collect()
    }
}
