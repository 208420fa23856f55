//! Values that a provider has and that differ from what a caller wrote, for somebody to decide
//! about.

use slated_model::clock::Timestamp;
use slated_model::enrichment::Field;
use slated_model::enrichment::proposal::ProposalState;
use slated_model::id::{self, KeyId, PersonId, ProposalId, WorkspaceId};
use slated_model::listing::Page;

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::pagination::{Conditions, PageResult, list_counted};
use crate::records::{bytes_in, named_in};
use crate::tx::{Asked, Tx};

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Proposal {
    pub id: ProposalId,
    pub person: PersonId,
    pub field: Field,
    /// JSON.
    pub value: String,
    pub value_hash: [u8; 16],
    pub proposer: Proposer,
    pub state: ProposalState,
    pub created_at: Timestamp,
    /// When it was accepted, rejected or superseded.
    pub decided_at: Option<Timestamp>,
    /// The key that decided; none if another took its place, or on the command line.
    pub key_id: Option<KeyId>,
}

/// Who has another value: a provider of enrichment, or whoever pushed a person who was there
/// already.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Proposer {
    /// Empty for a caller.
    pub provider: String,
    pub key: Option<KeyId>,
}

impl Proposer {
    #[must_use]
    pub fn provider(name: &str) -> Self {
        Self { provider: name.to_owned(), key: None }
    }

    #[must_use]
    pub const fn caller(key: Option<KeyId>) -> Self {
        Self { provider: String::new(), key }
    }

    #[must_use]
    pub const fn is_caller(&self) -> bool {
        self.provider.is_empty()
    }
}

const SELECT: &str = "SELECT q.id, q.person_id, q.field, q.value, q.value_hash, q.provider, \
                      q.state, q.created_at, q.decided_at, \
                      q.key_id, q.proposed_by FROM proposal q";

fn proposal(row: &Row<'_>) -> Result<Proposal, StoreError> {
    Ok(Proposal {
        id: row.id(0)?,
        person: row.id(1)?,
        field: named_in(row, 2, "the field of a proposal", Field::parse)?,
        value: row.text(3)?,
        value_hash: bytes_in(row, 4)?,
        proposer: Proposer { provider: row.text(5)?, key: row.optional_id(10)? },
        state: named_in(row, 6, "the state of a proposal", ProposalState::parse)?,
        created_at: row.time(7)?,
        decided_at: row.optional_time(8)?,
        key_id: row.optional_id(9)?,
    })
}

pub async fn insert(
    tx: &mut Tx,
    workspace: WorkspaceId,
    proposal: &Proposal,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO proposal (workspace_id, id, person_id, field, value, value_hash, \
               provider, state, created_at, decided_at, \
               key_id, proposed_by) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)";
    let Proposal {
        id,
        person,
        field,
        value,
        value_hash,
        proposer,
        state,
        created_at,
        decided_at,
        key_id,
    } = proposal;
    let params = [
        workspace.into(),
        (*id).into(),
        (*person).into(),
        field.name().into(),
        value.into(),
        Param::Bytes(value_hash),
        (&proposer.provider).into(),
        state.name().into(),
        (*created_at).into(),
        (*decided_at).into(),
        (*key_id).into(),
        proposer.key.into(),
    ];
    tx.execute_deferred(sql, &params).await
}

pub async fn find(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: ProposalId,
) -> Result<Option<Proposal>, StoreError> {
    let sql = format!("{SELECT} WHERE q.workspace_id = ?1 AND q.id = ?2");
    tx.row(&sql, params![workspace, id], proposal).await
}

/// The proposal, kept from others until the work is done.
pub async fn load(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: ProposalId,
) -> Result<Option<Proposal>, StoreError> {
    let sql = format!("{SELECT} WHERE q.workspace_id = ?1 AND q.id = ?2");
    tx.row_for_update(&sql, params![workspace, id], proposal).await
}

/// The last proposals about the person, the newest first.
pub async fn of_person(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    limit: i64,
) -> Result<Vec<Proposal>, StoreError> {
    let asked = ask_of_person(tx, workspace, person, limit).await?;
    tx.answer(asked).await
}

pub async fn ask_of_person(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    limit: i64,
) -> Result<Asked<Proposal>, StoreError> {
    let sql = format!(
        "{SELECT} WHERE q.workspace_id = ?1 AND q.person_id = ?2 ORDER BY q.id DESC LIMIT ?3"
    );
    tx.ask(&sql, params![workspace, person, limit], proposal).await
}

/// A page of the proposals of the workspace, perhaps only those in one state.
pub async fn list(
    tx: &mut Tx,
    workspace: WorkspaceId,
    state: Option<ProposalState>,
    page: &Page<id::Proposal>,
) -> Result<PageResult<Proposal>, StoreError> {
    let mut conditions = Conditions::new("q.workspace_id = ?1", vec![workspace.into()]);
    if let Some(state) = state {
        conditions.filter("q.state = {}", state.name());
    }
    list_counted(tx, page, conditions, (SELECT, "FROM proposal q", "q"), proposal).await
}

/// Notes what was decided, and by whom.
pub async fn decide(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: ProposalId,
    state: ProposalState,
    key: Option<KeyId>,
) -> Result<(), StoreError> {
    let sql = "UPDATE proposal SET state = ?3, decided_at = ?4, key_id = ?5 WHERE workspace_id = \
        ?1 AND id = ?2";
    tx.execute_deferred(sql, params![workspace, id, state.name(), tx.now(), key]).await
}

/// They propose another value for the field: nobody has to decide about the one before any more.
pub async fn supersede_open(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    field: Field,
    proposer: &Proposer,
) -> Result<(), StoreError> {
    // Of providers the last counts; callers do not speak for each other.
    let sql = "UPDATE proposal SET state = 'superseded', decided_at = ?4 \
               WHERE workspace_id = ?1 AND person_id = ?2 AND field = ?3 AND state = 'open'";
    let (field, now) = (field.name(), tx.now());
    if !proposer.is_caller() {
        return tx
            .execute_deferred(
                &format!("{sql} AND provider <> ''"),
                params![workspace, person, field, now],
            )
            .await;
    }
    let sql = format!("{sql} AND provider = '' AND proposed_by IS NOT DISTINCT FROM ?5");
    tx.execute_deferred(&sql, params![workspace, person, field, now, proposer.key]).await
}

/// A value that another had taken the place of is proposed again. One that was decided stays so.
pub async fn reopen_superseded(
    tx: &mut Tx,
    workspace: WorkspaceId,
    id: ProposalId,
) -> Result<(), StoreError> {
    let sql = "UPDATE proposal SET state = 'open', decided_at = NULL WHERE workspace_id = ?1 AND \
        id = ?2 AND state = 'superseded'";
    tx.execute_deferred(sql, params![workspace, id]).await
}
