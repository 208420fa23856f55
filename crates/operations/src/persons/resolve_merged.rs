//! Finding a person by an id that may have gone into another.

use slated_model::id::{self, PersonId, WorkspaceId};
use slated_model::input::Reference;
use slated_model::person::Person;
use slated_model::problem::ErrorCode;
use slated_store::records::person;
use slated_store::records::person::PersonView;
use slated_store::{OperationError, StoreError, Tx};

use crate::merged_ids::{erased_too, resolve_merged_id};

fn changed() -> OperationError {
    StoreError::Conflict("the person was merged or erased meanwhile".to_owned()).into()
}

/// The person as a read shows them.
pub async fn view(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
) -> Result<PersonView, OperationError> {
    if let Some(found) = person::view(tx, workspace, id).await? {
        return Ok(found);
    }
    let id = resolve_merged_id(tx, workspace, id).await?;
    person::view(tx, workspace, id).await?.ok_or_else(changed)
}

/// The person as rules work on it, kept from others until they are done.
pub async fn load(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
) -> Result<Person, OperationError> {
    if let Some(found) = person::load(tx, workspace, id).await? {
        return Ok(found);
    }
    let id = resolve_merged_id(tx, workspace, id).await?;
    person::load(tx, workspace, id).await?.ok_or_else(changed)
}

/// The id under which the person is kept whom a request names.
pub async fn named(
    tx: &mut Tx,
    workspace: WorkspaceId,
    reference: &Reference<id::Person>,
    field: &str,
) -> Result<PersonId, OperationError> {
    let id = reference.resolve(field)?;
    match current(tx, workspace, id).await {
        Err(OperationError::Rejected(problem)) if problem.code == ErrorCode::NotFound => {
            Err(reference.not_found(field).into())
        }
        Err(OperationError::Rejected(problem)) if problem.code == ErrorCode::Erased => {
            Err(erased_too(problem, field, id).into())
        }
        found => found,
    }
}

/// The same; nobody removes them until the work is done. Not for whoever removes them: two that
/// hold them so would wait for each other.
pub async fn named_to_stay(
    tx: &mut Tx,
    workspace: WorkspaceId,
    reference: &Reference<id::Person>,
    field: &str,
) -> Result<PersonId, OperationError> {
    let id = named(tx, workspace, reference, field).await?;
    match person::lock_key_share(tx, workspace, id).await? {
        true => Ok(id),
        false => Err(changed()),
    }
}

/// The id under which the person is kept.
pub async fn current(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: PersonId,
) -> Result<PersonId, OperationError> {
    match person::name(tx, workspace, id).await? {
        Some(_) => Ok(id),
        None => resolve_merged_id(tx, workspace, id).await,
    }
}
