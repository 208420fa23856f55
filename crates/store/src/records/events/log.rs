//! The log of changes: appended to in the transaction of the change, proved by its hashes, and
//! forgotten from its beginning.

use slated_model::clock::Timestamp;
use slated_model::event::{Event, EventType, Hash, Subject};
use slated_model::id::{EventId, KeyId, PersonId, WorkspaceId};

use crate::buffered_event::{BufferedEvent, Unnumbered};
use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::events::entry::{
    CHANGE, Entry, erased_ids, hash_in, last, linked_event, subject,
};
use crate::records::events::outbox;
use crate::records::places;
use crate::tx::Tx;

/// How many are forgotten at once.
const EVENTS_AT_ONCE: i64 = 50;

/// A change that is to be told.
pub struct NewEvent<'e> {
    pub kind: EventType,
    pub subject: Subject,
    pub key_id: Option<KeyId>,
    pub request_id: Option<&'e str>,
    /// JSON.
    pub data: &'e str,
}

/// Appends to the log. An embedded engine has one writer, so the event gets its number at once.
/// Over a network it waits in the outbox, so that writers need not wait for each other; that of
/// work which numbers its events itself waits for its end.
pub async fn record(
    tx: &mut Tx,
    workspace: WorkspaceId,
    new: &NewEvent<'_>,
) -> Result<EventId, StoreError> {
    let NewEvent { kind, subject, key_id, request_id, data } = *new;
    let salt: [u8; 16] = rand::random();
    let content_hash = Hash::of_content(&salt, request_id, data);
    let event = Unnumbered {
        id: tx.new_id(),
        kind: kind.name(),
        created_at: tx.real_now(),
        key_id,
        subject,
        content_hash,
    };
    tx.note_trial(kind, subject, data);
    if let Some(kept) = tx.buffered_events(workspace) {
        kept.push(BufferedEvent {
            event,
            request_id: request_id.map(str::to_owned),
            data: data.to_owned(),
            salt,
        });
        return Ok(event.id);
    }
    let entry = Entry { event, request_id, data, salt: &salt };
    match tx.is_embedded() {
        true => append(tx, workspace, &entry).await?,
        false => outbox::put(tx, workspace, &entry).await?,
    }
    Ok(event.id)
}

/// Appends the events that were kept to the log, behind all that wait for their numbers. If
/// somebody else numbers those now, or too many wait, they wait too. It comes last in a work:
/// whoever numbers events of the workspace waits for its commit.
pub async fn append_buffered(tx: &mut Tx) -> Result<(), StoreError> {
    let Some((workspace, kept)) = tx.take_buffered_events().filter(|(_, kept)| !kept.is_empty())
    else {
        return Ok(());
    };
    let end = outbox::number_unless_held(tx, workspace).await?;
    if let Some((sequence, hash)) = end {
        tx.set_log_end(workspace, sequence, hash);
    }
    for event in &kept {
        match end {
            Some(_) => append(tx, workspace, &event.into()).await?,
            None => outbox::put(tx, workspace, &event.into()).await?,
        }
    }
    Ok(())
}

async fn append(tx: &mut Tx, workspace: WorkspaceId, entry: &Entry<'_>) -> Result<(), StoreError> {
    let Entry { event, request_id, data, salt } = *entry;
    let (last, previous_hash) = match tx.log_end(workspace) {
        Some(end) => end,
        None => last(tx, workspace).await?,
    };
    let hash = event.link(workspace, last + 1).hash(previous_hash);
    let sql = "INSERT INTO event (workspace_id, sequence, id, type, created_at, key_id, \
               record_id, person_id, job_id, request_id, data, salt, \
               content_hash, previous_hash, hash) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, \
               ?10, ?11, ?12, ?13, ?14, ?15)";
    let params = [
        workspace.into(),
        (last + 1).into(),
        event.id.into(),
        event.kind.into(),
        event.created_at.into(),
        event.key_id.into(),
        Param::Id(event.subject.record),
        event.subject.person.into(),
        event.subject.job.into(),
        request_id.into(),
        data.into(),
        Param::Bytes(salt),
        Param::Bytes(event.content_hash.as_bytes()),
        Param::Bytes(previous_hash.as_bytes()),
        Param::Bytes(hash.as_bytes()),
    ];
    tx.execute_deferred(sql, &params).await?;
    tx.set_log_end(workspace, last + 1, hash);
    tx.notify(workspace);
    Ok(())
}

/// The number of the newest entry.
pub async fn newest(tx: &mut Tx, workspace: WorkspaceId) -> Result<i64, StoreError> {
    last(tx, workspace).await.map(|(sequence, _)| sequence)
}

/// An entry of the log as it was found.
pub struct Proof {
    pub sequence: i64,
    /// Nothing if it cannot be read.
    pub entry: Option<ProvedEntry>,
}

/// What an entry's hashes say of it.
pub struct ProvedEntry {
    pub previous_hash: Hash,
    pub hash: Hash,
    /// Whether its hash follows from it and the one before.
    pub is_whole: bool,
    pub content: Content,
}

/// What there is of the contents of an entry.
pub enum Content {
    /// As they were written. If they say that somebody was erased, these are all ids of theirs.
    Whole {
        erased: Vec<PersonId>,
    },
    /// Taken out, as happens to those of entries about a person who is erased; this is the person.
    Gone {
        about: PersonId,
    },
    Changed,
}

