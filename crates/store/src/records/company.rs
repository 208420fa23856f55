use slated_model::clock::Timestamp;
use slated_model::id::{self, CompanyId, JobId, PersonId, WorkspaceId};
use slated_model::listing::{Page, TimeFilter};
use slated_model::text::comparison_key;

use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::pagination::{Conditions, PageResult, contains};
use crate::records::places;
use crate::records::range_counts::{self, List};
use crate::records::statement::{among, list_of_ids};
use crate::tx::{Asked, Tx};

/// All that is shown of a company.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct CompanyView {
    pub id: CompanyId,
    pub name: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

const SELECT: &str = "SELECT c.id, c.name, c.created_at, c.updated_at";
const TABLES: &str = "FROM company c";

fn view_part(row: &Row<'_>) -> Result<CompanyView, StoreError> {
    Ok(CompanyView {
        id: row.id(0)?,
        name: row.text(1)?,
        created_at: row.time(2)?,
        updated_at: row.time(3)?,
    })
}

pub async fn view(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CompanyId,
) -> Result<Option<CompanyView>, StoreError> {
    let sql = format!("{SELECT} {TABLES} WHERE c.workspace_id = ?1 AND c.id = ?2");
    tx.row(&sql, params![workspace, id], view_part).await
}

/// The company, kept from others until the work is done.
pub async fn load(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CompanyId,
) -> Result<Option<CompanyView>, StoreError> {
    let sql = format!("{SELECT} {TABLES} WHERE c.workspace_id = ?1 AND c.id = ?2");
    tx.row_for_update(&sql, params![workspace, id], view_part).await
}

/// What narrows a list of companies.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct CompanyFilter {
    pub times: TimeFilter,
    pub q: Option<String>,
}

pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: &CompanyFilter,
    page: &Page<id::Company>,
) -> Result<PageResult<CompanyView>, StoreError> {
    let pattern = filter.q.as_deref().map(contains);
    let mut conditions = Conditions::new("c.workspace_id = ?1", vec![workspace.into()]);
    conditions.filter_times("c", &filter.times);
    if let Some(pattern) = &pattern {
        conditions.filter("c.name_key LIKE {} ESCAPE '\\'", pattern);
    }
    range_counts::list_by_id(
        tx,
        workspace,
        List::Companies,
        page,
        conditions,
        (SELECT, TABLES, "c"),
        view_part,
    )
    .await
}

pub async fn find_by_name(
    tx: &mut Tx,
    workspace: WorkspaceId,
    name: &str,
) -> Result<Option<CompanyId>, StoreError> {
    let sql = "SELECT id FROM company WHERE workspace_id = ?1 AND name_key = ?2";
    tx.row(sql, params![workspace, &comparison_key(name)], |row| row.id(0)).await
}

pub async fn name(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CompanyId,
) -> Result<Option<String>, StoreError> {
    let asked = ask_name(tx, workspace, id).await?;
    Ok(tx.answer(asked).await?.pop())
}

pub async fn ask_name(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CompanyId,
) -> Result<Asked<String>, StoreError> {
    tx.ask(
        "SELECT name FROM company WHERE workspace_id = ?1 AND id = ?2",
        params![workspace, id],
        |row| row.text(0),
    )
    .await
}

/// Asks for the company of that name, and its name as it was first written.
pub async fn ask_by_name(
    tx: &mut Tx,
    workspace: WorkspaceId,
    name: &str,
) -> Result<Asked<(CompanyId, String)>, StoreError> {
    ask_locked(tx, workspace, name, "").await
}

/// The same; nobody renames or removes it until this work is done.
pub async fn ask_to_keep_by_name(
    tx: &mut Tx,
    workspace: WorkspaceId,
    name: &str,
) -> Result<Asked<(CompanyId, String)>, StoreError> {
    ask_locked(tx, workspace, name, " FOR KEY SHARE").await
}

/// The same, unless somebody is about to do that.
pub async fn ask_free_by_name(
    tx: &mut Tx,
    workspace: WorkspaceId,
    name: &str,
) -> Result<Asked<(CompanyId, String)>, StoreError> {
    ask_locked(tx, workspace, name, " FOR KEY SHARE SKIP LOCKED").await
}

async fn ask_locked(
    tx: &mut Tx,
    workspace: WorkspaceId,
    name: &str,
    lock: &str,
) -> Result<Asked<(CompanyId, String)>, StoreError> {
    let lock = if tx.is_embedded() { "" } else { lock };
    let sql =
        format!("SELECT id, name FROM company WHERE workspace_id = ?1 AND name_key = ?2{lock}");
    tx.ask(&sql, params![workspace, &comparison_key(name)], |row| Ok((row.id(0)?, row.text(1)?)))
        .await
}

