use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::event::{EventType, Subject};
use slated_model::id::KeyId;
use slated_store::{OperationError, Tx};

use super::event_data::{Empty, EventData, emit};
use crate::Actor;

#[derive(Serialize)]
pub struct KeyFields<'k> {
    pub name: &'k str,
    pub scope: &'static str,
    pub expires_at: Option<Timestamp>,
}

pub async fn key_created(
    tx: &mut Tx,
    actor: &Actor,
    id: KeyId,
    fields: KeyFields<'_>,
) -> Result<(), OperationError> {
    emit(tx, actor, EventType::KeyCreated, Subject::of(id), &EventData::new(Empty {}, fields))
        .await
        .map(|_| ())
}

#[derive(Serialize)]
struct KeyEnd {
    expires_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    replaced_by: Option<KeyId>,
}

pub async fn key_rotated(
    tx: &mut Tx,
    actor: &Actor,
    id: KeyId,
    ended: Option<Timestamp>,
    ends: Timestamp,
    replaced_by: KeyId,
) -> Result<(), OperationError> {
    let before = KeyEnd { expires_at: ended, replaced_by: None };
    let after = KeyEnd { expires_at: Some(ends), replaced_by: Some(replaced_by) };
    emit(tx, actor, EventType::KeyRotated, Subject::of(id), &EventData::new(before, after))
        .await
        .map(|_| ())
}

#[derive(Serialize)]
struct Revoked {
    revoked_at: Timestamp,
}

pub async fn key_revoked(tx: &mut Tx, actor: &Actor, id: KeyId) -> Result<(), OperationError> {
    let told = EventData::new(Empty {}, Revoked { revoked_at: tx.now() });
    emit(tx, actor, EventType::KeyRevoked, Subject::of(id), &told).await.map(|_| ())
}
