use slated_model::clock::Timestamp;
use slated_model::id::{self, CompanyId, JobId, StatusId, WorkspaceId};
use slated_model::job::Job;
use slated_model::listing::{Page, TimeFilter};
use slated_model::stage::Stage;
use slated_model::text::comparison_key;

use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::pagination::{Conditions, PageResult, contains, finish, place};
use crate::records::workspace;
use crate::tx::{Asked, Tx};

/// All that a list shows of a job.
#[derive(Clone, Hash, Debug)]
pub struct JobView {
    pub id: JobId,
    pub version: i64,
    pub name: String,
    pub created_at: Timestamp,
    pub is_archived: bool,
    pub client_company_name: String,
    pub client_company_id: CompanyId,
    pub status_name: String,
    pub status_id: StatusId,
    pub candidate_count: i64,
}

const COLUMNS: &str = "j.id, j.version, j.name, j.created_at, j.is_archived, client.name, \
    j.company_id, status.name, j.status_id, j.candidate_count - j.removed_count";
const TABLES: &str = "FROM job j \
     JOIN company client ON client.workspace_id = j.workspace_id AND client.id = j.company_id \
     JOIN job_status status ON status.workspace_id = j.workspace_id AND status.id = j.status_id";

fn view_part(row: &Row<'_>) -> Result<JobView, StoreError> {
    Ok(JobView {
        id: row.id(0)?,
        version: row.int(1)?,
        name: row.text(2)?,
        created_at: row.time(3)?,
        is_archived: row.flag(4)?,
        client_company_name: row.text(5)?,
        client_company_id: row.id(6)?,
        status_name: row.text(7)?,
        status_id: row.id(8)?,
        candidate_count: row.int(9)?,
    })
}

/// The job with its stages in order, in one statement: a row for each stage.
pub async fn view(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: JobId,
) -> Result<Option<(JobView, Vec<Stage>)>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS}, s.id, s.name, s.stage_order, s.is_rejection_stage, \
         s.is_interviewing_stage {TABLES} \
         JOIN pipeline_stage s ON s.workspace_id = j.workspace_id AND s.job_id = j.id WHERE \
         j.workspace_id = ?1 AND j.id = ?2"
    );
    let mut job = None;
    let mut stages = tx
        .rows(&sql, params![workspace, id], |row| {
            if job.is_none() {
                job = Some(view_part(row)?);
            }
            let (id, name, stage_order) = (row.id(10)?, row.text(11)?, row.int(12)?);
            Ok(Stage {
                id,
                name,
                stage_order,
                is_rejection_stage: row.flag(13)?,
                is_interviewing_stage: row.flag(14)?,
            })
        })
        .await?;
    stages.sort_unstable_by_key(|stage| stage.stage_order);
    Ok(job.map(|job| (job, stages)))
}

/// What narrows a list of jobs.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct JobFilter {
    pub times: TimeFilter,
    pub status_id: Option<StatusId>,
    pub is_archived: Option<bool>,
    pub client_company_id: Option<CompanyId>,
    pub q: Option<String>,
}

pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: &JobFilter,
    page: &Page<id::Job>,
) -> Result<PageResult<JobView>, StoreError> {
    let JobFilter { times, status_id, is_archived, client_company_id, q } = filter;
    let pattern = q.as_deref().map(contains);
    let mut conditions = Conditions::new("j.workspace_id = ?1", vec![workspace.into()]);
    conditions.filter_times("j", times);
    if let Some(status) = status_id {
        conditions.filter("j.status_id = {}", *status);
    }
    if let Some(is_archived) = is_archived {
        conditions.filter("j.is_archived = {}", *is_archived);
    }
    if let Some(client) = client_company_id {
        conditions.filter("j.company_id = {}", *client);
    }
    if let Some(pattern) = &pattern {
        conditions.filter(
            "(j.name_key LIKE {} ESCAPE '\\' OR client.name_key LIKE {} ESCAPE '\\')",
            pattern,
        );
    }
    let count = workspace::job_count(tx, workspace).await?;
    let total = match (conditions.is_filtered(), page.known_total()) {
        (false, _) => count,
        (true, Some(total)) => total,
        (true, None) => tx
            .row(&conditions.count(TABLES), conditions.params(), |row| row.int(0))
            .await?
            .unwrap_or(0),
    };
    let number_of = "SELECT position FROM job WHERE id = ?1 AND workspace_id = ?2";
    let id_at = "SELECT id FROM job WHERE position = ?1 AND workspace_id = ?2";
    let seen = place(tx, page, count, number_of, id_at, params![workspace]).await?;
    let (sql, params) =
        conditions.page(&format!("SELECT {COLUMNS} {TABLES}"), "j", page, total, seen);
    Ok(finish(tx.rows(&sql, &params, view_part).await?, total, page))
}

