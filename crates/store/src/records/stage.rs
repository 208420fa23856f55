use slated_model::clock::Timestamp;
use slated_model::id::{CandidateId, JobId, PersonId, StageId, WorkspaceId};
use slated_model::stage::{NewStage, Stage};

use crate::error::StoreError;
use crate::params;
use crate::tx::{Asked, Tx};

pub async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    stage_order: i64,
    stage: &NewStage,
) -> Result<(), StoreError> {
    let NewStage { name, is_rejection_stage, is_interviewing_stage } = stage.clone();
    let stage =
        Stage { id: tx.new_id(), name, stage_order, is_rejection_stage, is_interviewing_stage };
    add(tx, workspace, job, &stage).await
}

pub async fn add(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    stage: &Stage,
) -> Result<(), StoreError> {
    let Stage { id, name, stage_order, is_rejection_stage, is_interviewing_stage } = stage;
    let sql = "INSERT INTO pipeline_stage (workspace_id, job_id, id, name, stage_order, \
               is_rejection_stage, is_interviewing_stage) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    tx.execute_deferred(
        sql,
        params![
            workspace,
            job,
            *id,
            name,
            *stage_order,
            *is_rejection_stage,
            *is_interviewing_stage
        ],
    )
    .await
}

pub async fn update(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    stage: &Stage,
) -> Result<(), StoreError> {
    let Stage { id, name, stage_order, is_rejection_stage, is_interviewing_stage } = stage;
    let sql = "UPDATE pipeline_stage SET name = ?4, stage_order = ?5, is_rejection_stage = ?6, \
               is_interviewing_stage = ?7 \
               WHERE workspace_id = ?1 AND job_id = ?2 AND id = ?3";
    tx.execute_deferred(
        sql,
        params![
            workspace,
            job,
            *id,
            name,
            *stage_order,
            *is_rejection_stage,
            *is_interviewing_stage
        ],
    )
    .await
}

/// Removes a stage that no candidate is in.
pub async fn remove(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    id: StageId,
) -> Result<(), StoreError> {
    tx.execute_deferred(
        "DELETE FROM pipeline_stage WHERE workspace_id = ?1 AND job_id = ?2 AND id = ?3",
        params![workspace, job, id],
    )
    .await
}

/// Asks for the stages of a job. Every job has some; without any there is no such job.
pub async fn ask_of_job(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
) -> Result<Asked<Stage>, StoreError> {
    let sql = "SELECT id, name, stage_order, is_rejection_stage, is_interviewing_stage FROM \
        pipeline_stage WHERE workspace_id = ?1 AND job_id = ?2";
    tx.ask(sql, params![workspace, job], |row| {
        Ok(Stage {
            id: row.id(0)?,
            name: row.text(1)?,
            stage_order: row.int(2)?,
            is_rejection_stage: row.flag(3)?,
            is_interviewing_stage: row.flag(4)?,
        })
    })
    .await
}

/// The stages that were asked for, in order.
pub async fn answer(tx: &mut Tx, asked: Asked<Stage>) -> Result<Vec<Stage>, StoreError> {
    let mut stages = tx.answer(asked).await?;
    stages.sort_unstable_by_key(|stage| stage.stage_order);
    Ok(stages)
}

pub async fn of_job(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
) -> Result<Vec<Stage>, StoreError> {
    let asked = ask_of_job(tx, workspace, job).await?;
    answer(tx, asked).await
}

/// How many candidates are in each stage of the job; stages without any are left out.
pub async fn counts(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
) -> Result<Vec<(StageId, i64)>, StoreError> {
    let sql = "SELECT stage_id, COUNT(*) FROM candidate WHERE workspace_id = ?1 AND job_id = ?2 \
        GROUP BY stage_id";
    tx.rows(sql, params![workspace, job], |row| Ok((row.id(0)?, row.int(1)?))).await
}

/// How many candidates are in one stage of the job.
pub async fn count(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    id: StageId,
) -> Result<i64, StoreError> {
    let sql =
        "SELECT COUNT(*) FROM candidate WHERE workspace_id = ?1 AND job_id = ?2 AND stage_id = ?3";
    Ok(tx.row(sql, params![workspace, job, id], |row| row.int(0)).await?.unwrap_or(0))
}

