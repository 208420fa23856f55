//! The index of words by segments, beside that of the engine: whoever has several words, each of which very many have, is found in it at once. A
//! segment is made of many persons at a time, in the background, and never changed; it is put together with others, or made anew, by making another.
//!
//! Whoever is new, or changed, stands in the tail until a segment is made of them, and is compared one by one. So each person who answers is in the
//! tail or in a segment; whoever is in a segment with words that they had before is compared too, and found to lack them.

use std::collections::{BTreeMap, HashMap};

use model::id::{PersonId, WorkspaceId};
use model::search::{Having, Term, Weight};

use super::places;
use super::search::documents_of;
use super::statement::{FENCE, Values};
use crate::{Asked, Param, StoreError, Tx, params};

/// Ids that are kept in one row, in the order of the places that persons have in a segment.
pub(super) const BLOCK: usize = 64;
/// Rows that are asked for by one statement at most.
const ASKED: usize = 250;
/// Whoever has the words where they say most comes first, and of those whoever has them as they are.
const LEVELS: usize = 2 * Weight::ALL.len();

/// Lets a person, who is new or changed, be put into a segment.
pub(super) const TO_TAIL: &str = "INSERT INTO search_tail (workspace_id, person_id, stamp) VALUES (?1, ?2, ?3) \
                                  ON CONFLICT (workspace_id, person_id) DO UPDATE SET stamp = EXCLUDED.stamp";

pub(super) async fn put_in_tail(tx: &mut Tx, workspace: WorkspaceId, person: PersonId) -> Result<(), StoreError> {
    tx.tell(TO_TAIL, params![workspace, person, new_stamp()]).await
}

/// A number that nobody in a tail has had before.
pub(super) fn new_stamp() -> i64 {
    rand::random()
}

/// How many are in the tail, up to that number.
pub(super) async fn tail_length(tx: &mut Tx, workspace: WorkspaceId, most: i64) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) FROM (SELECT 1 FROM search_tail WHERE workspace_id = ?1 LIMIT ?2) counted";
    Ok(tx.row(sql, params![workspace, most], |row| row.int(0)).await?.unwrap_or(0))
}

/// Takes a person out of the tail.
pub(super) async fn leave_tail(tx: &mut Tx, workspace: WorkspaceId, person: PersonId) -> Result<(), StoreError> {
    tx.tell("DELETE FROM search_tail WHERE workspace_id = ?1 AND person_id = ?2", params![workspace, person]).await
}

/// Lets the segments be made anew in which somebody may be who is erased, and none be finished that is being made of them.
pub(super) async fn erase(tx: &mut Tx, workspace: WorkspaceId, person: PersonId) -> Result<(), StoreError> {
    let sql = "UPDATE search_segment SET is_outdated = TRUE WHERE workspace_id = ?1 AND first_id <= ?2 AND last_id >= ?2";
    tx.tell(sql, params![workspace, person]).await?;
    let sql = "INSERT INTO search_erasure (workspace_id, persons) VALUES (?1, 1) \
               ON CONFLICT (workspace_id) DO UPDATE SET persons = search_erasure.persons + 1";
    tx.tell(sql, params![workspace]).await
}

/// Who of the segments of a workspace has what is asked for.
pub(super) struct Segments {
    workspace: WorkspaceId,
    segments: Vec<Segment>,
    /// Those are taken next who have the words so.
    level: usize,
    next: usize,
}

struct Segment {
    number: i64,
    having: Having,
}

impl Segments {
    /// Nothing if the workspace has none.
    pub(super) async fn having(tx: &mut Tx, workspace: WorkspaceId, terms: &[Term]) -> Result<Option<Self>, StoreError> {
        let letters: Vec<_> = terms.iter().map(Term::letters).collect();
        let mut values = Values::new(workspace);
        let all =
            "SELECT number, persons, CAST(-1 AS bigint), CAST('' AS text), CAST(NULL AS bytea) FROM search_segment WHERE workspace_id = ?1";
        let mut selects = vec![all.to_owned()];
        for (place, (first, last)) in letters.iter().enumerate() {
            let condition = match first == last {
                true => format!("p.letters = {}", values.place(first)),
                false => format!("p.letters >= {} AND p.letters <= {}", values.place(first), values.place(last)),
            };
            let groups = format!("search_posting p WHERE p.workspace_id = ?1 AND p.segment = s.number AND {condition}");
            let from = match tx.is_embedded() {
                true => format!("search_segment s CROSS JOIN {groups} AND s.workspace_id = ?1"),
                false => format!(
                    "search_segment s CROSS JOIN LATERAL (SELECT p.letters, p.words FROM {groups} {FENCE}) p WHERE s.workspace_id = ?1"
                ),
            };
            selects.push(format!("SELECT s.number, s.persons, CAST({place} AS bigint), p.letters, p.words FROM {from}"));
        }
        let mut segments: BTreeMap<i64, Having> = BTreeMap::new();
        tx.rows(&selects.join(" UNION ALL "), values.params(), |row| {
            let persons = usize::try_from(row.int(1)?).unwrap_or(0);
            let having = segments.entry(row.int(0)?).or_insert_with(|| Having::new(persons, terms.len()));
            let Ok(place) = usize::try_from(row.int(2)?) else { return Ok(()) };
            let is_read = terms.get(place).and_then(|term| Some(having.look_at(place, term, row.str(3).ok()?, row.bytes(4).ok()?)?));
            is_read.ok_or_else(unreadable)
        })
        .await?;
        let segments: Vec<_> = segments
            .into_iter()
            .map(|(number, mut having)| {
                having.finish();
                Segment { number, having }
            })
            .collect();
        Ok((!segments.is_empty()).then_some(Self { workspace, segments, level: 0, next: 0 }))
    }

