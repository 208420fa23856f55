//! Records that are gone: merged into another, which answers in their place, or erased.

use model::id::{Id, Kind, WorkspaceId};
use model::problem::{Code, Detail, Problem};
use store::record::former;
use store::{Failure, Tx, Work};

/// The record that stands in for one that is not there: the one that it was merged into.
pub async fn survivor<K: Kind>(tx: &mut Tx, workspace: WorkspaceId, id: Id<K>) -> Result<Id<K>, Failure> {
    let former = former::find(tx, workspace, id).await?.ok_or_else(|| Problem::not_found(K::NOUN, id))?;
    let erased = || Problem::new(Code::Erased, format!("The {} {id} was erased on {}.", K::NOUN, former.gone_at));
    Ok(former.merged_into.ok_or_else(erased)?)
}

/// The refusal of a request that names an erased record in a field, and perhaps others in other fields.
pub fn erased_too<K: Kind>(others: Option<Problem>, erased: Problem, field: &str, id: Id<K>) -> Problem {
    others.unwrap_or(erased).with(Detail::about(field, format!("names a {} who was erased", K::NOUN), id))
}

/// Finds the stand-in of a record that was read and is not there.
pub struct FindSurvivor<K: Kind> {
    pub workspace: WorkspaceId,
    pub id: Id<K>,
}

impl<K: Kind> Work for FindSurvivor<K> {
    type Output = Id<K>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Id<K>, Failure> {
        survivor(tx, self.workspace, self.id).await
    }
}
