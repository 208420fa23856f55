//! Search: what is indexed of a person, what a question asks for, and which of the person's fields
//! answer it. Words are compared without case and accents, and a word that is asked for finds all
//! that begin with it.

mod segment;
#[cfg(test)]
mod tests;

use std::borrow::Cow;
use std::cmp::Ordering;
use std::ops::Range;

use memchr::memmem;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use xxhash_rust::xxh3::xxh3_64;

pub use self::segment::{Gathered, Group, Having, MAX_IN_SEGMENT, Term};
use crate::id::encode_digits;
use crate::text::digits;

/// Words of a person that are indexed; the rest of very long notes is not.
const MAX_WORDS: usize = 4000;
const MAX_WORD_LENGTH: usize = 40;
/// Words of a question that count.
const MAX_ASKED: usize = 8;
/// A shorter word is asked for as it is: nearly everybody has a word that begins with a given
/// letter.
const MIN_BEGINNING_LENGTH: usize = 2;
/// Words with so many letters in common at their beginning stand together in a [`Group`].
const FIRST_LETTERS: usize = 3;

/// How much it says of a person that a word stands in a field.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Weight {
    Best,
    Good,
    Other,
}

impl Weight {
    pub const ALL: [Self; 3] = [Self::Best, Self::Good, Self::Other];

    /// What stands before a word of that weight in the index.
    #[must_use]
    pub const fn mark(self) -> char {
        match self {
            Self::Best => '1',
            Self::Good => '2',
            Self::Other => '3',
        }
    }
}

/// How well a person answers a question; the best comes first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Answer {
    pub weight: Weight,
    /// A word of the question is only the beginning of what they have there.
    pub is_partial: bool,
}

macro_rules! fields {
    ($($variant:ident $name:literal $weight:ident)*) => {
        /// A field that is searched.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Field { $($variant,)* }

        impl Field {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// Its name, as answers give it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            #[must_use]
            pub const fn weight(self) -> Weight {
                match self { $(Self::$variant => Weight::$weight,)* }
            }
        }
    };
}

fields! {
    Name "name" Best
    Handle "social_public_id" Best
    Title "current_job_title" Good
    Company "current_company_name" Good
    Emails "emails" Good
    Headline "social_headline" Other
    Location "social_location" Other
    Address "address" Other
    Work "work_experience" Other
    Education "education_experience" Other
    Certifications "certifications" Other
    Notes "notes" Other
}

/// The words of a text: letters and digits, in lower case and without accents.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    parts(text).filter_map(|part| {
        let mut word = String::with_capacity(part.len());
        put_plain(part, &mut word);
        shorten(&mut word, 0);
        (!word.is_empty()).then_some(word)
    })
}

fn parts(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| !character.is_alphanumeric() && !is_combining_mark(character))
        .filter(|part| !part.is_empty())
}

/// Appends what a part of a text is as a word.
fn put_plain(part: &str, word: &mut String) {
    if part.is_ascii() {
        word.extend(part.bytes().map(|byte| char::from(byte.to_ascii_lowercase())));
        return;
    }
    for character in
        part.nfkd().filter(|character| !is_combining_mark(*character)).flat_map(char::to_lowercase)
    {
        match plain(character) {
            Some(plain) => word.push_str(plain),
            None if character.is_alphanumeric() => word.push(character),
            None => {}
        }
    }
}

/// Cuts off what is too much of the word that begins there.
fn shorten(text: &mut String, start: usize) {
    if text.len() - start > MAX_WORD_LENGTH
        && let Some((end, _)) = text[start..].char_indices().nth(MAX_WORD_LENGTH)
    {
        text.truncate(start + end);
    }
}

/// Whether one of the words may stand in the text, which may be JSON. It says so too often rather
/// than too seldom.
#[must_use]
pub fn may_mention(text: &str, words: &[&str]) -> bool {
    // In JSON a letter of an escape may stand right before a word, so parts of words count.
    let is_in = |part: &str| words.iter().any(|word| part.contains(word));
    match text.is_ascii() {
        true => is_in(&text.to_ascii_lowercase()),
        false => parts(text).any(|part| {
            let mut plain = String::with_capacity(part.len());
            put_plain(part, &mut plain);
            is_in(&plain)
        }),
    }
}

