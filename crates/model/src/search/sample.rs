//! How common the words of a question are, guessed from some documents out of many. An index finds a rare word at once, and whatever begins
//! like it; to gather all that begin like a common one takes it long, and is in vain where far fewer are shown.

#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Question, Weight, answers, first_letters, weighed};

/// What it takes an index to gather a person who has a word, and some of very many who have it, in microseconds. These figures were measured with
/// a million persons, and need not be more than roughly right.
const GATHERING: f64 = 0.3;
const GATHERING_COMMON: f64 = 10_000.0;
/// What it takes to compare a person with all words, and one of many who lie side by side.
const COMPARING: f64 = 4.0;
const COMPARING_NEXT: f64 = 1.5;
/// What it takes to ask of one whom words led to whether a filter leaves them.
const ASKING: f64 = 2.0;
/// What it takes an index to pass one of those who have the rarest of some keys, for each key.
const PASSING: f64 = 0.1;
/// What it takes to say of somebody found by keys how well they answer.
const WEIGHING: f64 = 5.0;
/// The same with a look at whether a filter leaves them, whose key may be that of others too.
const WEIGHING_LEFT: f64 = 9.0;
/// What takes no longer is not worth a detour.
const QUICK: f64 = 20_000.0;
/// What takes no longer needs no keys.
const WORTH_IT: f64 = 5_000.0;
/// What takes no longer is done by keys.
const BEARABLE: f64 = 45_000.0;
/// If at least so many are likely to have all of the words, a search is likely to find as many as it shows.
const MANY: f64 = 500.0;
/// Tokens are enough if so many persons are likely to have them.
const PLENTY: f64 = 5_000.0;
/// So many times as many are compared at most as are likely to be enough.
const MARGIN: f64 = 1.5;
/// What was seen so often is not seen by chance.
const OFTEN: u64 = 5;
/// Tokens of a word that are asked for at most.
const MOST_TOKENS: usize = 12;

/// What was seen of a question's words.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    persons: u64,
    looked_at: u64,
    words: Vec<Seen>,
    /// Documents that have all of the words where they say at least as much, for each weight.
    having_all: [u64; Weight::ALL.len()],
    /// Documents that have words with the same first letters as each of those.
    having_letters: u64,
    /// Which part of those who have words is found at all, where the index leads only to those whom a filter leaves.
    reached: f64,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Seen {
    /// Documents that have the word where it says at least as much, for each weight.
    having: [u64; Weight::ALL.len()],
    /// Documents that have a word with the same first letters, or all if it is too short for that.
    having_letters: u64,
    /// Documents that have each of the tokens that answer to it.
    tokens: BTreeMap<String, u64>,
}

/// How those are best found who have the words of a question, or words that begin like them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Way {
    /// By all of the words.
    All,
    /// By these of the words, given by their places; the others are common, and looked for in what is found by these.
    Rare(Vec<usize>),
    /// By tokens that very many have, some for each word. There may be others, whom this does not find.
    Common(Vec<Vec<String>>),
}

/// From which side those are best found who have the words of a question and whom a filter leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Whomever the words lead to is asked whether the filter leaves them.
    Words,
    /// So many whom the filter leaves are compared with the words, if they are as many: among them are likely to be enough who have the words
    /// where they say at least so much.
    Filter(usize, Weight),
}

/// Those whom a filter leaves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Left {
    pub persons: usize,
    /// Whether they lie side by side, and not all over.
    pub are_neighbours: bool,
}

impl Left {
    /// What it takes to compare one of them.
    const fn comparing(self) -> f64 {
        if self.are_neighbours { COMPARING_NEXT } else { COMPARING }
    }
}

