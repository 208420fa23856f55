//! Whom a search finds, and in which order.

use std::collections::HashSet;

use model::id::{PersonId, WorkspaceId};
use model::search::{Answer, Question, Sample, Side, Way, Weight};

use super::company::{self, CompanyView};
use super::person_filter::{Led, MOST_COUNTED, PersonFilter};
use super::search::{Wanted, Weighing, having, having_keys, having_words, is_behind, keys, sample};
use super::statement::{FENCE, Values};
use crate::{StoreError, Tx};

/// Persons that a search finds at most, those first that answer it best.
const MOST_FOUND: usize = 1000;
const ALL: usize = 1_000_000_000;

/// The persons who have all words of the question, those first that answer it best.
pub(super) async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    question: &Question,
    filter: &PersonFilter,
) -> Result<Vec<PersonId>, StoreError> {
    if filter.is_empty() {
        return Search { workspace, question, led: None, employer: None }.by_words(tx, None).await;
    }
    let led = filter.led(tx, workspace, MOST_COUNTED).await?;
    let mut search = Search { workspace, question, led: Some(&led), employer: None };
    let left = led.left();
    if Sample::are_quickly_compared(left) {
        return search.by_all_of_filter(tx, &led).await;
    }
    search.employer = employer(tx, workspace, &led).await?;
    let mut sample = sample(tx, workspace, question, true).await?;
    if search.employer.is_some() {
        sample = sample.map(|sample| sample.within(left.persons));
    }
    if let (Some(sample), Some(_)) = (&sample, led.leading_company())
        && let Some(found) = search.by_company(tx, sample).await?
    {
        return Ok(found);
    }
    let side = sample.as_ref().map_or(Side::Words, |sample| sample.side(left, MOST_FOUND));
    if let (Some(sample), Side::Filter(compared, least)) = (&sample, side)
        && let Some(found) = search.by_filter(tx, &led, sample, compared, least).await?
    {
        return Ok(found);
    }
    search.by_words(tx, sample).await
}

/// Whom a company employs is indexed with its name, so that words and name lead to them together; but not while some wait to be indexed anew, whose
/// company may have got another name. Where others write at the same time, somebody made while a company was renamed may have its old name, so it must
/// never have been. Names that are equal have the same words if they are ASCII.
async fn employer(tx: &mut Tx, workspace: WorkspaceId, led: &Led<'_>) -> Result<Option<Wanted>, StoreError> {
    let Some(company) = led.leading_company() else { return Ok(None) };
    if is_behind(tx, workspace).await? {
        return Ok(None);
    }
    let company = company::view(tx, workspace, company).await?;
    let is_sure = |company: &CompanyView| company.name.is_ascii() && (tx.is_embedded() || company.updated_at == company.created_at);
    Ok(company.filter(is_sure).and_then(|company| Wanted::employer(tx, workspace, &company.name)))
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
        self.put(persons);
    }

    /// The same in the order that they have.
    fn put(&mut self, persons: Vec<PersonId>) {
        let room = MOST_FOUND - self.found.len();
        self.found.extend(persons.into_iter().filter(|id| self.seen.insert(*id)).take(room));
    }

    /// The same, with those in front, if not all find room, who have the words as they are.
    fn add_with_whole(&mut self, whole: Vec<PersonId>, beginning: Vec<PersonId>) {
        let known: HashSet<_> = whole.iter().copied().collect();
        let mut having = whole;
        having.extend(beginning.into_iter().filter(|id| !known.contains(id)));
        having.retain(|id| !self.seen.contains(id));
        having.truncate(MOST_FOUND - self.found.len());
        self.add(having);
    }

    fn is_full(&self) -> bool {
        self.found.len() >= MOST_FOUND
    }
}

/// Who has words as they are.
enum Whole {
    /// As many as are shown, in order.
    Enough(Vec<PersonId>),
    /// For each weight.
    Some(Vec<(Weight, Vec<PersonId>)>),
}

/// What leads to those who may have the words of a question.
struct Keys {
    keys: String,
    /// So many are compared.
    most: usize,
}

struct Search<'s> {
    workspace: WorkspaceId,
    question: &'s Question,
    led: Option<&'s Led<'s>>,
    /// What whomever the leading filter leaves is indexed with too.
    employer: Option<Wanted>,
}

