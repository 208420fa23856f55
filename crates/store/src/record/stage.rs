use model::id::{JobId, WorkspaceId};
use model::stage::{NewStage, Stage};

use crate::{Asked, StoreError, Tx, params};

pub async fn insert(tx: &mut Tx, workspace: WorkspaceId, job: JobId, stage_order: i64, stage: &NewStage) -> Result<(), StoreError> {
    let id = tx.new_id::<model::id::Stage>();
    let sql = "INSERT INTO pipeline_stage (workspace_id, job_id, id, name, stage_order, is_rejection_stage, is_interviewing_stage) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    tx.tell(sql, params![workspace, job, id, &stage.name, stage_order, stage.is_rejection_stage, stage.is_interviewing_stage]).await
}

/// Asks for the stages of a job. Every job has some; without any there is no such job.
pub async fn ask_of_job(tx: &mut Tx, workspace: WorkspaceId, job: JobId) -> Result<Asked<Stage>, StoreError> {
    let sql = "SELECT id, name, stage_order, is_rejection_stage, is_interviewing_stage FROM pipeline_stage WHERE workspace_id = ?1 AND job_id = ?2";
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

pub async fn of_job(tx: &mut Tx, workspace: WorkspaceId, job: JobId) -> Result<Vec<Stage>, StoreError> {
    let asked = ask_of_job(tx, workspace, job).await?;
    answer(tx, asked).await
}