/// Letters that are another letter with something added, though Unicode takes them for letters of
/// their own.
const fn plain(character: char) -> Option<&'static str> {
    Some(match character {
        'ß' => "ss",
        'æ' => "ae",
        'œ' => "oe",
        'ø' => "o",
        'ł' => "l",
        'đ' | 'ð' => "d",
        'ħ' => "h",
        'ı' => "i",
        'þ' => "th",
        _ => return None,
    })
}

/// How a phone number stands in the index: beside the words, and like none of them.
#[must_use]
pub fn phone_token(number: &str) -> String {
    let digits: String = digits(number).collect();
    let mut hash = [0; 13];
    encode_digits(u128::from(xxh3_64(digits.as_bytes())), &mut hash);
    format!("=p{}", std::str::from_utf8(&hash).unwrap_or_default())
}

/// What is indexed of a person: every word once, where it says most.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Document {
    /// The words in order, each behind the mark of its weight, with spaces between them.
    marked: String,
}

impl Document {
    #[must_use]
    pub fn new<'t>(texts: impl IntoIterator<Item = (Field, &'t str)>) -> Self {
        // All words in one text, and where each of them stands in it, since there may be hundreds.
        let mut plain = String::with_capacity(512);
        let mut found: Vec<(Range<usize>, Weight)> = Vec::with_capacity(64);
        for (field, text) in texts {
            for part in parts(text) {
                let start = plain.len();
                put_plain(part, &mut plain);
                shorten(&mut plain, start);
                if plain.len() > start {
                    found.push((start..plain.len(), field.weight()));
                }
            }
        }
        let word = |place: &Range<usize>| &plain[place.clone()];
        found.sort_unstable_by(|(one, weight), (other, least)| {
            (word(one), weight, one.start).cmp(&(word(other), least, other.start))
        });
        found.dedup_by(|(next, _), (kept, _)| word(next) == word(kept));
        if found.len() > MAX_WORDS {
            found.sort_unstable_by_key(|(place, _)| place.start);
            found.truncate(MAX_WORDS);
        }
        found.sort_unstable_by(|(one, weight), (other, least)| {
            (weight, word(one)).cmp(&(least, word(other)))
        });
        let mut marked = String::with_capacity(plain.len() + 2 * found.len());
        for (place, weight) in &found {
            if !marked.is_empty() {
                marked.push(' ');
            }
            marked.push(weight.mark());
            marked.push_str(word(place));
        }
        Self { marked }
    }

    /// What a person's texts were and what they are, as far as they differ: what both have is left
    /// out, unless a word of the others may stand there too. To look for some words is less work
    /// than to cut and order all.
    #[must_use]
    pub fn differing(before: &[(Field, &str)], after: &[(Field, &str)]) -> [Self; 2] {
        let beside = |texts: &[(Field, &'_ str)], others: &[(Field, &str)]| {
            Self::new(texts.iter().filter(|text| !others.contains(text)).copied())
        };
        let documents = [beside(before, after), beside(after, before)];
        let words: Vec<_> =
            documents.iter().flat_map(|document| words_in(&document.marked)).collect();
        let is_shared = |text: &&(Field, &str)| after.contains(text);
        match before.iter().filter(is_shared).any(|(_, text)| may_mention(text, &words)) {
            true => [before, after].map(|texts| Self::new(texts.iter().copied())),
            false => documents,
        }
    }

    /// What stands in the index: the words and the phone numbers, in order, with spaces between
    /// them.
    #[must_use]
    pub fn tokens<'p>(&self, phones: impl Iterator<Item = &'p str>) -> String {
        let mut phones: Vec<_> = phones.map(phone_token).collect();
        phones.sort_unstable();
        phones.dedup();
        let mut tokens = String::with_capacity(self.marked.len() + phones.len() * 16);
        tokens.push_str(&self.marked);
        for phone in phones {
            put(&mut tokens, &phone);
        }
        tokens
    }

    /// The words that the other one lacks.
    #[must_use]
    pub fn beside<'d>(&'d self, other: &Self) -> Vec<&'d str> {
        let others: Vec<_> = words_in(&other.marked).collect();
        words_in(&self.marked).filter(|word| !others.contains(word)).collect()
    }
}

