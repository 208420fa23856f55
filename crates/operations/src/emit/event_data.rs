//! The shape of an event and writing one.

use serde::Serialize;
use serde_json::{Map, Value};
use slated_model::event::{EventType, Subject};
use slated_model::id::{EventId, JobId, PersonId};
use slated_store::records::events::log::{NewEvent, record};
use slated_store::{OperationError, StoreError, Tx};

use crate::Actor;

/// What an event says: the fields that changed, and who else is concerned.
#[derive(Serialize)]
pub struct EventData<'t, B, A> {
    pub before: B,
    pub after: A,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub person: Option<RecordRef<'t, PersonId>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub job: Option<RecordRef<'t, JobId>>,
}

impl<B, A> EventData<'_, B, A> {
    pub const fn new(before: B, after: A) -> Self {
        Self { before, after, person: None, job: None }
    }
}

/// The side of a record that was not there before or is gone.
#[derive(Serialize)]
pub struct Empty {}

#[derive(Clone, Copy, Serialize)]
pub struct RecordRef<'n, I> {
    pub id: I,
    pub name: &'n str,
}

/// Writes the event, unless the actor leaves none.
pub async fn emit(
    tx: &mut Tx,
    actor: &Actor,
    kind: EventType,
    subject: Subject,
    told: &impl Serialize,
) -> Result<Option<EventId>, OperationError> {
    if actor.is_silent {
        return Ok(None);
    }
    let data =
        serde_json::to_string(told).map_err(|error| StoreError::Internal(error.to_string()))?;
    let new = NewEvent {
        kind,
        subject,
        key_id: actor.key,
        request_id: actor.request_id.as_deref(),
        data: &data,
    };
    Ok(Some(record(tx, actor.workspace, &new).await?))
}

pub(super) type Fields = Map<String, Value>;

pub(super) fn to_value(value: &impl Serialize) -> Result<Value, StoreError> {
    serde_json::to_value(value).map_err(|error| StoreError::Internal(error.to_string()))
}

/// The fields that differ, as they were and as they are; nothing if none does.
pub fn differences(
    before: &impl Serialize,
    after: &impl Serialize,
) -> Result<Option<(Fields, Fields)>, StoreError> {
    let fields = |value: serde_json::Result<Value>| match value {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => {
            Err(StoreError::Internal("the record of an event is not a JSON object".to_owned()))
        }
        Err(error) => Err(StoreError::Internal(error.to_string())),
    };
    let mut before = fields(serde_json::to_value(before))?;
    let mut after = fields(serde_json::to_value(after))?;
    before.retain(|name, value| after.get(name) != Some(value));
    after.retain(|name, value| before.get(name).is_some_and(|before| before != value));
    Ok((!after.is_empty()).then_some((before, after)))
}
