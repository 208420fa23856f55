//! Changing a job.

use slated_model::id::{JobId, WorkspaceId};
use slated_model::job::JobPatch;
use slated_model::problem::Problem;
use slated_model::stage::Stage;
use slated_store::records::job;
use slated_store::records::job::JobView;
use slated_store::{Operation, OperationError, Tx};

use crate::etag::Precondition;
use crate::jobs::create::{find_or_make_client, find_status};
use crate::{Actor, emit};

pub struct UpdateJob {
    pub actor: Actor,
    pub id: JobId,
    pub patch: JobPatch,
    pub precondition: Precondition,
}

impl Operation for UpdateJob {
    type Output = (JobView, Vec<Stage>);

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let Self { actor, id, patch, precondition } = self;
        let workspace = actor.workspace;
        let missing = || Problem::not_found("job", id);
        let before = job::load(tx, workspace, *id).await?.ok_or_else(missing)?;
        if precondition.needs_tag() {
            precondition.check(&job::view(tx, workspace, *id).await?.ok_or_else(missing)?)?;
        }
        let mut updated = before.clone();
        if let Some(name) = &patch.name {
            updated.name.clone_from(name);
        }
        if let Some(is_archived) = patch.is_archived {
            updated.is_archived = is_archived;
        }
        if patch.status.id.is_some() || patch.status.name.is_some() {
            updated.status_id = find_status(tx, workspace, &patch.status).await?;
        }
        if patch.client.is_given() {
            updated.company_id = find_or_make_client(tx, actor, &patch.client).await?;
        }
        let kept = job::view(tx, workspace, *id).await?.ok_or_else(missing)?;
        if updated == before {
            return Ok(kept);
        }
        job::update(tx, workspace, &updated).await?;
        let view = job::view(tx, workspace, *id).await?.ok_or_else(missing)?;
        emit::job_updated(tx, actor, &kept.0, &view.0).await?;
        Ok(view)
    }
}
