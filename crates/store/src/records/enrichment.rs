//! The enrichment of a person, the last one of each: who waits, who is worked on, and what came of
//! it.

use slated_model::clock::Timestamp;
use slated_model::enrichment::{Refused, State};
use slated_model::id::{EnrichmentRunId, LeaseId, PersonId, ProposalId, WorkspaceId};

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::proposal::Proposal;
use crate::records::{json_in, named_in, places, to_json, with_ids};
use crate::tx::Tx;

/// All that is shown of an enrichment.
#[derive(Clone, Hash, Debug)]
pub struct Enrichment {
    pub person: PersonId,
    pub state: State,
    /// The run that it belongs to; none if it was asked for by itself.
    pub run: Option<EnrichmentRunId>,
    /// Kept answers do not count.
    pub refresh: bool,
    /// Who knew the person.
    pub provider: Option<String>,
    pub attempts: i64,
    pub requested_at: Timestamp,
    pub started_at: Option<Timestamp>,
    pub finished_at: Option<Timestamp>,
    /// When to try while it is queued, the end of the lease while it is running.
    pub due_at: Option<Timestamp>,
    pub last_error: Option<String>,
    /// Why it was skipped.
    pub reason: Option<String>,
    pub is_cached: bool,
    /// What it changed.
    pub fields: Vec<String>,
    pub refused: Vec<Refused>,
}

impl Enrichment {
    /// Which of the person's proposals came of it.
    pub fn those_that_came_of_it(&self, proposals: &[Proposal]) -> Vec<ProposalId> {
        proposals
            .iter()
            .filter(|proposal| proposal.created_at >= self.requested_at)
            .map(|proposal| proposal.id)
            .collect()
    }
}

/// A person to be enriched now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Task {
    pub person: PersonId,
    pub requested_at: Timestamp,
    pub refresh: bool,
    pub attempts: i64,
    pub run: Option<EnrichmentRunId>,
}

const COLUMNS: &str = "person_id, state, run_id, refresh, provider, attempts, requested_at, \
     started_at, finished_at, due_at, last_error, \
     reason, is_cached, fields, refused";
const TASK_COLUMNS: &str = "person_id, requested_at, refresh, attempts, run_id";

fn enrichment(row: &Row<'_>) -> Result<Enrichment, StoreError> {
    Ok(Enrichment {
        person: row.id(0)?,
        state: named_in(row, 1, "the state of an enrichment", State::parse)?,
        run: row.optional_id(2)?,
        refresh: row.flag(3)?,
        provider: row.optional_text(4)?,
        attempts: row.int(5)?,
        requested_at: row.time(6)?,
        started_at: row.optional_time(7)?,
        finished_at: row.optional_time(8)?,
        due_at: row.optional_time(9)?,
        last_error: row.optional_text(10)?,
        reason: row.optional_text(11)?,
        is_cached: row.flag(12)?,
        fields: json_in(row, 13)?,
        refused: json_in(row, 14)?,
    })
}

fn task(row: &Row<'_>) -> Result<Task, StoreError> {
    Ok(Task {
        person: row.id(0)?,
        requested_at: row.time(1)?,
        refresh: row.flag(2)?,
        attempts: row.int(3)?,
        run: row.optional_id(4)?,
    })
}

/// Columns that are not named have what a new row begins with.
const INSERT: &str = "INSERT INTO enrichment (workspace_id, person_id, state, run_id, refresh, \
     requested_at, due_at) \
     VALUES (?1, ?2, 'queued', ?3, ?4, ?5, ?5)";

/// Puts the person into the queue, as they are to be there from now on.
const QUEUE: &str = "ON CONFLICT (workspace_id, person_id) DO UPDATE SET state = excluded.state, \
                     run_id = excluded.run_id, \
                     refresh = excluded.refresh, provider = excluded.provider, attempts = \
                     excluded.attempts, requested_at = excluded.requested_at, \
                     started_at = excluded.started_at, finished_at = excluded.finished_at, due_at \
                     = excluded.due_at, lease = excluded.lease, \
                     last_error = excluded.last_error, reason = excluded.reason, is_cached = \
                     excluded.is_cached, fields = excluded.fields, \
                     refused = excluded.refused WHERE enrichment.state NOT IN ('queued', \
                     'running')";

