//! Who would be matched by a create, without creating anybody.

use model::id::{PersonId, WorkspaceId};
use model::person::{Identifier, NewPerson, identifiers};
use store::record::{identifier, person};
use store::{Failure, Tx, Work};

pub struct ResolvePerson {
    pub workspace: WorkspaceId,
    pub new: NewPerson,
}

/// A person at whom some of the identifiers point.
pub struct Match {
    pub person_id: PersonId,
    pub name: String,
    pub by: Vec<Identifier>,
}

impl Work for ResolvePerson {
    /// In the order in which a create looks for them.
    type Output = Vec<Match>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Match>, Failure> {
        let Self { workspace, new } = self;
        let wanted = identifiers(new.external_source_id.as_deref(), &new.social, &new.emails);
        let mut holders = Vec::with_capacity(wanted.len());
        for identifier in &wanted {
            holders.push(identifier::ask_holder(tx, *workspace, identifier).await?);
        }
        let mut matches: Vec<Match> = Vec::new();
        for (identifier, holder) in wanted.into_iter().zip(holders) {
            let Some(person_id) = tx.answer(holder).await?.pop() else { continue };
            match matches.iter_mut().find(|known| known.person_id == person_id) {
                Some(known) => known.by.push(identifier),
                None => matches.push(Match { person_id, name: String::new(), by: vec![identifier] }),
            }
        }
        let ids: Vec<_> = matches.iter().map(|found| found.person_id).collect();
        for (id, name) in person::names(tx, *workspace, &ids).await? {
            if let Some(found) = matches.iter_mut().find(|found| found.person_id == id) {
                found.name = name;
            }
        }
        Ok(matches)
    }
}
