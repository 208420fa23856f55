//! Making segments of the index of words: of those in the tail, of several segments that are small,
//! of one in which many are gone. First it is read what goes into it, then it is put together, and
//! at last stored. Others may write meanwhile, and hardly wait; several servers may do this at
//! once, and whoever comes second does it for nothing.

use std::collections::BTreeSet;

use slated_model::id::{PersonId, WorkspaceId};
use slated_model::search::{Gathered, Group, MAX_IN_SEGMENT};

use crate::driver::param::Param;
use crate::error::StoreError;
use crate::params;
use crate::records::range_counts::{self, List};
use crate::records::search::documents::{Source, tokens_of};
use crate::records::search::segments::{BLOCK, begin_generation, end_generation, ids_in};
use crate::records::statement::list_of;
use crate::tx::Tx;

/// So many of the tail are put into a segment together at least.
const LEAST: usize = 256;
/// So many segments of about the same size become one.
const SIMILAR: usize = 8;
/// A tail that is longer is in the way of searches.
const LONG: usize = 4096;
/// What the texts of a segment may take together, but for those of the last who are read.
const MAX_BYTES: usize = 64 << 20;
/// Persons whose texts are read by one statement, or who leave the tail by one.
const AT_ONCE: usize = 250;

/// What a segment is to be made of.
pub struct Planned {
    workspace: WorkspaceId,
    generation: i64,
    purpose: Purpose,
    /// In the order of their ids.
    persons: Vec<Source>,
    /// Who leaves the tail for it, unless they changed meanwhile.
    tail: Vec<(PersonId, i64)>,
    /// The segments that it replaces.
    replaced: Vec<i64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Somebody was erased.
    Forget,
    /// Searches look at fewer segments.
    Join,
    /// There are more in the tail than a segment takes.
    TakeMany,
    TakeAll,
    /// Segments have fewer words of old.
    Tidy,
}

/// A segment that is to be stored.
pub struct Made {
    workspace: WorkspaceId,
    generation: i64,
    purpose: Purpose,
    persons: Vec<PersonId>,
    bytes: usize,
    groups: Vec<Group>,
    tail: Vec<(PersonId, i64)>,
    replaced: Vec<i64>,
}

struct Size {
    number: i64,
    persons: usize,
    bytes: usize,
    is_outdated: bool,
}

impl Size {
    /// Segments of the same class are about of the same size.
    const fn class(&self) -> u32 {
        match self.persons / LEAST {
            0 => 0,
            times => times.ilog(SIMILAR),
        }
    }
}

/// The next workspace, in the order of their numbers, that may want a segment made.
pub async fn next_workspace(
    tx: &mut Tx,
    behind: Option<WorkspaceId>,
) -> Result<Option<WorkspaceId>, StoreError> {
    let behind = behind.unwrap_or(WorkspaceId::from_number(i64::MIN));
    let mut next = Vec::new();
    for table in ["search_tail", "search_segment"] {
        let sql = format!(
            "SELECT workspace_id FROM {table} WHERE workspace_id > ?1 ORDER BY workspace_id LIMIT 1"
        );
        next.extend(tx.row(&sql, params![behind], |row| row.workspace(0)).await?);
    }
    Ok(next.into_iter().min_by_key(|workspace| workspace.number()))
}

/// The workspaces with a segment in which somebody is who was erased.
pub async fn outdated_workspaces(tx: &mut Tx) -> Result<Vec<WorkspaceId>, StoreError> {
    let sql = "SELECT DISTINCT workspace_id FROM search_segment WHERE is_outdated";
    tx.rows(sql, params![], |row| row.workspace(0)).await
}

/// Whether the workspace has one.
pub async fn is_outdated(tx: &mut Tx, workspace: WorkspaceId) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM search_segment WHERE workspace_id = ?1 AND is_outdated LIMIT 1";
    Ok(tx.row(sql, params![workspace], |_| Ok(())).await?.is_some())
}

