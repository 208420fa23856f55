//! The index of words. Every word in it begins with its workspace, so that nothing is found, or
//! takes time, because of others.
//!
//! The engines have an index of words each in their own way: SQLite a table of FTS5, which must be
//! told what a document was before it can leave, and PostgreSQL vectors of words. What is a word,
//! and how much it says, is decided before it comes here.
//!
//! What very many have takes both long to gather; so whoever is indexed here gets into the
//! [segments](super::segments) too. Servers of older versions know nothing of those; so words on
//! PostgreSQL say that they are meant for them, and others are indexed anew.

use slated_model::clock::Timestamp;
use slated_model::id::{CompanyId, PersonId, WorkspaceId};
use slated_model::search::{Answer, Changed, Question, Weight, phone_token};

use crate::driver::row::Row;
use crate::driver::sqlite::fts_changes::FtsChange;
use crate::error::StoreError;
use crate::params;
use crate::records::search::found::documents_of;
use crate::records::search::segments;
use crate::records::statement::{Values, list_of_ids};
use crate::tx::{Asked, Tx};

/// Stands among words on PostgreSQL that were put into the tail of the segments.
const IN_SEGMENTS: &str = "=s";
/// The condition that they were not. An index of those, and no other, leads to them by
/// `workspace_id + 0`.
const UNKNOWN: &str = "NOT words @@ '''=s'''::tsquery";

/// What an engine is asked for: some condition on the words of a person.
pub(crate) struct Wanted(String);

impl Wanted {
    /// All words of the question, in fields that say at least so much; as they are, or as
    /// beginnings too.
    pub(crate) fn words(
        tx: &Tx,
        workspace: WorkspaceId,
        question: &Question,
        least: Weight,
        are_whole: bool,
    ) -> Self {
        let (and, or) = if tx.is_embedded() { (" AND ", " OR ") } else { (" & ", " | ") };
        let every = question.asked(least).map(|(tokens, is_beginning)| {
            let any: Vec<_> = tokens
                .iter()
                .map(|token| token_in(tx, workspace, token, is_beginning && !are_whole))
                .collect();
            format!("({})", any.join(or))
        });
        Self(every.collect::<Vec<_>>().join(and))
    }

    /// The condition that the person in a column of ids meets it, with `{}` where the text goes.
    pub(crate) fn condition(&self, tx: &Tx, column: &str) -> String {
        let having = match tx.is_embedded() {
            true => {
                "search_word JOIN search_document d ON d.number = search_word.rowid WHERE \
                 search_word MATCH {}"
            }
            false => "search_document d WHERE d.words @@ CAST({} AS text)::tsquery",
        };
        format!("{column} IN (SELECT d.person_id FROM {having} AND d.workspace_id = ?1)")
    }

    pub(crate) fn text(&self) -> &str {
        &self.0
    }

    pub(crate) fn phone(tx: &Tx, workspace: WorkspaceId, number: &str) -> Self {
        Self(token_in(tx, workspace, &phone_token(number), false))
    }

    /// That the words in a column of PostgreSQL meet it.
    fn is_met_by<'p>(&'p self, column: &str, values: &mut Values<'p>) -> String {
        format!("{column} @@ CAST({} AS text)::tsquery", values.place(&self.0))
    }
}

fn token_in(tx: &Tx, workspace: WorkspaceId, token: &str, is_beginning: bool) -> String {
    match (tx.is_embedded(), is_beginning) {
        (true, true) => format!("\"{workspace}{token}\" *"),
        (true, false) => format!("\"{workspace}{token}\""),
        (false, true) => format!("'{workspace}{token}':*"),
        (false, false) => format!("'{workspace}{token}'"),
    }
}

/// A select of columns of the documents `d` of the persons in the workspace who have what is
/// wanted.
pub(crate) fn having<'p>(
    tx: &Tx,
    columns: &str,
    wanted: &'p Wanted,
    values: &mut Values<'p>,
) -> String {
    if !tx.is_embedded() {
        return format!(
            "SELECT {columns} FROM search_document d WHERE {} AND d.workspace_id = ?1",
            wanted.is_met_by("d.words", values)
        );
    }
    format!(
        "SELECT {columns} FROM search_word JOIN search_document d ON d.number = search_word.rowid \
         WHERE search_word MATCH {} AND d.workspace_id = ?1",
        values.place(&wanted.0)
    )
}

/// Says how well persons answer a question. PostgreSQL compares by itself; of an embedded engine
/// all that is indexed of a person is taken, and compared here.
pub(crate) struct Weighing<'q> {
    question: &'q Question,
    is_embedded: bool,
    /// For each weight the words where they say at least so much, as they are and as beginnings
    /// too.
    words: Vec<[Wanted; 2]>,
}

