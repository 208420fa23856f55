//! Two records of one person made one: everything that points at the one that goes is made to point
//! at the one that stays.

use slated_model::id::{CandidateId, JobId, PersonId, WorkspaceId};

use crate::driver::param::Param;
use crate::error::StoreError;
use crate::params;
use crate::records::candidate::StageEntry;
use crate::tx::Tx;

/// A job that both persons are on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SharedJob {
    pub job: JobId,
    pub kept: CandidateId,
    pub gone: CandidateId,
}

/// The jobs that both persons are on, in the order of their ids.
pub async fn shared_jobs(
    tx: &mut Tx,
    workspace: WorkspaceId,
    kept: PersonId,
    gone: PersonId,
) -> Result<Vec<SharedJob>, StoreError> {
    let sql = "SELECT one.job_id, one.id, other.id FROM candidate one \
               JOIN candidate other ON other.workspace_id = one.workspace_id AND other.person_id \
               = ?3 AND other.job_id = one.job_id \
               WHERE one.workspace_id = ?1 AND one.person_id = ?2 ORDER BY one.job_id";
    tx.rows(sql, params![workspace, kept, gone], |row| {
        Ok(SharedJob { job: row.id(0)?, kept: row.id(1)?, gone: row.id(2)? })
    })
    .await
}

/// Gives a candidate another history, with the stage that it ends in.
pub async fn replace_history(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: CandidateId,
    entries: &[StageEntry],
) -> Result<(), StoreError> {
    const ROWS: usize = 50;
    tx.execute_deferred(
        "DELETE FROM stage_entry WHERE workspace_id = ?1 AND candidate_id = ?2",
        params![workspace, id],
    )
    .await?;
    for some in entries.chunks(ROWS) {
        let mut sql = String::from(
            "INSERT INTO stage_entry (workspace_id, candidate_id, number, stage_id, stage_name, \
             entered_at) VALUES ",
        );
        let mut params = vec![workspace.into(), id.into()];
        for entry in some {
            let first = params.len() + 1;
            let comma = if first > 3 { ", " } else { "" };
            sql.push_str(&format!(
                "{comma}(?1, ?2, ?{first}, ?{}, ?{}, ?{})",
                first + 1,
                first + 2,
                first + 3
            ));
            params.extend::<[Param<'_>; 4]>([
                entry.number.into(),
                entry.stage_id.into(),
                (&entry.stage_name).into(),
                entry.entered_at.into(),
            ]);
        }
        tx.execute_deferred(&sql, &params).await?;
    }
    let Some((stage, entered_at)) = entries.last().map(|last| (last.stage_id, last.entered_at))
    else {
        return Ok(());
    };
    let sql = "UPDATE candidate SET version = version + 1, stage_id = ?3, stage_entered_at = ?4, \
        updated_at = ?5 WHERE workspace_id = ?1 AND id = ?2";
    tx.execute_deferred(sql, params![workspace, id, stage, entered_at, tx.now()]).await
}

/// Moves the candidates of one person to the other, but for those on jobs that the other is on too.
pub async fn move_candidates(
    tx: &mut Tx,
    workspace: WorkspaceId,
    kept: PersonId,
    gone: PersonId,
) -> Result<(), StoreError> {
    let sql = "UPDATE candidate SET person_id = ?2, version = version + 1, updated_at = ?4 WHERE \
               workspace_id = ?1 AND person_id = ?3 \
               AND job_id NOT IN (SELECT known.job_id FROM candidate known WHERE \
               known.workspace_id = ?1 AND known.person_id = ?2)";
    tx.execute_deferred(sql, params![workspace, kept, gone, tx.now()]).await
}

/// Moves notes, client contacts, proposals of callers and identifiers from one person to the other.
/// They may not both be contacts of one company.
pub async fn move_belongings(
    tx: &mut Tx,
    workspace: WorkspaceId,
    kept: PersonId,
    gone: PersonId,
) -> Result<(), StoreError> {
    let both: [Param<'_>; 3] = [workspace.into(), kept.into(), gone.into()];
    tx.execute_deferred(
        "UPDATE note SET person_id = ?2 WHERE workspace_id = ?1 AND person_id = ?3",
        &both,
    )
    .await?;
    tx.execute_deferred(
        "UPDATE client_contact SET person_id = ?2 WHERE workspace_id = ?1 AND person_id = ?3",
        &both,
    )
    .await?;
    tx.execute_deferred(
        "UPDATE proposal SET person_id = ?2 WHERE workspace_id = ?1 AND person_id = ?3 AND \
        provider = ''",
        &both,
    )
    .await?;
    // Of an identifier that both have, the place further in front stays.
    let sql = "DELETE FROM person_identifier WHERE workspace_id = ?1 AND person_id IN (?2, ?3) \
               AND EXISTS \
               (SELECT 1 FROM person_identifier front WHERE front.workspace_id = ?1 AND \
               front.kind = person_identifier.kind \
               AND front.key = person_identifier.key AND front.rank < person_identifier.rank AND \
               front.person_id IN (?2, ?3))";
    tx.execute_deferred(sql, &both).await?;
    tx.execute_deferred(
        "UPDATE person_identifier SET person_id = ?2 WHERE workspace_id = ?1 AND person_id = ?3",
        &both,
    )
    .await
}

/// Gives the person those lists of the other's career history that it has none of its own for.
pub async fn fill_career(
    tx: &mut Tx,
    workspace: WorkspaceId,
    kept: PersonId,
    gone: PersonId,
) -> Result<(), StoreError> {
    for list in ["work_experience", "education_experience", "certifications"] {
        let sql = format!(
            "UPDATE person SET {list} = (SELECT other.{list} FROM person other WHERE \
             other.workspace_id = ?1 AND other.id = ?3) \
             WHERE workspace_id = ?1 AND id = ?2 AND {list} = '[]'"
        );
        tx.execute_deferred(&sql, params![workspace, kept, gone]).await?;
    }
    Ok(())
}
