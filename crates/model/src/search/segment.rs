//! Segments: an index of the words of some persons that is made once, for many at a time, and never
//! changed. It knows whoever has a word, or any that begins in some way, so that even what very
//! many have is soon found together. Words of persons who changed since, or are gone, stay in it;
//! so whoever is found is still to be compared.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::ops::Range;

use super::{Question, Weight, first_letters, is_beginning, weighed};
use crate::id::CompanyId;

/// Persons in a segment at most.
pub const MAX_IN_SEGMENT: usize = 32_768;

const WEIGHTS: usize = Weight::ALL.len();
/// Persons that a word of a bitmap stands for.
const BITS: usize = u64::BITS as usize;

/// The words of persons, each of whom has a place, in the order in which they are added.
#[derive(Default)]
pub struct Gathered {
    persons: usize,
    words: HashMap<String, [Vec<u32>; WEIGHTS]>,
}

/// The words of a segment that begin with the same letters, and who has them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    pub letters: String,
    pub words: Vec<u8>,
}

impl Gathered {
    /// Adds a person, of whom these are the tokens.
    pub fn add(&mut self, tokens: &str, company: Option<CompanyId>) {
        for (weight, word) in tokens.split(' ').filter_map(weighed) {
            self.put(word, weight);
        }
        if let Some(company) = company {
            self.put(&of_company(company), Weight::Best);
        }
        self.persons += 1;
    }

    fn put(&mut self, word: &str, weight: Weight) {
        let place = u32::try_from(self.persons).unwrap_or(u32::MAX);
        if let Some(having) = self.words.get_mut(word) {
            having[weight as usize].push(place);
            return;
        }
        let mut having = <[Vec<u32>; WEIGHTS]>::default();
        having[weight as usize].push(place);
        self.words.insert(word.to_owned(), having);
    }

    /// All of it, in the order of the letters.
    #[must_use]
    pub fn groups(self) -> Vec<Group> {
        let mut words: Vec<_> = self.words.into_iter().collect();
        words.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        let mut groups: Vec<Group> = Vec::new();
        let mut kept = Vec::new();
        for (word, having) in words {
            let letters = first_letters(&word).unwrap_or(&word);
            if groups.last().is_none_or(|last| last.letters != letters) {
                groups.push(Group { letters: letters.to_owned(), words: Vec::new() });
            }
            let Some(Group { words, .. }) = groups.last_mut() else { continue };
            kept.clear();
            for places in &having {
                put_places(places, self.persons, &mut kept);
            }
            put_bytes(&word.as_bytes()[letters.len()..], words);
            put_bytes(&kept, words);
        }
        groups
    }
}

/// A word that stands for a company, and is like no other.
fn of_company(company: CompanyId) -> String {
    // The last digits differ more than the first, which say when the company was made.
    let digits: String =
        company.to_string().chars().rev().take_while(|sign| *sign != '_').collect();
    format!("=={digits}")
}

/// As a list of places, or if that is shorter as a map of all.
fn put_places(places: &[u32], persons: usize, bytes: &mut Vec<u8>) {
    let start = bytes.len();
    put_number(places.len() << 1, bytes);
    let mut last = 0;
    for place in places {
        put_number((place - last) as usize, bytes);
        last = *place;
    }
    if bytes.len() - start > persons.div_ceil(8) {
        bytes.truncate(start);
        put_number(places.len() << 1 | 1, bytes);
        let map = bytes.len();
        bytes.resize(map + persons.div_ceil(8), 0);
        for place in places {
            bytes[map + *place as usize / 8] |= 1 << (place % 8);
        }
    }
}

fn put_bytes(more: &[u8], bytes: &mut Vec<u8>) {
    put_number(more.len(), bytes);
    bytes.extend_from_slice(more);
}

/// Seven bits in each byte, the lowest first; the eighth says that more follow.
fn put_number(number: usize, bytes: &mut Vec<u8>) {
    let mut left = number;
    while left > 0x7f {
        bytes.push(left as u8 | 0x80);
        left >>= 7;
    }
    bytes.push(left as u8);
}

/// Reads what the functions above wrote; nothing where that ends too soon.
struct Reader<'b>(&'b [u8]);

impl<'b> Reader<'b> {
    fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let (byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= usize::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn bytes(&mut self) -> Option<&'b [u8]> {
        let length = self.number()?;
        self.take(length)
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }
}

/// A word that is looked for in segments.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Term {
    word: String,
    is_beginning: bool,
}

impl Question {
    /// What whoever answers has, and whom that company employs, if one is named.
    #[must_use]
    pub fn terms(&self, company: Option<CompanyId>) -> Vec<Term> {
        let words = self
            .words
            .iter()
            .map(|word| Term { word: word.clone(), is_beginning: is_beginning(word) });
        words
            .chain(company.map(|company| Term { word: of_company(company), is_beginning: false }))
            .collect()
    }
}

impl Term {
    /// The letters of the groups that may have it: from the first to the last.
    #[must_use]
    pub fn letters(&self) -> (String, String) {
        match first_letters(&self.word) {
            Some(letters) => (letters.to_owned(), letters.to_owned()),
            None if self.is_beginning => (self.word.clone(), format!("{}{}", self.word, char::MAX)),
            None => (self.word.clone(), self.word.clone()),
        }
    }

