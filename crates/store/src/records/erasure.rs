//! Forgetting a person: what belongs to them goes, and so does what the log and the deliveries say
//! of them. Entries of the log stay, without their contents, so that it can still be proved. What
//! kept answers say of them goes by their [mentions](super::answers_mentioning).

use slated_model::clock::Timestamp;
use slated_model::id::{CandidateId, JobId, NoteId, PersonId, WebhookId, WorkspaceId};

use crate::driver::param::Param;
use crate::error::StoreError;
use crate::params;
use crate::records::events::outbox;
use crate::records::places;
use crate::tx::Tx;

/// The person's candidates, in the order of their jobs.
pub async fn candidates(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Vec<(JobId, CandidateId)>, StoreError> {
    let sql = "SELECT job_id, id FROM candidate WHERE workspace_id = ?1 AND person_id = ?2 ORDER \
        BY job_id";
    tx.rows(sql, params![workspace, person], |row| Ok((row.id(0)?, row.id(1)?))).await
}

/// The ids of the notes that there are about the person, and of those that the log knows of since a
/// moment.
pub async fn notes(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    since: Timestamp,
) -> Result<Vec<NoteId>, StoreError> {
    let sql = "SELECT id FROM note WHERE workspace_id = ?1 AND person_id = ?2";
    let mut notes: Vec<NoteId> = tx.rows(sql, params![workspace, person], |row| row.id(0)).await?;
    // An event may get its number meanwhile; then it is found where it went to.
    let logs: &[&str] = if tx.is_embedded() { &["event"] } else { &["event_outbox", "event"] };
    for log in logs {
        let sql = format!(
            "SELECT data FROM {log} WHERE workspace_id = ?1 AND record_id = ?2 AND created_at >= \
             ?3 AND data IS NOT NULL \
             AND type IN ('person.note_added', 'person.note_updated', 'person.note_deleted')"
        );
        for data in tx.rows(&sql, params![workspace, person, since], |row| row.text(0)).await? {
            notes.extend(named_notes(&data));
        }
    }
    notes.sort_unstable();
    notes.dedup();
    Ok(notes)
}

/// The ids of notes in a text.
pub(super) fn named_notes(text: &str) -> Vec<NoteId> {
    const LENGTH: usize = "nte_".len() + 26;
    let starts = text.match_indices("nte_").map(|(start, _)| start);
    starts.filter_map(|start| text.get(start..start + LENGTH)).filter_map(NoteId::parse).collect()
}

/// Removes what belongs to the person and is no candidate.
pub async fn remove_belongings(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<(), StoreError> {
    for table in ["person_identifier", "note", "person_origin"] {
        let sql = format!("DELETE FROM {table} WHERE workspace_id = ?1 AND person_id = ?2");
        tx.execute_deferred(&sql, params![workspace, person]).await?;
    }
    Ok(())
}

/// Takes the contents out of all events about these persons, and out of what was answered when they
/// were delivered. Nobody must be able to write more of them meanwhile.
pub async fn forget_events(
    tx: &mut Tx,
    workspace: WorkspaceId,
    persons: &[PersonId],
) -> Result<(), StoreError> {
    // An event that gets its number between two of these statements would be in neither table when
    // it is looked at.
    outbox::hold(tx, workspace).await?;
    let mut sequences = Vec::new();
    for person in persons {
        for column in ["record_id", "person_id"] {
            let about = params![workspace, *person];
            let erased = format!(
                "SET data = NULL, request_id = NULL, salt = NULL WHERE workspace_id = ?1 AND \
                 {column} = ?2 AND data IS NOT NULL"
            );
            tx.execute_deferred(&format!("UPDATE event {erased}"), about).await?;
            if !tx.is_embedded() {
                tx.execute_deferred(&format!("UPDATE event_outbox {erased}"), about).await?;
            }
            let sql =
                format!("SELECT sequence FROM event WHERE workspace_id = ?1 AND {column} = ?2");
            sequences.extend(tx.rows(&sql, about, |row| row.int(0)).await?);
        }
    }
    forget_attempts(tx, workspace, &sequences).await
}

/// Each webhook is held meanwhile, so that whoever keeps the outcome of a call does so before, or
/// sees that the contents are gone.
async fn forget_attempts(
    tx: &mut Tx,
    workspace: WorkspaceId,
    sequences: &[i64],
) -> Result<(), StoreError> {
    let sql = "SELECT id FROM webhook WHERE workspace_id = ?1 ORDER BY id";
    let webhooks: Vec<WebhookId> = tx.rows(sql, params![workspace], |row| row.id(0)).await?;
    for webhook in webhooks {
        let sql = "SELECT id FROM webhook WHERE workspace_id = ?1 AND id = ?2";
        tx.row_for_update(sql, params![workspace, webhook], |_| Ok(())).await?;
        for some in sequences.chunks(100) {
            let sql = format!(
                "UPDATE webhook_delivery SET attempts = '[]', updated_at = ?3 WHERE workspace_id \
                 = ?1 AND webhook_id = ?2 AND sequence IN ({})",
                places(some.len(), 4)
            );
            let mut params = vec![workspace.into(), webhook.into(), tx.now().into()];
            params.extend(some.iter().map(|sequence| Param::Int(*sequence)));
            tx.execute_deferred(&sql, &params).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_found_by_their_ids() {
        let id = |number| NoteId::at(Timestamp::from_millis(1_000), number);
        let text = format!(
            r#"{{"before":{{"note":{{"id":"{}","body":"nte_ nte_é"}}}},"after":{{"id":"{}"}}}}nte_0"#,
            id(1),
            id(2)
        );
        assert_eq!(named_notes(&text), [id(1), id(2)]);
    }
}
