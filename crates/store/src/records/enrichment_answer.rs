//! What providers said of a person, the last answer of each, so that nobody is asked the same
//! twice.

use slated_model::clock::Timestamp;
use slated_model::id::{PersonId, WorkspaceId};

use crate::driver::param::Param;
use crate::error::StoreError;
use crate::params;
use crate::records::bytes_in;
use crate::tx::Tx;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct KeptAnswer {
    pub provider: String,
    pub asked_at: Timestamp,
    /// The hash of what was asked.
    pub question: [u8; 32],
    /// JSON; none if the provider knew nobody.
    pub profile: Option<String>,
}

/// In the order of the providers' names.
pub async fn of_person(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Vec<KeptAnswer>, StoreError> {
    let sql = "SELECT provider, asked_at, question, profile FROM enrichment_answer WHERE \
               workspace_id = ?1 AND person_id = ?2 \
               ORDER BY provider";
    tx.rows(sql, params![workspace, person], |row| {
        Ok(KeptAnswer {
            provider: row.text(0)?,
            asked_at: row.time(1)?,
            question: bytes_in(row, 2)?,
            profile: row.optional_text(3)?,
        })
    })
    .await
}

/// Lets the answers to one question count for another: the person has more now, by those very
/// answers.
pub async fn carry_over(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    from: [u8; 32],
    to: [u8; 32],
) -> Result<(), StoreError> {
    let sql = "UPDATE enrichment_answer SET question = ?4 WHERE workspace_id = ?1 AND person_id = \
        ?2 AND question = ?3";
    tx.execute_deferred(
        sql,
        &[workspace.into(), person.into(), Param::Bytes(&from), Param::Bytes(&to)],
    )
    .await
}

/// Keeps an answer in the place of the one before.
pub async fn keep(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    answer: &KeptAnswer,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO enrichment_answer (workspace_id, person_id, provider, asked_at, \
               question, profile) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (workspace_id, person_id, provider) DO \
               UPDATE SET \
               asked_at = excluded.asked_at, question = excluded.question, profile = \
               excluded.profile";
    let KeptAnswer { provider, asked_at, question, profile } = answer;
    let params = [
        workspace.into(),
        person.into(),
        provider.into(),
        (*asked_at).into(),
        Param::Bytes(question),
        profile.as_deref().into(),
    ];
    tx.execute_deferred(sql, &params).await
}