/// Puts the person into the queue. False if they wait already: then they keep their place, wait no
/// longer for another try, and may want fresh answers from now on. Nor is somebody put in who is
/// worked on right now, but that is done once more.
pub async fn queue(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    refresh: bool,
) -> Result<bool, StoreError> {
    let run: Option<EnrichmentRunId> = None;
    if tx
        .execute(&format!("{INSERT} {QUEUE}"), params![workspace, person, run, refresh, tx.now()])
        .await?
        > 0
    {
        return Ok(true);
    }
    // Whoever stood in the way is held by now, even if nothing was changed.
    let sql = "UPDATE enrichment SET refresh = (refresh OR ?3), requested_at = CASE WHEN state = \
               'running' OR ?3 THEN ?4 ELSE requested_at END, \
               due_at = CASE WHEN state = 'queued' AND due_at > ?4 THEN ?4 ELSE due_at END WHERE \
               workspace_id = ?1 AND person_id = ?2";
    tx.execute_deferred(sql, params![workspace, person, refresh, tx.now()]).await?;
    Ok(false)
}

/// Puts a person into the queue who is held and does not wait there.
pub async fn queue_for_run(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    refresh: bool,
    run: EnrichmentRunId,
) -> Result<(), StoreError> {
    tx.execute_deferred(
        &format!("{INSERT} {QUEUE}"),
        params![workspace, person, Some(run), refresh, tx.now()],
    )
    .await
}

/// Puts a person into the queue who was made by this very work, so that nobody can know them yet.
pub async fn queue_new(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<(), StoreError> {
    let run: Option<EnrichmentRunId> = None;
    tx.execute_deferred(INSERT, params![workspace, person, run, false, tx.now()]).await
}

pub async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Option<Enrichment>, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM enrichment WHERE workspace_id = ?1 AND person_id = ?2");
    tx.row(&sql, params![workspace, person], enrichment).await
}

/// The workspaces in which somebody is due: queued, or left behind by a server that died.
pub async fn waiting(tx: &mut Tx, now: Timestamp) -> Result<Vec<WorkspaceId>, StoreError> {
    // The first of each workspace is sought, however many wait behind them.
    let sql = "SELECT w.workspace_id FROM workspace w WHERE (SELECT e.due_at FROM enrichment e \
               WHERE e.workspace_id = w.workspace_id \
               AND e.due_at IS NOT NULL ORDER BY e.due_at LIMIT 1) <= ?1 ORDER BY w.workspace_id";
    tx.rows(sql, params![now], |row| row.workspace(0)).await
}

/// Takes some who are due, those first who have waited longest, and holds them until then.
pub async fn take(
    tx: &mut Tx,
    workspace: WorkspaceId,
    lease: LeaseId,
    until: Timestamp,
    most: i64,
) -> Result<Vec<Task>, StoreError> {
    // Whom another server is just taking is left to it.
    let lock = if tx.is_embedded() { "" } else { " FOR NO KEY UPDATE SKIP LOCKED" };
    let sql = format!(
        "SELECT {TASK_COLUMNS} FROM enrichment WHERE workspace_id = ?1 AND due_at <= ?2 ORDER BY \
         due_at LIMIT ?3{lock}"
    );
    let tasks = tx.rows(&sql, params![workspace, tx.now(), most], task).await?;
    if tasks.is_empty() {
        return Ok(tasks);
    }
    let sql = format!(
        "UPDATE enrichment SET state = 'running', started_at = ?2, lease = ?3, due_at = ?4 WHERE \
         workspace_id = ?1 AND person_id IN ({})",
        places(tasks.len(), 5)
    );
    let mut params = vec![workspace.into(), tx.now().into(), lease.into(), until.into()];
    params.extend(tasks.iter().map(|task| Param::from(task.person)));
    tx.execute_deferred(&sql, &params).await?;
    Ok(tasks)
}

/// The task as it is now, if the lease still holds it, kept from others until this work is done.
pub async fn held(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    lease: LeaseId,
) -> Result<Option<Task>, StoreError> {
    let sql = format!(
        "SELECT {TASK_COLUMNS} FROM enrichment WHERE workspace_id = ?1 AND person_id = ?2 AND \
         lease = ?3"
    );
    tx.row_for_update(&sql, params![workspace, person, lease], task).await
}

/// Holds on to a person for longer, if they are still held; says whether they are.
pub async fn renew(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    lease: LeaseId,
    until: Timestamp,
) -> Result<bool, StoreError> {
    let sql = "UPDATE enrichment SET due_at = ?4 WHERE workspace_id = ?1 AND person_id = ?2 AND \
        lease = ?3";
    Ok(tx.execute(sql, params![workspace, person, lease, until]).await? > 0)
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Settled<'s> {
    pub state: State,
    pub provider: Option<&'s str>,
    pub attempts: i64,
    pub last_error: Option<&'s str>,
    pub reason: Option<&'s str>,
    pub is_cached: bool,
    pub fields: &'s [&'static str],
    pub refused: &'s [Refused],
    /// When to try again, if it goes back into the queue.
    pub due_at: Option<Timestamp>,
}

