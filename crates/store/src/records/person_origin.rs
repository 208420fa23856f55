//! Which changes the values of a person come from. Events tell of the newest; what forgotten ones
//! told is kept.

use std::collections::HashMap;
use std::ops::ControlFlow;

use slated_model::event::Event;
use slated_model::id::{Person, PersonId, WorkspaceId};
use slated_model::origin::{Kept, Origins};

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::params;
use crate::records::events::reading;
use crate::records::{places, with_ids};
use crate::tx::Tx;

/// Where the values of a person come from; older changes are not looked at where those of `names`
/// are known.
pub async fn of_person(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
    names: &[&str],
) -> Result<Origins, StoreError> {
    let mut origins = Origins::default();
    let is_known = |origins: &Origins| origins.settle(names.iter().copied());
    let is_all = reading::look_back(tx, workspace, person, |event| {
        origins.look_at(event);
        if is_known(&origins) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })
    .await?;
    if is_all {
        origins.go_on_with(kept(tx, workspace, person).await?);
    }
    Ok(origins)
}

/// What forgotten events told.
pub async fn kept(
    tx: &mut Tx,
    workspace: WorkspaceId,
    person: PersonId,
) -> Result<Origins, StoreError> {
    let sql = "SELECT changes FROM person_origin WHERE workspace_id = ?1 AND person_id = ?2";
    Ok(tx.row(sql, params![workspace, person], |row| read(row, 0)).await?.unwrap_or_default())
}

fn read(row: &Row<'_>, column: usize) -> Result<Origins, StoreError> {
    match row.is_null(column)? {
        true => Ok(Origins::default()),
        false => Ok(Origins::from_kept(row.json::<Vec<Kept>>(column)?)),
    }
}

/// Keeps what events tell that are being forgotten, the oldest first. Persons who are gone need it
/// no more.
pub async fn keep(
    tx: &mut Tx,
    workspace: WorkspaceId,
    forgotten: &[Event],
) -> Result<(), StoreError> {
    let mut told = HashMap::<PersonId, Origins>::new();
    for event in forgotten.iter().rev().filter(|event| event.data.is_some()) {
        told.entry(PersonId::from_bytes(event.subject.record)).or_default().look_at(event);
    }
    told.retain(|_, origins| !origins.is_empty());
    if told.is_empty() {
        return Ok(());
    }
    let sql = format!(
        "SELECT p.id, o.changes FROM person p LEFT JOIN person_origin o ON o.workspace_id = \
         p.workspace_id AND o.person_id = p.id \
         WHERE p.workspace_id = ?1 AND p.id IN ({})",
        places(told.len(), 2)
    );
    let persons: Vec<_> = told.keys().copied().collect();
    let known = tx
        .rows(&sql, &with_ids(workspace, &persons), |row| Ok((row.id::<Person>(0)?, read(row, 1)?)))
        .await?;
    for (person, older) in known {
        let Some(mut origins) = told.remove(&person) else { continue };
        origins.go_on_with(older);
        let changes = serde_json::to_string(&origins.to_kept())
            .map_err(|error| StoreError::Internal(error.to_string()))?;
        let sql = "INSERT INTO person_origin (workspace_id, person_id, changes) VALUES (?1, ?2, \
                   ?3) \
                   ON CONFLICT (workspace_id, person_id) DO UPDATE SET changes = excluded.changes";
        tx.execute_deferred(sql, params![workspace, person, Param::Json(&changes)]).await?;
    }
    Ok(())
}
