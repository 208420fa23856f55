//! The index of words by segments, beside that of the engine: whoever has several words, each of
//! which very many have, is found in it at once. A segment is made of many persons at a time, in
//! the background, and never changed; it is put together with others, or made anew, by making
//! another.
//!
//! Whoever is new, or changed, stands in the tail until a segment is made of them, and is compared
//! one by one. So each person who answers is in the tail or in a segment; whoever is in a segment
//! with words that they had before is compared too, and found to lack them.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use slated_model::id::{PersonId, WorkspaceId};
use slated_model::search::{Answer, Having, MAX_IN_SEGMENT, Term, Weight};

use crate::driver::param::Param;
use crate::error::StoreError;
use crate::params;
use crate::records::search::found::documents_of;
use crate::records::statement::{FENCE, Values, list_of};
use crate::tx::{Asked, Tx};

/// Ids that are kept in one row, in the order of the places that persons have in a segment.
pub(crate) const BLOCK: usize = 64;
/// More than a segment has places: a segment and a place in it are one number.
const PLACES: i64 = 1 << 16;
const _: () = assert!(MAX_IN_SEGMENT < PLACES as usize);

const TO_TAIL: &str =
    "INSERT INTO search_tail (workspace_id, person_id, stamp) VALUES (?1, ?2, ?3)";