/// Lets go of the person: for good, or until it is tried again.
pub async fn settle(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    settled: &Settled<'_>,
) -> Result<(), StoreError> {
    let sql = "UPDATE enrichment SET state = ?3, provider = ?4, attempts = ?5, last_error = ?6, \
               reason = ?7, is_cached = ?8, fields = ?9, \
               refused = ?10, due_at = ?11, finished_at = ?12, lease = NULL WHERE workspace_id = \
               ?1 AND person_id = ?2";
    let Settled {
        state,
        provider,
        attempts,
        last_error,
        reason,
        is_cached,
        fields,
        refused,
        due_at,
    } = settled;
    let finished_at = due_at.is_none().then_some(tx.now());
    let (fields, refused) = (to_json(fields)?, to_json(refused)?);
    let params: [Param<'_>; 12] = [
        workspace.into(),
        person.into(),
        state.name().into(),
        (*provider).into(),
        (*attempts).into(),
        (*last_error).into(),
        (*reason).into(),
        (*is_cached).into(),
        (&fields).into(),
        (&refused).into(),
        (*due_at).into(),
        finished_at.into(),
    ];
    tx.execute_deferred(sql, &params).await
}

/// Lets go of all persons, for a server that has them all to itself and was stopped in the middle.
pub async fn clear_leases(tx: &mut Tx) -> Result<(), StoreError> {
    let sql = "UPDATE enrichment SET state = 'queued', due_at = ?1, lease = NULL WHERE due_at IS \
        NOT NULL AND lease IS NOT NULL";
    tx.execute_deferred(sql, params![tx.now()]).await
}

/// The end of a run: those of it who wait are skipped for that reason, and who is worked on is not;
/// says how many.
pub async fn skip_queued_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    run: EnrichmentRunId,
    reason: &str,
) -> Result<i64, StoreError> {
    let sql = "UPDATE enrichment SET state = 'skipped', reason = ?3, finished_at = ?4, due_at = \
               NULL \
               WHERE workspace_id = ?1 AND run_id = ?2 AND due_at IS NOT NULL AND state = 'queued'";
    Ok(tx.execute(sql, params![workspace, run, reason, tx.now()]).await? as i64)
}

/// Takes a person who waits, or is worked on, out of a run; says out of which.
pub async fn leave_run(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Option<EnrichmentRunId>, StoreError> {
    let sql = "SELECT run_id FROM enrichment WHERE workspace_id = ?1 AND person_id = ?2 AND \
        due_at IS NOT NULL";
    let run = tx
        .row_for_update(sql, params![workspace, person], |row| row.optional_id(0))
        .await?
        .flatten();
    if run.is_some() {
        tx.execute_deferred(
            "UPDATE enrichment SET run_id = NULL WHERE workspace_id = ?1 AND person_id = ?2",
            params![workspace, person],
        )
        .await?;
    }
    Ok(run)
}

/// Those of the persons who wait, or are worked on.
pub async fn waiting_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    persons: &[PersonId],
) -> Result<Vec<PersonId>, StoreError> {
    if persons.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT person_id FROM enrichment WHERE workspace_id = ?1 AND person_id IN ({}) AND \
         due_at IS NOT NULL",
        places(persons.len(), 2)
    );
    tx.rows(&sql, &with_ids(workspace, persons), |row| row.id(0)).await
}

/// Takes away all that enrichment knows of a person; says for which run they were still to be
/// enriched, if for one.
pub async fn remove(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Option<EnrichmentRunId>, StoreError> {
    let sql = "DELETE FROM enrichment WHERE workspace_id = ?1 AND person_id = ?2 RETURNING \
        run_id, due_at";
    let gone = tx
        .row(sql, params![workspace, person], |row| {
            Ok((row.optional_id(0)?, row.optional_time(1)?))
        })
        .await?;
    for table in ["enrichment_answer", "field_source", "proposal"] {
        let sql = format!("DELETE FROM {table} WHERE workspace_id = ?1 AND person_id = ?2");
        tx.execute_deferred(&sql, params![workspace, person]).await?;
    }
    Ok(gone.and_then(|(run, due_at)| run.filter(|_| due_at.is_some())))
}
