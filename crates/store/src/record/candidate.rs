use model::clock::Timestamp;
use model::id::{self, CandidateId, CompanyId, JobId, PersonId, StageId, WorkspaceId};
use model::listing::{Page, TimeFilter};
use model::stage::Stage;

use super::job;
use super::listing::{self, Conditions, Listed, contains, finish};
use crate::{Asked, Row, StoreError, Tx, params};

/// All that a single read shows of a candidate.
#[derive(Clone, Hash, Debug)]
pub struct CandidateView {
    pub id: CandidateId,
    pub version: i64,
    pub person_id: PersonId,
    pub job_id: JobId,
    pub name: String,
    pub current_job_title: String,
    pub company_name: Option<String>,
    pub company_id: Option<CompanyId>,
    pub stage_name: String,
    pub stage_id: StageId,
    pub stage_entered_at: Timestamp,
    pub created_at: Timestamp,
    pub history: Vec<StageEntry>,
}

/// A stage that the candidate entered, under the name that it had then.
#[derive(Clone, Hash, Debug)]
pub struct StageEntry {
    pub number: i64,
    pub stage_id: StageId,
    pub stage_name: String,
    pub entered_at: Timestamp,
}

/// The candidate with its history, in one statement: a row for each stage that it entered.
pub async fn view(tx: &mut Tx, workspace: WorkspaceId, id: CandidateId) -> Result<Option<CandidateView>, StoreError> {
    let sql = "SELECT c.version, c.person_id, c.job_id, p.name, p.current_job_title, employer.name, p.company_id, s.name, c.stage_id, \
               c.stage_entered_at, c.created_at, h.number, h.stage_id, h.stage_name, h.entered_at \
               FROM candidate c \
               JOIN person p ON p.workspace_id = c.workspace_id AND p.id = c.person_id \
               JOIN pipeline_stage s ON s.workspace_id = c.workspace_id AND s.job_id = c.job_id AND s.id = c.stage_id \
               JOIN stage_entry h ON h.workspace_id = c.workspace_id AND h.candidate_id = c.id \
               LEFT JOIN company employer ON employer.workspace_id = p.workspace_id AND employer.id = p.company_id \
               WHERE c.workspace_id = ?1 AND c.id = ?2";
    let mut view: Option<CandidateView> = None;
    let mut history = tx
        .rows(sql, params![workspace, id], |row| {
            if view.is_none() {
                view = Some(candidate_part(row, id)?);
            }
            Ok(StageEntry { number: row.int(11)?, stage_id: row.id(12)?, stage_name: row.text(13)?, entered_at: row.time(14)? })
        })
        .await?;
    history.sort_unstable_by_key(|entry| entry.number);
    Ok(view.map(|view| CandidateView { history, ..view }))
}

fn candidate_part(row: &Row<'_>, id: CandidateId) -> Result<CandidateView, StoreError> {
    Ok(CandidateView {
        id,
        version: row.int(0)?,
        person_id: row.id(1)?,
        job_id: row.id(2)?,
        name: row.text(3)?,
        current_job_title: row.text(4)?,
        company_name: row.optional_text(5)?,
        company_id: row.optional_id(6)?,
        stage_name: row.text(7)?,
        stage_id: row.id(8)?,
        stage_entered_at: row.time(9)?,
        created_at: row.time(10)?,
        history: Vec::new(),
    })
}

/// All that a list shows of a candidate, but for the name of its stage: the list has few stages and many candidates.
#[derive(Clone, Debug)]
pub struct CandidateItem {
    pub id: CandidateId,
    pub person_id: PersonId,
    pub name: String,
    pub current_job_title: String,
    pub company_name: Option<String>,
    pub company_id: Option<CompanyId>,
    pub stage_id: StageId,
    pub created_at: Timestamp,
}

fn item(row: &Row<'_>) -> Result<CandidateItem, StoreError> {
    Ok(CandidateItem {
        id: row.id(0)?,
        person_id: row.id(1)?,
        name: row.text(2)?,
        current_job_title: row.text(3)?,
        company_name: row.optional_text(4)?,
        company_id: row.optional_id(5)?,
        stage_id: row.id(6)?,
        created_at: row.time(7)?,
    })
}

/// What narrows a list of candidates.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct CandidateFilter {
    pub times: TimeFilter,
    pub stage_id: Option<StageId>,
    pub q: Option<String>,
}

const TABLES: &str = "FROM candidate c \
     JOIN person p ON p.workspace_id = c.workspace_id AND p.id = c.person_id \
     LEFT JOIN company employer ON employer.workspace_id = p.workspace_id AND employer.id = p.company_id";

