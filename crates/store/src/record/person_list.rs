//! Lists of persons: all of them, those that filters leave, and those that search finds.

use std::collections::HashSet;

use model::clock::Timestamp;
use model::id::{self, CompanyId, JobId, PersonId, WorkspaceId};
use model::listing::{Order, Page, Start, TimeFilter};
use model::person::Identifier;
use model::search::{Question, Sample, Way, Weight};

use super::census::{self, List};
use super::listing::{Conditions, Listed};
use super::search::{Wanted, having, having_among, having_with_weight, sample};
use super::{field_order, places, with_ids};
use crate::{Param, Row, StoreError, Tx};

/// Persons that a search finds at most, those first that answer it best.
pub const MOST_FOUND: usize = 1000;

/// All that a list shows of a person.
#[derive(Clone, Debug)]
pub struct PersonItem {
    pub id: PersonId,
    pub name: String,
    pub first_name: String,
    pub last_name: String,
    pub social_public_id: String,
    pub social_location: String,
    pub current_job_title: String,
    pub company_name: Option<String>,
    pub company_id: Option<CompanyId>,
    pub external_source_id: Option<String>,
    pub emails: String,
    pub phones: String,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

const SELECT: &str = "SELECT p.id, p.name, p.first_name, p.last_name, p.social_public_id, p.social_location, p.current_job_title, \
                      employer.name, p.company_id, p.external_source_id, p.emails, p.phones, p.created_at, p.updated_at";
const TABLES: &str = "FROM person p LEFT JOIN company employer ON employer.workspace_id = p.workspace_id AND employer.id = p.company_id";

fn item(row: &Row<'_>) -> Result<PersonItem, StoreError> {
    Ok(PersonItem {
        id: row.id(0)?,
        name: row.text(1)?,
        first_name: row.text(2)?,
        last_name: row.text(3)?,
        social_public_id: row.text(4)?,
        social_location: row.text(5)?,
        current_job_title: row.text(6)?,
        company_name: row.optional_text(7)?,
        company_id: row.optional_id(8)?,
        external_source_id: row.optional_text(9)?,
        emails: row.json_text(10, field_order::contacts)?,
        phones: row.json_text(11, field_order::contacts)?,
        created_at: row.time(12)?,
        updated_at: row.time(13)?,
    })
}

/// What narrows a list of persons.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct PersonFilter {
    pub times: TimeFilter,
    /// Persons must have all of them.
    pub identifiers: Vec<Identifier>,
    pub phone: Option<String>,
    pub company_id: Option<CompanyId>,
    pub job_id: Option<JobId>,
}

impl PersonFilter {
    /// What the index is asked for.
    fn wanted(&self, tx: &Tx, workspace: WorkspaceId) -> Option<Wanted> {
        self.phone.as_deref().map(|number| Wanted::phone(tx, workspace, number))
    }

    fn conditions<'p>(&'p self, tx: &Tx, workspace: WorkspaceId, phone: Option<&'p Wanted>) -> Conditions<'p> {
        let Self { times, identifiers, phone: _, company_id, job_id } = self;
        let mut conditions = Conditions::new("p.workspace_id = ?1", vec![workspace.into()]);
        conditions.filter_times("p", times);
        for identifier in identifiers {
            let sql = format!(
                "p.id IN (SELECT person_id FROM person_identifier WHERE workspace_id = ?1 AND kind = {} AND key = {{}})",
                identifier.kind as i64
            );
            conditions.filter(&sql, &identifier.key);
        }
        if let Some(wanted) = phone {
            conditions.filter(&format!("p.id IN ({})", having(tx)), wanted.param());
        }
        if let Some(company) = company_id {
            conditions.filter("p.company_id = {}", *company);
        }
        if let Some(job) = job_id {
            conditions.filter("p.id IN (SELECT person_id FROM candidate WHERE workspace_id = ?1 AND job_id = {})", *job);
        }
        conditions
    }
}

pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    filter: &PersonFilter,
    page: &Page<id::Person>,
) -> Result<Listed<PersonItem>, StoreError> {
    let phone = filter.wanted(tx, workspace);
    let conditions = filter.conditions(tx, workspace, phone.as_ref());
    census::list_by_id(tx, workspace, List::Persons, page, conditions, (SELECT, TABLES, "p"), item).await
}

