//! Where events wait for their number on an engine with many writers. Numbers are given to what is
//! committed, by any server, or by a work at its very end that lets nobody else do so until its
//! commit: so a reader who has seen one never sees a smaller one appear.

use std::fmt::Write;

use slated_model::event::{Event, EventType, Hash};
use slated_model::id::{EventId, PersonId, WorkspaceId};

use crate::buffered_event::Unnumbered;
use crate::driver::param::Param;
use crate::error::StoreError;
use crate::params;
use crate::records::events::entry::{CHANGE, Entry, ask_last, erased_ids, event, hash_in, subject};
use crate::tx::Tx;

/// Events that are numbered in one transaction at most.
const MAX_AT_ONCE: usize = 500;

pub(crate) async fn put(
    tx: &mut Tx,
    workspace: WorkspaceId,
    entry: &Entry<'_>,
) -> Result<(), StoreError> {
    let Entry { event, request_id, data, salt } = *entry;
    let sql = "INSERT INTO event_outbox (workspace_id, id, type, created_at, key_id, record_id, \
               person_id, job_id, request_id, data, salt, content_hash) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let params = [
        workspace.into(),
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
    ];
    tx.notify_unnumbered(workspace);
    tx.execute_deferred(sql, &params).await
}

/// The workspaces that have events without a number.
pub async fn waiting(tx: &mut Tx) -> Result<Vec<WorkspaceId>, StoreError> {
    match tx.is_embedded() {
        true => Ok(Vec::new()),
        false => {
            tx.rows("SELECT DISTINCT workspace_id FROM event_outbox", &[], |row| row.workspace(0))
                .await
        }
    }
}

