//! Kept answers that mention somebody who is to be erased. Which ones do is found only by a look at
//! all of them, of which there may be a great many: so that is done before, while others can write,
//! and with the erasure itself only for those that were kept since.

use slated_model::clock::Timestamp;
use slated_model::id::{NoteId, PersonId, WorkspaceId};

use crate::driver::param::Param;
use crate::error::StoreError;
use crate::params;
use crate::records::erasure::named_notes;
use crate::records::idempotency;
use crate::records::statement::Values;
use crate::tx::Tx;

/// Whoever kept an answer may have begun before the look and ended behind it, and have had another
/// clock.
const LATE_MILLIS: i64 = 5 * 60 * 1000;
/// Where there is but one who writes, they began a moment before at most, by the same clock. The
/// less there is to look at again the better, since all others wait.
const LATE_MILLIS_EMBEDDED: i64 = 10 * 1000;
/// Answers that one statement looks at, and texts that it looks for, so that none takes too long.
const ANSWERS: i64 = 5_000;
const TEXTS: usize = 20;

/// By what a person is known.
#[derive(Default)]
pub struct Traces {
    /// With those who went into them.
    pub persons: Vec<PersonId>,
    pub notes: Vec<NoteId>,
    /// As they stand in JSON.
    pub emails: Vec<String>,
}

impl Traces {
    /// Those that are not among the others.
    fn beside(&self, others: &Self) -> Self {
        Self {
            persons: self
                .persons
                .iter()
                .filter(|id| !others.persons.contains(id))
                .copied()
                .collect(),
            notes: self.notes.iter().filter(|id| !others.notes.contains(id)).copied().collect(),
            emails: self
                .emails
                .iter()
                .filter(|email| !others.emails.contains(email))
                .cloned()
                .collect(),
        }
    }

    fn are_in(&self, text: &str) -> bool {
        self.persons.iter().any(|id| text.contains(&id.to_string()))
            || self.emails.iter().any(|email| text.contains(email))
            || (!self.notes.is_empty()
                && named_notes(text).iter().any(|id| self.notes.contains(id)))
    }

    /// Texts of which each text with a trace has one; others may have them too.
    fn hints(&self) -> Vec<String> {
        let notes = if self.notes.is_empty() { None } else { Some("nte_".to_owned()) };
        self.persons
            .iter()
            .map(ToString::to_string)
            .chain(self.emails.iter().cloned())
            .chain(notes)
            .collect()
    }
}

/// An answer, by its key and when it was kept.
type Answer = (String, Timestamp);

/// The answers in which traces were found.
pub struct Mentions {
    traces: Traces,
    answers: Vec<Answer>,
    /// All that were kept before that moment were looked at.
    before: Timestamp,
}

pub async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    traces: Traces,
) -> Result<Mentions, StoreError> {
    let late_millis = if tx.is_embedded() { LATE_MILLIS_EMBEDDED } else { LATE_MILLIS };
    let before = tx.now().plus_millis(-late_millis);
    let answers = find_all(tx, workspace, &traces).await?;
    Ok(Mentions { traces, answers, before })
}

/// Forgets the answers with traces, whether they were found before or not. Nobody must be able to
/// keep more of them meanwhile.
pub async fn forget(
    tx: &mut Tx,
    workspace: WorkspaceId,
    traces: &Traces,
    known: &Mentions,
) -> Result<(), StoreError> {
    let mut answers = find_in(tx, workspace, &Range::Since(known.before), traces).await?;
    answers.extend(known.answers.iter().cloned());
    answers.extend(find_all(tx, workspace, &traces.beside(&known.traces)).await?);
    for (key, kept_at) in answers {
        idempotency::drop_kept(tx, workspace, &key, kept_at).await?;
    }
    Ok(())
}

/// Which answers are looked at.
enum Range<'r> {
    Keys { behind: &'r str, to: Option<&'r str> },
    Since(Timestamp),
}

