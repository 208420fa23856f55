//! Runs: persons who are enriched together, because a filter fits them. They are found and put into
//! the queue bit by bit, in the order of their ids, so that a run keeps its place and nobody waits
//! behind all of it.

use slated_model::clock::Timestamp;
use slated_model::enrichment::run::{RunFilter, RunState};
use slated_model::enrichment::{Field, State};
use slated_model::id::{self, CompanyId, EnrichmentRunId, JobId, KeyId, PersonId, WorkspaceId};
use slated_model::listing::{Page, TimeFilter};

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::pagination::{Conditions, PageResult, list_counted};
use crate::records::{json_in, named_in, to_json};
use crate::tx::Tx;

/// Persons who are looked at in one go, whether the filter fits them or not.
const STRETCH: i64 = 2_000;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    pub id: EnrichmentRunId,
    pub state: RunState,
    pub filter: RunFilter,
    pub refresh: bool,
    /// The last person who was looked at.
    pub position: Option<PersonId>,
    /// All persons are found.
    pub is_fed: bool,
    pub person_count: i64,
    pub done_count: i64,
    pub skipped_count: i64,
    pub failed_count: i64,
    pub key_id: Option<KeyId>,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

impl Run {
    /// Persons who were found and are not finished yet.
    #[must_use]
    pub const fn waiting_count(&self) -> i64 {
        self.person_count - self.done_count - self.skipped_count - self.failed_count
    }
}

const SELECT: &str = "SELECT r.id, r.state, r.filter, r.refresh, r.position, r.is_fed, \
     r.person_count, r.done_count, r.skipped_count, \
     r.failed_count, r.key_id, r.created_at, r.finished_at FROM enrichment_run r";
/// True of a run that is finished when one more of its persons is.
const IS_LAST: &str = "state = 'running' AND is_fed AND person_count <= done_count + \
    skipped_count + failed_count + 1";

fn run(row: &Row<'_>) -> Result<Run, StoreError> {
    Ok(Run {
        id: row.id(0)?,
        state: named_in(row, 1, "the state of a run", RunState::parse)?,
        filter: json_in(row, 2)?,
        refresh: row.flag(3)?,
        position: row.optional_id(4)?,
        is_fed: row.flag(5)?,
        person_count: row.int(6)?,
        done_count: row.int(7)?,
        skipped_count: row.int(8)?,
        failed_count: row.int(9)?,
        key_id: row.optional_id(10)?,
        created_at: row.time(11)?,
        finished_at: row.optional_time(12)?,
    })
}

pub async fn insert(tx: &mut Tx, workspace: WorkspaceId, run: &Run) -> Result<(), StoreError> {
    let sql = "INSERT INTO enrichment_run (workspace_id, id, state, filter, refresh, position, \
               is_fed, person_count, done_count, \
               skipped_count, failed_count, key_id, created_at, finished_at) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)";
    let filter = to_json(&run.filter)?;
    let params: [Param<'_>; 14] = [
        workspace.into(),
        run.id.into(),
        run.state.name().into(),
        (&filter).into(),
        run.refresh.into(),
        run.position.into(),
        run.is_fed.into(),
        run.person_count.into(),
        run.done_count.into(),
        run.skipped_count.into(),
        run.failed_count.into(),
        run.key_id.into(),
        run.created_at.into(),
        run.finished_at.into(),
    ];
    tx.execute_deferred(sql, &params).await
}

pub async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: EnrichmentRunId,
) -> Result<Option<Run>, StoreError> {
    let sql = format!("{SELECT} WHERE r.workspace_id = ?1 AND r.id = ?2");
    tx.row(&sql, params![workspace, id], run).await
}

/// The run, kept from others until the work is done.
pub async fn load(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: EnrichmentRunId,
) -> Result<Option<Run>, StoreError> {
    let sql = format!("{SELECT} WHERE r.workspace_id = ?1 AND r.id = ?2");
    tx.row_for_update(&sql, params![workspace, id], run).await
}

