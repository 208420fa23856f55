//! How common the words of a question are, guessed from some documents out of many. An index finds a rare word at once, and whatever begins
//! like it; to gather all that begin like a common one takes it long, and is in vain where far fewer are shown.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::{Question, Weight, answers, weighed};

/// A word is common if at least so many persons are likely to have one that begins like it.
const COMMON: u64 = 10_000;
/// Tokens are enough if so many persons are likely to have them.
const PLENTY: f64 = 5_000.0;

/// What was seen of a question's words.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    persons: u64,
    looked_at: u64,
    words: Vec<Seen>,
}

#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Seen {
    /// Documents that have the word where it says at least as much, for each weight.
    having: [u64; Weight::ALL.len()],
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

impl Sample {
    /// Looks at the tokens of some persons out of so many.
    pub fn new<'d>(question: &Question, persons: u64, documents: impl IntoIterator<Item = &'d str>) -> Self {
        let mut sample = Self { persons, looked_at: 0, words: vec![Seen::default(); question.words.len()] };
        for document in documents {
            sample.looked_at += 1;
            for (seen, asked) in sample.words.iter_mut().zip(&question.words) {
                seen.look_at(document, asked);
            }
        }
        sample
    }

    /// The way to those who have the words where they say at least so much.
    #[must_use]
    pub fn way(&self, least: Weight) -> Way {
        let is_common = |seen: &Seen| seen.having[least as usize] * self.persons >= COMMON * self.looked_at.max(1);
        let rare: Vec<usize> = (0..self.words.len()).filter(|place| !is_common(&self.words[*place])).collect();
        match rare.len() {
            0 => Way::Common(self.commonest(least)),
            all if all == self.words.len() => Way::All,
            _ => Way::Rare(rare),
        }
    }

    /// For each word the tokens that most have, as many as it takes.
    fn commonest(&self, least: Weight) -> Vec<Vec<String>> {
        let tokens: Vec<_> = self.words.iter().map(|seen| seen.commonest(least)).collect();
        let mut taken = vec![1; tokens.len()];
        loop {
            let shares: Vec<f64> = tokens.iter().zip(&taken).map(|(tokens, taken)| self.share(&tokens[..*taken])).collect();
            let scarcest = (0..tokens.len()).filter(|place| taken[*place] < tokens[*place].len());
            let scarcest = scarcest.min_by(|one, other| shares[*one].total_cmp(&shares[*other]));
            match scarcest {
                Some(place) if shares.iter().product::<f64>() * (self.persons as f64) < PLENTY => taken[place] += 1,
                _ => break,
            }
        }
        let text = |(token, _): &(&str, u64)| (*token).to_owned();
        tokens.iter().zip(taken).map(|(tokens, taken)| tokens[..taken].iter().map(text).collect()).collect()
    }

    /// Which part of all persons is likely to have one of the tokens.
    fn share(&self, tokens: &[(&str, u64)]) -> f64 {
        let having: u64 = tokens.iter().map(|(_, having)| having).sum();
        (having as f64 / self.looked_at.max(1) as f64).min(1.0)
    }
}

impl Seen {
    fn look_at(&mut self, document: &str, asked: &str) {
        let mut best = None;
        for token in document.split(' ') {
            let Some((weight, word)) = weighed(token) else { continue };
            if answers(word, asked) {
                best = Some(best.map_or(weight, |best: Weight| best.min(weight)));
                *self.tokens.entry(token.to_owned()).or_default() += 1;
            }
        }
        for weight in Weight::ALL.into_iter().filter(|weight| best.is_some_and(|best| best <= *weight)) {
            self.having[weight as usize] += 1;
        }
    }

    /// The tokens that say at least so much, those first that most have.
    fn commonest(&self, least: Weight) -> Vec<(&str, u64)> {
        let tokens = self.tokens.iter().map(|(token, having)| (token.as_str(), *having));
        let mut tokens: Vec<_> = tokens.filter(|(token, _)| weighed(token).is_some_and(|(weight, _)| weight <= least)).collect();
        tokens.sort_by_key(|(_, having)| Reverse(*having));
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANY: u64 = 1_000_000;

    fn sample(question: &str, persons: u64, documents: &[(usize, &str)]) -> Sample {
        let documents = documents.iter().flat_map(|(times, document)| std::iter::repeat_n(*document, *times));
        Sample::new(&Question::parse(question).unwrap(), persons, documents)
    }

    fn common(lists: &[&[&str]]) -> Way {
        Way::Common(lists.iter().map(|list| list.iter().map(|token| (*token).to_owned()).collect()).collect())
    }

    #[test]
    fn what_few_have_is_asked_for_as_it_is() {
        assert_eq!(sample("ada", 100, &[(10, "1ada 2acme")]).way(Weight::Other), Way::All);
        assert_eq!(sample("ada", MANY, &[(100, "1grace 2acme")]).way(Weight::Other), Way::All);
        assert_eq!(sample("ada", MANY, &[]).way(Weight::Other), Way::All);
    }

    #[test]
    fn rare_words_lead_to_those_who_have_common_ones_too() {
        let sample = sample("eng oslo", MANY, &[(50, "1ada 2engineer 3oslo"), (9_950, "1grace 2engineer")]);
        assert_eq!(sample.way(Weight::Other), Way::Rare(vec![1]));
        assert_eq!(sample.way(Weight::Best), Way::All);
    }

    #[test]
    fn common_words_are_asked_for_as_the_tokens_that_most_have() {
        let documents = [(60, "2engineer 2software"), (30, "3engineering 3software"), (10, "2english 2softly")];
        let sample = sample("eng soft", MANY, &documents);
        assert_eq!(sample.way(Weight::Best), Way::All);
        assert_eq!(sample.way(Weight::Good), common(&[&["2engineer"], &["2software"]]));
        assert_eq!(sample.way(Weight::Other), common(&[&["2engineer"], &["2software"]]));
    }

    #[test]
    fn more_tokens_are_taken_where_one_is_not_enough() {
        let documents = [(40, "2anna"), (35, "2annie"), (25, "2ann")];
        assert_eq!(sample("ann", MANY, &documents).way(Weight::Good), common(&[&["2anna"]]));
        assert_eq!(sample("ann", 11_000, &documents).way(Weight::Good), common(&[&["2anna", "2annie"]]));
        assert_eq!(sample("ann", 10_000, &documents).way(Weight::Good), common(&[&["2anna", "2annie"]]));
        assert_eq!(sample("ann", 9_999, &documents).way(Weight::Good), Way::All);
    }

    #[test]
    fn a_word_counts_where_it_says_most() {
        let documents = [(50, "1ada 3adam"), (50, "3ada")];
        let sample = sample("ada", 15_000, &documents);
        assert_eq!(sample.way(Weight::Best), Way::All);
        assert_eq!(sample.way(Weight::Other), common(&[&["1ada"]]));
    }
}