impl Sample {
    /// Looks at the tokens of some persons out of so many.
    pub fn new<'d>(question: &Question, persons: u64, documents: impl IntoIterator<Item = &'d str>) -> Self {
        let words = vec![Seen::default(); question.words.len()];
        let mut sample = Self { persons, looked_at: 0, words, having_all: Default::default(), having_letters: 0, reached: 1.0 };
        for document in documents {
            sample.looked_at += 1;
            let mut all = Some(Weight::Best);
            let mut all_letters = true;
            for (seen, asked) in sample.words.iter_mut().zip(&question.words) {
                let (best, has_letters) = seen.look_at(document, asked);
                all = all.zip(best).map(|(all, best)| all.max(best));
                all_letters &= has_letters;
            }
            count(&mut sample.having_all, all);
            sample.having_letters += u64::from(all_letters);
        }
        sample
    }

    /// The index has words too for those whom a filter leaves, who are so many, so that it leads to nobody else.
    #[must_use]
    pub fn within(self, left: usize) -> Self {
        Self { reached: (left as f64 / self.persons.max(1) as f64).min(1.0), ..self }
    }

    /// Whether a sample can matter with so many persons: fewer are gathered quickly even if everybody has all of the words.
    #[must_use]
    pub fn is_worth_it(question: &Question, persons: u64) -> bool {
        question.words.len() as f64 * persons as f64 * GATHERING > QUICK
    }

    /// The way to those who have the words where they say at least so much.
    #[must_use]
    pub fn way(&self, least: Weight) -> Way {
        let persons = self.persons as f64;
        let share = |place: &usize| self.share_of(&self.words[*place], least);
        let mut places: Vec<usize> = (0..self.words.len()).collect();
        places.sort_by(|one, other| share(one).total_cmp(&share(other)));
        let (mut gathered, mut having_all) = (0.0, persons);
        let mut costs = Vec::with_capacity(places.len());
        for (number, place) in places.iter().enumerate() {
            gathered += share(place) * persons;
            having_all *= share(place);
            let compared = if number + 1 < places.len() { having_all * self.reached } else { 0.0 };
            costs.push((gathered * GATHERING + compared * COMPARING, number + 1));
        }
        if self.looked_at == 0 || gathered * GATHERING <= QUICK {
            return Way::All;
        }
        let (cost, taken) = costs.into_iter().min_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or_default();
        let are_all_seen = self.words.iter().all(|seen| seen.having[least as usize] > 0);
        if cost > QUICK && having_all * self.reached >= MANY && are_all_seen {
            return Way::Common(self.tokens(least, PLENTY));
        }
        if taken == places.len() {
            return Way::All;
        }
        places.truncate(taken);
        Way::Rare(places)
    }

    /// Whether they are compared with the words so quickly that no sample matters.
    #[must_use]
    pub fn are_quickly_compared(left: Left) -> bool {
        left.persons as f64 * left.comparing() <= QUICK
    }

    /// How many are likely to be found by keys: by the first letters of the words, among all or those whom the key of a filter leaves, who are so many.
    /// Nothing if those who have the words are sooner gathered, or it takes too long to compare so many.
    #[must_use]
    pub fn likely_by_keys(&self, left: Option<usize>) -> Option<usize> {
        let persons = self.persons as f64;
        let (left, weighing) = left.map_or((persons, WEIGHING), |left| (left as f64, WEIGHING_LEFT));
        let parts = self.words.iter().map(|seen| self.part(seen.having_letters));
        let part = match self.having_letters {
            seen @ OFTEN.. => self.part(seen),
            _ => parts.clone().product(),
        };
        let (rarest, likely) = (parts.fold(left, |rarest, part| rarest.min(part * persons)), left * part);
        let gathered: f64 = self.words.iter().map(|seen| self.share_of(seen, Weight::Other) * persons).sum();
        let cost = rarest * self.words.len() as f64 * PASSING + likely * weighing;
        (cost.max(WORTH_IT) < gathered * GATHERING && cost <= BEARABLE).then_some(likely.ceil() as usize)
    }

    /// The side to look from if a filter leaves these persons, and so many are shown at most.
    #[must_use]
    pub fn side(&self, left: Left, shown: usize) -> Side {
        let common = Weight::ALL.into_iter().find(|least| !self.are_few(*least));
        let least = common.unwrap_or(Weight::Other);
        let are_few_left = self.are_few_left(left.persons, shown);
        let (persons, shown) = (self.persons as f64, shown as f64);
        let (comparing, left) = (left.comparing(), left.persons as f64);
        let share = self.share_of_all(least);
        let likely = if common.is_some() { (shown / share).min(left) } else { left };
        let by_words = match are_few_left {
            true => self.cost_of_asking_all(),
            false if self.reached < 1.0 => shown * ASKING + left * GATHERING,
            // Who is left may be who comes last.
            false => (share * (persons - left).max(0.0) + shown) * ASKING + GATHERING_COMMON,
        };
        match by_words <= likely * comparing {
            true => Side::Words,
            false => Side::Filter((likely * MARGIN).min(left).ceil() as usize, least),
        }
    }

    /// How many are best compared next, when so many were and so many of them are to be shown, of all that are shown: first fewer than those that are
    /// likely to be enough, then by what was seen as many as are missing, but in few steps, and never more than `most` together.
    #[must_use]
    pub fn compared_next(passed: usize, found: usize, shown: usize, most: usize) -> usize {
        /// A look takes as long as to compare so many.
        const LEAST: usize = 500;
        let next = match (passed, found) {
            (0, _) | (_, 0) => most / 2,
            _ => (shown.saturating_sub(found) * passed).div_ceil(found) * 11 / 10,
        };
        next.max(LEAST).max(passed / 4).min(most.saturating_sub(passed))
    }

    /// Whether it is sooner done to compare all whom a filter leaves than to gather whomever words lead to.
    #[must_use]
    pub fn are_sooner_compared(&self, left: Left) -> bool {
        left.persons as f64 * left.comparing() <= self.cost_of_asking_all()
    }

    /// What it takes to gather whomever words lead to, and to ask of each whether a filter leaves them.
    fn cost_of_asking_all(&self) -> f64 {
        let least = Weight::Other;
        let places = match self.way(least) {
            Way::Rare(places) => places,
            Way::All | Way::Common(_) => (0..self.words.len()).collect(),
        };
        let shares = places.iter().map(|place| self.share_of(&self.words[*place], least));
        let led = if places.len() == self.words.len() { self.share_of_all(least) } else { shares.clone().product() };
        self.persons as f64 * (shares.sum::<f64>() * GATHERING + led * self.reached * ASKING)
    }

    /// Whether so few are likely to have all of the words, where they say at least so much, that each of them can be asked something.
    fn are_few(&self, least: Weight) -> bool {
        self.share_of_all(least) * self.persons as f64 * ASKING <= QUICK
    }

    /// Whether all who have the words have to be looked at for those that are shown, if a filter leaves so many persons, or can be: they are few and
    /// soon gathered, and the best of them not enough.
    #[must_use]
    pub fn are_few_left(&self, left: usize, shown: usize) -> bool {
        let are_enough = |least| self.are_enough(least, left as f64, shown);
        let can_be_gathered = || self.are_few(Weight::Other) && !matches!(self.way(Weight::Other), Way::Common(_));
        !are_enough(Weight::Other) || !are_enough(Weight::Best) && can_be_gathered()
    }

    /// How many are likely to have all of the words if a filter leaves so many persons.
    #[must_use]
    pub fn likely_left(&self, left: usize) -> usize {
        (self.share_of_all(Weight::Other) * left as f64).ceil() as usize
    }

    /// Whether more are likely to have all of the words than are shown, if a filter leaves so many persons or there is none.
    #[must_use]
    pub fn are_plenty(&self, left: Option<usize>, shown: usize) -> bool {
        self.are_enough(Weight::Other, left.map_or(self.persons as f64, |left| left as f64), shown)
    }

    fn are_enough(&self, least: Weight, left: f64, shown: usize) -> bool {
        self.share_of_all(least) * left > 1.5 * shown as f64
    }

    /// Which part of all persons is likely to have all of the words, where they say at least so much. Words that often stand together were seen
    /// together; of others it can only be said how often each was.
    fn share_of_all(&self, least: Weight) -> f64 {
        match self.having_all[least as usize] {
            seen @ OFTEN.. => self.part(seen),
            _ => self.words.iter().map(|seen| self.share_of(seen, least)).product(),
        }
    }

    /// Which part of all persons is likely to have a word. What was not seen may be there all the same.
    fn share_of(&self, seen: &Seen, least: Weight) -> f64 {
        self.part(seen.having[least as usize]).max(self.part(1) / 2.0)
    }

    /// For each word many of the tokens that were seen.
    #[must_use]
    pub fn many_tokens(&self, least: Weight) -> Vec<Vec<String>> {
        self.tokens(least, f64::INFINITY)
    }

    /// For each word the tokens that most have, as many as it takes until so many persons are likely to have them.
    fn tokens(&self, least: Weight, plenty: f64) -> Vec<Vec<String>> {
        let tokens: Vec<_> = self.words.iter().map(|seen| seen.commonest(least)).collect();
        let mut taken: Vec<usize> = tokens.iter().map(|tokens| tokens.len().min(1)).collect();
        loop {
            let shares: Vec<f64> = tokens.iter().zip(&taken).map(|(tokens, taken)| self.share(&tokens[..*taken])).collect();
            let scarcest = (0..tokens.len()).filter(|place| taken[*place] < tokens[*place].len());
            let scarcest = scarcest.min_by(|one, other| shares[*one].total_cmp(&shares[*other]));
            match scarcest {
                Some(place) if shares.iter().product::<f64>() * self.persons as f64 * self.reached < plenty => taken[place] += 1,
                _ => break,
            }
        }
        let text = |(token, _): &(&str, u64)| (*token).to_owned();
        tokens.iter().zip(taken).map(|(tokens, taken)| tokens[..taken].iter().map(text).collect()).collect()
    }

    /// Which part of all persons is likely to have one of the tokens.
    fn share(&self, tokens: &[(&str, u64)]) -> f64 {
        self.part(tokens.iter().map(|(_, having)| having).sum()).min(1.0)
    }

    /// Which part of what was looked at so many are.
    fn part(&self, documents: u64) -> f64 {
        documents as f64 / self.looked_at.max(1) as f64
    }
}

