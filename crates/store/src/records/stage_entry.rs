//! Candidates enter a job, and one of its stages after the other.

use slated_model::clock::Timestamp;
use slated_model::id::{CandidateId, JobId, PersonId, WorkspaceId};
use slated_model::stage::{Stage, entry_stage};

use crate::error::StoreError;
use crate::params;
use crate::records::candidate::CandidatePlace;
use crate::records::{job, range_counts, stage};
use crate::tx::{Asked, Tx};

/// Asks how many stages the candidate has entered.
pub async fn ask_entries(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CandidateId,
) -> Result<Asked<i64>, StoreError> {
    let sql = "SELECT COALESCE(MAX(number), 0) FROM stage_entry WHERE workspace_id = ?1 AND \
        candidate_id = ?2";
    tx.ask(sql, params![workspace, id], |row| row.int(0)).await
}

const LAST_ON_JOB: &str = "SELECT id FROM candidate WHERE workspace_id = ?1 AND job_id = ?2 ORDER \
    BY position DESC LIMIT 1";

/// Persons who were put on a job.
pub struct Entered {
    /// In the order of the persons.
    pub candidates: Vec<CandidateId>,
    pub job_name: String,
    pub stage: Stage,
}

/// The end of a job's list, where nobody else adds to it meanwhile.
pub struct End {
    job: JobId,
    more: i64,
    counted: Asked<(i64, String)>,
    /// Until the job was held somebody may have changed its pipeline.
    stages: Option<Asked<Stage>>,
    last: Asked<CandidateId>,
}

/// Makes room for so many at the end of a job, and holds it. Who needs several takes the lowest id
/// first.
pub async fn make_room(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    more: usize,
) -> Result<End, StoreError> {
    let more = i64::try_from(more).unwrap_or(i64::MAX);
    let counted = job::ask_to_count_candidates(tx, workspace, job, more).await?;
    let stages = match tx.is_embedded() {
        true => None,
        false => Some(stage::ask_of_job(tx, workspace, job).await?),
    };
    let last = tx.ask(LAST_ON_JOB, params![workspace, job], |row| row.id(0)).await?;
    Ok(End { job, more, counted, stages, last })
}

/// Puts the persons there, as many as there is room for and in that order, in the stage where
/// candidates enter the job.
pub async fn enter_job(
    tx: &mut Tx,
    workspace: WorkspaceId,
    end: End,
    persons: &[PersonId],
    stages: &[Stage],
) -> Result<Entered, StoreError> {
    let End { job, more, counted, stages: stages_now, last } = end;
    let gone = || StoreError::Internal(format!("job {job} no longer exists"));
    let (position, job_name) = tx.answer(counted).await?.pop().ok_or_else(gone)?;
    let mut last: Option<CandidateId> = tx.answer(last).await?.pop();
    let stage = match stages_now {
        Some(asked) => entry_stage(&stage::answer(tx, asked).await?).cloned(),
        None => entry_stage(stages).cloned(),
    };
    let stage =
        stage.ok_or_else(|| StoreError::Internal(format!("job {job} has no entry stage")))?;
    let mut candidates = Vec::with_capacity(persons.len());
    for (position, person) in (position - more + 1..).zip(persons) {
        let id = tx.new_id_after(last);
        insert_at(tx, workspace, (job, position), id, *person, &stage).await?;
        candidates.push(id);
        last = Some(id);
    }
    Ok(Entered { candidates, job_name, stage })
}

async fn insert_at(
    tx: &mut Tx,
    workspace: WorkspaceId,
    (job, position): (JobId, i64),
    id: CandidateId,
    person: PersonId,
    stage: &Stage,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO candidate (workspace_id, id, version, person_id, job_id, position, \
               stage_id, stage_entered_at, created_at, updated_at) \
               VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, ?7, ?7, ?7)";
    tx.execute_deferred(sql, params![workspace, id, person, job, position, stage.id, id.moment()])
        .await?;
    range_counts::added(tx, workspace, range_counts::List::Candidates, id).await?;
    insert_entry(tx, workspace, id, 1, stage, id.moment()).await
}

/// That a candidate enters another stage of its job.
pub struct StageChange<'s> {
    pub id: CandidateId,
    pub stage: &'s Stage,
    pub at: Timestamp,
    number: i64,
}

impl<'s> StageChange<'s> {
    /// Not before it entered the last one, whatever another server's clock said then. `entries` is
    /// how many it has entered.
    pub fn now(
        tx: &Tx,
        id: CandidateId,
        last: &CandidatePlace,
        entries: i64,
        stage: &'s Stage,
    ) -> Self {
        Self { id, stage, at: tx.now().max(last.entered_at), number: entries + 1 }
    }
}

pub async fn change_stages(
    tx: &mut Tx,
    workspace: WorkspaceId,
    changes: &[StageChange<'_>],
) -> Result<(), StoreError> {
    let sql = "UPDATE candidate SET version = version + 1, stage_id = ?3, stage_entered_at = ?4, \
        updated_at = ?4 WHERE workspace_id = ?1 AND id = ?2";
    for StageChange { id, stage, at, .. } in changes {
        tx.execute_deferred(sql, params![workspace, *id, stage.id, *at]).await?;
    }
    for StageChange { id, stage, at, number } in changes {
        insert_entry(tx, workspace, *id, *number, stage, *at).await?;
    }
    Ok(())
}

async fn insert_entry(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CandidateId,
    number: i64,
    stage: &Stage,
    at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO stage_entry (workspace_id, candidate_id, number, stage_id, stage_name, \
        entered_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
    tx.execute_deferred(sql, params![workspace, id, number, stage.id, &stage.name, at]).await
}
