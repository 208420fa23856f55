//! Reading the log of changes: page by page, about one record, or by number. How much is read at
//! once is bounded, whatever events say.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::ControlFlow;

use slated_model::event::{Event, EventType, TypeFilter};
use slated_model::id::{EventId, Id, Kind, PersonId, WorkspaceId};

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::events::entry::{CHANGE, COLUMNS, kind_in, linked_event};
use crate::records::events::outbox;
use crate::records::places;
use crate::tx::Tx;

/// How many entries a page looks at in search of those that are wanted.
const WINDOW: i64 = 10_000;
/// How much of what events say is read at once, even if more are wanted.
const MAX_BYTES: i64 = 8 * 1024 * 1024;
/// How many events are read together where all of what they say is needed at once.
const EVENTS_AT_ONCE: i64 = 50;
/// How much is read in search of the changes that the values of a person come from, where an event
/// without contents counts too.
const MAX_LOOKED_BACK: usize = 16 * 1024 * 1024;
const EVENT_OVERHEAD: usize = 256;

/// How much is read at once, though one event at least.
#[derive(Clone, Copy, Debug)]
pub struct Most {
    pub events: i64,
    pub bytes: i64,
}

impl Most {
    #[must_use]
    pub const fn events(events: i64) -> Self {
        Self { events, bytes: MAX_BYTES }
    }
}

/// A part of the log, oldest first.
pub struct Page {
    pub events: Vec<Event>,
    /// Everything up to here was looked at.
    pub next_after: i64,
    pub has_more: bool,
}

/// The log does not go back so far any more.
pub struct Gone {
    pub oldest: i64,
}

/// The number of the oldest event that is kept.
pub async fn oldest(tx: &mut Tx, workspace: WorkspaceId) -> Result<i64, StoreError> {
    Ok(bounds(tx, workspace).await?.0)
}

/// Events behind `after`, or from the oldest that is kept.
pub async fn page(
    tx: &mut Tx,
    workspace: WorkspaceId,
    after: Option<i64>,
    types: &TypeFilter,
    most: Most,
) -> Result<Result<Page, Gone>, StoreError> {
    let (oldest, newest) = bounds(tx, workspace).await?;
    let after = match after {
        Some(after) if after.saturating_add(1) < oldest => return Ok(Err(Gone { oldest })),
        Some(after) => after,
        None => oldest - 1,
    };
    let end = newest.min(after.saturating_add(WINDOW));
    let sizes = sizes_behind(tx, workspace, after, end, types, most.events).await?;
    let taken = fitting(&sizes, most.bytes);
    let events = match taken.last() {
        Some(last) => behind(tx, workspace, after, last.sequence, types).await?,
        None => Vec::new(),
    };
    let next_after = match taken.last() {
        Some(last) if taken.len() < sizes.len() || sizes.len() as i64 >= most.events => {
            last.sequence
        }
        _ => end.max(after),
    };
    Ok(Ok(Page { events, next_after, has_more: next_after < newest }))
}

/// How much an event says.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub sequence: i64,
    pub bytes: i64,
}

/// Neither engine reads the contents for that.
const SIZE: &str = "sequence, CAST(COALESCE(octet_length(data), 0) AS bigint)";

fn size(row: &Row<'_>) -> Result<Size, StoreError> {
    Ok(Size { sequence: row.int(0)?, bytes: row.int(1)? })
}

/// As many of them, from the first on, as are read at once: one at least.
pub fn fitting(sizes: &[Size], most_bytes: i64) -> &[Size] {
    let mut left = most_bytes;
    let fits = sizes.iter().take_while(|size| {
        left -= size.bytes;
        left >= 0
    });
    let count = fits.count().max(1).min(sizes.len());
    &sizes[..count]
}

async fn sizes_behind(
    tx: &mut Tx,
    workspace: WorkspaceId,
    after: i64,
    end: i64,
    types: &TypeFilter,
    limit: i64,
) -> Result<Vec<Size>, StoreError> {
    let mut params = vec![workspace.into(), after.into(), end.into(), limit.into()];
    let condition = of_types(types, &mut params);
    let sql = format!(
        "SELECT {SIZE} FROM event WHERE workspace_id = ?1 AND sequence > ?2 AND sequence <= \
         ?3{condition} ORDER BY sequence LIMIT ?4"
    );
    tx.rows(&sql, &params, size).await
}

