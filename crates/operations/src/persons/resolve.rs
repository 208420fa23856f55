//! Who would be matched by a create, without creating anybody.

use slated_model::id::{PersonId, WorkspaceId};
use slated_model::person::{Identifier, NewPerson};
use slated_store::records::person;
use slated_store::{Operation, OperationError, Tx};

use crate::persons::matching::{Looking, Matching, Pointed};

pub struct ResolvePerson {
    pub workspace: WorkspaceId,
    pub new: NewPerson,
}

/// At whom the identifiers point.
pub struct Resolved {
    /// In the order in which a create looks for them.
    pub matches: Vec<Match>,
    /// Those who are somebody else.
    pub others: Vec<Match>,
}

/// A person at whom some of the identifiers point.
pub struct Match {
    pub person_id: PersonId,
    pub name: String,
    pub by: Vec<Identifier>,
}

impl Operation for ResolvePerson {
    type Output = Resolved;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Resolved, OperationError> {
        let looking = Looking::ask(tx, self.workspace, &self.new).await?;
        let Matching { persons, others } = looking.answer(tx, self.workspace, &self.new).await?;
        let ids: Vec<_> = persons.iter().chain(&others).map(|pointed| pointed.person).collect();
        let names = person::names(tx, self.workspace, &ids).await?;
        let named = |Pointed { person, by }: Pointed| {
            let name = names.iter().find(|(id, _)| *id == person).map(|(_, name)| name.clone());
            Match { person_id: person, name: name.unwrap_or_default(), by }
        };
        Ok(Resolved {
            matches: persons.into_iter().map(named).collect(),
            others: others.into_iter().map(named).collect(),
        })
    }
}