/// The job as rules work on it, kept from others until they are done.
pub async fn load(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: JobId,
) -> Result<Option<Job>, StoreError> {
    let sql = "SELECT name, company_id, status_id, is_archived FROM job WHERE workspace_id = ?1 \
        AND id = ?2";
    tx.row_for_update(sql, params![workspace, id], |row| {
        Ok(Job {
            id,
            name: row.text(0)?,
            company_id: row.id(1)?,
            status_id: row.id(2)?,
            is_archived: row.flag(3)?,
        })
    })
    .await
}

/// The jobs of that name that are not archived, perhaps only those of one client.
pub async fn find_by_name(
    tx: &mut Tx,
    workspace: WorkspaceId,
    name: &str,
    client: Option<CompanyId>,
) -> Result<Vec<JobId>, StoreError> {
    let sql = "SELECT id FROM job WHERE workspace_id = ?1 AND name_key = ?2 AND is_archived = ?3 \
        AND company_id = COALESCE(?4, company_id) ORDER BY id";
    tx.rows(sql, params![workspace, &comparison_key(name), false, client], |row| row.id(0)).await
}

/// A new id, and the place, for a job that is inserted next.
pub async fn next_place(tx: &mut Tx, workspace: WorkspaceId) -> Result<(JobId, i64), StoreError> {
    let position = workspace::count_job(tx, workspace).await?;
    let sql = "SELECT id FROM job WHERE workspace_id = ?1 AND position = ?2";
    let last = tx.row(sql, params![workspace, position - 1], |row| row.id(0)).await?;
    Ok((tx.new_id_after(last), position))
}

pub async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: &Job,
    position: i64,
) -> Result<(), StoreError> {
    let Job { id, name, company_id, status_id, is_archived } = job;
    let sql = "INSERT INTO job (workspace_id, id, version, position, name, name_key, company_id, \
               status_id, is_archived, created_at, updated_at) \
               VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9)";
    tx.execute_deferred(
        sql,
        params![
            workspace,
            *id,
            position,
            name,
            &comparison_key(name),
            *company_id,
            *status_id,
            *is_archived,
            id.moment()
        ],
    )
    .await
}

pub async fn update(tx: &mut Tx, workspace: WorkspaceId, job: &Job) -> Result<(), StoreError> {
    let Job { id, name, company_id, status_id, is_archived } = job;
    let sql = "UPDATE job SET version = version + 1, name = ?3, name_key = ?4, company_id = ?5, \
               status_id = ?6, is_archived = ?7, updated_at = ?8 \
               WHERE workspace_id = ?1 AND id = ?2";
    tx.execute_deferred(
        sql,
        params![
            workspace,
            *id,
            name,
            &comparison_key(name),
            *company_id,
            *status_id,
            *is_archived,
            tx.now()
        ],
    )
    .await
}

/// Notes that something changed that belongs to the job.
pub async fn touch(tx: &mut Tx, workspace: WorkspaceId, id: JobId) -> Result<(), StoreError> {
    let sql =
        "UPDATE job SET version = version + 1, updated_at = ?3 WHERE workspace_id = ?1 AND id = ?2";
    tx.execute_deferred(sql, params![workspace, id, tx.now()]).await
}

/// The places for candidates on a job. They are numbered from 1 on.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// The number of the last place.
    pub last: i64,
    /// Those that candidates left.
    pub empty: i64,
}

impl Places {
    /// How many candidates there are.
    #[must_use]
    pub const fn taken(self) -> i64 {
        self.last - self.empty
    }
}

/// The places for candidates, or none if there is no such job.
pub async fn places(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: JobId,
) -> Result<Option<Places>, StoreError> {
    let sql = "SELECT candidate_count, removed_count FROM job WHERE workspace_id = ?1 AND id = ?2";
    tx.row(sql, params![workspace, id], |row| Ok(Places { last: row.int(0)?, empty: row.int(1)? }))
        .await
}

/// Counts that many candidates more; the answer is the place of the last of them among those of the
/// job, and the job's name.
pub async fn ask_to_count_candidates(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: JobId,
    more: i64,
) -> Result<Asked<(i64, String)>, StoreError> {
    let sql = "UPDATE job SET candidate_count = candidate_count + ?3 WHERE workspace_id = ?1 AND \
               id = ?2 \
               RETURNING candidate_count, name";
    tx.ask(sql, params![workspace, id, more], |row| Ok((row.int(0)?, row.text(1)?))).await
}

/// Counts one candidate less, whose place stays empty.
pub async fn count_candidate_off(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: JobId,
) -> Result<(), StoreError> {
    let sql =
        "UPDATE job SET removed_count = removed_count + 1 WHERE workspace_id = ?1 AND id = ?2";
    tx.execute_deferred(sql, params![workspace, id]).await
}

pub async fn ask_name(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: JobId,
) -> Result<Asked<String>, StoreError> {
    tx.ask(
        "SELECT name FROM job WHERE workspace_id = ?1 AND id = ?2",
        params![workspace, id],
        |row| row.text(0),
    )
    .await
}
