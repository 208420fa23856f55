//! How common the words of a question are, guessed from some documents out of many. An index finds a rare word at once, and whatever begins
//! like it; to gather all that begin like a common one takes it long, and is in vain where far fewer are shown.

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

#[cfg(test)]
mod tests {
    use super::*;

    const MILLION: u64 = 1_000_000;

    fn sample(question: &str, persons: u64, documents: &[(usize, &str)]) -> Sample {
        let documents = documents.iter().flat_map(|(times, document)| std::iter::repeat_n(*document, *times));
        Sample::new(&Question::parse(question).unwrap(), persons, documents)
    }

    fn common(lists: &[&[&str]]) -> Way {
        Way::Common(lists.iter().map(|list| list.iter().map(|token| (*token).to_owned()).collect()).collect())
    }

    #[test]
    fn what_few_have_is_asked_for_as_it_is() {
        assert_eq!(sample("ada", 50_000, &[(10, "1ada 2acme")]).way(Weight::Other), Way::All);
        assert_eq!(sample("ada", MILLION, &[(100, "1grace 2acme")]).way(Weight::Other), Way::All);
        assert_eq!(sample("ada", MILLION, &[]).way(Weight::Other), Way::All);
        let documents = [(30, "1amara"), (30, "1okafor"), (940, "1grace")];
        assert_eq!(sample("am ok", MILLION, &documents).way(Weight::Best), Way::All);
    }

    #[test]
    fn what_was_not_seen_is_never_asked_for_as_a_token() {
        let sample = |persons| sample("eng oslo", persons, &[(100, "2engineer 3bergen"), (220, "2gardener 3oslo")]);
        for persons in [MILLION, 3 * MILLION, 100 * MILLION] {
            assert_eq!(sample(persons).way(Weight::Good), Way::Rare(vec![1]), "{persons}");
            assert!(matches!(sample(persons).way(Weight::Other), Way::Common(_)), "{persons}");
        }
        assert_eq!(self::sample("xyzzy", 100 * MILLION, &[(320, "1ada")]).way(Weight::Other), Way::All);
    }

    #[test]
    fn a_sample_is_worth_it_where_a_word_may_be_common() {
        let is_worth_it = |question, persons| Sample::is_worth_it(&Question::parse(question).unwrap(), persons);
        assert_eq!([60_000, 70_000].map(|persons| is_worth_it("ada", persons)), [false, true]);
        assert_eq!([30_000, 40_000].map(|persons| is_worth_it("ada lovelace", persons)), [false, true]);
    }

    #[test]
    fn rare_words_lead_to_those_who_have_common_ones_too() {
        let sample = sample("eng ber oslo", MILLION, &[(3, "3berlin"), (4, "1ada 2engineer 3oslo"), (993, "1grace 2engineer")]);
        assert_eq!(sample.way(Weight::Other), Way::Rare(vec![1, 2]));
        assert_eq!(sample.way(Weight::Best), Way::All);
    }

    #[test]
    fn common_words_are_asked_for_as_the_tokens_that_most_have() {
        let documents = [(60, "2engineer 2software"), (30, "3engineering 3software"), (10, "2english 2softly")];
        let sample = sample("eng soft", MILLION, &documents);
        assert_eq!(sample.way(Weight::Best), Way::All);
        assert_eq!(sample.way(Weight::Good), common(&[&["2engineer"], &["2software"]]));
        assert_eq!(sample.way(Weight::Other), common(&[&["2engineer"], &["2software"]]));
    }

    #[test]
    fn more_tokens_are_taken_where_one_is_not_enough() {
        let documents = |others| [(40, "2anna"), (35, "2annie"), (25, "2ann"), (others, "2eve")];
        assert_eq!(sample("ann", MILLION, &documents(0)).way(Weight::Good), common(&[&["2anna"]]));
        let sample = sample("ann", MILLION, &documents(1_300));
        assert_eq!(sample.way(Weight::Good), common(&[&["2anna"]]));
        assert_eq!(sample.many_tokens(Weight::Good), [["2anna", "2annie", "2ann"]]);
        let documents = [(10, "2anna 3bo"), (9, "2annie 3bo"), (181, "2eve 3bo"), (9_800, "2eve")];
        let sample = self::sample("ann bo", 20 * MILLION, &documents);
        assert_eq!(sample.way(Weight::Other), common(&[&["2anna", "2annie"], &["3bo"]]));
    }

    #[test]
    fn a_word_counts_where_it_says_most() {
        let documents = [(50, "1ada 3adam"), (50, "3ada")];
        let sample = sample("ada", 100_000, &documents);
        assert_eq!(sample.way(Weight::Best), Way::All);
        assert_eq!(sample.way(Weight::Other), common(&[&["1ada"]]));
        assert_eq!(sample.many_tokens(Weight::Other), [["1ada", "3ada", "3adam"]]);
    }

    fn spread(persons: usize) -> Left {
        Left { persons, are_neighbours: false }
    }

    fn neighbours(persons: usize) -> Left {
        Left { persons, are_neighbours: true }
    }

    /// A hundredth of a million have a rare word, and a quarter a common one.
    fn mixed(question: &str) -> Sample {
        sample(question, MILLION, &[(1, "2rare 2common"), (24, "2common"), (75, "2other")])
    }