fn words_in(tokens: &str) -> impl Iterator<Item = &str> {
    listed(tokens).filter_map(|token| token.strip_prefix(Weight::ALL.map(Weight::mark)))
}

fn first_letters(word: &str) -> Option<&str> {
    let (place, last) = word.char_indices().nth(FIRST_LETTERS - 1)?;
    Some(&word[..place + last.len_utf8()])
}

/// What becomes of tokens: what they are then, and what leaves and enters for that. All are in
/// order, with spaces between them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Changed {
    pub tokens: String,
    pub removed: String,
    pub added: String,
}

impl Changed {
    /// The tokens of a person of whom some texts changed: what those had leaves, and what they have
    /// now enters. Words that leave must stand in none of the other texts, all of which say little.
    /// Nothing if the tokens lack something that should leave: they are those of another state.
    #[must_use]
    pub fn of(tokens: &str, before: &str, after: &str) -> Option<Self> {
        let entering: Vec<_> = listed(after).collect();
        // Few leave or enter, of many that are there: so they are looked for, and what is between
        // them is taken as it is.
        let mut edits: Vec<(Range<usize>, Cow<'_, str>)> = Vec::new();
        for old in listed(before) {
            let place = find_token(tokens, old).ok()?;
            if !entering.contains(&old) {
                edits.push((place, old.into()));
            }
        }
        for word in words_in(after) {
            let outdone = format!("{}{word}", Weight::Other.mark());
            if !entering.contains(&outdone.as_str())
                && let Ok(place) = find_token(tokens, &outdone)
            {
                edits.push((place, outdone.into()));
            }
        }
        for new in entering {
            if let Err(place) = find_token(tokens, new) {
                edits.push((place..place, new.into()));
            }
        }
        edits.sort_unstable_by(|(one, token), (other, next)| {
            (one.start, one.end, token).cmp(&(other.start, other.end, next))
        });
        edits.dedup();
        let mut changed =
            Self { tokens: String::with_capacity(tokens.len() + after.len()), ..Self::default() };
        let mut taken = 0;
        for (place, token) in edits {
            put(&mut changed.tokens, tokens[taken..place.start].trim());
            if place.is_empty() {
                put(&mut changed.tokens, &token);
            }
            put(if place.is_empty() { &mut changed.added } else { &mut changed.removed }, &token);
            taken = place.end;
        }
        put(&mut changed.tokens, tokens[taken..].trim());
        Some(changed)
    }

    /// All of the tokens leave, and those enter.
    #[must_use]
    pub fn to(tokens: &str, new: &str) -> Self {
        let mut changed = Self { tokens: new.to_owned(), ..Self::default() };
        let mut entering = listed(new).peekable();
        for token in listed(tokens) {
            while let Some(added) = entering.next_if(|added| *added < token) {
                put(&mut changed.added, added);
            }
            if entering.next_if_eq(&token).is_none() {
                put(&mut changed.removed, token);
            }
        }
        entering.for_each(|added| put(&mut changed.added, added));
        changed
    }
}

/// Where the token stands among those, or if it does not, where it would begin.
fn find_token(tokens: &str, token: &str) -> Result<Range<usize>, usize> {
    let text = tokens.as_bytes();
    let (mut low, mut high) = (0, text.len());
    while low < high {
        let middle = low.midpoint(high);
        let start = text[low..middle]
            .iter()
            .rposition(|byte| *byte == b' ')
            .map_or(low, |space| low + space + 1);
        let end = text[middle..]
            .iter()
            .position(|byte| *byte == b' ')
            .map_or(text.len(), |space| middle + space);
        match tokens[start..end].cmp(token) {
            Ordering::Less => low = (end + 1).min(text.len()),
            Ordering::Greater => high = start,
            Ordering::Equal => return Ok(start..end),
        }
    }
    Err(low)
}

fn listed(tokens: &str) -> impl Iterator<Item = &str> {
    tokens.split(' ').filter(|token| !token.is_empty())
}

/// Appends a token, or several.
fn put(list: &mut String, tokens: &str) {
    if !list.is_empty() && !tokens.is_empty() {
        list.push(' ');
    }
    list.push_str(tokens);
}

/// What a search asks for: persons who have all of the words.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Question {
    words: Vec<String>,
}