    /// Whether a word answers, and is the same. Words come in order: nothing if none of those
    /// behind answers either.
    fn answers(&self, letters: &str, rest: &[u8]) -> Option<(bool, bool)> {
        let asked = self.word.as_bytes();
        let Some(asked_rest) = asked.strip_prefix(letters.as_bytes()) else {
            return Some((self.is_beginning && letters.as_bytes().starts_with(asked), false));
        };
        let is_same = rest == asked_rest;
        let begins = rest.starts_with(asked_rest);
        (begins || rest < asked_rest).then_some((is_same || self.is_beginning && begins, is_same))
    }
}

/// Who of a segment has the words of a question.
pub struct Having {
    persons: usize,
    /// For each word.
    words: Vec<HavingWord>,
    taken: Vec<u64>,
}

/// Who has a word as it is, and who has it or one that begins with it, for each weight.
struct HavingWord {
    whole: [Vec<u64>; WEIGHTS],
    any: [Vec<u64>; WEIGHTS],
}

impl Having {
    #[must_use]
    pub fn new(persons: usize, terms: usize) -> Self {
        let map = || vec![0; persons.div_ceil(BITS)];
        let maps = || std::array::from_fn(|_| map());
        let words = (0..terms).map(|_| HavingWord { whole: maps(), any: maps() }).collect();
        Self { persons, words, taken: map() }
    }

    /// Takes in a group that may have the term, which stands at that place among all. Nothing if
    /// the group cannot be read.
    #[must_use]
    pub fn look_at(
        &mut self,
        place: usize,
        term: &Term,
        letters: &str,
        group: &[u8],
    ) -> Option<()> {
        let persons = self.persons;
        let having = self.words.get_mut(place)?;
        let mut words = Reader(group);
        while !words.0.is_empty() {
            let (rest, kept) = (words.bytes()?, words.bytes()?);
            let Some((answers, is_same)) = term.answers(letters, rest) else { break };
            if !answers {
                continue;
            }
            let mut kept = Reader(kept);
            for (any, whole) in having.any.iter_mut().zip(&mut having.whole) {
                let map = if is_same { whole } else { any };
                read_places(&mut kept, persons, map)?;
            }
        }
        Some(())
    }

    /// All groups were looked at.
    pub fn finish(&mut self) {
        for HavingWord { whole, any } in &mut self.words {
            for (any, whole) in any.iter_mut().zip(whole.iter()) {
                unite(any, whole);
            }
            for maps in [whole, any] {
                for weight in 1..WEIGHTS {
                    let (better, worse) = maps.split_at_mut(weight);
                    unite(&mut worse[0], &better[weight - 1]);
                }
            }
        }
    }

    #[must_use]
    pub const fn persons(&self) -> usize {
        self.persons
    }

    /// Lets nobody be taken but those with these places.
    pub fn keep(&mut self, places: Range<usize>) {
        for place in (0..places.start).chain(places.end..self.persons) {
            self.taken[place / BITS] |= 1 << (place % BITS);
        }
    }

    /// How many have all words and were not taken.
    #[must_use]
    pub fn count(&self) -> usize {
        let left = |(number, taken): (usize, &u64)| {
            self.words.iter().fold(!*taken, |left, word| left & word.any[WEIGHTS - 1][number])
        };
        self.taken.iter().enumerate().map(|having| left(having).count_ones() as usize).sum()
    }

    /// The places of so many, at most, who have all words in fields that say at least so much, and
    /// were not taken before.
    pub fn take(&mut self, least: Weight, are_whole: bool, most: usize) -> Vec<usize> {
        let mut places = Vec::new();
        for (number, taken) in self.taken.iter_mut().enumerate() {
            let maps =
                self.words.iter().map(|word| if are_whole { &word.whole } else { &word.any });
            let mut left = maps.fold(!*taken, |left, maps| left & maps[least as usize][number]);
            while left != 0 && places.len() < most {
                let bit = left.trailing_zeros();
                left &= left - 1;
                *taken |= 1 << bit;
                places.push(number * BITS + bit as usize);
            }
            if places.len() >= most {
                break;
            }
        }
        places
    }
}

fn unite(map: &mut [u64], other: &[u64]) {
    for (bits, other) in map.iter_mut().zip(other) {
        *bits |= other;
    }
}

fn read_places(kept: &mut Reader<'_>, persons: usize, map: &mut [u64]) -> Option<()> {
    let number = kept.number()?;
    let (count, is_map) = (number >> 1, number & 1 == 1);
    if is_map {
        for (bits, bytes) in map.iter_mut().zip(kept.take(persons.div_ceil(8))?.chunks(8)) {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            *bits |= u64::from_le_bytes(word);
        }
        return Some(());
    }
    let mut place = 0;
    for _ in 0..count {
        place += kept.number()?;
        *map.get_mut(place / BITS)? |= 1 << (place % BITS);
    }
    Some(())
}
