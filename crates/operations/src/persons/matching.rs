//! Whom a create is about: the person at whom its identifiers point. A weaker identifier joins
//! nobody whose stronger ones differ.

use slated_model::id::{PersonId, WorkspaceId};
use slated_model::person::{Identifier, IdentifierKind, NewPerson, Person, identifiers};
use slated_model::problem::FieldError;
use slated_model::social::SocialProfile;
use slated_store::records::identifier;
use slated_store::records::identifier::Holder;
use slated_store::{Asked, StoreError, Tx};

/// The identifiers of a create, and who holds each as it was asked for.
pub struct Looking {
    wanted: Vec<Identifier>,
    holders: Vec<Asked<Holder>>,
}

/// At whom the identifiers of a create point.
#[derive(Default)]
pub struct Matching {
    /// Those who may be meant, the one first at whom the strongest identifier points.
    pub persons: Vec<Pointed>,
    /// Those who are somebody else: a stronger identifier of theirs differs.
    pub others: Vec<Pointed>,
}

/// A person, and the identifiers that point at them, the strongest first.
#[derive(Clone)]
pub struct Pointed {
    pub person: PersonId,
    pub by: Vec<Identifier>,
}

impl Matching {
    /// The identifiers that stay with somebody else.
    pub fn held_by_others(&self) -> impl Iterator<Item = &Identifier> {
        self.others.iter().flat_map(|other| &other.by)
    }
}

impl Looking {
    /// Asks who holds each of the identifiers of a create, in their order.
    pub async fn ask(
        tx: &mut Tx,
        workspace: WorkspaceId,
        new: &NewPerson,
    ) -> Result<Self, StoreError> {
        let wanted = identifiers_of(new);
        let mut holders = Vec::with_capacity(wanted.len());
        for wanted in &wanted {
            holders.push(identifier::ask_who_holds(tx, workspace, wanted).await?);
        }
        Ok(Self { wanted, holders })
    }

    pub async fn answer(
        self,
        tx: &mut Tx,
        workspace: WorkspaceId,
        new: &NewPerson,
    ) -> Result<Matching, StoreError> {
        let mut matching = Matching::default();
        for (identifier, holder) in self.wanted.into_iter().zip(self.holders) {
            let Some(holder) = tx.answer(holder).await?.pop() else { continue };
            let Matching { persons, others } = &mut matching;
            match persons
                .iter_mut()
                .chain(others.iter_mut())
                .find(|known| known.person == holder.person)
            {
                Some(known) => known.by.push(identifier),
                None => {
                    let is_other = differs(
                        new,
                        identifier.kind,
                        holder.external_source_id.as_deref(),
                        &holder.social,
                    );
                    let list = if is_other { others } else { persons };
                    list.push(Pointed { person: holder.person, by: vec![identifier] });
                }
            }
        }
        if matching.persons.len() > 1 {
            matching.prefer_the_first(tx, workspace).await?;
        }
        Ok(matching)
    }
}

impl Matching {
    /// Several may have an identifier, and only one of them holds it. Where the person at whom a
    /// stronger one points has it too, they are meant.
    async fn prefer_the_first(
        &mut self,
        tx: &mut Tx,
        workspace: WorkspaceId,
    ) -> Result<(), StoreError> {
        let Some((first, rest)) = self.persons.split_first_mut() else { return Ok(()) };
        let has = identifier::of_person(tx, workspace, first.person).await?;
        for other in rest {
            let (shared, own) = std::mem::take(&mut other.by)
                .into_iter()
                .partition(|identifier| has.contains(identifier));
            first.by.extend::<Vec<_>>(shared);
            other.by = own;
        }
        self.persons.retain(|pointed| !pointed.by.is_empty());
        Ok(())
    }
}

pub fn identifiers_of(new: &NewPerson) -> Vec<Identifier> {
    identifiers(new.external_source_id.as_deref(), &new.social, &new.emails)
}

/// Whether a person who was found by an identifier of that kind is somebody else all the same.
pub fn is_somebody_else(new: &NewPerson, found_by: IdentifierKind, person: &Person) -> bool {
    differs(new, found_by, person.external_source_id.as_deref(), &person.social)
}

fn differs(
    new: &NewPerson,
    found_by: IdentifierKind,
    external_source_id: Option<&str>,
    social: &SocialProfile,
) -> bool {
    let differs_outside = || {
        matches!((new.external_source_id.as_deref(), external_source_id),
        (Some(one), Some(other)) if one != other)
    };
    match found_by {
        IdentifierKind::ExternalSource => false,
        IdentifierKind::SocialProfile => differs_outside(),
        IdentifierKind::Email => differs_outside() || new.social.contradicts(social),
    }
}

/// Says that an identifier belongs to a person.
pub fn held_by(id: PersonId, identifier: &Identifier) -> FieldError {
    FieldError::about(
        identifier.kind.field(),
        format!("{} belongs to person {id}", identifier.shown()),
        id,
    )
}