impl Question {
    /// Nothing if there is no word in the text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut asked: Vec<String> = Vec::new();
        for word in words(text) {
            if asked.len() < MAX_ASKED && !asked.contains(&word) {
                asked.push(word);
            }
        }
        (!asked.is_empty()).then_some(Self { words: asked })
    }

    /// For each word what may stand in the index for it, in fields that say at least so much; and
    /// whether it stands for all that begin with it.
    pub fn asked(&self, least: Weight) -> impl Iterator<Item = (Vec<String>, bool)> {
        self.words.iter().map(move |word| {
            let marks = Weight::ALL.into_iter().filter(|weight| *weight <= least).map(Weight::mark);
            (marks.map(|mark| format!("{mark}{word}")).collect(), is_beginning(word))
        })
    }

    /// How well a document answers, of which these are the tokens; nothing if it lacks a word.
    #[must_use]
    pub fn answer_in(&self, tokens: &str) -> Option<Answer> {
        let weight = self.weight_in(tokens, false)?;
        Some(Answer { weight, is_partial: self.weight_in(tokens, true) != Some(weight) })
    }

    /// How much the fields say in which the words stand, as they are or as beginnings too. The word
    /// that says least counts.
    fn weight_in(&self, tokens: &str, are_whole: bool) -> Option<Weight> {
        self.words.iter().try_fold(Weight::Best, |least, asked| {
            Some(least.max(best_weight_in(tokens, asked, are_whole || !is_beginning(asked))?))
        })
    }

    /// The fields in which words of the question stand, those that say most first.
    #[must_use]
    pub fn matched<'t>(&self, texts: impl IntoIterator<Item = (Field, &'t str)>) -> Vec<Field> {
        let mut matched: Vec<Field> = Vec::new();
        for (field, text) in texts {
            if !matched.contains(&field)
                && words(text).any(|word| self.words.iter().any(|asked| answers(&word, asked)))
            {
                matched.push(field);
            }
        }
        matched.sort_unstable();
        matched
    }
}

/// How much a token says, and of which word; nothing if it is no word.
fn weighed(token: &str) -> Option<(Weight, &str)> {
    Weight::ALL.into_iter().find_map(|weight| Some((weight, token.strip_prefix(weight.mark())?)))
}

/// How much the token says that has the word, or begins with it, and says most. Tokens are in the
/// order of what they say, so it is the first; it is looked for in the whole text, since there may
/// be hundreds.
fn best_weight_in(tokens: &str, asked: &str, is_whole: bool) -> Option<Weight> {
    let (text, finder) = (tokens.as_bytes(), memmem::Finder::new(asked));
    let mut start = 0;
    while let Some(found) = finder.find(&text[start..]) {
        let place = start + found;
        let begins_token = |mark: usize| mark == 0 || text[mark - 1] == b' ';
        let ends_token = || matches!(text.get(place + asked.len()), None | Some(b' '));
        let weight =
            Weight::ALL.into_iter().find(|weight| tokens[..place].ends_with(weight.mark()));
        if weight.is_some() && begins_token(place - 1) && (!is_whole || ends_token()) {
            return weight;
        }
        // A mark may be a letter of the word.
        start = place + 1;
    }
    None
}

fn is_beginning(asked: &str) -> bool {
    asked.chars().nth(MIN_BEGINNING_LENGTH - 1).is_some()
}

fn answers(word: &str, asked: &str) -> bool {
    match is_beginning(asked) {
        true => word.starts_with(asked),
        false => word == asked,
    }
}