    #[test]
    fn few_whom_a_filter_leaves_are_compared_without_a_sample() {
        assert_eq!([1_000, 5_000, 6_000].map(|persons| Sample::are_quickly_compared(spread(persons))), [true, true, false]);
        assert_eq!([13_000, 14_000].map(|persons| Sample::are_quickly_compared(neighbours(persons))), [true, false]);
    }

    #[test]
    fn rare_words_lead_past_a_filter_that_leaves_many() {
        let sample = sample("rare", MILLION, &[(1, "2rare"), (400, "2other")]);
        for left in [20_000, 100_000, 1_000_000] {
            assert_eq!(sample.side(spread(left), 1_000), Side::Words, "{left}");
        }
    }

    #[test]
    fn a_filter_leads_past_words_that_many_have() {
        assert_eq!(mixed("common").side(spread(20_000), 1_000), Side::Filter(6_000, Weight::Good));
        assert_eq!(mixed("common").side(spread(500_000), 1_000), Side::Filter(6_000, Weight::Good));
        assert_eq!(mixed("common").side(spread(5_500), 1_000), Side::Filter(5_500, Weight::Good));
        assert_eq!(mixed("common").side(spread(1_000_000), 1_000), Side::Words);
    }

    #[test]
    fn neighbours_are_sooner_compared() {
        let sample = sample("word", MILLION, &[(4, "2word"), (96, "2other")]);
        assert_eq!(sample.side(spread(500_000), 1_000), Side::Words);
        assert_eq!(sample.side(neighbours(500_000), 1_000), Side::Filter(37_500, Weight::Good));
    }

    #[test]
    fn few_are_not_all_looked_at_if_it_takes_long_to_gather_them() {
        let documents = |common| [(9, "3engineer 3berlin"), (30, "3berlin"), (common, "3engineer"), (961 - common, "2other")];
        let are_few_left = |common, left| sample("eng ber", MILLION, &documents(common)).are_few_left(left, 1_000);
        assert!(are_few_left(9, 1_000_000));
        assert!(!are_few_left(340, 1_000_000));
        assert!(are_few_left(340, 50_000), "nothing else is left to do");
    }

    #[test]
    fn what_is_likely_to_be_more_than_is_shown_is_plenty() {
        assert_eq!([None, Some(2_000), Some(200_000)].map(|left| mixed("rare").are_plenty(left, 1_000)), [true, false, true]);
        assert!(!sample("rare", 100_000, &[(1, "2rare"), (99, "2other")]).are_plenty(None, 1_000));
    }

    #[test]
    fn keys_lead_to_few_of_those_whom_a_filter_leaves() {
        let documents = [(5, "2software 2engineer"), (15, "3softball 3english"), (80, "3engagement")];
        let [both, one, short] = ["softw engi", "softw", "engi so"].map(|question| sample(question, MILLION, &documents));
        let found = |sample: &Sample, left: [usize; 3]| left.map(|left| sample.likely_by_keys(Some(left)));
        assert_eq!(found(&both, [10_000, 12_000, 16_000]), [Some(2_000), Some(2_400), None]);
        assert_eq!(found(&one, [7_000, 8_000, 100_000]), [Some(1_400), None, None]);
        assert_eq!(found(&short, [4_000, 4_500, 5_000]), [Some(4_000), Some(4_500), None]);
        let rare = [(5, "3oslo 3engineer 2manager"), (7, "3oslo 3engineer"), (988, "3engineer 2manager")];
        let few = |persons| sample("eng osl man", persons, &rare).likely_by_keys(None);
        assert_eq!([MILLION, 3 * MILLION].map(few), [Some(5_000), None]);
        let rare = [(1, "3softball 3nurturing"), (99, "3software 3nurse")];
        assert_eq!(sample("nurturing", MILLION, &rare).likely_by_keys(Some(5_000)), None, "rare words lead to few");
    }

    #[test]
    fn no_more_are_compared_than_it_takes() {
        let next = |passed, found| Sample::compared_next(passed, found, 1_000, 15_000);
        assert_eq!([next(0, 0), next(7_500, 750), next(7_500, 500), next(7_500, 0)], [7_500, 2_750, 7_500, 7_500]);
        assert_eq!([next(1_000, 999), next(7_500, 999), next(14_900, 999), next(15_000, 999)], [500, 1_875, 100, 0]);
    }

    #[test]
    fn words_that_stand_together_are_common_together() {
        let apart = [(25, "2soft"), (25, "2eng"), (50, "2other")];
        let together = [(25, "2soft 2eng"), (75, "2other")];
        let share = |documents: &[(usize, &str)]| sample("soft eng", MILLION, documents).share_of_all(Weight::Good);
        assert_eq!((share(&apart), share(&together)), (0.0625, 0.25));
    }

    #[test]
    fn words_of_a_filter_let_the_words_lead() {
        let within = |question| mixed(question).within(20_000);
        assert_eq!(within("common").side(spread(20_000), 1_000), Side::Words);
        assert_eq!(within("rare").side(spread(20_000), 1_000), Side::Words);
        assert_eq!(within("rare common").way(Weight::Other), Way::Rare(vec![0]));
    }

    #[test]
    fn not_everybody_is_compared_for_want_of_a_better_way() {
        let documents = [(4, "2alpha"), (4, "2beta"), (1, "2alpha 2beta"), (91, "2other")];
        assert_eq!(sample("alpha beta", MILLION, &documents).side(spread(1_000_000), 1_000), Side::Words);
    }
}
