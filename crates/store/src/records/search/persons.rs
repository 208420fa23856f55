//! Whom a search finds, and in which order.

use std::collections::HashSet;

use slated_model::id::{PersonId, WorkspaceId};
use slated_model::search::{Answer, Question, Weight};

use crate::error::StoreError;
use crate::records::person_filter::{Led, MAX_COUNTED, PersonFilter};
use crate::records::search::documents::{Wanted, Weighing, ask_queued, ask_unknown, having};
use crate::records::search::segments::{
    Placed, Segments, ask_tail_length, documents_of_tail, documents_of_these, listed,
};
use crate::records::statement::{FENCE, Values};
use crate::tx::{Asked, Tx};

/// Persons that a search finds at most, those first that answer it best.
const MAX_FOUND: usize = 1000;
/// So many are soon compared, one by one, and so many who lie side by side.
const SOON_COMPARED: usize = 5_000;
const NEIGHBOURS_SOON_COMPARED: usize = 13_000;
/// Whom filters leave is rather compared, if they are no more, than looked for by the index of the
/// engine.
const RATHER_COMPARED: usize = 25_000;
/// So many who have the words are asked together at least whether they still do, and whether the
/// filters leave them.
const MIN_ASKED: usize = 250;
/// With more in the tail the segments are not worth it.
const MAX_IN_TAIL: i64 = 5_000;

/// The persons who have all words of the question, those first that answer it best.
pub(crate) async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    question: &Question,
    filter: &PersonFilter,
) -> Result<Vec<PersonId>, StoreError> {
    let led = match filter.is_empty() {
        true => None,
        false => Some(filter.led(tx, workspace, MAX_COUNTED).await?),
    };
    let search = Search { workspace, question, filter, led };
    if search.are_left_at_most(SOON_COMPARED, NEIGHBOURS_SOON_COMPARED) {
        return search.by_filter(tx).await;
    }
    if let Some(found) = search.by_segments(tx).await? {
        return Ok(found);
    }
    match search.are_left_at_most(RATHER_COMPARED, RATHER_COMPARED) {
        true => search.by_filter(tx).await,
        false => search.by_engine(tx).await,
    }
}

/// Persons in the order in which they are shown, up to a number.
#[derive(Default)]
struct Ranking {
    found: Vec<PersonId>,
    seen: HashSet<PersonId>,
}

impl Ranking {
    /// Puts those behind the others who are not there yet.
    fn add(&mut self, mut persons: Vec<PersonId>) {
        let room = MAX_FOUND - self.found.len();
        persons.sort_unstable();
        self.found.extend(persons.into_iter().filter(|id| self.seen.insert(*id)).take(room));
    }

    /// The same, with those in front, if not all find room, who have the words as they are.
    fn add_with_whole(&mut self, whole: Vec<PersonId>, beginning: Vec<PersonId>) {
        let known: HashSet<_> = whole.iter().copied().collect();
        let mut having = whole;
        having.extend(beginning.into_iter().filter(|id| !known.contains(id)));
        having.retain(|id| !self.seen.contains(id));
        having.truncate(MAX_FOUND - self.found.len());
        self.add(having);
    }

    fn is_full(&self) -> bool {
        self.found.len() >= MAX_FOUND
    }
}

struct Search<'s> {
    workspace: WorkspaceId,
    question: &'s Question,
    filter: &'s PersonFilter,
    led: Option<Led<'s>>,
}