/// The persons who have all words of the question: first those who have them in fields that say most, and among equals the oldest. A page
/// asked for with an order has that order. Nothing if a cursor stands on a person who is not found any more.
pub async fn search(
    tx: &mut Tx,
    workspace: WorkspaceId,
    question: &Question,
    filter: &PersonFilter,
    page: &Page<id::Person>,
) -> Result<Option<Listed<PersonItem>>, StoreError> {
    let mut found = find(tx, workspace, question, filter).await?;
    if page.order == Order::NewestFirst {
        found.sort_unstable_by(|one, other| other.cmp(one));
    }
    let start = match page.start {
        Start::Offset(offset) => usize::try_from(offset).unwrap_or(usize::MAX),
        Start::Cursor(None) => 0,
        Start::Cursor(Some(cursor)) if page.order == Order::NewestFirst => found.partition_point(|id| *id >= cursor.last),
        Start::Cursor(Some(cursor)) => match found.iter().position(|id| *id == cursor.last) {
            Some(place) => place + 1,
            None => return Ok(None),
        },
    };
    let limit = usize::try_from(page.limit).unwrap_or(0);
    let shown: Vec<_> = found.iter().copied().skip(start).take(limit).collect();
    let more = found.len() > start.saturating_add(limit);
    let total = i64::try_from(found.len()).unwrap_or(0);
    let mut records = items(tx, workspace, &shown).await?;
    records.sort_unstable_by_key(|record| shown.iter().position(|id| *id == record.id));
    Ok(Some(Listed { records, total, more }))
}

/// Those persons, in any order.
pub async fn items(tx: &mut Tx, workspace: WorkspaceId, ids: &[PersonId]) -> Result<Vec<PersonItem>, StoreError> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = format!("{SELECT} {TABLES} WHERE p.workspace_id = ?1 AND p.id IN ({})", places(ids.len(), 2));
    tx.rows(&sql, &with_ids(workspace, ids), item).await
}

async fn find(tx: &mut Tx, workspace: WorkspaceId, question: &Question, filter: &PersonFilter) -> Result<Vec<PersonId>, StoreError> {
    let search = Search { workspace, question, filter };
    // Whole words are found without looking at all that begin with them, and when they are found in plenty that is enough.
    let mut ranking = Ranking::default();
    let mut whole = Vec::with_capacity(Weight::ALL.len());
    for least in Weight::ALL {
        let having = search.having(tx, least, true).await?;
        ranking.add(having.clone());
        if ranking.is_full() {
            return Ok(ranking.found);
        }
        whole.push((least, having));
    }
    // What a filter leaves of common words may be little.
    if *filter == PersonFilter::default()
        && let Some(sample) = sample(tx, workspace, question).await?
        && let Some(found) = search.by_sample(tx, &sample, &whole).await?
    {
        return Ok(found);
    }
    let mut weighed = search.weighed(tx).await?;
    if weighed.len() < MOST_FOUND {
        weighed.sort_unstable();
        return Ok(weighed.into_iter().map(|(_, id)| id).collect());
    }
    // There are more than those, so the best have to be looked for. Among equals those stay who have whole words.
    let mut ranking = Ranking::default();
    for (least, whole) in whole {
        let beginning = match least {
            Weight::Other => weighed.iter().map(|(_, id)| *id).collect(),
            Weight::Best | Weight::Good => search.having(tx, least, false).await?,
        };
        ranking.add_with_whole(whole, beginning);
        if ranking.is_full() {
            break;
        }
    }
    Ok(ranking.found)
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
        persons.sort_unstable();
        let room = MOST_FOUND - self.found.len();
        self.found.extend(persons.into_iter().filter(|id| self.seen.insert(*id)).take(room));
    }

    /// The same, with those in front, if not all find room, who have the words as they are.
    fn add_with_whole(&mut self, whole: Vec<PersonId>, beginning: Vec<PersonId>) {
        let known: HashSet<_> = whole.iter().copied().collect();
        let mut having = whole;
        having.extend(beginning.into_iter().filter(|id| !known.contains(id)));
        having.truncate(MOST_FOUND);
        self.add(having);
    }

    fn is_full(&self) -> bool {
        self.found.len() >= MOST_FOUND
    }
}

struct Search<'s> {
    workspace: WorkspaceId,
    question: &'s Question,
    filter: &'s PersonFilter,
}

