use slated_model::clock::Timestamp;
use slated_model::id::{self, KeyId, NoteId, PersonId, WorkspaceId};
use slated_model::listing::{Page, TimeFilter};

use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::pagination::{Conditions, PageResult, list_counted};
use crate::records::statement::{among, list_of_ids};
use crate::tx::{Asked, Tx};

/// Notes of a person that are searched, and what of each.
const SEARCHED_NOTES: usize = 50;
const SEARCHED_CHARACTERS: usize = 8192;

/// What of a note is searched.
pub fn searched(body: &str) -> &str {
    body.char_indices().nth(SEARCHED_CHARACTERS).map_or(body, |(end, _)| &body[..end])
}

/// Something that was written down about a person.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Note {
    pub id: NoteId,
    pub body: String,
    /// The key that wrote it; none on the command line.
    pub key_id: Option<KeyId>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

const SELECT: &str = "SELECT n.id, n.body, n.key_id, n.created_at, n.updated_at FROM note n";

fn note(row: &Row<'_>) -> Result<Note, StoreError> {
    Ok(Note {
        id: row.id(0)?,
        body: row.text(1)?,
        key_id: row.optional_id(2)?,
        created_at: row.time(3)?,
        updated_at: row.time(4)?,
    })
}

pub async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    key: Option<KeyId>,
    body: &str,
) -> Result<NoteId, StoreError> {
    let id = tx.new_id();
    let sql = "INSERT INTO note (workspace_id, person_id, id, body, key_id, created_at, \
        updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)";
    tx.execute_deferred(sql, params![workspace, person, id, body, key, tx.now()]).await?;
    Ok(id)
}

/// Asks for a note of the person that is exactly that text.
pub async fn ask_like(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    body: &str,
) -> Result<Asked<NoteId>, StoreError> {
    let sql =
        "SELECT id FROM note WHERE workspace_id = ?1 AND person_id = ?2 AND body = ?3 LIMIT 1";
    tx.ask(sql, params![workspace, person, body], |row| row.id(0)).await
}

pub async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    id: NoteId,
) -> Result<Option<Note>, StoreError> {
    let sql = format!("{SELECT} WHERE n.workspace_id = ?1 AND n.person_id = ?2 AND n.id = ?3");
    tx.row(&sql, params![workspace, person, id], note).await
}

pub async fn update(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    id: NoteId,
    body: &str,
) -> Result<(), StoreError> {
    let sql = "UPDATE note SET body = ?4, updated_at = ?5 WHERE workspace_id = ?1 AND person_id = \
        ?2 AND id = ?3";
    tx.execute_deferred(sql, params![workspace, person, id, body, tx.now()]).await
}

pub async fn delete(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    id: NoteId,
) -> Result<(), StoreError> {
    let sql = "DELETE FROM note WHERE workspace_id = ?1 AND person_id = ?2 AND id = ?3";
    tx.execute_deferred(sql, params![workspace, person, id]).await
}

/// Whether the person has that many notes already.
pub async fn are_at_least(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    many: i64,
) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM note WHERE workspace_id = ?1 AND person_id = ?2 ORDER BY id LIMIT 1 \
        OFFSET ?3";
    Ok(tx.row(sql, params![workspace, person, many - 1], |_| Ok(())).await?.is_some())
}

/// Some of the notes on the person, the oldest first, behind one of them.
pub async fn behind(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    behind: Option<NoteId>,
    limit: i64,
) -> Result<Vec<Note>, StoreError> {
    let behind = behind.unwrap_or(NoteId::from_bytes([0; 16]));
    let sql = format!(
        "{SELECT} WHERE n.workspace_id = ?1 AND n.person_id = ?2 AND n.id > ?3 ORDER BY n.id \
         LIMIT ?4"
    );
    tx.rows(&sql, params![workspace, person, behind, limit], note).await
}

/// The last notes on the person, the newest first.
pub async fn newest(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    limit: i64,
) -> Result<Vec<Note>, StoreError> {
    let sql = format!(
        "{SELECT} WHERE n.workspace_id = ?1 AND n.person_id = ?2 ORDER BY n.id DESC LIMIT ?3"
    );
    tx.rows(&sql, params![workspace, person, limit], note).await
}

/// A page of the notes on the person.
pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    times: &TimeFilter,
    page: &Page<id::Note>,
) -> Result<PageResult<Note>, StoreError> {
    let mut conditions = Conditions::new(
        "n.workspace_id = ?1 AND n.person_id = ?2",
        vec![workspace.into(), person.into()],
    );
    conditions.filter_times("n", times);
    list_counted(tx, page, conditions, (SELECT, "FROM note n", "n"), note).await
}

/// What search looks at of the notes of those persons: how the newest of each begin, the newest
/// first.
pub async fn bodies(
    tx: &mut Tx,
    workspace: WorkspaceId,
    persons: &[PersonId],
) -> Result<Vec<(PersonId, String)>, StoreError> {
    let begins = format!("SELECT person_id, substr(body, 1, {SEARCHED_CHARACTERS}) FROM");
    let body = |row: &Row<'_>| Ok((row.id(0)?, row.text(1)?));
    if let [person] = persons {
        // As nearly always, and much less for an engine to set up.
        let sql = format!(
            "{begins} note WHERE workspace_id = ?1 AND person_id = ?2 ORDER BY id DESC LIMIT \
             {SEARCHED_NOTES}"
        );
        return tx.rows(&sql, params![workspace, *person], body).await;
    }
    let sql = format!(
        "{begins} (SELECT person_id, body, id, ROW_NUMBER() OVER (PARTITION BY person_id ORDER BY \
         id DESC) AS place FROM note \
         WHERE workspace_id = ?1 AND {}) newest WHERE place <= {SEARCHED_NOTES} ORDER BY \
         person_id, id DESC",
        among(tx, "person_id", "?2")
    );
    tx.rows(&sql, params![workspace, &list_of_ids(tx, persons)], body).await
}