/// Lets a person who is new be put into a segment.
pub(crate) async fn add_to_tail(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<(), StoreError> {
    tx.execute_deferred(TO_TAIL, params![workspace, person, new_stamp()]).await
}

/// Lets a person who changed be put into another segment.
pub(crate) async fn put_in_tail(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<(), StoreError> {
    let sql = format!(
        "{TO_TAIL} ON CONFLICT (workspace_id, person_id) DO UPDATE SET stamp = EXCLUDED.stamp"
    );
    tx.execute_deferred(&sql, params![workspace, person, new_stamp()]).await
}

/// A number that nobody in a tail has had before.
fn new_stamp() -> i64 {
    rand::random()
}

/// Asks how many are in the tail, up to that number.
pub(crate) async fn ask_tail_length(
    tx: &mut Tx,
    workspace: WorkspaceId,
    most: i64,
) -> Result<Asked<i64>, StoreError> {
    let sql =
        "SELECT COUNT(*) FROM (SELECT 1 FROM search_tail WHERE workspace_id = ?1 LIMIT ?2) counted";
    tx.ask(sql, params![workspace, most], |row| row.int(0)).await
}

/// Takes a person out of the tail.
pub(crate) async fn leave_tail(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<(), StoreError> {
    tx.execute_deferred(
        "DELETE FROM search_tail WHERE workspace_id = ?1 AND person_id = ?2",
        params![workspace, person],
    )
    .await
}

/// Lets nothing be stored any more that was planned before; who stores something waits for this
/// work.
pub(crate) async fn begin_generation(
    tx: &mut Tx,
    workspace: WorkspaceId,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO search_generation (workspace_id, number) VALUES (?1, 1) \
               ON CONFLICT (workspace_id) DO UPDATE SET number = search_generation.number + 1";
    tx.execute_deferred(sql, params![workspace]).await
}

/// The same, if it is still the generation in which something was planned. Says whether it was.
pub(crate) async fn end_generation(
    tx: &mut Tx,
    workspace: WorkspaceId,
    planned_in: i64,
) -> Result<bool, StoreError> {
    let sql = "INSERT INTO search_generation (workspace_id, number) VALUES (?1, ?3) \
               ON CONFLICT (workspace_id) DO UPDATE SET number = EXCLUDED.number WHERE \
               search_generation.number = ?2 RETURNING number";
    let next = planned_in + 1;
    Ok(tx.row(sql, params![workspace, planned_in, next], |row| row.int(0)).await? == Some(next))
}

/// Lets the segments be made anew in which persons are who are erased.
pub(crate) async fn forget(
    tx: &mut Tx,
    workspace: WorkspaceId,
    persons: &[PersonId],
) -> Result<(), StoreError> {
    for person in persons {
        let sql = "SELECT number FROM search_segment WHERE workspace_id = ?1 AND first_id <= ?2 \
            AND last_id >= ?2";
        for number in tx.rows(sql, params![workspace, *person], |row| row.int(0)).await? {
            if block_of(tx, workspace, number, *person)
                .await?
                .is_some_and(|(_, ids)| ids.contains(person))
            {
                let sql = "UPDATE search_segment SET is_outdated = TRUE WHERE workspace_id = ?1 \
                    AND number = ?2";
                tx.execute_deferred(sql, params![workspace, number]).await?;
            }
        }
    }
    Ok(())
}

/// Who of the segments of a workspace has what is asked for.
pub(crate) struct Segments {
    segments: Vec<Segment>,
    /// How those have it who are taken next.
    level: usize,
    next: usize,
}

struct Segment {
    number: i64,
    first_id: PersonId,
    last_id: PersonId,
    having: Having,
}

/// Somebody who has a place in a segment.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    segment: i64,
    place: usize,
}

impl Segments {
    /// Nothing if the workspace has none, or they cannot be read.
    pub(crate) async fn having(
        tx: &mut Tx,
        workspace: WorkspaceId,
        terms: &[Term],
    ) -> Result<Option<Self>, StoreError> {
        let letters: Vec<_> = terms.iter().map(Term::letters).collect();
        let mut values = Values::new(workspace);
        let of_segment = "s.number, s.persons, s.first_id, s.last_id";
        let all = format!(
            "SELECT {of_segment}, CAST(-1 AS bigint), CAST('' AS text), CAST(NULL AS bytea) FROM \
             search_segment s WHERE s.workspace_id = ?1"
        );
        let mut selects = vec![all];
        for (place, (first, last)) in letters.iter().enumerate() {
            let condition = match first == last {
                true => format!("p.letters = {}", values.place(first)),
                false => format!(
                    "p.letters >= {} AND p.letters <= {}",
                    values.place(first),
                    values.place(last)
                ),
            };
            let groups = format!(
                "search_posting p WHERE p.workspace_id = ?1 AND p.segment = s.number AND \
                 {condition}"
            );
            let from = match tx.is_embedded() {
                true => format!("search_segment s CROSS JOIN {groups} AND s.workspace_id = ?1"),
                false => format!(
                    "search_segment s CROSS JOIN LATERAL (SELECT p.letters, p.words FROM {groups} \
                     {FENCE}) p WHERE s.workspace_id = ?1"
                ),
            };
            selects.push(format!(
                "SELECT {of_segment}, CAST({place} AS bigint), p.letters, p.words FROM {from}"
            ));
        }
        let mut segments: BTreeMap<i64, Segment> = BTreeMap::new();
        let sql = selects.join(" UNION ALL ");
        let read = tx.rows(&sql, values.params(), |row| {
            let number = row.int(0)?;
            let segment = match segments.entry(number) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(unknown) => {
                    let persons = usize::try_from(row.int(1)?).unwrap_or(0);
                    let having = Having::new(persons, terms.len());
                    unknown.insert(Segment {
                        number,
                        first_id: row.id(2)?,
                        last_id: row.id(3)?,
                        having,
                    })
                }
            };
            let Ok(place) = usize::try_from(row.int(4)?) else { return Ok(true) };
            let (letters, words) = (row.str(5)?, row.bytes(6)?);
            let is_read = terms
                .get(place)
                .and_then(|term| segment.having.look_at(place, term, letters, words));
            Ok(is_read.is_some())
        });
        if read.await?.contains(&false) {
            tracing::warn!(
                workspace = workspace.number(),
                "a search index segment cannot be read, so searches do without it"
            );
            return Ok(None);
        }
        let mut segments: Vec<_> = segments.into_values().collect();
        segments.iter_mut().for_each(|segment| segment.having.finish());
        Ok((!segments.is_empty()).then_some(Self { segments, level: 0, next: 0 }))
    }

    /// Leaves only those whose ids are at least the one, and less than the other, where these are
    /// given.
    pub(crate) async fn keep_between(
        &mut self,
        tx: &mut Tx,
        workspace: WorkspaceId,
        from: Option<PersonId>,
        until: Option<PersonId>,
    ) -> Result<(), StoreError> {
        self.segments.retain(|segment| {
            from.is_none_or(|from| segment.last_id >= from)
                && until.is_none_or(|until| segment.first_id < until)
        });
        for segment in &mut self.segments {
            let persons = segment.having.persons();
            let first = match from.filter(|from| *from > segment.first_id) {
                Some(from) => place_of(tx, workspace, segment.number, from).await?,
                None => 0,
            };
            let behind = match until.filter(|until| *until <= segment.last_id) {
                Some(until) => place_of(tx, workspace, segment.number, until).await?,
                None => persons,
            };
            segment.having.keep(first..behind);
        }
        Ok(())
    }

    /// How many persons the segments have, and how many of them have all that was asked for. Some
    /// may be counted twice.
    pub(crate) fn count(&self) -> (usize, usize) {
        let sum = |count: fn(&Having) -> usize| {
            self.segments.iter().map(|segment| count(&segment.having)).sum()
        };
        (sum(Having::persons), sum(Having::count))
    }

    /// Some more of those who have all that was asked for, in the way that says most: so many at
    /// most, and how well they answer. Nothing if there are no others.
    pub(crate) fn next(&mut self, most: usize) -> Option<(Answer, Vec<Placed>)> {
        let mut taken = Vec::new();
        while let Some(weight) = Weight::ALL.get(self.level / 2) {
            let is_partial = self.level % 2 == 1;
            while let Some(Segment { number, having, .. }) = self.segments.get_mut(self.next) {
                let places = having.take(*weight, !is_partial, most - taken.len());
                taken.extend(places.into_iter().map(|place| Placed { segment: *number, place }));
                if taken.len() >= most {
                    break;
                }
                self.next += 1;
            }
            if !taken.is_empty() {
                return Some((Answer { weight: *weight, is_partial }, taken));
            }
            (self.level, self.next) = (self.level + 1, 0);
        }
        None
    }
}

/// The block of a segment in which an id is, if it is in any.
async fn block_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    segment: i64,
    id: PersonId,
) -> Result<Option<(i64, Vec<PersonId>)>, StoreError> {
    let sql = "SELECT block, ids FROM search_place WHERE workspace_id = ?1 AND segment = ?2 AND \
               substr(ids, 1, 16) <= ?3 \
               ORDER BY block DESC LIMIT 1";
    let bytes = id.to_bytes();
    tx.row(sql, &[workspace.into(), Param::Int(segment), Param::Bytes(&bytes)], |row| {
        Ok((row.int(0)?, ids_in(row.bytes(1)?)))
    })
    .await
}

