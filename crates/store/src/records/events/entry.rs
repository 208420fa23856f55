//! An entry of the log as a row, in the log as in the outbox.

use serde_json::Value;
use slated_model::event::{Event, EventType, Hash, Subject};
use slated_model::id::{PersonId, WorkspaceId};

use crate::buffered_event::{BufferedEvent, Unnumbered};
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::tx::{Asked, Tx};

/// An event with all that is kept of it but its number.
pub(crate) struct Entry<'e> {
    pub(crate) event: Unnumbered<'e>,
    pub(crate) request_id: Option<&'e str>,
    /// JSON.
    pub(crate) data: &'e str,
    pub(crate) salt: &'e [u8; 16],
}

impl<'e> From<&'e BufferedEvent> for Entry<'e> {
    fn from(kept: &'e BufferedEvent) -> Self {
        Self {
            event: kept.event,
            request_id: kept.request_id.as_deref(),
            data: &kept.data,
            salt: &kept.salt,
        }
    }
}

/// Asks for the number and the hash of the newest entry.
pub(crate) async fn ask_last(
    tx: &mut Tx,
    workspace: WorkspaceId,
) -> Result<Asked<(i64, Hash)>, StoreError> {
    let sql =
        "SELECT sequence, hash FROM event WHERE workspace_id = ?1 ORDER BY sequence DESC LIMIT 1";
    tx.ask(sql, params![workspace], |row| Ok((row.int(0)?, hash_in(row, 1)?))).await
}

pub(crate) async fn last(tx: &mut Tx, workspace: WorkspaceId) -> Result<(i64, Hash), StoreError> {
    let asked = ask_last(tx, workspace).await?;
    Ok(tx.answer(asked).await?.pop().unwrap_or((0, Hash::NONE)))
}

pub(crate) fn hash_in(row: &Row<'_>, column: usize) -> Result<Hash, StoreError> {
    Hash::from_slice(row.bytes(column)?)
        .ok_or_else(|| StoreError::Internal("a hash of the log has the wrong length".to_owned()))
}

pub(crate) const COLUMNS: &str = "sequence, id, type, created_at, key_id, record_id, person_id, \
    job_id, request_id, data, previous_hash";

/// What follows the number and the id, with the contents of nothing but changes of persons.
pub(crate) const CHANGE: &str = "type, created_at, key_id, record_id, person_id, job_id, \
                                 request_id, \
                                 CASE WHEN type IN ('person.created', 'person.updated', \
                                 'person.enriched', 'person.merged') THEN data END";

pub(crate) fn linked_event(row: &Row<'_>) -> Result<Event, StoreError> {
    event(row, hash_in(row, 10)?)
}

pub(crate) fn event(row: &Row<'_>, previous_hash: Hash) -> Result<Event, StoreError> {
    Ok(Event {
        sequence: row.int(0)?,
        id: row.id(1)?,
        kind: kind_in(row, 2)?,
        created_at: row.time(3)?,
        key_id: row.optional_id(4)?,
        subject: subject(row, 5)?,
        request_id: row.optional_text(8)?,
        data: row.optional_text(9)?,
        previous_hash,
    })
}

pub(crate) fn kind_in(row: &Row<'_>, column: usize) -> Result<EventType, StoreError> {
    let kind = row.str(column)?;
    EventType::parse(kind)
        .ok_or_else(|| StoreError::Internal(format!("an event has the unknown type {kind}")))
}

/// The three columns that say what an event is about.
pub(crate) fn subject(row: &Row<'_>, column: usize) -> Result<Subject, StoreError> {
    let record = row.id::<slated_model::id::Person>(column)?.to_bytes();
    Ok(Subject { record, person: row.optional_id(column + 1)?, job: row.optional_id(column + 2)? })
}

/// Whom an event tells to be erased.
pub(crate) fn erased_ids(data: &str) -> Vec<PersonId> {
    let told: Value = serde_json::from_str(data).unwrap_or_default();
    let ids = told["after"]["ids"].as_array().into_iter().flatten();
    ids.filter_map(Value::as_str).filter_map(PersonId::parse).collect()
}