impl<'q> Weighing<'q> {
    pub(crate) fn new(tx: &Tx, workspace: WorkspaceId, question: &'q Question) -> Self {
        let words = |least| {
            [true, false].map(|are_whole| Wanted::words(tx, workspace, question, least, are_whole))
        };
        Self {
            question,
            is_embedded: tx.is_embedded(),
            words: Weight::ALL.into_iter().map(words).collect(),
        }
    }

    /// What is selected of persons `found`.
    pub(crate) fn columns<'p>(&'p self, values: &mut Values<'p>) -> String {
        if self.is_embedded {
            return "found.person_id, found.words".to_owned();
        }
        // Whoever is found has all of the words, so that the last case needs no look.
        let last = self.words.len() * 2 - 1;
        let cases = self.words.iter().flatten().take(last).enumerate();
        let cases: Vec<_> = cases
            .map(|(number, words)| {
                format!("WHEN {} THEN {number}", words.is_met_by("found.words", values))
            })
            .collect();
        format!("found.person_id, CAST(CASE {} ELSE {last} END AS bigint)", cases.join(" "))
    }

    /// The condition that persons `found` have all of the words.
    pub(crate) fn condition<'p>(&'p self, values: &mut Values<'p>) -> Option<String> {
        (!self.is_embedded)
            .then(|| self.words[Weight::Other as usize][1].is_met_by("found.words", values))
    }

    /// What is selected of persons `found`, and the condition that they answer so well at least.
    pub(crate) fn answering<'p>(
        &'p self,
        answer: Answer,
        values: &mut Values<'p>,
    ) -> (&'static str, Option<String>) {
        match self.is_embedded {
            true => ("found.person_id, found.words", None),
            false => {
                let words = &self.words[answer.weight as usize][usize::from(answer.is_partial)];
                ("found.person_id", Some(words.is_met_by("found.words", values)))
            }
        }
    }

    /// The person of such a row; nothing if they do not answer so.
    pub(crate) fn is_answering(
        &self,
        row: &Row<'_>,
        answer: Answer,
    ) -> Result<Option<PersonId>, StoreError> {
        let answers = !self.is_embedded || self.question.answer_in(row.str(1)?) == Some(answer);
        Ok(answers.then_some(row.id(0)?))
    }

    /// The person of a row, and how well they answer; nothing if they lack a word.
    pub(crate) fn read(&self, row: &Row<'_>) -> Result<Option<(Answer, PersonId)>, StoreError> {
        let answer = match self.is_embedded {
            true => self.question.answer_in(row.str(1)?),
            false => {
                let number = usize::try_from(row.int(1)?).unwrap_or(0);
                Weight::ALL
                    .get(number / 2)
                    .map(|weight| Answer { weight: *weight, is_partial: number % 2 == 1 })
            }
        };
        Ok(answer.zip(Some(row.id(0)?)))
    }
}

/// What is indexed of a person.
pub(crate) struct Source {
    pub(crate) id: PersonId,
    pub(crate) tokens: String,
    pub(crate) company: Option<CompanyId>,
}

/// The tokens of those persons, each of whom is there once, in the order of their ids, with whom
/// employs them; of whoever is not indexed, nothing.
pub(crate) async fn tokens_of(
    tx: &mut Tx,
    workspace: WorkspaceId,
    persons: &[PersonId],
) -> Result<Vec<Source>, StoreError> {
    let (prefix, tokens, ids) = match tx.is_embedded() {
        true => (String::new(), "found.words", "SELECT unhex(value) AS id FROM json_each(?2)"),
        false => (
            workspace.to_string(),
            "array_to_string(tsvector_to_array(found.words), ' ')",
            "SELECT id FROM unnest(CAST(CAST(?2 AS text) AS uuid[])) AS given (id)",
        ),
    };
    let sql = format!(
        "SELECT found.person_id, {tokens}, (SELECT company_id FROM person WHERE workspace_id = ?1 \
         AND id = found.person_id) FROM {} ORDER BY found.person_id",
        documents_of(tx, ids)
    );
    let source = |row: &Row<'_>| {
        let mut tokens = String::with_capacity(row.str(1)?.len());
        for token in row.str(1)?.split(' ').filter_map(|token| token.strip_prefix(prefix.as_str()))
        {
            tokens.push_str(token);
            tokens.push(' ');
        }
        Ok(Source { id: row.id(0)?, tokens, company: row.optional_id(2)? })
    };
    let listed = list_of_ids(tx, persons);
    tx.rows(&sql, params![workspace, &listed], source).await
}