/// A page of the runs of the workspace. It has few of them, so they are counted.
pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    page: &Page<id::EnrichmentRun>,
) -> Result<PageResult<Run>, StoreError> {
    let conditions = Conditions::new("r.workspace_id = ?1", vec![workspace.into()]);
    list_counted(tx, page, conditions, (SELECT, "FROM enrichment_run r", "r"), run).await
}

/// The runs whose persons are not all found yet, in all workspaces.
pub async fn unfed(tx: &mut Tx) -> Result<Vec<(WorkspaceId, EnrichmentRunId)>, StoreError> {
    let sql = "SELECT workspace_id, id FROM enrichment_run WHERE state = 'running' AND NOT is_fed \
        ORDER BY workspace_id, id";
    tx.rows(sql, &[], |row| Ok((row.workspace(0)?, row.id(1)?))).await
}

/// Notes how far was looked, how many of the persons are there, and how many of them waited
/// already. A run with nobody left to wait for is done.
pub async fn fed(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: EnrichmentRunId,
    found: &Found,
    waited: usize,
) -> Result<(), StoreError> {
    let sql = "UPDATE enrichment_run SET position = COALESCE(?3, position), person_count = \
               person_count + ?4, \
               skipped_count = skipped_count + ?5, is_fed = ?6 WHERE workspace_id = ?1 AND id = ?2";
    let (there, waited) = (found.persons.len() as i64, waited as i64);
    tx.execute_deferred(sql, params![workspace, id, found.position, there, waited, found.is_end])
        .await?;
    finish_if_done(tx, workspace, id).await
}

/// Counts a person of the run who is finished; the last one finishes it.
pub async fn count(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: EnrichmentRunId,
    state: State,
) -> Result<(), StoreError> {
    let column = match state {
        State::Done => "done_count",
        State::Skipped => "skipped_count",
        State::Failed => "failed_count",
        State::Queued | State::Running => return Ok(()),
    };
    let sql = format!(
        "UPDATE enrichment_run SET {column} = {column} + 1, state = CASE WHEN {IS_LAST} THEN \
         'done' ELSE state END, \
         finished_at = CASE WHEN {IS_LAST} THEN ?3 ELSE finished_at END WHERE workspace_id = ?1 \
         AND id = ?2"
    );
    tx.execute_deferred(&sql, params![workspace, id, tx.now()]).await
}

/// Finishes a run that has nobody left to find or to wait for.
pub async fn finish_if_done(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: EnrichmentRunId,
) -> Result<(), StoreError> {
    let sql = "UPDATE enrichment_run SET state = 'done', finished_at = ?3 WHERE workspace_id = ?1 \
               AND id = ?2 AND state = 'running' \
               AND is_fed AND person_count <= done_count + skipped_count + failed_count";
    tx.execute_deferred(sql, params![workspace, id, tx.now()]).await
}

/// Ends a run that is not finished, of which so many were still waiting. Those who are worked on
/// right now are counted when they are done.
pub async fn cancel(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: EnrichmentRunId,
    skipped: i64,
) -> Result<(), StoreError> {
    let sql = "UPDATE enrichment_run SET state = 'cancelled', is_fed = ?3, skipped_count = \
               skipped_count + ?4, finished_at = ?5 \
               WHERE workspace_id = ?1 AND id = ?2 AND state = 'running'";
    tx.execute_deferred(sql, params![workspace, id, true, skipped, tx.now()]).await
}

/// What a run's filter asks for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RunPersons {
    pub times: TimeFilter,
    pub company_id: Option<CompanyId>,
    pub job_id: Option<JobId>,
    /// Nobody else; none means everybody.
    pub person_ids: Vec<PersonId>,
    /// At least one of them is empty.
    pub missing: Vec<Field>,
    pub never_enriched: bool,
}