/// Reads what the next segment is to be made of; nothing if none is wanted.
pub async fn plan(tx: &mut Tx, workspace: WorkspaceId) -> Result<Option<Planned>, StoreError> {
    let sql = "SELECT number FROM search_generation WHERE workspace_id = ?1";
    let generation = tx.row(sql, params![workspace], |row| row.int(0)).await?.unwrap_or(0);
    let mut planned = Planned {
        workspace,
        generation,
        purpose: Purpose::TakeAll,
        persons: Vec::new(),
        tail: Vec::new(),
        replaced: Vec::new(),
    };
    let sql = "SELECT person_id, stamp FROM search_tail WHERE workspace_id = ?1 ORDER BY \
        person_id LIMIT ?2";
    let tail = tx
        .rows(sql, params![workspace, MAX_IN_SEGMENT as i64], |row| Ok((row.id(0)?, row.int(1)?)))
        .await?;
    let sizes = sizes(tx, workspace).await?;
    let similar = similar(&sizes);
    let outdated = sizes.iter().position(|size| size.is_outdated);
    // However many are written, who was erased does not stay for long.
    let is_long =
        if outdated.is_some() { tail.len() >= MAX_IN_SEGMENT } else { tail.len() >= LONG };
    if is_long {
        planned.take(tx, tail).await?;
    } else if let Some(place) = outdated {
        planned.make_anew(tx, &sizes[place..], Purpose::Forget).await?;
    } else if !similar.is_empty() {
        planned.join(tx, similar).await?;
    } else if tail.len() >= LEAST {
        planned.take(tx, tail).await?;
    } else if are_repeated(tx, workspace, &sizes).await? {
        planned.make_anew(tx, &sizes, Purpose::Tidy).await?;
    } else {
        return Ok(None);
    }
    Ok(Some(planned))
}

async fn sizes(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<Size>, StoreError> {
    let sql = "SELECT number, persons, bytes, is_outdated FROM search_segment WHERE workspace_id \
        = ?1 ORDER BY number";
    let count = |number: i64| usize::try_from(number).unwrap_or(0);
    let size = |row: &crate::Row<'_>| {
        Ok(Size {
            number: row.int(0)?,
            persons: count(row.int(1)?),
            bytes: count(row.int(2)?),
            is_outdated: row.flag(3)?,
        })
    };
    tx.rows(sql, params![workspace], size).await
}

/// Segments that are better one.
fn similar(sizes: &[Size]) -> Vec<i64> {
    for class in 0..=(MAX_IN_SEGMENT / LEAST).ilog(SIMILAR) {
        let can_be_joined =
            |size: &Size| size.persons <= MAX_IN_SEGMENT / 2 && size.bytes <= MAX_BYTES / 2;
        let alike: Vec<_> =
            sizes.iter().filter(|size| size.class() == class && can_be_joined(size)).collect();
        let (mut persons, mut bytes) = (0, 0);
        let fitting = alike.iter().take_while(|size| {
            (persons, bytes) = (persons + size.persons, bytes + size.bytes);
            persons <= MAX_IN_SEGMENT && bytes <= MAX_BYTES
        });
        let fitting: Vec<_> = fitting.map(|size| size.number).collect();
        if alike.len() >= SIMILAR && fitting.len() > 1 {
            return fitting;
        }
    }
    Vec::new()
}

/// Whether so many are in several segments, or gone, that it is worth the while to make some anew.
async fn are_repeated(
    tx: &mut Tx,
    workspace: WorkspaceId,
    sizes: &[Size],
) -> Result<bool, StoreError> {
    let indexed: usize = sizes.iter().map(|size| size.persons).sum();
    if indexed <= MAX_IN_SEGMENT {
        return Ok(false);
    }
    let persons = range_counts::count_between::<slated_model::id::Person>(
        tx,
        workspace,
        List::Persons,
        None,
        None,
    )
    .await?;
    Ok(indexed > usize::try_from(persons).unwrap_or(0) * 3 / 2 + MAX_IN_SEGMENT)
}

/// What is indexed of those persons, until it is as much.
async fn texts_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    ids: Vec<PersonId>,
    most_bytes: usize,
) -> Result<Vec<Source>, StoreError> {
    let mut sources = Vec::with_capacity(ids.len());
    let mut bytes = 0;
    for ids in ids.chunks(AT_ONCE) {
        let some = tokens_of(tx, workspace, ids).await?;
        bytes += bytes_of(&some);
        sources.extend(some);
        if bytes >= most_bytes {
            break;
        }
    }
    Ok(sources)
}

