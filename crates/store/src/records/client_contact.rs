use slated_model::clock::Timestamp;
use slated_model::id::{self, ClientContactId, CompanyId, Id, Kind, PersonId, WorkspaceId};
use slated_model::listing::Page;

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::field_order;
use crate::records::pagination::{Conditions, PageResult, list_counted};
use crate::tx::Tx;

/// The person as a contact of the company, made if not there, and whether it was.
pub async fn find_or_insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    company: CompanyId,
    person: PersonId,
) -> Result<(ClientContactId, bool), StoreError> {
    let sql = "SELECT id FROM client_contact WHERE workspace_id = ?1 AND company_id = ?2 AND \
        person_id = ?3";
    if let Some(found) = tx.row(sql, params![workspace, company, person], |row| row.id(0)).await? {
        return Ok((found, false));
    }
    let id = tx.new_id();
    let sql = "INSERT INTO client_contact (workspace_id, company_id, person_id, id, created_at) \
        VALUES (?1, ?2, ?3, ?4, ?5)";
    tx.execute_deferred(sql, params![workspace, company, person, id, tx.now()]).await?;
    Ok((id, true))
}

/// A company that a person is a contact of.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct ContactOf {
    pub id: ClientContactId,
    pub company_id: CompanyId,
    pub company_name: String,
    pub created_at: Timestamp,
}

/// The companies that the person is a contact of, the last first.
pub async fn of_person(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    limit: i64,
) -> Result<Vec<ContactOf>, StoreError> {
    let sql = "SELECT t.id, t.company_id, c.name, t.created_at FROM client_contact t \
               JOIN company c ON c.workspace_id = t.workspace_id AND c.id = t.company_id \
               WHERE t.workspace_id = ?1 AND t.person_id = ?2 ORDER BY t.id DESC LIMIT ?3";
    tx.rows(sql, params![workspace, person, limit], |row| {
        Ok(ContactOf {
            id: row.id(0)?,
            company_id: row.id(1)?,
            company_name: row.text(2)?,
            created_at: row.time(3)?,
        })
    })
    .await
}

/// All that is shown of a contact of a company. What is kept as JSON stays text.
#[derive(Clone, Debug)]
pub struct ContactView {
    pub id: ClientContactId,
    pub person_id: PersonId,
    pub name: String,
    pub current_job_title: String,
    pub emails: String,
    pub phones: String,
    pub created_at: Timestamp,
}

const VIEW: &str = "SELECT t.id, t.person_id, p.name, p.current_job_title, p.emails, p.phones, \
     t.created_at FROM client_contact t \
     JOIN person p ON p.workspace_id = t.workspace_id AND p.id = t.person_id";
const OF_COMPANY: &str = "t.workspace_id = ?1 AND t.company_id = ?2";

fn view_part(row: &Row<'_>) -> Result<ContactView, StoreError> {
    Ok(ContactView {
        id: row.id(0)?,
        person_id: row.id(1)?,
        name: row.text(2)?,
        current_job_title: row.text(3)?,
        emails: row.json_text(4, field_order::contacts)?,
        phones: row.json_text(5, field_order::contacts)?,
        created_at: row.time(6)?,
    })
}

pub async fn view(
    tx: &mut Tx,
    workspace: WorkspaceId,
    company: CompanyId,
    person: PersonId,
) -> Result<Option<ContactView>, StoreError> {
    tx.row(
        &format!("{VIEW} WHERE {OF_COMPANY} AND t.person_id = ?3"),
        params![workspace, company, person],
        view_part,
    )
    .await
}

/// The contacts of a company. It has few of them, so they are counted.
pub async fn of_company(
    tx: &mut Tx,
    workspace: WorkspaceId,
    company: CompanyId,
    page: &Page<id::ClientContact>,
) -> Result<PageResult<ContactView>, StoreError> {
    let conditions = Conditions::new(OF_COMPANY, vec![workspace.into(), company.into()]);
    list_counted(tx, page, conditions, (VIEW, "FROM client_contact t", "t"), view_part).await
}

/// Who it is, if the company has such a contact.
pub async fn person_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    company: CompanyId,
    id: ClientContactId,
) -> Result<Option<PersonId>, StoreError> {
    let sql = "SELECT person_id FROM client_contact WHERE workspace_id = ?1 AND company_id = ?2 \
        AND id = ?3";
    tx.row(sql, params![workspace, company, id], |row| row.id(0)).await
}

pub async fn delete(
    tx: &mut Tx,
    workspace: WorkspaceId,
    company: CompanyId,
    id: ClientContactId,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM client_contact WHERE workspace_id = ?1 AND company_id = ?2 AND id = ?3";
    tx.execute_deferred(sql, params![workspace, company, id]).await
}

/// Removes all contacts that are this person; says which, and where they were.
pub async fn delete_all_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Vec<(ClientContactId, CompanyId)>, StoreError> {
    let sql = "DELETE FROM client_contact WHERE workspace_id = ?1 AND person_id = ?2 RETURNING \
        id, company_id";
    deleted(tx, sql, params![workspace, person]).await
}

/// Contacts that a statement deletes, each with what it returns beside its id, in the order of
/// their ids: an engine has none.
async fn deleted<K: Kind>(
    tx: &mut Tx,
    sql: &str,
    params: &[Param<'_>],
) -> Result<Vec<(ClientContactId, Id<K>)>, StoreError> {
    let mut deleted = tx.rows(sql, params, |row| Ok((row.id(0)?, row.id(1)?))).await?;
    deleted.sort_unstable_by_key(|(id, _)| *id);
    Ok(deleted)
}

/// Removes those contacts of a company whose persons are contacts of another too; says which, and
/// who they are.
pub async fn delete_shared_by_companies(
    tx: &mut Tx,
    workspace: WorkspaceId,
    company: CompanyId,
    other: CompanyId,
) -> Result<Vec<(ClientContactId, PersonId)>, StoreError> {
    let sql = "DELETE FROM client_contact WHERE workspace_id = ?1 AND company_id = ?2 AND \
               person_id IN \
               (SELECT known.person_id FROM client_contact known WHERE known.workspace_id = ?1 \
               AND known.company_id = ?3) RETURNING id, person_id";
    deleted(tx, sql, params![workspace, company, other]).await
}

/// Removes those contacts of a person at whose companies another is a contact too; says which, and
/// where they were.
pub async fn delete_shared_by_persons(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    other: PersonId,
) -> Result<Vec<(ClientContactId, CompanyId)>, StoreError> {
    let sql = "DELETE FROM client_contact WHERE workspace_id = ?1 AND person_id = ?2 AND \
               company_id IN \
               (SELECT known.company_id FROM client_contact known WHERE known.workspace_id = ?1 \
               AND known.person_id = ?3) RETURNING id, company_id";
    deleted(tx, sql, params![workspace, person, other]).await
}