/// Indexes a person who is new.
pub async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    tokens: &str,
) -> Result<(), StoreError> {
    segments::add_to_tail(tx, workspace, person).await?;
    if !tx.is_embedded() {
        return put_vector(tx, workspace, person, tokens, "").await;
    }
    let sql = "INSERT INTO search_document (workspace_id, person_id, words) VALUES (?1, ?2, ?3)";
    let document = tx.number_inserted(sql, params![workspace, person, tokens])?;
    tx.fts_changes().add(FtsChange {
        document,
        removed: None,
        added: Some(in_workspace(workspace, tokens)),
    });
    Ok(())
}

/// Indexes a person anew.
pub async fn replace(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    tokens: &str,
) -> Result<(), StoreError> {
    if !tx.is_embedded() {
        segments::put_in_tail(tx, workspace, person).await?;
        let instead = " ON CONFLICT (workspace_id, person_id) DO UPDATE SET words = EXCLUDED.words";
        return put_vector(tx, workspace, person, tokens, instead).await;
    }
    match kept(tx, workspace, person).await? {
        None => insert(tx, workspace, person, tokens).await,
        Some((document, old)) => {
            put(tx, workspace, person, document, Changed::to(&old, tokens)).await
        }
    }
}

/// Whether a person can be indexed by what changed of them. PostgreSQL indexes all words of a row
/// anew whatever changed.
pub const fn takes_changes(tx: &Tx) -> bool {
    tx.is_embedded()
}

/// Lets the tokens of some of a person's texts leave and others enter, as [`Changed::of`] says;
/// false if the person is not indexed, or not as they were.
pub async fn change(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    before: &str,
    after: &str,
) -> Result<bool, StoreError> {
    let Some((document, old)) = kept(tx, workspace, person).await? else { return Ok(false) };
    let Some(changed) = Changed::of(&old, before, after) else { return Ok(false) };
    put(tx, workspace, person, document, changed).await?;
    Ok(true)
}

async fn put(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    document: i64,
    changed: Changed,
) -> Result<(), StoreError> {
    let Changed { tokens, removed, added } = changed;
    if !removed.is_empty() || !added.is_empty() {
        tx.execute_deferred(
            "UPDATE search_document SET words = ?2 WHERE number = ?1",
            params![document, &tokens],
        )
        .await?;
        let [removed, added] =
            [removed, added].map(|tokens| Some(in_workspace(workspace, &tokens)));
        tx.fts_changes().add(FtsChange { document, removed, added });
    }
    // They may have another employer of the same name.
    segments::put_in_tail(tx, workspace, person).await
}