    /// How many persons the segments have, and how many of them have all that was asked for. Some may be counted twice.
    pub(super) fn count(&self) -> (usize, usize) {
        let sum = |count: fn(&Having) -> usize| self.segments.iter().map(|segment| count(&segment.having)).sum();
        (sum(Having::persons), sum(Having::count))
    }

    /// Where those have the words who are taken next.
    pub(super) fn weight(&self) -> Weight {
        Weight::ALL.get(self.level / 2).copied().unwrap_or(Weight::Other)
    }

    /// Some more of those who have all that was asked for, the best first: so many, or all who are left.
    pub(super) async fn next(&mut self, tx: &mut Tx, most: usize) -> Result<Vec<PersonId>, StoreError> {
        let mut taken: Vec<(i64, Vec<usize>)> = Vec::new();
        let mut missing = most;
        while missing > 0 && self.level < LEVELS {
            let Some(segment) = self.segments.get_mut(self.next) else {
                (self.level, self.next) = (self.level + 1, 0);
                continue;
            };
            let places = segment.having.take(Weight::ALL[self.level / 2], self.level.is_multiple_of(2), missing);
            missing -= places.len();
            if missing > 0 {
                self.next += 1;
            }
            if !places.is_empty() {
                taken.push((segment.number, places));
            }
        }
        let mut asked = Vec::with_capacity(taken.len());
        for (segment, places) in &taken {
            let mut blocks: Vec<_> = places.iter().map(|place| place / BLOCK).collect();
            blocks.dedup();
            for blocks in blocks.chunks(ASKED) {
                asked.push(ask_ids(tx, self.workspace, *segment, blocks).await?);
            }
        }
        let mut ids = HashMap::new();
        for asked in asked {
            ids.extend(tx.answer(asked).await?.into_iter().map(|(segment, block, ids)| ((segment, block), ids)));
        }
        let id = |segment: i64, place: usize| {
            let ids: &Vec<PersonId> = ids.get(&(segment, i64::try_from(place / BLOCK).ok()?))?;
            ids.get(place % BLOCK).copied()
        };
        let places = taken.iter().flat_map(|(segment, places)| places.iter().map(move |place| (*segment, *place)));
        let ids: Option<_> = places.map(|(segment, place)| id(segment, place)).collect();
        ids.ok_or_else(unreadable)
    }
}

fn unreadable() -> StoreError {
    StoreError::Internal("a segment of the index of words cannot be read".to_owned())
}

type Block = (i64, i64, Vec<PersonId>);

async fn ask_ids(tx: &mut Tx, workspace: WorkspaceId, segment: i64, blocks: &[usize]) -> Result<Asked<Block>, StoreError> {
    let mut params = vec![workspace.into(), Param::Int(segment)];
    params.extend(blocks.iter().map(|block| Param::Int(i64::try_from(*block).unwrap_or(i64::MAX))));
    fill(&mut params, 2);
    let sql = format!(
        "SELECT segment, block, ids FROM search_place WHERE workspace_id = ?1 AND segment = ?2 AND block IN ({})",
        places(params.len() - 2, 3)
    );
    tx.ask(&sql, &params, |row| Ok((row.int(0)?, row.int(1)?, ids_in(row.bytes(2)?)))).await
}

pub(super) fn ids_in(bytes: &[u8]) -> Vec<PersonId> {
    bytes.chunks_exact(16).filter_map(|bytes| bytes.try_into().ok()).map(PersonId::from_bytes).collect()
}

/// Repeats the last of the values behind so many others until they are as many as in one of few statements.
fn fill(params: &mut Vec<Param<'_>>, others: usize) {
    if let Some(last) = params.last().copied() {
        let count = params.len() - others;
        let filled = [8, 64, ASKED, 1000].into_iter().find(|filled| *filled >= count).unwrap_or(count);
        params.resize(others + filled, last);
    }
}

/// A select of all that is indexed of those persons, who are not too many for one statement.
pub(super) fn documents_of_these(ids: &[PersonId], values: &mut Values<'_>) -> String {
    let mut params: Vec<_> = ids.iter().map(|id| Param::from(*id)).collect();
    fill(&mut params, 0);
    let ids: Vec<_> = params.into_iter().map(|id| values.place(id)).collect();
    format!("SELECT d.person_id, d.words FROM search_document d WHERE d.workspace_id = ?1 AND d.person_id IN ({})", ids.join(", "))
}

/// The same of all who are in the tail.
pub(super) fn documents_of_tail(tx: &Tx) -> String {
    let tail = documents_of(tx, "SELECT person_id AS id FROM search_tail WHERE workspace_id = ?1");
    format!("SELECT found.person_id, found.words FROM {tail}")
}