async fn find_all(
    tx: &mut Tx,
    workspace: WorkspaceId,
    traces: &Traces,
) -> Result<Vec<Answer>, StoreError> {
    let mut found = Vec::new();
    let mut last = Some(String::new());
    while let Some(behind) = last.filter(|_| !traces.hints().is_empty()) {
        let sql = "SELECT key FROM idempotent_answer WHERE workspace_id = ?1 AND key > ?2 ORDER \
            BY key LIMIT 1 OFFSET ?3";
        last = tx.row(sql, params![workspace, &behind, ANSWERS - 1], |row| row.text(0)).await?;
        found.extend(
            find_in(tx, workspace, &Range::Keys { behind: &behind, to: last.as_deref() }, traces)
                .await?,
        );
    }
    Ok(found)
}

async fn find_in(
    tx: &mut Tx,
    workspace: WorkspaceId,
    range: &Range<'_>,
    traces: &Traces,
) -> Result<Vec<Answer>, StoreError> {
    let hints = traces.hints();
    let mut found = Vec::new();
    // An embedded engine is slower at looking through texts than we are; over a network only those
    // are to come that may be meant.
    let looks: Vec<&[String]> =
        if tx.is_embedded() { vec![&[]] } else { hints.chunks(TEXTS).collect() };
    for hints in looks {
        let mut values = Values::new(workspace);
        let mut sql = match *range {
            Range::Keys { behind, to: None } => format!("key > {}", values.place(behind)),
            Range::Keys { behind, to: Some(to) } => {
                format!("key > {} AND key <= {}", values.place(behind), values.place(to))
            }
            Range::Since(moment) => format!("created_at >= {}", values.place(moment)),
        };
        let hinted: Vec<_> = hints
            .iter()
            .map(|hint| {
                format!("position({} IN body) > 0", values.place(Param::Bytes(hint.as_bytes())))
            })
            .collect();
        if !hinted.is_empty() {
            sql = format!("{sql} AND ({})", hinted.join(" OR "));
        }
        let sql = format!(
            "SELECT key, created_at, body FROM idempotent_answer WHERE workspace_id = ?1 AND {sql}"
        );
        let answers = tx.rows(&sql, values.params(), |row| {
            let is_meant = traces.are_in(&String::from_utf8_lossy(row.bytes(2)?));
            Ok(if is_meant { Some((row.text(0)?, row.time(1)?)) } else { None })
        });
        found.extend(answers.await?.into_iter().flatten());
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment() -> Timestamp {
        Timestamp::from_millis(1_000)
    }

    #[test]
    fn a_text_has_a_trace_or_not() {
        let (person, note) = (PersonId::at(moment(), 1), NoteId::at(moment(), 2));
        let traces = Traces {
            persons: vec![person],
            notes: vec![note],
            emails: vec![r#""ada@x.example""#.to_owned()],
        };
        for text in [
            format!(r#"{{"id":"{person}"}}"#),
            format!(r#"[{{"id":"{note}"}}]"#),
            r#"{"value":"ada@x.example"}"#.to_owned(),
        ] {
            assert!(traces.are_in(&text), "{text}");
            assert!(traces.hints().iter().any(|hint| text.contains(hint)), "{text}");
            assert!(!Traces::default().are_in(&text), "{text}");
        }
        let (other, another) = (PersonId::at(moment(), 3), NoteId::at(moment(), 4));
        assert!(
            !traces.are_in(&format!(
                r#"{{"id":"{other}","note":"{another}","email":"nada@x.example"}}"#
            ))
        );
    }

    #[test]
    fn what_is_known_already_is_not_beside_it() {
        let persons = |numbers: &[u128]| {
            numbers.iter().map(|number| PersonId::at(moment(), *number)).collect::<Vec<_>>()
        };
        let traces = Traces {
            persons: persons(&[1, 2]),
            notes: Vec::new(),
            emails: vec!["a".to_owned(), "b".to_owned()],
        };
        let known =
            Traces { persons: persons(&[2]), notes: Vec::new(), emails: vec!["b".to_owned()] };
        let beside = traces.beside(&known);
        assert_eq!((beside.persons, beside.emails), (persons(&[1]), vec!["a".to_owned()]));
        assert!(traces.beside(&traces).hints().is_empty());
    }
}
