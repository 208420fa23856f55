//! Records that are gone: merged into another, which answers in their place, or erased.

use slated_model::id::{Id, Kind, WorkspaceId};
use slated_model::problem::{ErrorCode, FieldError, Problem};
use slated_store::records::merged_ids;
use slated_store::{Operation, OperationError, StoreError, Tx};

/// The record that stands in for one that is not there: the one that it was merged into.
pub async fn resolve_merged_id<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: Id<K>,
) -> Result<Id<K>, OperationError> {
    let former = merged_ids::find(tx, workspace, id)
        .await?
        .ok_or_else(|| Problem::not_found(K::NOUN, id))?;
    let erased = || {
        Problem::new(
            ErrorCode::Erased,
            format!("The {} {id} was erased on {}.", K::NOUN, former.gone_at),
        )
    };
    Ok(former.merged_into.ok_or_else(erased)?)
}

/// Why a record that was erased cannot be meant.
pub async fn refusal_of<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: Id<K>,
) -> Result<Problem, OperationError> {
    match resolve_merged_id(tx, workspace, id).await {
        Err(OperationError::Rejected(problem)) if problem.code == ErrorCode::Erased => Ok(problem),
        Err(failure) => Err(failure),
        Ok(_) => Err(StoreError::Conflict(format!("the {} exists again", K::NOUN)).into()),
    }
}

/// Adds the field in which an erased record is named to the refusal.
pub fn erased_too<K: Kind>(refusal: Problem, field: &str, id: Id<K>) -> Problem {
    refusal.with(FieldError::about(field, format!("refers to a {} who was erased", K::NOUN), id))
}

/// Finds the stand-in of a record that was read and is not there.
pub struct ResolveMergedId<K: Kind> {
    pub workspace: WorkspaceId,
    pub id: Id<K>,
}

impl<K: Kind> Operation for ResolveMergedId<K> {
    type Output = Id<K>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Id<K>, OperationError> {
        resolve_merged_id(tx, self.workspace, self.id).await
    }
}