/// The candidates of a job, or none if there is no such job.
pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    filter: &CandidateFilter,
    page: &Page<id::Candidate>,
) -> Result<Option<Listed<CandidateItem>>, StoreError> {
    let CandidateFilter { times, stage_id, q } = filter;
    let Some(count) = job::candidate_count(tx, workspace, job).await? else { return Ok(None) };
    let pattern = q.as_deref().map(contains);
    let mut conditions = Conditions::new("c.workspace_id = ?1 AND c.job_id = ?2", vec![workspace.into(), job.into()]);
    conditions.filter_times("c", times);
    if let Some(stage) = stage_id {
        conditions.filter("c.stage_id = {}", *stage);
    }
    if let Some(pattern) = &pattern {
        conditions.filter("(p.name_key LIKE {} ESCAPE '\\' OR employer.name_key LIKE {} ESCAPE '\\')", pattern);
    }
    let total = match (conditions.is_filtered(), page.known_total()) {
        (false, _) => count,
        (true, Some(total)) => total,
        (true, None) => tx.row(&conditions.count(TABLES), conditions.params(), |row| row.int(0)).await?.unwrap_or(0),
    };
    let select =
        format!("SELECT c.id, c.person_id, p.name, p.current_job_title, employer.name, p.company_id, c.stage_id, c.created_at {TABLES}");
    let number_of = "SELECT position FROM candidate WHERE id = ?1 AND workspace_id = ?2 AND job_id = ?3";
    let id_at = "SELECT id FROM candidate WHERE position = ?1 AND workspace_id = ?2 AND job_id = ?3";
    let seen = listing::place(tx, page, count, number_of, id_at, params![workspace, job]).await?;
    let (sql, params) = conditions.page(&select, "c", page, total, seen);
    Ok(Some(finish(tx.rows(&sql, &params, item).await?, total, page)))
}

pub async fn find(tx: &mut Tx, workspace: WorkspaceId, job: JobId, person: PersonId) -> Result<Option<CandidateId>, StoreError> {
    let sql = "SELECT id FROM candidate WHERE workspace_id = ?1 AND person_id = ?2 AND job_id = ?3";
    tx.row(sql, params![workspace, person, job], |row| row.id(0)).await
}

/// The candidate as rules work on it, kept from others until they are done: its job and its stage.
#[derive(Clone, Debug)]
pub struct CandidatePlace {
    pub job_id: JobId,
    pub stage_id: StageId,
    pub entered_at: Timestamp,
}

pub async fn place(tx: &mut Tx, workspace: WorkspaceId, id: CandidateId) -> Result<Option<CandidatePlace>, StoreError> {
    let sql = "SELECT job_id, stage_id, stage_entered_at FROM candidate WHERE workspace_id = ?1 AND id = ?2";
    let place = |row: &Row<'_>| Ok(CandidatePlace { job_id: row.id(0)?, stage_id: row.id(1)?, entered_at: row.time(2)? });
    tx.row_to_change(sql, params![workspace, id], place).await
}

/// Asks how many stages the candidate has entered.
pub async fn ask_entries(tx: &mut Tx, workspace: WorkspaceId, id: CandidateId) -> Result<Asked<i64>, StoreError> {
    let sql = "SELECT COALESCE(MAX(number), 0) FROM stage_entry WHERE workspace_id = ?1 AND candidate_id = ?2";
    tx.ask(sql, params![workspace, id], |row| row.int(0)).await
}

/// Puts the person on the job, in that stage, behind all others. Gives back the job's name as well.
pub async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    person: PersonId,
    stage: &Stage,
) -> Result<(CandidateId, String), StoreError> {
    let counted = job::ask_to_count_candidate(tx, workspace, job).await?;
    // From here on nobody else adds to the job, so the one before is the last.
    let sql = "SELECT id FROM candidate WHERE workspace_id = ?1 AND job_id = ?2 AND position = \
               (SELECT candidate_count - 1 FROM job WHERE workspace_id = ?1 AND id = ?2)";
    let last = tx.ask(sql, params![workspace, job], |row| row.id(0)).await?;
    let gone = || StoreError::Internal(format!("job {job} is gone"));
    let (position, job_name) = tx.answer(counted).await?.pop().ok_or_else(gone)?;
    let last = tx.answer(last).await?.pop();
    let id: CandidateId = tx.new_id_after(last);
    let sql = "INSERT INTO candidate (workspace_id, id, version, person_id, job_id, position, stage_id, stage_entered_at, created_at, updated_at) \
               VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?7, ?7)";
    tx.tell(sql, params![workspace, id, person, job, position, stage.id, id.moment()]).await?;
    insert_entry(tx, workspace, id, 1, stage, id.moment()).await?;
    Ok((id, job_name))
}

/// Puts the candidate into the stage, not before it entered the last one, whatever another server's clock said then. Says when.
pub async fn enter_stage(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CandidateId,
    last: &CandidatePlace,
    number: i64,
    stage: &Stage,
) -> Result<Timestamp, StoreError> {
    let now = tx.now().max(last.entered_at);
    let sql = "UPDATE candidate SET version = version + 1, stage_id = ?3, stage_entered_at = ?4, updated_at = ?4 WHERE workspace_id = ?1 AND id = ?2";
    tx.tell(sql, params![workspace, id, stage.id, now]).await?;
    insert_entry(tx, workspace, id, number, stage, now).await?;
    Ok(now)
}

async fn insert_entry(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CandidateId,
    number: i64,
    stage: &Stage,
    at: Timestamp,
) -> Result<(), StoreError> {
    let sql =
        "INSERT INTO stage_entry (workspace_id, candidate_id, number, stage_id, stage_name, entered_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    tx.tell(sql, params![workspace, id, number, stage.id, &stage.name, at]).await
}
