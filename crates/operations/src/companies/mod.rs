//! Companies: they come into being when they are first named. An id of a company that went into
//! another leads to that one.

pub mod contacts;
pub mod create;
pub mod jobs;
pub mod list;
pub mod merge;
pub mod read;
pub mod update;

use slated_model::id::{CompanyId, WorkspaceId};
use slated_model::problem::{FieldErrorCode, Problem};
use slated_store::records::company::CompanyView;
use slated_store::records::{company, merged_ids};
use slated_store::{Asked, OperationError, StoreError, Tx};

use super::{Actor, emit};

/// The company that was asked for by its name, made if it is not there, and its name as it was
/// first written.
pub async fn answer_or_make(
    tx: &mut Tx,
    actor: &Actor,
    name: &str,
    asked: Asked<(CompanyId, String)>,
) -> Result<(CompanyId, String), OperationError> {
    if let Some(found) = tx.answer(asked).await?.pop() {
        return Ok(found);
    }
    Ok((make(tx, actor, name).await?, name.to_owned()))
}

async fn make(tx: &mut Tx, actor: &Actor, name: &str) -> Result<CompanyId, OperationError> {
    let id = company::insert(tx, actor.workspace, name).await?;
    emit::company_created(tx, actor, id, name).await?;
    Ok(id)
}

/// The company of that name, made if it is not there, and its name as it was first written.
pub async fn find_or_make(
    tx: &mut Tx,
    actor: &Actor,
    name: &str,
) -> Result<(CompanyId, String), OperationError> {
    let asked = company::ask_by_name(tx, actor.workspace, name).await?;
    answer_or_make(tx, actor, name, asked).await
}

/// The company with that id, or the one that it went into.
pub async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CompanyId,
) -> Result<Option<CompanyView>, StoreError> {
    if let Some(found) = company::view(tx, workspace, id).await? {
        return Ok(Some(found));
    }
    match resolve_merged_id(tx, workspace, id).await? {
        Some(survivor) => Ok(Some(company::view(tx, workspace, survivor).await?.ok_or_else(gone)?)),
        None => Ok(None),
    }
}

fn gone() -> StoreError {
    StoreError::Conflict("the company was merged into another meanwhile".to_owned())
}

/// The same where the path names it.
pub async fn existing(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CompanyId,
) -> Result<CompanyView, OperationError> {
    Ok(find(tx, workspace, id).await?.ok_or_else(|| Problem::not_found("company", id))?)
}

/// The same where a filter names it.
pub async fn filtered(
    tx: &mut Tx,
    workspace: WorkspaceId,
    field: &str,
    written: &str,
) -> Result<CompanyId, OperationError> {
    let unknown = || {
        Problem::invalid(
            field,
            FieldErrorCode::InvalidValue,
            format!("there is no company {written}"),
        )
    };
    let id = CompanyId::parse(written).ok_or_else(unknown)?;
    Ok(find(tx, workspace, id).await?.ok_or_else(unknown)?.id)
}

/// The same, kept from others until the work is done.
async fn hold(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CompanyId,
) -> Result<CompanyView, OperationError> {
    if let Some(found) = company::load(tx, workspace, id).await? {
        return Ok(found);
    }
    let survivor = resolve_merged_id(tx, workspace, id)
        .await?
        .ok_or_else(|| Problem::not_found("company", id))?;
    Ok(company::load(tx, workspace, survivor).await?.ok_or_else(gone)?)
}

async fn resolve_merged_id(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CompanyId,
) -> Result<Option<CompanyId>, StoreError> {
    Ok(merged_ids::find(tx, workspace, id).await?.and_then(|former| former.merged_into))
}