/// Entries behind a number, to be checked.
pub async fn proofs(
    tx: &mut Tx,
    workspace: WorkspaceId,
    after: i64,
    limit: i64,
) -> Result<Vec<Proof>, StoreError> {
    let sql = "SELECT sequence, id, type, created_at, key_id, record_id, person_id, job_id, \
               request_id, data, previous_hash, hash, content_hash, salt \
               FROM event WHERE workspace_id = ?1 AND sequence > ?2 ORDER BY sequence LIMIT ?3";
    tx.rows(sql, params![workspace, after, limit], |row| {
        let sequence = row.int(0)?;
        // What cannot even be read is no entry that was written here.
        Ok(Proof { sequence, entry: proved_entry(row, workspace, sequence).ok() })
    })
    .await
}

fn proved_entry(
    row: &Row<'_>,
    workspace: WorkspaceId,
    sequence: i64,
) -> Result<ProvedEntry, StoreError> {
    let content_hash = hash_in(row, 12)?;
    let entry = Unnumbered {
        id: row.id(1)?,
        kind: row.str(2)?,
        created_at: row.time(3)?,
        key_id: row.optional_id(4)?,
        subject: subject(row, 5)?,
        content_hash,
    };
    let previous_hash = hash_in(row, 10)?;
    let is_whole = hash_in(row, 11)? == entry.link(workspace, sequence).hash(previous_hash);
    Ok(ProvedEntry {
        previous_hash,
        hash: hash_in(row, 11)?,
        is_whole,
        content: content(row, content_hash)?,
    })
}

fn content(row: &Row<'_>, hash: Hash) -> Result<Content, StoreError> {
    let request_id = row.optional_text(8)?;
    match (row.is_null(9)?, row.is_null(13)?, request_id) {
        (true, true, None) => {
            Ok(Content::Gone { about: row.optional_id(6)?.map_or_else(|| row.id(5), Ok)? })
        }
        (false, false, request_id) => {
            let salt = row
                .bytes(13)?
                .try_into()
                .map_err(|_| StoreError::Internal("a salt has the wrong length".to_owned()))?;
            let data = row.str(9)?;
            if Hash::of_content(salt, request_id.as_deref(), data) != hash {
                return Ok(Content::Changed);
            }
            let erases = row.str(2)? == EventType::PersonErased.name();
            Ok(Content::Whole { erased: if erases { erased_ids(data) } else { Vec::new() } })
        }
        _ => Ok(Content::Changed),
    }
}

/// When the oldest entry was written, if there are others behind it.
pub async fn oldest_of_several(
    tx: &mut Tx,
    workspace: WorkspaceId,
) -> Result<Option<Timestamp>, StoreError> {
    let sql = "SELECT created_at FROM event WHERE workspace_id = ?1 ORDER BY sequence LIMIT 2";
    let oldest = tx.rows(sql, params![workspace], |row| row.time(0)).await?;
    Ok(oldest.first().copied().filter(|_| oldest.len() > 1))
}

/// When the newest entry was written.
pub async fn newest_time(
    tx: &mut Tx,
    workspace: WorkspaceId,
) -> Result<Option<Timestamp>, StoreError> {
    let sql = "SELECT created_at FROM event WHERE workspace_id = ?1 ORDER BY sequence DESC LIMIT 1";
    tx.row(sql, params![workspace], |row| row.time(0)).await
}

/// Forgets the oldest entries that are from before a moment, some at a time, and never the newest.
/// Gives them back.
pub async fn forget(
    tx: &mut Tx,
    workspace: WorkspaceId,
    before: Timestamp,
) -> Result<Vec<Event>, StoreError> {
    let sql = format!(
        "SELECT sequence, id, {CHANGE}, previous_hash FROM event WHERE workspace_id = ?1 ORDER BY \
         sequence LIMIT ?2"
    );
    let mut oldest = tx.rows(&sql, params![workspace, EVENTS_AT_ONCE + 1], linked_event).await?;
    // The newest links what comes next to what was, so one is left.
    oldest.pop();
    let old = oldest.iter().take_while(|event| event.created_at < before).count();
    oldest.truncate(old);
    if let Some(last) = oldest.last() {
        let sql = "DELETE FROM event WHERE workspace_id = ?1 AND sequence <= ?2";
        if tx.execute(sql, params![workspace, last.sequence]).await? != oldest.len() {
            return Err(StoreError::Conflict(
                "another server is deleting the same events".to_owned(),
            ));
        }
    }
    Ok(oldest)
}

/// Those of the entries whose contents were erased.
pub async fn erased_among(
    tx: &mut Tx,
    workspace: WorkspaceId,
    sequences: &[i64],
) -> Result<Vec<i64>, StoreError> {
    let mut erased = Vec::new();
    for some in sequences.chunks(100) {
        let places = places(some.len(), 2);
        let sql = format!(
            "SELECT sequence FROM event WHERE workspace_id = ?1 AND sequence IN ({places}) AND \
             data IS NULL"
        );
        let mut params = vec![Param::from(workspace)];
        params.extend(some.iter().map(|sequence| Param::Int(*sequence)));
        erased.extend(tx.rows(&sql, &params, |row| row.int(0)).await?);
    }
    Ok(erased)
}