fn bytes_of(sources: &[Source]) -> usize {
    sources.iter().map(|source| source.tokens.len()).sum()
}

async fn ids_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    segment: i64,
) -> Result<Vec<PersonId>, StoreError> {
    let sql =
        "SELECT ids FROM search_place WHERE workspace_id = ?1 AND segment = ?2 ORDER BY block";
    let blocks = tx.rows(sql, params![workspace, segment], |row| row.bytes(0).map(ids_in)).await?;
    Ok(blocks.into_iter().flatten().collect())
}

impl Planned {
    /// Of those in the tail, or as many of them as fit.
    async fn take(&mut self, tx: &mut Tx, tail: Vec<(PersonId, i64)>) -> Result<(), StoreError> {
        self.tail = tail;
        let is_full = self.tail.len() == MAX_IN_SEGMENT;
        let ids = self.tail.iter().map(|(id, _)| *id).collect();
        self.persons = texts_of(tx, self.workspace, ids, MAX_BYTES).await?;
        let last = self
            .persons
            .last()
            .map(|last| last.id)
            .filter(|_| bytes_of(&self.persons) >= MAX_BYTES);
        self.tail.retain(|(id, _)| last.is_none_or(|last| *id <= last));
        self.purpose = if is_full || last.is_some() { Purpose::TakeMany } else { Purpose::TakeAll };
        Ok(())
    }

    /// Of several segments.
    async fn join(&mut self, tx: &mut Tx, segments: Vec<i64>) -> Result<(), StoreError> {
        let mut ids = Vec::new();
        for number in &segments {
            ids.extend(ids_of(tx, self.workspace, *number).await?);
        }
        ids.sort_unstable();
        ids.dedup();
        self.persons = texts_of(tx, self.workspace, ids, usize::MAX).await?;
        (self.replaced, self.purpose) = (segments, Purpose::Join);
        Ok(())
    }

    /// Of the first of these segments without those who are in a newer one, which has what they had
    /// last.
    async fn make_anew(
        &mut self,
        tx: &mut Tx,
        segments: &[Size],
        purpose: Purpose,
    ) -> Result<(), StoreError> {
        let Some((first, newer)) = segments.split_first() else { return Ok(()) };
        let mut left: BTreeSet<_> =
            ids_of(tx, self.workspace, first.number).await?.into_iter().collect();
        for size in newer {
            for id in ids_of(tx, self.workspace, size.number).await? {
                left.remove(&id);
            }
        }
        self.persons = texts_of(tx, self.workspace, left.into_iter().collect(), usize::MAX).await?;
        (self.replaced, self.purpose) = (vec![first.number], purpose);
        Ok(())
    }

    /// Puts the segment together, which takes a while.
    #[must_use]
    pub fn make(self) -> Made {
        let Self { workspace, generation, purpose, persons, tail, replaced } = self;
        let mut gathered = Gathered::default();
        for Source { tokens, company, .. } in &persons {
            gathered.add(tokens, *company);
        }
        let bytes = bytes_of(&persons);
        let persons = persons.into_iter().map(|person| person.id).collect();
        Made {
            workspace,
            generation,
            purpose,
            persons,
            bytes,
            groups: gathered.groups(),
            tail,
            replaced,
        }
    }
}

impl Made {
    #[must_use]
    pub const fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    #[must_use]
    pub const fn persons(&self) -> usize {
        self.persons.len()
    }

    /// Whether the next should follow at once.
    #[must_use]
    pub const fn is_urgent(&self) -> bool {
        matches!(self.purpose, Purpose::Forget | Purpose::Join | Purpose::TakeMany)
    }

