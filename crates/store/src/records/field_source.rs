//! The values of a person that came from a provider. They are known by their hashes: as soon as
//! somebody writes another value, they are not found any more.

use slated_model::clock::Timestamp;
use slated_model::enrichment::Field;
use slated_model::id::{KeyId, PersonId, WorkspaceId};

use crate::driver::param::Param;
use crate::error::StoreError;
use crate::params;
use crate::records::{bytes_in, named_in};
use crate::tx::Tx;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct FieldSource {
    pub field: Field,
    pub value_hash: [u8; 16],
    pub provider: String,
    pub set_at: Timestamp,
    /// Who accepted the value, if somebody had to.
    pub key_id: Option<KeyId>,
}

pub async fn of_person(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Vec<FieldSource>, StoreError> {
    let sql = "SELECT field, value_hash, provider, set_at, key_id FROM field_source WHERE \
               workspace_id = ?1 AND person_id = ?2 \
               ORDER BY field, value_hash";
    tx.rows(sql, params![workspace, person], |row| {
        Ok(FieldSource {
            field: named_in(row, 0, "the field of a source", Field::parse)?,
            value_hash: bytes_in(row, 1)?,
            provider: row.text(2)?,
            set_at: row.time(3)?,
            key_id: row.optional_id(4)?,
        })
    })
    .await
}

/// Keeps where values came from. A field with one value has one source; each contact has its own.
pub async fn keep(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    sources: &[FieldSource],
) -> Result<(), StoreError> {
    for FieldSource { field, value_hash, provider, set_at, key_id } in sources {
        if !matches!(field, Field::Emails | Field::Phones) {
            let sql = "DELETE FROM field_source WHERE workspace_id = ?1 AND person_id = ?2 AND \
                field = ?3";
            tx.execute_deferred(sql, params![workspace, person, field.name()]).await?;
        }
        let sql = "INSERT INTO field_source (workspace_id, person_id, field, value_hash, \
                   provider, set_at, key_id) \
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT (workspace_id, person_id, \
                   field, value_hash) DO UPDATE SET \
                   provider = excluded.provider, set_at = excluded.set_at, key_id = \
                   excluded.key_id";
        let params = [
            workspace.into(),
            person.into(),
            field.name().into(),
            Param::Bytes(value_hash),
            provider.into(),
            (*set_at).into(),
            (*key_id).into(),
        ];
        tx.execute_deferred(sql, &params).await?;
    }
    Ok(())
}