impl Search<'_> {
    /// Those who have words that begin with those of the question, in the way that the sample makes best; nothing if the common words
    /// that were seen are those of too few. `whole` are those who have the words as they are, at each weight.
    async fn by_sample(
        &self,
        tx: &mut Tx,
        sample: &Sample,
        whole: &[(Weight, Vec<PersonId>)],
    ) -> Result<Option<Vec<PersonId>>, StoreError> {
        if sample.way(Weight::Other) == Way::All {
            return Ok(None);
        }
        let mut ranking = Ranking::default();
        for (least, whole) in whole {
            let beginning = match sample.way(*least) {
                Way::All => self.having(tx, *least, false).await?,
                Way::Rare(places) => self.having_among(tx, *least, &places).await?,
                Way::Common(tokens) => {
                    let mut some = self.having_tokens(tx, &tokens).await?;
                    if some.len() < MOST_FOUND {
                        some = self.having_tokens(tx, &sample.many_tokens(*least)).await?;
                    }
                    // Others who answer as well, by other words, would come behind those who answer less well.
                    if some.len() < MOST_FOUND {
                        return Ok(None);
                    }
                    some
                }
            };
            ranking.add_with_whole(whole.clone(), beginning);
            if ranking.is_full() {
                break;
            }
        }
        Ok(Some(ranking.found))
    }

    /// Some who have a token at least of each of the lists.
    async fn having_tokens(&self, tx: &mut Tx, lists: &[Vec<String>]) -> Result<Vec<PersonId>, StoreError> {
        let wanted = Wanted::tokens(tx, self.workspace, lists);
        self.ask(tx, &[wanted], having(tx), "p.id", MOST_FOUND, |row| row.id(0)).await
    }

    /// Some who have words that begin with those of the question, in fields that say at least so much, found by some of the words.
    async fn having_among(&self, tx: &mut Tx, least: Weight, places: &[usize]) -> Result<Vec<PersonId>, StoreError> {
        let rare = Wanted::some(tx, self.workspace, self.question, least, places);
        let having = having_among(tx);
        if !tx.is_embedded() {
            let all = Wanted::words(tx, self.workspace, self.question, least, false);
            return self.ask(tx, &[rare, all], &having, "p.id", MOST_FOUND, |row| row.id(0)).await;
        }
        let has_all = |words: &str| self.question.weight_in(words.split(' ')).is_some_and(|weight| weight <= least);
        let map = |row: &Row<'_>| Ok(has_all(row.str(1)?).then_some(row.id(0)?));
        let found = self.ask(tx, &[rare], &having, "p.id, found.weight", usize::MAX >> 1, map).await?;
        Ok(found.into_iter().flatten().take(MOST_FOUND).collect())
    }

    /// Some who have words that begin with those of the question, and how much their fields say.
    async fn weighed(&self, tx: &mut Tx) -> Result<Vec<(Weight, PersonId)>, StoreError> {
        let words = |least| Wanted::words(tx, self.workspace, self.question, least, false);
        let [best, good, any] = Weight::ALL.map(words);
        let having = having_with_weight(tx);
        match tx.is_embedded() {
            // What is indexed of a person is at hand.
            true => {
                let weight = |words: &str| self.question.weight_in(words.split(' ')).unwrap_or(Weight::Other);
                self.ask(tx, &[any], &having, "p.id, found.weight", MOST_FOUND, |row| Ok((weight(row.str(1)?), row.id(0)?))).await
            }
            false => {
                let weight = |number: i64| Weight::ALL.into_iter().nth(usize::try_from(number).unwrap_or(0)).unwrap_or(Weight::Other);
                self.ask(tx, &[best, good, any], &having, "p.id, found.weight", MOST_FOUND, |row| Ok((weight(row.int(1)?), row.id(0)?)))
                    .await
            }
        }
    }

    /// Some who have the words in fields that say at least so much.
    async fn having(&self, tx: &mut Tx, least: Weight, are_whole: bool) -> Result<Vec<PersonId>, StoreError> {
        let wanted = Wanted::words(tx, self.workspace, self.question, least, are_whole);
        let having = having(tx);
        self.ask(tx, &[wanted], having, "p.id", MOST_FOUND, |row| row.id(0)).await
    }

    async fn ask<T>(
        &self,
        tx: &mut Tx,
        wanted: &[Wanted],
        having: &str,
        columns: &str,
        most: usize,
        map: impl FnMut(&Row<'_>) -> Result<T, StoreError> + Send,
    ) -> Result<Vec<T>, StoreError> {
        let phone = self.filter.wanted(tx, self.workspace);
        let conditions = self.filter.conditions(tx, self.workspace, phone.as_ref());
        let is_filtered = conditions.is_filtered();
        let mut params = if is_filtered { conditions.params().to_vec() } else { vec![Param::from(self.workspace)] };
        let mut having = having.to_owned();
        for wanted in wanted {
            params.push(wanted.param());
            having = having.replacen("{}", &format!("?{}", params.len()), 1);
        }
        let sql = match is_filtered {
            true => format!(
                "SELECT {columns} FROM ({having}) found JOIN person p ON p.id = found.person_id WHERE {} LIMIT {most}",
                conditions.sql()
            ),
            false => format!("{having} LIMIT {most}"),
        };
        tx.rows(&sql, &params, map).await
    }
}