impl RunPersons {
    fn conditions(&self, workspace: WorkspaceId) -> Conditions<'static> {
        let mut conditions = Conditions::new("p.workspace_id = ?1", vec![workspace.into()]);
        conditions.filter_times("p", &self.times);
        if let Some(company) = self.company_id {
            conditions.filter("p.company_id = {}", company);
        }
        if let Some(job) = self.job_id {
            conditions.filter(
                "p.id IN (SELECT c.person_id FROM candidate c WHERE c.workspace_id \
                = ?1 AND c.job_id = {})",
                job,
            );
        }
        if !self.person_ids.is_empty() {
            conditions.filter_among("p.id", self.person_ids.iter().copied());
        }
        conditions
    }

    /// The conditions that need no value.
    fn plain_conditions(&self) -> String {
        let mut sql = String::new();
        if !self.missing.is_empty() {
            let any: Vec<_> = self.missing.iter().map(|field| is_empty(*field)).collect();
            sql.push_str(&format!(" AND ({})", any.join(" OR ")));
        }
        if self.never_enriched {
            sql.push_str(
                " AND NOT EXISTS (SELECT 1 FROM enrichment e WHERE e.workspace_id = ?1 \
                AND e.person_id = p.id)",
            );
        }
        sql
    }

    /// Those whom the filter fits are found without looking at others.
    fn is_direct(&self) -> bool {
        let Self { times, company_id, job_id, person_ids, missing, never_enriched } = self;
        let fits_all = *times == TimeFilter::default() && missing.is_empty() && !never_enriched;
        fits_all || company_id.is_some() || job_id.is_some() || !person_ids.is_empty()
    }
}

const fn is_empty(field: Field) -> &'static str {
    match field {
        Field::Name => "(p.first_name = '' AND p.last_name = '')",
        Field::SocialUrl => "p.social_url = ''",
        Field::SocialLocation => "p.social_location = ''",
        Field::SocialHeadline => "p.social_headline = ''",
        Field::Address => "p.address = ''",
        Field::CurrentJobTitle => "p.current_job_title = ''",
        Field::CurrentCompanyName => "p.company_id IS NULL",
        Field::ExternalSourceId => "p.external_source_id IS NULL",
        Field::Emails => "p.emails = '[]'",
        Field::Phones => "p.phones = '[]'",
        Field::WorkExperience => "p.work_experience = '[]'",
        Field::EducationExperience => "p.education_experience = '[]'",
        Field::Certifications => "p.certifications = '[]'",
    }
}

/// What was found in one go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    pub persons: Vec<PersonId>,
    /// Nobody up to here has to be looked at again.
    pub position: Option<PersonId>,
    /// There is nobody behind.
    pub is_end: bool,
}

/// Some persons behind one whom the filter fits, in the order of their ids. It looks at a bounded
/// number of persons, or at those of a company or a job, so it may find nobody although there are
/// more behind.
pub async fn find_persons(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: &RunPersons,
    after: Option<PersonId>,
    limit: i64,
) -> Result<Found, StoreError> {
    let end = match filter.is_direct() {
        true => None,
        false => stretch_end(tx, workspace, after).await?,
    };
    let mut conditions = filter.conditions(workspace);
    if let Some(after) = after {
        conditions.narrow("p.id > {}", after);
    }
    if let Some(end) = end {
        conditions.narrow("p.id <= {}", end);
    }
    let sql = format!(
        "SELECT p.id FROM person p WHERE {}{} ORDER BY p.id LIMIT {limit}",
        conditions.sql(),
        filter.plain_conditions()
    );
    let persons: Vec<PersonId> = tx.rows(&sql, conditions.params(), |row| row.id(0)).await?;
    let is_full = persons.len() as i64 >= limit;
    let last = persons.last().copied();
    let position = if is_full { last } else { end.or(last) };
    Ok(Found { persons, position: position.or(after), is_end: !is_full && end.is_none() })
}

/// The last person of the next stretch; nothing if there are fewer.
async fn stretch_end(
    tx: &mut Tx,
    workspace: WorkspaceId,
    after: Option<PersonId>,
) -> Result<Option<PersonId>, StoreError> {
    let after = after.unwrap_or(PersonId::from_bytes([0; 16]));
    let sql =
        "SELECT id FROM person WHERE workspace_id = ?1 AND id > ?2 ORDER BY id LIMIT 1 OFFSET ?3";
    tx.row(sql, params![workspace, after, STRETCH - 1], |row| row.id(0)).await
}
