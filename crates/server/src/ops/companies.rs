//! Companies come into being when they are first named.

use model::id::CompanyId;
use store::record::company;
use store::{Asked, Failure, Tx};

use super::{Actor, tell};

/// The company that was asked for by its name, made if it is not there, and its name as it was first written.
pub async fn answer_or_make(
    tx: &mut Tx,
    actor: &Actor,
    name: &str,
    asked: Asked<(CompanyId, String)>,
) -> Result<(CompanyId, String), Failure> {
    if let Some(found) = tx.answer(asked).await?.pop() {
        return Ok(found);
    }
    let id = company::insert(tx, actor.workspace, name).await?;
    tell::company_created(tx, actor, id, name).await?;
    Ok((id, name.to_owned()))
}

/// The company of that name, made if it is not there, and its name as it was first written.
pub async fn find_or_make(tx: &mut Tx, actor: &Actor, name: &str) -> Result<(CompanyId, String), Failure> {
    let asked = company::ask_by_name(tx, actor.workspace, name).await?;
    answer_or_make(tx, actor, name, asked).await
}