/// Keeps others from putting candidates into the stage until this work is done.
pub async fn lock_for_delete(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    id: StageId,
) -> Result<(), StoreError> {
    if tx.is_embedded() {
        return Ok(());
    }
    // What is locked to be changed can still be pointed at; what is locked to be removed cannot.
    let sql = "SELECT id FROM pipeline_stage WHERE workspace_id = ?1 AND job_id = ?2 AND id = ?3 \
        FOR UPDATE";
    tx.row(sql, params![workspace, job, id], |_| Ok(())).await.map(|_| ())
}

/// A candidate that is in a stage, with the person's name.
#[derive(Clone, Debug)]
pub struct Occupant {
    pub id: CandidateId,
    pub person_id: PersonId,
    pub name: String,
    pub entered_at: Timestamp,
}

/// Keeps candidates that are in the stage, so many at most, from others until this work is done.
pub async fn hold_occupants(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    id: StageId,
    most: i64,
) -> Result<(), StoreError> {
    if tx.is_embedded() {
        return Ok(());
    }
    let sql = "SELECT id FROM candidate WHERE workspace_id = ?1 AND job_id = ?2 AND stage_id = ?3 \
        ORDER BY id LIMIT ?4 FOR NO KEY UPDATE";
    tx.rows(sql, params![workspace, job, id, most], |_| Ok(())).await.map(|_| ())
}

/// The candidates that are in the stage, oldest first, kept from others until this work is done.
pub async fn occupants(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    id: StageId,
) -> Result<Vec<Occupant>, StoreError> {
    // By itself: whoever is waited for, and has another person then, would be missed by one
    // statement with their names.
    hold_occupants(tx, workspace, job, id, i64::MAX).await?;
    let sql = "SELECT c.id, c.person_id, p.name, c.stage_entered_at FROM candidate c \
               JOIN person p ON p.workspace_id = c.workspace_id AND p.id = c.person_id \
               WHERE c.workspace_id = ?1 AND c.job_id = ?2 AND c.stage_id = ?3 ORDER BY c.id";
    tx.rows(sql, params![workspace, job, id], |row| {
        Ok(Occupant {
            id: row.id(0)?,
            person_id: row.id(1)?,
            name: row.text(2)?,
            entered_at: row.time(3)?,
        })
    })
    .await
}

/// Puts all candidates of one stage into another, each not before it entered the last one. Nobody
/// else may put any into the first meanwhile.
pub async fn move_all(
    tx: &mut Tx,
    workspace: WorkspaceId,
    job: JobId,
    from: StageId,
    to: StageId,
    at: Timestamp,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO stage_entry (workspace_id, candidate_id, number, stage_id, stage_name, \
               entered_at) \
               SELECT c.workspace_id, c.id, \
               (SELECT COALESCE(MAX(h.number), 0) + 1 FROM stage_entry h WHERE h.workspace_id = \
               ?1 AND h.candidate_id = c.id), \
               s.id, s.name, CASE WHEN c.stage_entered_at > ?5 THEN c.stage_entered_at ELSE ?5 END \
               FROM candidate c JOIN pipeline_stage s ON s.workspace_id = c.workspace_id AND \
               s.job_id = c.job_id AND s.id = ?4 \
               WHERE c.workspace_id = ?1 AND c.job_id = ?2 AND c.stage_id = ?3";
    tx.execute_deferred(sql, params![workspace, job, from, to, at]).await?;
    let sql = "UPDATE candidate SET version = version + 1, stage_id = ?4, \
               stage_entered_at = CASE WHEN stage_entered_at > ?5 THEN stage_entered_at ELSE ?5 \
               END, \
               updated_at = CASE WHEN stage_entered_at > ?5 THEN stage_entered_at ELSE ?5 END \
               WHERE workspace_id = ?1 AND job_id = ?2 AND stage_id = ?3";
    tx.execute_deferred(sql, params![workspace, job, from, to, at]).await
}

/// The job that the stage is of. Looks through all stages of the workspace.
pub async fn job_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: StageId,
) -> Result<Option<JobId>, StoreError> {
    tx.row(
        "SELECT job_id FROM pipeline_stage WHERE workspace_id = ?1 AND id = ?2",
        params![workspace, id],
        |row| row.id(0),
    )
    .await
}

/// The names that stages have anywhere in the workspace, each once.
pub async fn names(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<String>, StoreError> {
    tx.rows(
        "SELECT DISTINCT name FROM pipeline_stage WHERE workspace_id = ?1",
        params![workspace],
        |row| row.text(0),
    )
    .await
}