/// Those who were erased, as far as the log does not tell it yet.
pub async fn erased(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<PersonId>, StoreError> {
    if tx.is_embedded() {
        return Ok(Vec::new());
    }
    let sql =
        "SELECT data FROM event_outbox WHERE workspace_id = ?1 AND type = ?2 AND data IS NOT NULL";
    let told =
        tx.rows(sql, params![workspace, EventType::PersonErased.name()], |row| row.text(0)).await?;
    Ok(told.iter().flat_map(|data| erased_ids(data)).collect())
}

/// How many rows of events that got their numbers are still to be cleared away, as far as the
/// database knows.
pub async fn remains(tx: &mut Tx) -> Result<i64, StoreError> {
    if tx.is_embedded() {
        return Ok(0);
    }
    let sql = "SELECT pg_stat_get_dead_tuples(CAST('event_outbox' AS regclass))";
    Ok(tx.row(sql, &[], |row| row.int(0)).await?.unwrap_or(0))
}

/// Clears them away, unless somebody else does: whoever looks for events that wait goes past them
/// all. The database does so by itself, but not often enough. It must not be part of a transaction.
/// The file keeps its size, or writers would have to wait for it to shrink.
pub async fn clear_away(tx: &mut Tx) -> Result<(), StoreError> {
    if tx.is_embedded() {
        return Ok(());
    }
    tx.row("VACUUM (INDEX_CLEANUP ON, TRUNCATE OFF, SKIP_LOCKED) event_outbox", &[], |_| Ok(()))
        .await
        .map(|_| ())
}

/// The changes of a person that have no number yet, the newest first.
pub(crate) async fn changes(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Vec<Event>, StoreError> {
    if tx.is_embedded() {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT 0, id, {CHANGE} FROM event_outbox WHERE workspace_id = ?1 AND record_id = ?2 \
         ORDER BY written_at DESC, id DESC"
    );
    tx.rows(&sql, params![workspace, person], |row| event(row, Hash::NONE)).await
}

/// Keeps the events of a workspace from being numbered until this work is done. With one writer
/// nobody else does that anyway.
pub(crate) async fn hold(tx: &mut Tx, workspace: WorkspaceId) -> Result<(), StoreError> {
    if tx.is_embedded() {
        return Ok(());
    }
    let sql = "INSERT INTO event_numbering (workspace_id) VALUES (?1) ON CONFLICT (workspace_id) \
        DO UPDATE SET workspace_id = event_numbering.workspace_id";
    tx.execute_deferred(sql, params![workspace]).await
}

/// Numbers the events of a workspace that are committed, some at a time, and links their hashes;
/// says whether there may be more. Those who write events do not wait for it, and those who read
/// them see all numbers up to some or none.
pub async fn number(tx: &mut Tx, workspace: WorkspaceId) -> Result<bool, StoreError> {
    if tx.is_embedded() {
        return Ok(false);
    }
    // One at a time: they would all take the same events, each in an order of its own.
    hold(tx, workspace).await?;
    let Log { end, waiting } = log(tx, workspace).await?;
    move_into_log(tx, workspace, end, &waiting).await?;
    Ok(waiting.len() == MAX_AT_ONCE)
}

/// Numbers all that wait, unless somebody else is about it or they are too many. Says where the log
/// ends then; nobody else numbers events until this work is done.
pub(crate) async fn number_unless_held(
    tx: &mut Tx,
    workspace: WorkspaceId,
) -> Result<Option<LogEnd>, StoreError> {
    let sql = "SELECT 1 FROM event_numbering WHERE workspace_id = ?1 FOR UPDATE SKIP LOCKED";
    let held = tx.ask(sql, params![workspace], |_| Ok(())).await?;
    // Asked behind it and answered with it, so all that was committed before is in it.
    let Log { end, waiting } = log(tx, workspace).await?;
    match !tx.answer(held).await?.is_empty() && waiting.len() < MAX_AT_ONCE {
        true => move_into_log(tx, workspace, end, &waiting).await.map(Some),
        false => Ok(None),
    }
}

/// The number and the hash of the newest entry.
type LogEnd = (i64, Hash);

/// An event that waits, with its type.
type Waiting = (String, Unnumbered<'static>);

/// The end of the log and the first of what is to be appended to it.
struct Log {
    end: LogEnd,
    waiting: Vec<Waiting>,
}

async fn log(tx: &mut Tx, workspace: WorkspaceId) -> Result<Log, StoreError> {
    let end = ask_last(tx, workspace).await?;
    let sql = "SELECT id, type, created_at, key_id, record_id, person_id, job_id, content_hash \
               FROM event_outbox \
               WHERE workspace_id = ?1 ORDER BY written_at, id LIMIT ?2";
    let waiting = tx
        .ask(sql, params![workspace, MAX_AT_ONCE as i64], |row| {
            let content_hash = hash_in(row, 7)?;
            let (id, kind, created_at, key_id) =
                (row.id(0)?, row.text(1)?, row.time(2)?, row.optional_id(3)?);
            Ok((
                kind,
                Unnumbered {
                    id,
                    kind: "",
                    created_at,
                    key_id,
                    subject: subject(row, 4)?,
                    content_hash,
                },
            ))
        })
        .await?;
    let end = tx.answer(end).await?.pop().unwrap_or((0, Hash::NONE));
    Ok(Log { end, waiting: tx.answer(waiting).await? })
}

/// Gives the events that wait their numbers. Says where the log ends then.
async fn move_into_log(
    tx: &mut Tx,
    workspace: WorkspaceId,
    end: LogEnd,
    waiting: &[Waiting],
) -> Result<LogEnd, StoreError> {
    if waiting.is_empty() {
        return Ok(end);
    }
    let (last, mut hash) = end;
    let mut sequence = last;
    // The hash of each entry, behind that of the one before the first.
    let mut hashes = hash.as_bytes().to_vec();
    let mut ids = String::from("[");
    for (kind, event) in waiting {
        sequence += 1;
        hash = Unnumbered { kind, ..*event }.link(workspace, sequence).hash(hash);
        hashes.extend(hash.as_bytes());
        write_id(&mut ids, event.id);
    }
    ids.push(']');
    // They are counted in the order in which they were found, instead of being joined with numbers:
    // that would compare each with each.
    let sql = "WITH taken AS (DELETE FROM event_outbox WHERE workspace_id = ?1 AND id = ANY \
               (ARRAY(SELECT jsonb_array_elements_text(?2)::uuid)) \
               RETURNING *), \
               counted AS (SELECT *, CAST(row_number() OVER (ORDER BY written_at, id) AS integer) \
               AS number FROM taken) \
               INSERT INTO event (workspace_id, sequence, id, type, created_at, key_id, \
               record_id, person_id, job_id, request_id, data, salt, \
               content_hash, previous_hash, hash) SELECT workspace_id, CAST(?3 AS bigint) + \
               number, id, type, created_at, key_id, record_id, person_id, job_id, \
               request_id, data, salt, content_hash, substring(CAST(?4 AS bytea) FROM 32 * number \
               - 31 FOR 32), substring(CAST(?4 AS bytea) FROM 32 * number + 1 FOR 32) \
               FROM counted";
    match tx
        .execute(sql, &[workspace.into(), Param::Json(&ids), last.into(), Param::Bytes(&hashes)])
        .await?
    {
        written if written == waiting.len() => Ok((sequence, hash)),
        _ => Err(StoreError::Conflict("another server is numbering the same events".to_owned())),
    }
}

fn write_id(list: &mut String, id: EventId) {
    let comma = if list.len() > 1 { "," } else { "" };
    let id = u128::from_be_bytes(id.to_bytes());
    let _ = write!(list, r#"{comma}"{id:032x}""#);
}
