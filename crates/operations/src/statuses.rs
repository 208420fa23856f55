//! The statuses that the jobs of a workspace may have: listed, made and renamed.

use serde::Serialize;
use slated_model::event::{EventType, Subject};
use slated_model::id::{StatusId, WorkspaceId};
use slated_model::problem::{ErrorCode, Problem};
use slated_model::status::{JobStatus, MAX_STATUSES};
use slated_model::text::comparison_key;
use slated_store::records::{status, workspace};
use slated_store::{Operation, OperationError, StoreError, Tx};

use super::Actor;
use super::emit::{Empty, EventData, differences, emit};

/// A status as events show it.
#[derive(Serialize)]
struct StatusFields<'s> {
    name: &'s str,
    position: i64,
}

impl<'s> StatusFields<'s> {
    fn of(status: &'s JobStatus) -> Self {
        Self { name: &status.name, position: status.position }
    }
}

async fn all(tx: &mut Tx, workspace: WorkspaceId) -> Result<Vec<JobStatus>, StoreError> {
    let statuses = status::all(tx, workspace).await?;
    Ok((1..).zip(statuses).map(|(position, (id, name))| JobStatus { id, name, position }).collect())
}

/// Refuses a name that one of the others has.
fn check_name<'s>(
    mut others: impl Iterator<Item = &'s JobStatus>,
    name: &str,
) -> Result<(), Problem> {
    match others.find(|status| comparison_key(&status.name) == comparison_key(name)) {
        None => Ok(()),
        Some(other) => Err(Problem::name_taken("job status", &other.name, other.id)),
    }
}

pub struct ListStatuses {
    pub workspace: WorkspaceId,
}

impl Operation for ListStatuses {
    type Output = Vec<JobStatus>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Vec<JobStatus>, OperationError> {
        Ok(all(tx, self.workspace).await?)
    }
}

pub struct CreateStatus {
    pub actor: Actor,
    pub name: String,
}

impl Operation for CreateStatus {
    type Output = JobStatus;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<JobStatus, OperationError> {
        let workspace = self.actor.workspace;
        // So that two at once do not take the same place.
        workspace::lock(tx, workspace).await?;
        let known = all(tx, workspace).await?;
        check_name(known.iter(), &self.name)?;
        if known.len() >= MAX_STATUSES {
            let message = format!(
                "The workspace has {MAX_STATUSES} job statuses, which is the maximum; rename \
                 one of them instead."
            );
            return Err(Problem::new(ErrorCode::TooMany, message).into());
        }
        let position = known.len() as i64 + 1;
        let id = status::insert(tx, workspace, &self.name, position).await?;
        let created = JobStatus { id, name: self.name.clone(), position };
        let told = EventData::new(Empty {}, StatusFields::of(&created));
        emit(tx, &self.actor, EventType::StatusCreated, Subject::of(id), &told).await?;
        Ok(created)
    }
}

pub struct UpdateStatus {
    pub actor: Actor,
    pub id: StatusId,
    pub name: Option<String>,
}

impl Operation for UpdateStatus {
    type Output = JobStatus;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<JobStatus, OperationError> {
        let workspace = self.actor.workspace;
        workspace::lock(tx, workspace).await?;
        let known = all(tx, workspace).await?;
        let before = known
            .iter()
            .find(|status| status.id == self.id)
            .ok_or_else(|| Problem::not_found("job status", self.id))?;
        let mut updated = before.clone();
        if let Some(name) = &self.name {
            check_name(known.iter().filter(|status| status.id != self.id), name)?;
            updated.name.clone_from(name);
        }
        let changes = differences(&StatusFields::of(before), &StatusFields::of(&updated))?;
        let Some((was, is)) = changes else { return Ok(updated) };
        status::rename(tx, workspace, self.id, &updated.name).await?;
        emit(
            tx,
            &self.actor,
            EventType::StatusUpdated,
            Subject::of(self.id),
            &EventData::new(was, is),
        )
        .await?;
        Ok(updated)
    }
}
