use model::id::{ClientContactId, CompanyId, PersonId, WorkspaceId};

use crate::{StoreError, Tx, params};

/// The person as a contact of the company, made if not there, and whether it was.
pub async fn find_or_insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    company: CompanyId,
    person: PersonId,
) -> Result<(ClientContactId, bool), StoreError> {
    let sql = "SELECT id FROM client_contact WHERE workspace_id = ?1 AND company_id = ?2 AND person_id = ?3";
    if let Some(found) = tx.row(sql, params![workspace, company, person], |row| row.id(0)).await? {
        return Ok((found, false));
    }
    let id = tx.new_id();
    let sql = "INSERT INTO client_contact (workspace_id, company_id, person_id, id, created_at) VALUES (?1, ?2, ?3, ?4, ?5)";
    tx.tell(sql, params![workspace, company, person, id, tx.now()]).await?;
    Ok((id, true))
}