impl Seen {
    /// Says how much the token says that answers to the word and says most, and whether there is one with its first letters.
    fn look_at(&mut self, document: &str, asked: &str) -> (Option<Weight>, bool) {
        let letters = first_letters(asked);
        let (mut best, mut has_letters) = (None, letters.is_none());
        for token in document.split(' ') {
            let Some((weight, word)) = weighed(token).filter(|(_, word)| letters.is_none_or(|letters| word.starts_with(letters))) else {
                continue;
            };
            has_letters = true;
            if answers(word, asked) {
                best = Some(best.map_or(weight, |best: Weight| best.min(weight)));
                *self.tokens.entry(token.to_owned()).or_default() += 1;
            }
        }
        count(&mut self.having, best);
        self.having_letters += u64::from(has_letters);
        (best, has_letters)
    }

    /// The tokens that say at least so much, those first that most have.
    fn commonest(&self, least: Weight) -> Vec<(&str, u64)> {
        let tokens = self.tokens.iter().map(|(token, having)| (token.as_str(), *having));
        let mut tokens: Vec<_> = tokens.filter(|(token, _)| weighed(token).is_some_and(|(weight, _)| weight <= least)).collect();
        tokens.sort_by_key(|(_, having)| Reverse(*having));
        tokens.truncate(MOST_TOKENS);
        tokens
    }
}

/// Counts a document that has something where it says so much.
fn count(having: &mut [u64; Weight::ALL.len()], best: Option<Weight>) {
    for weight in Weight::ALL.into_iter().filter(|weight| best.is_some_and(|best| best <= *weight)) {
        having[weight as usize] += 1;
    }
}
