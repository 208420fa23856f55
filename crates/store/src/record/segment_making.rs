//! Making segments of the index of words: of those in the tail, of several segments that are small, of one in which many are gone. First it is read
//! what goes into it, then it is put together, and at last stored; others may write meanwhile, and nothing waits for them.

use std::collections::HashSet;

use model::id::{CompanyId, PersonId, WorkspaceId};
use model::search::{Gathered, Group, MOST_IN_SEGMENT};

use super::census::{self, List};
use super::search::tokens_of_these;
use super::segment::{BLOCK, ids_in};
use crate::{Param, StoreError, Tx, params};

/// So many of the tail are put into a segment together at least.
const LEAST: usize = 256;
/// So many segments of about the same size become one.
const SIMILAR: usize = 8;

/// What a segment is to be made of.
pub struct Planned {
    workspace: WorkspaceId,
    /// In the order of their ids.
    persons: Vec<Source>,
    /// Who leaves the tail for it, unless they changed meanwhile.
    tail: Vec<(PersonId, i64)>,
    /// The segments that it replaces.
    replaced: Vec<i64>,
    /// Whether one of those is replaced for somebody who was erased.
    forgets: bool,
    /// How many were erased in the workspace before anything was read.
    erased: i64,
}

/// What is indexed of a person.
pub(super) struct Source {
    pub(super) id: PersonId,
    pub(super) tokens: String,
    pub(super) company: Option<CompanyId>,
}

/// A segment that is to be stored.
pub struct Made {
    planned: Planned,
    groups: Vec<Group>,
}

struct Size {
    number: i64,
    persons: usize,
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
pub async fn next_workspace(tx: &mut Tx, behind: Option<WorkspaceId>) -> Result<Option<WorkspaceId>, StoreError> {
    let behind = behind.unwrap_or(WorkspaceId::from_number(i64::MIN));
    let mut next = Vec::new();
    for table in ["search_tail", "search_segment"] {
        let sql = format!("SELECT workspace_id FROM {table} WHERE workspace_id > ?1 ORDER BY workspace_id LIMIT 1");
        next.extend(tx.row(&sql, params![behind], |row| row.workspace(0)).await?);
    }
    Ok(next.into_iter().min_by_key(|workspace| workspace.number()))
}

/// Reads what the next segment is to be made of; nothing if none is wanted.
pub async fn plan(tx: &mut Tx, workspace: WorkspaceId) -> Result<Option<Planned>, StoreError> {
    let erased = erased(tx, workspace).await?;
    let sql = "SELECT number, persons, is_outdated FROM search_segment WHERE workspace_id = ?1 ORDER BY number";
    let sizes = tx
        .rows(sql, params![workspace], |row| {
            Ok(Size { number: row.int(0)?, persons: usize::try_from(row.int(1)?).unwrap_or(0), is_outdated: row.flag(2)? })
        })
        .await?;
    let (mut tail, mut replaced) = (Vec::new(), outdated(&sizes));
    let forgets = !replaced.is_empty();
    if !forgets {
        let sql = "SELECT person_id, stamp FROM search_tail WHERE workspace_id = ?1 ORDER BY person_id LIMIT ?2";
        tail = tx.rows(sql, params![workspace, MOST_IN_SEGMENT as i64], |row| Ok((row.id(0)?, row.int(1)?))).await?;
        if tail.len() < LEAST {
            tail.clear();
            replaced = similar(&sizes);
        }
    }
    let mut ids: Vec<PersonId> = tail.iter().map(|(id, _)| *id).collect();
    for number in &replaced {
        ids.extend(ids_of(tx, workspace, *number).await?);
    }
    if ids.is_empty() {
        let Some(oldest) = sizes.first() else { return Ok(None) };
        let persons = census::count_between::<model::id::Person>(tx, workspace, List::Persons, None, None).await?;
        let indexed: usize = sizes.iter().map(|size| size.persons).sum();
        if indexed <= usize::try_from(persons).unwrap_or(0) * 3 / 2 + MOST_IN_SEGMENT {
            return Ok(None);
        }
        // Many are in several segments. The newest counts.
        let mut left: HashSet<_> = ids_of(tx, workspace, oldest.number).await?.into_iter().collect();
        for size in &sizes[1..] {
            for id in ids_of(tx, workspace, size.number).await? {
                left.remove(&id);
            }
        }
        replaced.push(oldest.number);
        ids.extend(left);
    }
    ids.sort_unstable();
    ids.dedup();
    let persons = tokens_of_these(tx, workspace, &ids).await?;
    Ok(Some(Planned { workspace, persons, tail, replaced, forgets, erased }))
}

fn outdated(sizes: &[Size]) -> Vec<i64> {
    sizes.iter().find(|size| size.is_outdated).map(|size| size.number).into_iter().collect()
}

/// Segments that are better one.
fn similar(sizes: &[Size]) -> Vec<i64> {
    for class in 0..=MOST_IN_SEGMENT.ilog(SIMILAR) {
        let alike: Vec<_> = sizes.iter().filter(|size| size.class() == class).collect();
        let mut persons = 0;
        let fitting = alike.iter().take_while(|size| {
            persons += size.persons;
            persons <= MOST_IN_SEGMENT
        });
        let fitting: Vec<_> = fitting.map(|size| size.number).collect();
        if alike.len() >= SIMILAR && fitting.len() > 1 {
            return fitting;
        }
    }
    Vec::new()
}

async fn ids_of(tx: &mut Tx, workspace: WorkspaceId, segment: i64) -> Result<Vec<PersonId>, StoreError> {
    let sql = "SELECT ids FROM search_place WHERE workspace_id = ?1 AND segment = ?2 ORDER BY block";
    let blocks = tx.rows(sql, params![workspace, segment], |row| row.bytes(0).map(ids_in)).await?;
    Ok(blocks.into_iter().flatten().collect())
}

async fn erased(tx: &mut Tx, workspace: WorkspaceId) -> Result<i64, StoreError> {
    let sql = "SELECT persons FROM search_erasure WHERE workspace_id = ?1";
    Ok(tx.row(sql, params![workspace], |row| row.int(0)).await?.unwrap_or(0))
}

impl Planned {
    /// Puts the segment together, which takes a while.
    #[must_use]
    pub fn make(self) -> Made {
        let mut gathered = Gathered::default();
        for Source { tokens, company, .. } in &self.persons {
            gathered.add(tokens, *company);
        }
        Made { groups: gathered.groups(), planned: self }
    }
}

impl Made {
    #[must_use]
    pub const fn workspace(&self) -> WorkspaceId {
        self.planned.workspace
    }

