//! Persons as they are compared with each other.

use model::contact::{Channel, Contacts};
use model::duplicate::Profile;
use model::id::{PersonId, WorkspaceId};

use super::{places, with_ids};
use crate::{Row, StoreError, Tx, params};

const SELECT: &str = "SELECT p.id, p.name, p.social_public_id, p.current_job_title, p.company_id, employer.name, p.emails, p.phones \
     FROM person p LEFT JOIN company employer ON employer.workspace_id = p.workspace_id AND employer.id = p.company_id";

fn profile(row: &Row<'_>) -> Result<Profile, StoreError> {
    Ok(Profile {
        id: row.id(0)?,
        name: row.text(1)?,
        handle: row.text(2)?,
        current_job_title: row.text(3)?,
        company_id: row.optional_id(4)?,
        company_name: row.optional_text(5)?.unwrap_or_default(),
        emails: Contacts::from_stored(Channel::Email, row.json(6)?),
        phones: Contacts::from_stored(Channel::Phone, row.json(7)?),
    })
}

/// Some persons in the order of their ids, from one on.
pub async fn profiles_from(tx: &mut Tx, workspace: WorkspaceId, first: PersonId, limit: i64) -> Result<Vec<Profile>, StoreError> {
    let sql = format!("{SELECT} WHERE p.workspace_id = ?1 AND p.id >= ?2 ORDER BY p.id LIMIT ?3");
    tx.rows(&sql, params![workspace, first, limit], profile).await
}

/// Those of the persons who are there.
pub async fn profiles(tx: &mut Tx, workspace: WorkspaceId, ids: &[PersonId]) -> Result<Vec<Profile>, StoreError> {
    let mut found = Vec::with_capacity(ids.len());
    for some in ids.chunks(100) {
        let sql = format!("{SELECT} WHERE p.workspace_id = ?1 AND p.id IN ({})", places(some.len(), 2));
        found.extend(tx.rows(&sql, &with_ids(workspace, some), profile).await?);
    }
    Ok(found)
}