/// Takes a person out of the index.
pub async fn remove(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<(), StoreError> {
    if tx.is_embedded()
        && let Some((document, old)) = kept(tx, workspace, person).await?
    {
        tx.fts_changes().add(FtsChange {
            document,
            removed: Some(in_workspace(workspace, &old)),
            added: None,
        });
    }
    tx.execute_deferred(
        "DELETE FROM search_document WHERE workspace_id = ?1 AND person_id = ?2",
        params![workspace, person],
    )
    .await?;
    segments::leave_tail(tx, workspace, person).await?;
    unqueue(tx, workspace, person).await
}

async fn kept(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Option<(i64, String)>, StoreError> {
    let sql =
        "SELECT number, words FROM search_document WHERE workspace_id = ?1 AND person_id = ?2";
    tx.row(sql, params![workspace, person], |row| Ok((row.int(0)?, row.text(1)?))).await
}

/// The tokens with the workspace before each of them.
fn in_workspace(workspace: WorkspaceId, tokens: &str) -> String {
    let digits = workspace.to_string();
    let mut marked = String::with_capacity(tokens.len() * 3);
    for token in tokens.split(' ').filter(|token| !token.is_empty()) {
        for part in [&digits, token, " "] {
            marked.push_str(part);
        }
    }
    marked
}

async fn put_vector(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    tokens: &str,
    instead: &str,
) -> Result<(), StoreError> {
    let words = in_workspace(workspace, tokens) + IN_SEGMENTS;
    let sql = format!(
        "INSERT INTO search_document (workspace_id, person_id, words) VALUES (?1, ?2, ?3){instead}"
    );
    tx.execute_deferred(&sql, params![workspace, person, &words]).await
}

/// Lets the persons of a company be indexed anew, for instance under its new name.
pub async fn mark_company(
    tx: &mut Tx,
    workspace: WorkspaceId,
    company: CompanyId,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO search_queue (workspace_id, person_id) SELECT workspace_id, id FROM \
               person WHERE workspace_id = ?1 AND company_id = ?2 \
               ORDER BY id ON CONFLICT (workspace_id, person_id) DO UPDATE SET person_id = \
               EXCLUDED.person_id";
    tx.execute_deferred(sql, params![workspace, company]).await
}

/// Asks for some of the persons whose words are to be taken anew.
pub async fn ask_queued(
    tx: &mut Tx,
    workspace: WorkspaceId,
    most: i64,
) -> Result<Asked<PersonId>, StoreError> {
    let sql =
        "SELECT person_id FROM search_queue WHERE workspace_id = ?1 ORDER BY person_id LIMIT ?2";
    tx.ask(sql, params![workspace, most], |row| row.id(0)).await
}

/// Asks for the next of the persons whom the segments know nothing of, behind the last whom they
/// got to know: those are in the engine's way for a while.
pub async fn ask_unknown(
    tx: &mut Tx,
    workspace: WorkspaceId,
    behind: Option<PersonId>,
    most: i64,
) -> Result<Asked<PersonId>, StoreError> {
    if tx.is_embedded() {
        return Ok(Asked::known(Vec::new()));
    }
    let behind = behind.unwrap_or(PersonId::from_bytes([0; 16]));
    let sql = format!(
        "SELECT person_id FROM search_document WHERE workspace_id + 0 = ?1 AND person_id > ?2 AND \
         {UNKNOWN} ORDER BY person_id LIMIT ?3"
    );
    tx.ask(&sql, params![workspace, behind, most], |row| row.id(0)).await
}

/// The person's words were taken.
pub async fn unqueue(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<(), StoreError> {
    tx.execute_deferred(
        "DELETE FROM search_queue WHERE workspace_id = ?1 AND person_id = ?2",
        params![workspace, person],
    )
    .await
}

/// The workspaces with persons whose words are to be taken anew.
pub async fn waiting(tx: &mut Tx) -> Result<Vec<WorkspaceId>, StoreError> {
    tx.rows("SELECT DISTINCT workspace_id FROM search_queue", &[], |row| row.workspace(0)).await
}

/// The next workspace, in the order of their numbers, with persons whom the segments know nothing
/// of.
pub async fn unknown_workspace(
    tx: &mut Tx,
    behind: Option<WorkspaceId>,
) -> Result<Option<WorkspaceId>, StoreError> {
    if tx.is_embedded() {
        return Ok(None);
    }
    let behind = behind.unwrap_or(WorkspaceId::from_number(i64::MIN));
    let sql = format!(
        "SELECT workspace_id + 0 FROM search_document WHERE workspace_id + 0 > ?1 AND {UNKNOWN} \
         ORDER BY workspace_id + 0 LIMIT 1"
    );
    tx.row(&sql, params![behind], |row| row.workspace(0)).await
}

/// Puts new words where they are found quickly. PostgreSQL lets them gather first; an embedded
/// engine does not.
pub async fn tidy(tx: &mut Tx) -> Result<(), StoreError> {
    match tx.is_embedded() {
        true => Ok(()),
        false => {
            let sql = "SELECT gin_clean_pending_list('search_document_by_word'::regclass)";
            tx.row(sql, &[], |_| Ok(())).await.map(|_| ())
        }
    }
}

/// Takes somebody out of the index who is erased, and all who went into them, and lets the words
/// that left it be wiped out of its pages soon. PostgreSQL does that by itself, by and by.
pub async fn erase(
    tx: &mut Tx,
    workspace: WorkspaceId,
    persons: &[PersonId],
) -> Result<(), StoreError> {
    // First, so that no segment is stored meanwhile that has their words.
    segments::begin_generation(tx, workspace).await?;
    for person in persons {
        remove(tx, workspace, *person).await?;
    }
    segments::forget(tx, workspace, persons).await?;
    match tx.is_embedded() {
        true => {
            tx.execute_deferred(
                "INSERT OR REPLACE INTO search_merge (wanted_at) VALUES (?1)",
                params![tx.now()],
            )
            .await
        }
        false => Ok(()),
    }
}

/// When that was last wanted.
pub async fn merge_wanted(tx: &mut Tx) -> Result<Option<Timestamp>, StoreError> {
    match tx.is_embedded() {
        true => {
            tx.row(
                "SELECT wanted_at FROM search_merge ORDER BY wanted_at DESC LIMIT 1",
                &[],
                |row| row.time(0),
            )
            .await
        }
        false => Ok(None),
    }
}

/// Merges some more pages of the index as it was when that was wanted, from the start if that is
/// the first time; false once there is nothing to merge.
pub async fn merge(tx: &mut Tx, wanted_at: Timestamp, is_first: bool) -> Result<bool, StoreError> {
    const PAGES: i64 = 256;
    if !tx.is_embedded() {
        return Ok(false);
    }
    let pages = if is_first { -PAGES } else { PAGES };
    let merged = tx.changes_of(
        "INSERT INTO search_word (search_word, rank) VALUES ('merge', ?1)",
        params![pages],
    )?;
    // Telling so is itself one change.
    if merged < 2 {
        tx.execute_deferred("DELETE FROM search_merge WHERE wanted_at <= ?1", params![wanted_at])
            .await?;
        tx.truncate_wal_after_commit();
        return Ok(false);
    }
    Ok(true)
}