pub async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    name: &str,
) -> Result<CompanyId, StoreError> {
    let id = tx.new_id();
    let sql = "INSERT INTO company (workspace_id, id, name, name_key, created_at, updated_at) \
        VALUES (?1, ?2, ?3, ?4, ?5, ?5)";
    tx.execute_deferred(sql, params![workspace, id, name, &comparison_key(name), tx.now()]).await?;
    range_counts::added(tx, workspace, List::Companies, id).await?;
    Ok(id)
}

/// Those of the ids that are companies of the workspace, or went into one: what was read with such
/// an id can be written back.
pub async fn existing(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: &[CompanyId],
) -> Result<Vec<CompanyId>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let places = places(ids.len(), 2);
    let sql = format!(
        "SELECT id FROM company WHERE workspace_id = ?1 AND id IN ({places}) \
         UNION ALL SELECT id FROM former_record WHERE workspace_id = ?1 AND kind = 'company' AND \
         id IN ({places})"
    );
    let mut params = vec![workspace.into()];
    params.extend(ids.iter().map(|id| crate::Param::from(*id)));
    tx.rows(&sql, &params, |row| row.id(0)).await
}

/// Keeps others from pointing at the company until this work is done.
pub async fn lock_for_delete(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CompanyId,
) -> Result<(), StoreError> {
    match tx.is_embedded() {
        true => Ok(()),
        false => {
            let sql = "SELECT id FROM company WHERE workspace_id = ?1 AND id = ?2 FOR UPDATE";
            tx.row(sql, params![workspace, id], |_| Ok(())).await.map(|_| ())
        }
    }
}

/// Keeps the companies of persons and jobs from being renamed or removed until this work is done.
/// It comes before any of those are held: whoever changes a company holds it first, and then all
/// that belongs to it. Who changes a person or a job twice needs it, since the engine then looks
/// for the company again.
pub async fn keep_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    persons: &[PersonId],
    jobs: &[JobId],
) -> Result<(), StoreError> {
    if tx.is_embedded() || persons.is_empty() && jobs.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "SELECT id FROM company WHERE workspace_id = ?1 AND id IN \
         (SELECT company_id FROM person WHERE workspace_id = ?1 AND {} UNION ALL SELECT \
         company_id FROM job WHERE workspace_id = ?1 AND {}) \
         ORDER BY id FOR KEY SHARE",
        among(tx, "id", "?2"),
        among(tx, "id", "?3"),
    );
    let (persons, jobs) = (list_of_ids(tx, persons), list_of_ids(tx, jobs));
    tx.rows(&sql, params![workspace, &persons, &jobs], |_| Ok(())).await.map(|_| ())
}

/// Keeps the persons and jobs of a company from others until this work is done, of each the lowest
/// id first, as everybody does who holds several.
pub async fn hold_persons_and_jobs(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CompanyId,
) -> Result<(), StoreError> {
    if tx.is_embedded() {
        return Ok(());
    }
    for table in ["person", "job"] {
        let held = format!(
            "SELECT id FROM {table} WHERE workspace_id = ?1 AND company_id = ?2 ORDER BY id FOR \
             NO KEY UPDATE"
        );
        tx.row(&format!("SELECT COUNT(*) FROM ({held}) held"), params![workspace, id], |_| Ok(()))
            .await?;
    }
    tx.refresh_now_after_lock();
    Ok(())
}

pub async fn rename(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CompanyId,
    name: &str,
) -> Result<(), StoreError> {
    let sql = "UPDATE company SET name = ?3, name_key = ?4, updated_at = ?5 WHERE workspace_id = \
        ?1 AND id = ?2";
    tx.execute_deferred(sql, params![workspace, id, name, &comparison_key(name), tx.now()]).await
}

/// Lets the persons and jobs of a company belong to another.
pub async fn hand_over(
    tx: &mut Tx,
    workspace: WorkspaceId,
    from: CompanyId,
    into: CompanyId,
) -> Result<(), StoreError> {
    for table in ["person", "job"] {
        let sql = format!(
            "UPDATE {table} SET company_id = ?3, version = version + 1, updated_at = ?4 WHERE \
             workspace_id = ?1 AND company_id = ?2"
        );
        tx.execute_deferred(&sql, params![workspace, from, into, tx.now()]).await?;
    }
    Ok(())
}

/// Removes a company whose contacts become those of another. Nobody may be a contact of both.
pub async fn remove_into(
    tx: &mut Tx,
    workspace: WorkspaceId,
    from: CompanyId,
    into: CompanyId,
) -> Result<(), StoreError> {
    let sql =
        "UPDATE client_contact SET company_id = ?3 WHERE workspace_id = ?1 AND company_id = ?2";
    tx.execute_deferred(sql, params![workspace, from, into]).await?;
    tx.execute_deferred(
        "DELETE FROM company WHERE workspace_id = ?1 AND id = ?2",
        params![workspace, from],
    )
    .await?;
    tx.execute_deferred(
        "UPDATE company SET updated_at = ?3 WHERE workspace_id = ?1 AND id = ?2",
        params![workspace, into, tx.now()],
    )
    .await
}