async fn behind(
    tx: &mut Tx,
    workspace: WorkspaceId,
    after: i64,
    end: i64,
    types: &TypeFilter,
) -> Result<Vec<Event>, StoreError> {
    let mut params = vec![workspace.into(), after.into(), end.into()];
    let condition = of_types(types, &mut params);
    let sql = format!(
        "SELECT {COLUMNS} FROM event WHERE workspace_id = ?1 AND sequence > ?2 AND sequence <= \
         ?3{condition} ORDER BY sequence"
    );
    tx.rows(&sql, &params, linked_event).await
}

/// The condition that an event is of one of the types, with its parameters.
fn of_types(types: &TypeFilter, params: &mut Vec<Param<'_>>) -> String {
    if types.takes_everything() {
        return String::new();
    }
    let first = params.len() + 1;
    params.extend(types.types().iter().map(|kind| Param::Text(kind.name())));
    format!(" AND type IN ({})", places(params.len() + 1 - first, first))
}

/// The numbers of events in a range; nothing but the oldest that is kept if the log does not go
/// back so far.
pub async fn numbers(
    tx: &mut Tx,
    workspace: WorkspaceId,
    after: i64,
    until: i64,
    types: &TypeFilter,
    limit: i64,
) -> Result<Result<Vec<i64>, Gone>, StoreError> {
    let (oldest, _) = bounds(tx, workspace).await?;
    if after.saturating_add(1) < oldest {
        return Ok(Err(Gone { oldest }));
    }
    if types.types().is_empty() {
        return Ok(Ok(Vec::new()));
    }
    let end = until.min(after.saturating_add(limit));
    let mut params = vec![workspace.into(), after.into(), end.into()];
    let condition = of_types(types, &mut params);
    let sql = format!(
        "SELECT sequence FROM event WHERE workspace_id = ?1 AND sequence > ?2 AND sequence <= \
         ?3{condition} ORDER BY sequence"
    );
    Ok(Ok(tx.rows(&sql, &params, |row| row.int(0)).await?))
}

/// The oldest and the newest entry.
async fn bounds(tx: &mut Tx, workspace: WorkspaceId) -> Result<(i64, i64), StoreError> {
    let sql = "SELECT COALESCE((SELECT sequence FROM event WHERE workspace_id = ?1 ORDER BY \
               sequence LIMIT 1), 1), \
               COALESCE((SELECT sequence FROM event WHERE workspace_id = ?1 ORDER BY sequence \
               DESC LIMIT 1), 0)";
    Ok(tx
        .row(sql, params![workspace], |row| Ok((row.int(0)?, row.int(1)?)))
        .await?
        .unwrap_or((1, 0)))
}

/// Those of the events that are kept, in the order of their numbers.
pub async fn find_all(
    tx: &mut Tx,
    workspace: WorkspaceId,
    sequences: &[i64],
) -> Result<Vec<Event>, StoreError> {
    let mut events = among(tx, workspace, COLUMNS, sequences, linked_event).await?;
    events.sort_unstable_by_key(|event| event.sequence);
    Ok(events)
}

/// As many of the events, from the first on, as are read at once.
pub async fn some_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    mut sequences: Vec<i64>,
) -> Result<Vec<i64>, StoreError> {
    let known = among(tx, workspace, SIZE, &sequences, size).await?;
    let known: HashMap<i64, i64> =
        known.into_iter().map(|size| (size.sequence, size.bytes)).collect();
    let sizes = sequences.iter().map(|sequence| Size {
        sequence: *sequence,
        bytes: known.get(sequence).copied().unwrap_or(0),
    });
    let sizes: Vec<_> = sizes.collect();
    sequences.truncate(fitting(&sizes, MAX_BYTES).len());
    Ok(sequences)
}

/// What an event is, without what it says.
pub struct Head {
    pub sequence: i64,
    pub id: EventId,
    pub kind: EventType,
}

/// Those of the events that are kept.
pub async fn heads(
    tx: &mut Tx,
    workspace: WorkspaceId,
    sequences: &[i64],
) -> Result<Vec<Head>, StoreError> {
    let head =
        |row: &Row<'_>| Ok(Head { sequence: row.int(0)?, id: row.id(1)?, kind: kind_in(row, 2)? });
    among(tx, workspace, "sequence, id, type", sequences, head).await
}