impl Search<'_> {
    /// Compares all whom the filters leave.
    async fn by_all_of_filter(&self, tx: &mut Tx, led: &Led<'_>) -> Result<Vec<PersonId>, StoreError> {
        Ok(ranked(self.compared(tx, led, None, Weight::Other).await?))
    }

    /// Those whom the company that leads employs, where keys lead to them; nothing where they do not.
    async fn by_company(&self, tx: &mut Tx, sample: &Sample) -> Result<Option<Vec<PersonId>>, StoreError> {
        let Some(keys) = self.keys(tx, sample).await? else { return Ok(None) };
        let whole = match self.having_whole(tx).await? {
            Whole::Enough(found) => return Ok(Some(found)),
            Whole::Some(whole) => whole,
        };
        match self.by_keys(tx, &keys).await? {
            Some(found) => Ok(Some(found)),
            None => self.best(tx, whole, None).await.map(Some),
        }
    }

    /// What leads to those who may have the words; nothing if they are sooner found otherwise, or not all have keys.
    async fn keys(&self, tx: &mut Tx, sample: &Sample) -> Result<Option<Keys>, StoreError> {
        let company = self.led.and_then(Led::leading_company);
        // Of those who are very many nobody knows how many they are.
        let left = self.led.filter(|led| company.is_some() && led.is_counted()).map(|led| led.left().persons);
        let Some(likely) = sample.likely_by_keys(left) else { return Ok(None) };
        let keys = keys(tx, self.workspace, self.question, company).await?;
        Ok(keys.map(|keys| Keys { keys, most: most_weighed(likely) }))
    }

    /// Compares all who have the keys. Nothing if far more have the words than was likely, who are more than are shown.
    async fn by_keys(&self, tx: &mut Tx, Keys { keys, most }: &Keys) -> Result<Option<Vec<PersonId>>, StoreError> {
        let mut values = Values::new(self.workspace);
        let having = having_keys(keys, &mut values);
        let weighed = self.weighed_of(tx, &having, values, Weight::Other, *most).await?;
        Ok((weighed.len() < *most).then(|| ranked(weighed)))
    }

    /// Compares so many whom the filters leave. Nothing if there are more, and too few of these have the words where they say so much.
    async fn by_filter(
        &self,
        tx: &mut Tx,
        led: &Led<'_>,
        sample: &Sample,
        compared: usize,
        least: Weight,
    ) -> Result<Option<Vec<PersonId>>, StoreError> {
        if led.are_all(compared) {
            return self.by_all_of_filter(tx, led).await.map(Some);
        }
        let found = match led.are_neighbours() {
            true => self.compared_in_steps(tx, led, compared, least).await?,
            false => self.compared(tx, led, Some(compared), least).await?,
        };
        if found.len() < MOST_FOUND {
            return Ok(None);
        }
        // Where the words say more they are rare, and lead to those who have them.
        let mut ranking = Ranking::default();
        for better in Weight::ALL.into_iter().filter(|weight| *weight < least) {
            ranking.add(match sample.way(better) {
                Way::Rare(places) => self.having_among(tx, better, &places).await?,
                Way::All | Way::Common(_) => self.having(tx, better, false).await?,
            });
        }
        ranking.put(ranked(found));
        Ok(Some(ranking.found))
    }

    /// Those of so many who lie side by side who have the words in fields that say at least so much, or enough of them.
    async fn compared_in_steps(
        &self,
        tx: &mut Tx,
        led: &Led<'_>,
        compared: usize,
        least: Weight,
    ) -> Result<Vec<(Answer, PersonId)>, StoreError> {
        let mut passed = Sample::compared_next(0, 0, MOST_FOUND, compared);
        let mut found = self.compared(tx, led, Some(passed), least).await?;
        while found.len() < MOST_FOUND && passed < compared {
            let next = Sample::compared_next(passed, found.len(), MOST_FOUND, compared);
            let Some(rest) = led.behind(tx, passed).await? else { break };
            found.extend(self.compared(tx, &rest, Some(next), least).await?);
            passed += next;
        }
        Ok(found)
    }

    /// Those of so many whom the filters leave, or of all, who have the words in fields that say at least so much.
    async fn compared(
        &self,
        tx: &mut Tx,
        led: &Led<'_>,
        most: Option<usize>,
        least: Weight,
    ) -> Result<Vec<(Answer, PersonId)>, StoreError> {
        let weighing = Weighing::new(tx, self.workspace, self.question);
        let mut values = Values::new(self.workspace);
        let (columns, documents) = (weighing.columns(&mut values), led.documents(tx, most, &mut values));
        let condition = weighing.condition(least, &mut values).map_or_else(String::new, |condition| format!("WHERE {condition}"));
        let sql = format!("SELECT {columns} FROM {documents} {condition}");
        let found = tx.rows(&sql, values.params(), |row| weighing.read(row)).await?;
        Ok(found.into_iter().flatten().filter(|(answer, _)| answer.weight <= least).collect())
    }

    /// Lets the words lead.
    async fn by_words(&self, tx: &mut Tx, sample: Option<Sample>) -> Result<Vec<PersonId>, StoreError> {
        let mut are_plenty = false;
        if let (Some(sample), Some(led)) = (&sample, self.led)
            && sample.are_few_left(led.left().persons, MOST_FOUND)
        {
            let few = match self.keys(tx, sample).await? {
                Some(keys) => self.by_keys(tx, &keys).await?,
                None => self.few(tx, sample, most_weighed(sample.likely_left(led.left().persons))).await?,
            };
            if let Some(few) = few {
                return Ok(few);
            }
            // They are not few after all.
            are_plenty = true;
        }
        let whole = match self.having_whole(tx).await? {
            Whole::Enough(found) => return Ok(found),
            Whole::Some(whole) => whole,
        };
        let sample = match sample {
            Some(sample) => Some(sample),
            None => self::sample(tx, self.workspace, self.question, self.led.is_some()).await?,
        };
        if let Some(sample) = sample.as_ref().filter(|sample| sample.way(Weight::Other) != Way::All) {
            if self.led.is_none()
                && let Some(keys) = self.keys(tx, sample).await?
            {
                match self.by_keys(tx, &keys).await? {
                    Some(found) => return Ok(found),
                    None => are_plenty = true,
                }
            }
            if let Some(found) = self.by_sample(tx, sample, &whole).await? {
                return Ok(found);
            }
        }
        if let (Some(sample), Some(led)) = (&sample, self.led)
            && led.is_counted()
            && sample.are_sooner_compared(led.left())
        {
            return self.by_all_of_filter(tx, led).await;
        }
        let left = self.led.map(|led| led.left().persons);
        are_plenty |= sample.is_some_and(|sample| sample.are_plenty(left, MOST_FOUND));
        let mut having_any = None;
        if !are_plenty {
            let weighed = self.weighed(tx, MOST_FOUND).await?;
            if weighed.len() < MOST_FOUND {
                return Ok(ranked(weighed));
            }
            having_any = Some(weighed.into_iter().map(|(_, id)| id).collect());
        }
        self.best(tx, whole, having_any).await
    }

    /// All who have the words, if they are fewer than so many.
    async fn few(&self, tx: &mut Tx, sample: &Sample, most: usize) -> Result<Option<Vec<PersonId>>, StoreError> {
        let weighed = match sample.way(Weight::Other) {
            Way::All | Way::Common(_) => self.weighed(tx, most).await?,
            Way::Rare(places) => self.weighed_among(tx, Weight::Other, &places, most).await?,
        };
        Ok((weighed.len() < most).then(|| ranked(weighed)))
    }

    /// The best of more than are shown. Among equals those stay who have whole words, who are known; some who have the words at all may be known too.
    async fn best(
        &self,
        tx: &mut Tx,
        whole: Vec<(Weight, Vec<PersonId>)>,
        having_any: Option<Vec<PersonId>>,
    ) -> Result<Vec<PersonId>, StoreError> {
        let mut ranking = Ranking::default();
        for (least, whole) in whole {
            let beginning = match (least, &having_any) {
                (Weight::Other, Some(having)) => having.clone(),
                _ => self.having(tx, least, false).await?,
            };
            ranking.add_with_whole(whole, beginning);
            if ranking.is_full() {
                break;
            }
        }
        Ok(ranking.found)
    }

    /// Whole words are found without looking at all that begin with them, and when they are found in plenty that is enough.
    async fn having_whole(&self, tx: &mut Tx) -> Result<Whole, StoreError> {
        let mut ranking = Ranking::default();
        let mut whole = Vec::with_capacity(Weight::ALL.len());
        for least in Weight::ALL {
            let having = self.having(tx, least, true).await?;
            ranking.add(having.clone());
            if ranking.is_full() {
                return Ok(Whole::Enough(ranking.found));
            }
            whole.push((least, having));
        }
        Ok(Whole::Some(whole))
    }

    /// Those who have words that begin with those of the question, in the way that the sample makes best; nothing if the common words
    /// that were seen are those of too few. `whole` are those who have the words as they are, at each weight.
    async fn by_sample(
        &self,
        tx: &mut Tx,
        sample: &Sample,
        whole: &[(Weight, Vec<PersonId>)],
    ) -> Result<Option<Vec<PersonId>>, StoreError> {
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
        self.ids(tx, Wanted::tokens(tx, self.workspace, lists)).await
    }

    /// Some who have the words in fields that say at least so much.
    async fn having(&self, tx: &mut Tx, least: Weight, are_whole: bool) -> Result<Vec<PersonId>, StoreError> {
        self.ids(tx, Wanted::words(tx, self.workspace, self.question, least, are_whole)).await
    }

    async fn ids(&self, tx: &mut Tx, wanted: Wanted) -> Result<Vec<PersonId>, StoreError> {
        let wanted = wanted.and(tx, self.employer.as_ref());
        let mut values = Values::new(self.workspace);
        let having = having(tx, &wanted, &mut values);
        let sql = self.statement(tx, "found.person_id", &having, None, MOST_FOUND, &mut values);
        tx.rows(&sql, values.params(), |row| row.id(0)).await
    }

    /// Some who have words that begin with those of the question, in fields that say at least so much, found by some of the words.
    async fn having_among(&self, tx: &mut Tx, least: Weight, places: &[usize]) -> Result<Vec<PersonId>, StoreError> {
        let weighed = self.weighed_among(tx, least, places, MOST_FOUND).await?;
        Ok(weighed.into_iter().map(|(_, id)| id).collect())
    }

    /// The same with how much their fields say.
    async fn weighed_among(
        &self,
        tx: &mut Tx,
        least: Weight,
        places: &[usize],
        most: usize,
    ) -> Result<Vec<(Answer, PersonId)>, StoreError> {
        let wanted = Wanted::some(tx, self.workspace, self.question, least, places).and(tx, self.employer.as_ref());
        let mut values = Values::new(self.workspace);
        let having = having_words(tx, &wanted, &mut values);
        self.weighed_of(tx, &having, values, least, most).await
    }

    /// The same of those who are selected, with the values of that.
    async fn weighed_of(
        &self,
        tx: &mut Tx,
        having: &str,
        values: Values<'_>,
        least: Weight,
        most: usize,
    ) -> Result<Vec<(Answer, PersonId)>, StoreError> {
        let weighing = Weighing::new(tx, self.workspace, self.question);
        let mut values = values;
        let columns = weighing.columns(&mut values);
        let condition = weighing.condition(least, &mut values);
        let most_read = if condition.is_some() { most } else { ALL };
        let sql = self.statement(tx, &columns, having, condition, most_read, &mut values);
        let found = tx.rows(&sql, values.params(), |row| weighing.read(row)).await?;
        Ok(found.into_iter().flatten().filter(|(answer, _)| answer.weight <= least).take(most).collect())
    }

    /// Some who have words that begin with those of the question, and how much their fields say.
    async fn weighed(&self, tx: &mut Tx, most: usize) -> Result<Vec<(Answer, PersonId)>, StoreError> {
        let weighing = Weighing::new(tx, self.workspace, self.question);
        let wanted = Wanted::words(tx, self.workspace, self.question, Weight::Other, false).and(tx, self.employer.as_ref());
        let mut values = Values::new(self.workspace);
        let having = having_words(tx, &wanted, &mut values);
        let columns = weighing.columns(&mut values);
        let sql = self.statement(tx, &columns, &having, None, most, &mut values);
        let found = tx.rows(&sql, values.params(), |row| weighing.read(row)).await?;
        Ok(found.into_iter().flatten().collect())
    }

    /// A select of columns of those who are found, whom all filters leave, and who meet the condition.
    fn statement<'p>(
        &'p self,
        tx: &Tx,
        columns: &str,
        having: &str,
        condition: Option<String>,
        most: usize,
        values: &mut Values<'p>,
    ) -> String {
        let (join, left) = self.led.map_or_else(Default::default, |led| led.leaves(tx, self.employer.is_none(), values));
        let conditions: Vec<_> = condition.into_iter().chain(left).collect();
        match conditions.is_empty() {
            true => format!("SELECT {columns} FROM ({having}) found LIMIT {most}"),
            false => format!("SELECT {columns} FROM ({having} {FENCE}) found {join} WHERE {} LIMIT {most}", conditions.join(" AND ")),
        }
    }
}

/// So many are weighed where this many are likely. Where words and filter go together, there may be far more.
const fn most_weighed(likely: usize) -> usize {
    2 * likely + MOST_FOUND
}

/// The best first, and among those whose fields say as much the oldest; if not all find room, those stay of them who have whole words.
fn ranked(mut found: Vec<(Answer, PersonId)>) -> Vec<PersonId> {
    found.sort_unstable();
    found.truncate(MOST_FOUND);
    found.sort_unstable_by_key(|(answer, id)| (answer.weight, *id));
    found.into_iter().map(|(_, id)| id).collect()
}