impl Search<'_> {
    /// Whether there are filters that leave no more, or no more who lie side by side.
    fn are_left_at_most(&self, most: usize, most_neighbours: usize) -> bool {
        self.led.as_ref().is_some_and(|led| {
            led.is_counted()
                && led.left() <= if led.are_neighbours() { most_neighbours } else { most }
        })
    }

    /// Compares all whom the filters leave.
    async fn by_filter(&self, tx: &mut Tx) -> Result<Vec<PersonId>, StoreError> {
        let Some(led) = &self.led else { return Ok(Vec::new()) };
        let weighing = Weighing::new(tx, self.workspace, self.question);
        let mut values = Values::new(self.workspace);
        let (columns, documents) = (weighing.columns(&mut values), led.documents(tx, &mut values));
        let condition = weighing
            .condition(&mut values)
            .map_or_else(String::new, |condition| format!("WHERE {condition}"));
        let sql = format!("SELECT {columns} FROM {documents} {condition}");
        let found = tx.rows(&sql, values.params(), |row| weighing.read(row)).await?;
        Ok(ranked(found.into_iter().flatten().collect()))
    }

    /// Compares whoever is in the tail, and those whom the segments lead to, the best first.
    /// Nothing if there are no segments, or not everybody is in them or the tail, or too many are
    /// in that.
    async fn by_segments(&self, tx: &mut Tx) -> Result<Option<Vec<PersonId>>, StoreError> {
        let length = ask_tail_length(tx, self.workspace, MAX_IN_TAIL + 1).await?;
        let unknown = ask_unknown(tx, self.workspace, None, 1).await?;
        // Whom a company employs that went into another is known only when they are indexed anew.
        let queued = match self.filter.company_id {
            Some(_) => ask_queued(tx, self.workspace, 1).await?,
            None => Asked::known(Vec::new()),
        };
        let (length, unknown, queued) =
            (tx.answer(length).await?, tx.answer(unknown).await?, tx.answer(queued).await?);
        if length.iter().any(|length| *length > MAX_IN_TAIL) || !unknown.is_empty() {
            return Ok(None);
        }
        let company = self.filter.company_id.filter(|_| queued.is_empty());
        let terms = self.question.terms(company);
        let Some(mut segments) = Segments::having(tx, self.workspace, &terms).await? else {
            return Ok(None);
        };
        if let Some(led) = &self.led {
            let (from, until) = led.bounds();
            segments.keep_between(tx, self.workspace, from, until).await?;
        }
        if self.are_sooner_compared(segments.count(), company.is_some()) {
            return self.by_filter(tx).await.map(Some);
        }
        // Whoever has other words now is in the tail, or in another segment too.
        let mut found = self.in_tail(tx).await?;
        let mut seen: HashSet<_> = found.iter().map(|(_, id)| *id).collect();
        let mut missing = MAX_FOUND;
        while missing > 0
            && let Some((answer, placed)) = segments.next(missing.max(MIN_ASKED))
        {
            let still = self.still_answering(tx, answer, &placed).await?;
            let still: Vec<_> =
                still.into_iter().filter(|id| seen.insert(*id)).map(|id| (answer, id)).collect();
            missing = missing.saturating_sub(still.len());
            found.extend(still);
        }
        Ok(Some(ranked(found)))
    }

    /// Those of some who answered so well when their segment was made, who still do, and whom the
    /// filters leave.
    async fn still_answering(
        &self,
        tx: &mut Tx,
        answer: Answer,
        placed: &[Placed],
    ) -> Result<Vec<PersonId>, StoreError> {
        let weighing = Weighing::new(tx, self.workspace, self.question);
        let listed = listed(tx, placed);
        let mut values = Values::new(self.workspace);
        let documents = documents_of_these(tx, &listed, &mut values);
        let (columns, condition) = weighing.answering(answer, &mut values);
        let sql = self.statement(tx, columns, &documents, condition, false, &mut values);
        let found =
            tx.rows(&sql, values.params(), |row| weighing.is_answering(row, answer)).await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Whether it takes less to compare all whom the filters leave than to ask of so many who have
    /// the words, among so many persons, whether the filters leave them, until they are enough.
    fn are_sooner_compared(
        &self,
        (persons, having): (usize, usize),
        is_company_known: bool,
    ) -> bool {
        let Some(led) = self.led.as_ref().filter(|led| led.is_counted()) else { return false };
        let left = led.left().max(1);
        let likely = if led.is_asked_of_each(is_company_known) {
            MAX_FOUND * persons / left
        } else {
            MAX_FOUND
        };
        left < likely.min(having)
    }

    /// Lets the index of the engine lead.
    async fn by_engine(&self, tx: &mut Tx) -> Result<Vec<PersonId>, StoreError> {
        // Whole words are found without looking at all that begin with them, and when they are
        // found in plenty that is enough.
        let mut ranking = Ranking::default();
        let mut whole = Vec::with_capacity(Weight::ALL.len());
        for least in Weight::ALL {
            let having = self.having(tx, least, true).await?;
            ranking.add(having.clone());
            if ranking.is_full() {
                return Ok(ranking.found);
            }
            whole.push((least, having));
        }
        let weighed = self.weighed(tx).await?;
        if weighed.len() < MAX_FOUND {
            return Ok(ranked(weighed));
        }
        let mut having_any = Some(weighed.into_iter().map(|(_, id)| id).collect());
        let mut ranking = Ranking::default();
        for (least, whole) in whole {
            let beginning = match having_any.take_if(|_| least == Weight::Other) {
                Some(having) => having,
                None => self.having(tx, least, false).await?,
            };
            ranking.add_with_whole(whole, beginning);
            if ranking.is_full() {
                break;
            }
        }
        Ok(ranking.found)
    }

    /// Some who have the words in fields that say at least so much.
    async fn having(
        &self,
        tx: &mut Tx,
        least: Weight,
        are_whole: bool,
    ) -> Result<Vec<PersonId>, StoreError> {
        let wanted = Wanted::words(tx, self.workspace, self.question, least, are_whole);
        let mut values = Values::new(self.workspace);
        let having = having(tx, "d.person_id", &wanted, &mut values);
        let sql = self.statement(tx, "found.person_id", &having, None, true, &mut values);
        tx.rows(&sql, values.params(), |row| row.id(0)).await
    }

    /// Some who have words that begin with those of the question, and how much their fields say.
    async fn weighed(&self, tx: &mut Tx) -> Result<Vec<(Answer, PersonId)>, StoreError> {
        let weighing = Weighing::new(tx, self.workspace, self.question);
        let wanted = Wanted::words(tx, self.workspace, self.question, Weight::Other, false);
        let mut values = Values::new(self.workspace);
        let having = having(tx, "d.person_id, d.words", &wanted, &mut values);
        let columns = weighing.columns(&mut values);
        let sql = self.statement(tx, &columns, &having, None, true, &mut values);
        let found = tx.rows(&sql, values.params(), |row| weighing.read(row)).await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// Those of the tail who have the words, and how well they answer.
    async fn in_tail(&self, tx: &mut Tx) -> Result<Vec<(Answer, PersonId)>, StoreError> {
        let weighing = Weighing::new(tx, self.workspace, self.question);
        let mut values = Values::new(self.workspace);
        let columns = weighing.columns(&mut values);
        let condition = weighing.condition(&mut values);
        let sql =
            self.statement(tx, &columns, &documents_of_tail(tx), condition, false, &mut values);
        let found = tx.rows(&sql, values.params(), |row| weighing.read(row)).await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// A select of columns of those who are found, whom all filters leave, and who meet the
    /// condition: of all of them, or if they may be many of as many as are shown.
    fn statement<'p>(
        &'p self,
        tx: &Tx,
        columns: &str,
        having: &str,
        condition: Option<String>,
        may_be_many: bool,
        values: &mut Values<'p>,
    ) -> String {
        let (join, left) = self
            .led
            .as_ref()
            .map_or_else(Default::default, |led| led.leaves(tx, may_be_many, values));
        let conditions: Vec<_> = condition.into_iter().chain(left).collect();
        let most = if may_be_many { format!("LIMIT {MAX_FOUND}") } else { String::new() };
        match conditions.is_empty() {
            true => format!("SELECT {columns} FROM ({having}) found {most}"),
            false => format!(
                "SELECT {columns} FROM ({having} {FENCE}) found {join} WHERE {} {most}",
                conditions.join(" AND ")
            ),
        }
    }
}

/// The best first, and among those whose fields say as much the oldest; if not all find room, those
/// stay of them who have whole words.
fn ranked(mut found: Vec<(Answer, PersonId)>) -> Vec<PersonId> {
    found.sort_unstable();
    found.truncate(MAX_FOUND);
    found.sort_unstable_by_key(|(answer, id)| (answer.weight, *id));
    found.into_iter().map(|(_, id)| id).collect()
}