    #[must_use]
    pub const fn persons(&self) -> usize {
        self.planned.persons.len()
    }

    /// Stores it, unless somebody was erased since it was planned, whom it may have. Says whether it did.
    pub async fn store(&self, tx: &mut Tx) -> Result<bool, StoreError> {
        let Planned { workspace, persons, tail, replaced, forgets, erased } = &self.planned;
        let sql = "INSERT INTO search_erasure (workspace_id, persons) VALUES (?1, 0) \
                   ON CONFLICT (workspace_id) DO UPDATE SET persons = search_erasure.persons RETURNING persons";
        let erased_now = tx.row(sql, params![*workspace], |row| row.int(0)).await?;
        if erased_now != Some(*erased) {
            return Ok(false);
        }
        if let (Some(first), Some(last)) = (persons.first(), persons.last()) {
            let number = new_number(tx);
            let sql = "INSERT INTO search_segment (workspace_id, number, persons, first_id, last_id) VALUES (?1, ?2, ?3, ?4, ?5)";
            tx.tell(sql, params![*workspace, number, persons.len() as i64, first.id, last.id]).await?;
            let sql = "INSERT INTO search_posting (workspace_id, segment, letters, words) VALUES (?1, ?2, ?3, ?4)";
            for Group { letters, words } in &self.groups {
                tx.tell(sql, &[(*workspace).into(), Param::Int(number), Param::Text(letters), Param::Bytes(words)]).await?;
            }
            let sql = "INSERT INTO search_place (workspace_id, segment, block, ids) VALUES (?1, ?2, ?3, ?4)";
            for (block, persons) in persons.chunks(BLOCK).enumerate() {
                let ids: Vec<u8> = persons.iter().flat_map(|person| person.id.to_bytes()).collect();
                tx.tell(sql, &[(*workspace).into(), Param::Int(number), Param::Int(block as i64), Param::Bytes(&ids)]).await?;
            }
        }
        for (person, stamp) in tail {
            let sql = "DELETE FROM search_tail WHERE workspace_id = ?1 AND person_id = ?2 AND stamp = ?3";
            tx.tell(sql, params![*workspace, *person, *stamp]).await?;
        }
        for number in replaced {
            for (table, column) in [("search_segment", "number"), ("search_posting", "segment"), ("search_place", "segment")] {
                let sql = format!("DELETE FROM {table} WHERE workspace_id = ?1 AND {column} = ?2");
                tx.tell(&sql, params![*workspace, *number]).await?;
            }
        }
        if *forgets {
            tx.scrub();
        }
        Ok(true)
    }
}

/// A number that no segment has had before; later ones are higher.
fn new_number(tx: &Tx) -> i64 {
    tx.real_now().millis() << 16 | i64::from(rand::random::<u16>())
}