    /// Stores it, unless others stored one since it was planned, or somebody was erased whom it may
    /// have. Says whether it did.
    pub async fn store(&self, tx: &mut Tx) -> Result<bool, StoreError> {
        let (workspace, number) = (self.workspace, self.generation + 1);
        if !end_generation(tx, workspace, self.generation).await? {
            return Ok(false);
        }
        if let (Some(first), Some(last)) = (self.persons.first(), self.persons.last()) {
            let sql = "INSERT INTO search_segment (workspace_id, number, persons, bytes, \
                first_id, last_id) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
            let (persons, bytes) =
                (self.persons.len() as i64, i64::try_from(self.bytes).unwrap_or(i64::MAX));
            tx.execute_deferred(sql, params![workspace, number, persons, bytes, *first, *last])
                .await?;
            let sql = "INSERT INTO search_posting (workspace_id, segment, letters, words) VALUES \
                (?1, ?2, ?3, ?4)";
            for Group { letters, words } in &self.groups {
                tx.execute_deferred(
                    sql,
                    &[
                        workspace.into(),
                        Param::Int(number),
                        Param::Text(letters),
                        Param::Bytes(words),
                    ],
                )
                .await?;
            }
            let sql = "INSERT INTO search_place (workspace_id, segment, block, ids) VALUES (?1, \
                ?2, ?3, ?4)";
            for (block, persons) in (0..).zip(self.persons.chunks(BLOCK)) {
                let ids: Vec<u8> = persons.iter().flat_map(|id| id.to_bytes()).collect();
                tx.execute_deferred(
                    sql,
                    &[workspace.into(), Param::Int(number), Param::Int(block), Param::Bytes(&ids)],
                )
                .await?;
            }
        }
        for number in &self.replaced {
            for (table, column) in [
                ("search_segment", "number"),
                ("search_posting", "segment"),
                ("search_place", "segment"),
            ] {
                let sql = format!("DELETE FROM {table} WHERE workspace_id = ?1 AND {column} = ?2");
                tx.execute_deferred(&sql, params![workspace, *number]).await?;
            }
        }
        if self.purpose == Purpose::Forget {
            tx.truncate_wal_after_commit();
        }
        Ok(true)
    }

    /// Who leaves the tail once it is stored, some at a time, since whoever changes one of them
    /// waits for that.
    #[must_use]
    pub fn leaving(&self) -> Vec<Leaving> {
        let leaving = |persons: &[(PersonId, i64)]| Leaving {
            workspace: self.workspace,
            persons: persons.to_vec(),
            is_last: false,
        };
        let mut all: Vec<_> = self.tail.chunks(AT_ONCE).map(leaving).collect();
        all.iter_mut().next_back().into_iter().for_each(|last| last.is_last = true);
        all
    }
}

/// Persons who are in a segment now.
pub struct Leaving {
    workspace: WorkspaceId,
    /// In the order of their ids.
    persons: Vec<(PersonId, i64)>,
    is_last: bool,
}

impl Leaving {
    #[must_use]
    pub const fn workspace(&self) -> WorkspaceId {
        self.workspace
    }

    /// Takes them out of the tail, but for those who changed since.
    pub async fn leave(&self, tx: &mut Tx) -> Result<(), StoreError> {
        // Whoever planned a segment meanwhile planned it of some who leave now.
        if self.is_last {
            begin_generation(tx, self.workspace).await?;
        }
        let (Some((first, _)), Some((last, _))) = (self.persons.first(), self.persons.last())
        else {
            return Ok(());
        };
        // Whoever changed has a stamp that nobody else has. Others may be in the tail between the
        // first and the last of these, but few: they are those who follow each other there.
        // PostgreSQL may have planned this while the tail was empty, and then looks at all of it:
        // at two ids of each, and no list.
        let stamps = list_of(tx, self.persons.iter().map(|(_, stamp)| *stamp));
        let among = match tx.is_embedded() {
            true => "IN (SELECT value FROM json_each(?4))",
            false => "= ANY (ARRAY(SELECT unnest(CAST(CAST(?4 AS text) AS bigint[]))))",
        };
        let sql = format!(
            "DELETE FROM search_tail WHERE workspace_id = ?1 AND person_id >= ?2 AND person_id <= \
             ?3 AND stamp {among}"
        );
        tx.execute_deferred(&sql, params![self.workspace, *first, *last, &stamps]).await
    }
}
