//! Workspaces: each comes into being with its first key.

use slated_model::id::WorkspaceId;
use slated_model::job::DEFAULT_STATUSES;
use slated_store::records::{status, workspace};
use slated_store::{Operation, OperationError, Pace, Tx};

use super::templates;

/// The workspace of that name, made if it is not there, with the statuses and the pipeline that its
/// jobs begin with.
pub async fn find_or_make(tx: &mut Tx, name: &str) -> Result<WorkspaceId, OperationError> {
    if let Some(found) = workspace::find_by_name(tx, name).await? {
        return Ok(found);
    }
    workspace::lock_all(tx).await?;
    if let Some(found) = workspace::find_by_name(tx, name).await? {
        return Ok(found);
    }
    let id = workspace::insert(tx, name).await?;
    for (position, status_name) in (1..).zip(DEFAULT_STATUSES) {
        status::insert(tx, id, status_name, position).await?;
    }
    templates::make_first(tx, id).await?;
    Ok(id)
}

/// Finds out whether the database can be read.
pub struct TryToRead;

impl Operation for TryToRead {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        Ok(workspace::try_to_read(tx).await?)
    }
}

/// Finds out whether the database takes writes.
pub struct TryToWrite;

impl Operation for TryToWrite {
    type Output = ();

    fn pace(&self) -> Pace {
        Pace::Probe
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        Ok(workspace::try_to_write(tx).await?)
    }
}

/// Whether the database has any workspace at all.
pub struct AnyWorkspace;

impl Operation for AnyWorkspace {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        Ok(workspace::any(tx).await?)
    }
}

/// All workspaces, with their names.
pub struct AllWorkspaces;

impl Operation for AllWorkspaces {
    type Output = Vec<(WorkspaceId, String)>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        Ok(workspace::all(tx).await?)
    }
}