async fn among<T: Send + 'static>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    columns: &str,
    sequences: &[i64],
    read: impl Fn(&Row<'_>) -> Result<T, StoreError> + Copy + Send + Sync,
) -> Result<Vec<T>, StoreError> {
    let mut found = Vec::with_capacity(sequences.len());
    for some in sequences.chunks(100) {
        // Few texts, whatever is left for the last one.
        let count = [1, 10].into_iter().find(|count| some.len() <= *count).unwrap_or(100);
        let sql = format!(
            "SELECT {columns} FROM event WHERE workspace_id = ?1 AND sequence IN ({})",
            places(count, 2)
        );
        let mut params = vec![workspace.into()];
        params.extend(some.iter().map(|sequence| Param::Int(*sequence)));
        params.resize(1 + count, Param::Null);
        found.extend(tx.rows(&sql, &params, read).await?);
    }
    Ok(found)
}

/// What belongs to a record beside the events about itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beside {
    Nothing,
    EventsOfPerson,
    EventsOfJob,
}

/// Events about a record before a number, newest first, with whether there are more.
pub async fn timeline<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    record: Id<K>,
    beside: Beside,
    before: i64,
    limit: i64,
) -> Result<(Vec<Event>, bool), StoreError> {
    let mut sizes =
        sizes_about(tx, workspace, record, beside, before, limit.saturating_add(1)).await?;
    let has_more = sizes.len() as i64 > limit;
    sizes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    let taken = fitting(&sizes, MAX_BYTES);
    let sequences: Vec<_> = taken.iter().map(|size| size.sequence).collect();
    let mut events = find_all(tx, workspace, &sequences).await?;
    events.reverse();
    Ok((events, has_more || taken.len() < sizes.len()))
}

/// The numbers of all events about a record, and how much each of them says.
pub async fn history<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    record: Id<K>,
    beside: Beside,
) -> Result<Vec<Size>, StoreError> {
    sizes_about(tx, workspace, record, beside, i64::MAX, i64::MAX).await
}

/// Of events about a record before a number, newest first.
async fn sizes_about<K: Kind>(
    tx: &mut Tx,
    workspace: WorkspaceId,
    record: Id<K>,
    beside: Beside,
    before: i64,
    limit: i64,
) -> Result<Vec<Size>, StoreError> {
    let columns: &[&str] = match beside {
        Beside::Nothing => &["record_id"],
        Beside::EventsOfPerson => &["record_id", "person_id"],
        Beside::EventsOfJob => &["record_id", "job_id"],
    };
    let mut sizes = Vec::new();
    for column in columns {
        let sql = format!(
            "SELECT {SIZE} FROM event WHERE workspace_id = ?1 AND {column} = ?2 AND sequence < ?3 \
             ORDER BY sequence DESC LIMIT ?4"
        );
        sizes.extend(tx.rows(&sql, params![workspace, record, before, limit], size).await?);
    }
    sizes.sort_unstable_by_key(|size| Reverse(size.sequence));
    sizes.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
    Ok(sizes)
}

/// The newest events about a person, one by one, with the contents of those that changed them.
/// Stops when `look_at` has seen enough, and where so much was read that it has to be; says whether
/// all was seen.
pub async fn look_back(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    mut look_at: impl FnMut(&Event) -> ControlFlow<()>,
) -> Result<bool, StoreError> {
    let sql = format!(
        "SELECT sequence, id, {CHANGE}, previous_hash FROM event WHERE workspace_id = ?1 AND \
         record_id = ?2 AND sequence < ?3 \
         ORDER BY sequence DESC LIMIT ?4"
    );
    // One that gets its number meanwhile is seen here, or there, or twice.
    let unnumbered = outbox::changes(tx, workspace, person).await?;
    if unnumbered.iter().any(|event| look_at(event).is_break()) {
        return Ok(false);
    }
    let (mut before, mut bytes) = (i64::MAX, 0_usize);
    while bytes < MAX_LOOKED_BACK {
        let events =
            tx.rows(&sql, params![workspace, person, before, EVENTS_AT_ONCE], linked_event).await?;
        for event in &events {
            bytes += event.data.as_ref().map_or(0, String::len) + EVENT_OVERHEAD;
            if look_at(event).is_break() {
                return Ok(false);
            }
        }
        match events.last() {
            Some(last) if events.len() as i64 == EVENTS_AT_ONCE => before = last.sequence,
            _ => return Ok(true),
        }
    }
    Ok(false)
}
