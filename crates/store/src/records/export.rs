//! All that is kept of a person's candidates, for the person to have.

use slated_model::clock::Timestamp;
use slated_model::id::{CandidateId, JobId, PersonId, StageId, WorkspaceId};

use crate::error::StoreError;
use crate::params;
use crate::records::candidate::StageEntry;
use crate::tx::Tx;

/// A candidate with its job and its history.
#[derive(Clone, Debug)]
pub struct KeptCandidate {
    pub id: CandidateId,
    pub job_id: JobId,
    pub job_name: String,
    pub client_company_name: String,
    pub stage_id: StageId,
    pub stage_name: String,
    pub stage_entered_at: Timestamp,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    pub history: Vec<StageEntry>,
}

/// The person's candidates, the oldest first, in one statement: a row for each stage that one of
/// them entered.
pub async fn candidates(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Vec<KeptCandidate>, StoreError> {
    let sql = "SELECT c.id, c.job_id, j.name, client.name, c.stage_id, s.name, \
               c.stage_entered_at, c.created_at, c.updated_at, \
               h.number, h.stage_id, h.stage_name, h.entered_at \
               FROM candidate c \
               JOIN job j ON j.workspace_id = c.workspace_id AND j.id = c.job_id \
               JOIN company client ON client.workspace_id = j.workspace_id AND client.id = \
               j.company_id \
               JOIN pipeline_stage s ON s.workspace_id = c.workspace_id AND s.job_id = c.job_id \
               AND s.id = c.stage_id \
               JOIN stage_entry h ON h.workspace_id = c.workspace_id AND h.candidate_id = c.id \
               WHERE c.workspace_id = ?1 AND c.person_id = ?2 ORDER BY c.id, h.number";
    let mut candidates: Vec<KeptCandidate> = Vec::new();
    tx.rows(sql, params![workspace, person], |row| {
        let id = row.id(0)?;
        if candidates.last().is_none_or(|last| last.id != id) {
            candidates.push(KeptCandidate {
                id,
                job_id: row.id(1)?,
                job_name: row.text(2)?,
                client_company_name: row.text(3)?,
                stage_id: row.id(4)?,
                stage_name: row.text(5)?,
                stage_entered_at: row.time(6)?,
                created_at: row.time(7)?,
                updated_at: row.time(8)?,
                history: Vec::new(),
            });
        }
        let entry = StageEntry {
            number: row.int(9)?,
            stage_id: row.id(10)?,
            stage_name: row.text(11)?,
            entered_at: row.time(12)?,
        };
        if let Some(last) = candidates.last_mut() {
            last.history.push(entry);
        }
        Ok(())
    })
    .await?;
    Ok(candidates)
}
