//! What changes in the index of words, which is told of it when a transaction is committed: it
//! gathers what comes together, but puts it away at once whenever a statement after it can be
//! undone by itself, as most can.

use std::collections::BTreeMap;

use crate::driver::param::Param;
use crate::driver::sqlite::connection::SqliteTx;
use crate::error::StoreError;

/// What leaves the index and what enters it: words as they stand there, with spaces between them. A
/// document that is new has nothing that could leave, and to one that is to be gone nothing is
/// added.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FtsChange {
    pub(crate) document: i64,
    pub(crate) removed: Option<String>,
    pub(crate) added: Option<String>,
}

/// Those that wait for the commit.
#[derive(Default)]
pub(crate) struct FtsChanges(Vec<FtsChange>);

impl FtsChanges {
    pub(crate) fn add(&mut self, change: FtsChange) {
        self.0.push(change);
    }

    pub(crate) const fn len(&self) -> usize {
        self.0.len()
    }

    /// Lets those be forgotten that came after the first so many.
    pub(crate) fn truncate(&mut self, kept: usize) {
        self.0.truncate(kept);
    }

    /// Makes them, in the order of documents, in which the index gathers most.
    pub(crate) fn put(self, tx: &mut SqliteTx) -> Result<(), StoreError> {
        let mut changes = self.0;
        changes.sort_by_key(|change| change.document);
        for changes in changes.chunk_by(|one, next| one.document == next.document) {
            let document = changes[0].document;
            let (removed, added) = match changes {
                [FtsChange { removed, added, .. }] => (removed.clone(), added.clone()),
                several => sum_of(several),
            };
            // The index counts documents: one that changes leaves and enters, be it with no word.
            if let Some(removed) = removed {
                let sql =
                    "INSERT INTO search_word (search_word, rowid, words) VALUES ('delete', ?1, ?2)";
                tx.execute(sql, &[document.into(), Param::Text(&removed)])?;
            }
            if let Some(added) = added {
                tx.execute(
                    "INSERT INTO search_word (rowid, words) VALUES (?1, ?2)",
                    &[document.into(), Param::Text(&added)],
                )?;
            }
        }
        Ok(())
    }
}

/// What comes of all changes to one document, each of which goes on from the one before. The number
/// of one that is gone may be that of a new one, of whatever workspace.
fn sum_of(changes: &[FtsChange]) -> (Option<String>, Option<String>) {
    let mut counts: BTreeMap<&str, i32> = BTreeMap::new();
    for FtsChange { removed, added, .. } in changes {
        for (text, one) in [(removed, -1), (added, 1)] {
            for word in text.iter().flat_map(|text| text.split_ascii_whitespace()) {
                *counts.entry(word).or_default() += one;
            }
        }
    }
    let with = |wanted: i32| {
        let words: Vec<_> =
            counts.iter().filter(|(_, count)| **count == wanted).map(|(word, _)| *word).collect();
        words.join(" ")
    };
    let was_there = changes.first().is_some_and(|change| change.removed.is_some());
    let is_there = changes.last().is_some_and(|change| change.added.is_some());
    (was_there.then(|| with(-1)), is_there.then(|| with(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(removed: Option<&str>, added: Option<&str>) -> FtsChange {
        let [removed, added] = [removed, added].map(|text| text.map(str::to_owned));
        FtsChange { document: 1, removed, added }
    }

    #[test]
    fn changes_to_one_document_add_up() {
        let (new, moved) = (change(None, Some("a b")), change(Some("b"), Some("c")));
        let (back, gone) = (change(Some("c"), Some("b")), change(Some("a b"), None));
        let sum = |changes: &[&FtsChange]| {
            let changes: Vec<_> = changes.iter().map(|change| (*change).clone()).collect();
            sum_of(&changes)
        };
        let words = |text: &str| Some(text.to_owned());
        assert_eq!(sum(&[&new, &moved]), (None, words("a c")));
        assert_eq!(sum(&[&moved, &back]), (words(""), words("")));
        assert_eq!(sum(&[&moved, &back, &gone]), (words("a b"), None));
        assert_eq!(sum(&[&new, &gone]), (None, None));
        assert_eq!(sum(&[&gone, &change(None, Some("a x"))]), (words("b"), words("x")));
    }
}