/// How many of a segment have smaller ids.
async fn place_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    segment: i64,
    id: PersonId,
) -> Result<usize, StoreError> {
    let block = block_of(tx, workspace, segment, id).await?;
    Ok(block.map_or(0, |(block, ids)| {
        usize::try_from(block).unwrap_or(0) * BLOCK + ids.partition_point(|other| *other < id)
    }))
}

pub(crate) fn ids_in(bytes: &[u8]) -> Vec<PersonId> {
    bytes
        .chunks_exact(16)
        .filter_map(|bytes| bytes.try_into().ok())
        .map(PersonId::from_bytes)
        .collect()
}

/// A list of those places, as [`documents_of_these`] takes it.
pub(crate) fn listed(tx: &Tx, placed: &[Placed]) -> String {
    list_of(
        tx,
        placed
            .iter()
            .map(|Placed { segment, place }| segment * PLACES + i64::try_from(*place).unwrap_or(0)),
    )
}

/// A select of all that is indexed of those whose places are listed.
pub(crate) fn documents_of_these<'p>(tx: &Tx, listed: &'p str, values: &mut Values<'p>) -> String {
    let listed = values.place(listed);
    let column = if tx.is_embedded() { "asked.value" } else { "asked.number" };
    let segment = format!("{column} / {PLACES}");
    let (block, start) =
        (format!("{column} % {PLACES} / {BLOCK}"), format!("{column} % {BLOCK} * 16 + 1"));
    if tx.is_embedded() {
        return format!(
            "SELECT d.person_id, d.words FROM json_each({listed}) asked \
             CROSS JOIN search_place p ON p.workspace_id = ?1 AND p.segment = {segment} AND \
             p.block = {block} \
             CROSS JOIN search_document d ON d.workspace_id = ?1 AND d.person_id = substr(p.ids, \
             {start}, 16)"
        );
    }
    format!(
        "SELECT d.person_id, d.words FROM unnest(CAST(CAST({listed} AS text) AS bigint[])) AS \
         asked (number) \
         CROSS JOIN LATERAL (SELECT substr(ids, CAST({start} AS integer), 16) AS id FROM \
         search_place \
         WHERE workspace_id = ?1 AND segment = {segment} AND block = {block} LIMIT 1) place \
         CROSS JOIN LATERAL (SELECT person_id, words FROM search_document \
         WHERE workspace_id = ?1 AND person_id = CAST(encode(place.id, 'hex') AS uuid) LIMIT 1) d"
    )
}

/// The same of all who are in the tail.
pub(crate) fn documents_of_tail(tx: &Tx) -> String {
    let tail = documents_of(tx, "SELECT person_id AS id FROM search_tail WHERE workspace_id = ?1");
    format!("SELECT found.person_id, found.words FROM {tail}")
}
