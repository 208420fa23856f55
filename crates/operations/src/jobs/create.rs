//! Opening a job.

use slated_model::id::{CompanyId, StatusId, WorkspaceId};
use slated_model::job::{ClientReference, Job, NewJob, StatusReference};
use slated_model::problem::{ErrorCode, FieldError, FieldErrorCode, Problem};
use slated_model::stage::{NewStage, Stage, default_pipeline};
use slated_model::text::comparison_key;
use slated_store::records::job::JobView;
use slated_store::records::{job, stage, status, template};
use slated_store::{Operation, OperationError, StoreError, Tx};

use crate::companies::{self, find_or_make};
use crate::{Actor, emit};

pub struct CreateJob {
    pub actor: Actor,
    pub new: NewJob,
}

impl Operation for CreateJob {
    type Output = (JobView, Vec<Stage>);

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        let workspace = self.actor.workspace;
        let default = match (&self.new.stages, &self.new.template) {
            (None, None) => Some(template::ask_default(tx, workspace).await?),
            _ => None,
        };
        let status_id = find_status(tx, workspace, &self.new.status).await?;
        let stages = match default {
            Some(asked) => tx.answer(asked).await?.pop().unwrap_or_else(default_pipeline),
            None => self.own_pipeline(tx).await?,
        };
        let company_id = find_or_make_client(tx, &self.actor, &self.new.client).await?;
        let (id, position) = job::next_place(tx, workspace).await?;
        let created =
            Job { id, name: self.new.name.clone(), company_id, status_id, is_archived: false };
        job::insert(tx, workspace, &created, position).await?;
        for (order, new_stage) in (1..).zip(&stages) {
            stage::insert(tx, workspace, id, order, new_stage).await?;
        }
        let (view, stages) =
            job::view(tx, workspace, id).await?.ok_or_else(|| Problem::not_found("job", id))?;
        emit::job_created(tx, &self.actor, &view, &stages).await?;
        Ok((view, stages))
    }
}

impl CreateJob {
    /// The pipeline that the request gives, or that of the template which it names.
    async fn own_pipeline(&self, tx: &mut Tx) -> Result<Vec<NewStage>, OperationError> {
        const FIELD: &str = "pipeline_template_id";
        match (&self.new.stages, &self.new.template) {
            (Some(stages), _) => Ok(stages.clone()),
            (None, Some(reference)) => {
                let id = reference.resolve(FIELD)?;
                let found = template::find(tx, self.actor.workspace, id).await?;
                Ok(found.ok_or_else(|| reference.not_found(FIELD))?.stages)
            }
            (None, None) => Ok(default_pipeline()),
        }
    }
}

/// The client that a request names, by id or else by a name that is made if it is new.
pub async fn find_or_make_client(
    tx: &mut Tx,
    actor: &Actor,
    client: &ClientReference,
) -> Result<CompanyId, OperationError> {
    match (&client.id, &client.name) {
        (Some(reference), _) => {
            let id = reference.resolve("client_company_id")?;
            Ok(companies::find(tx, actor.workspace, id)
                .await?
                .ok_or_else(|| reference.not_found("client_company_id"))?
                .id)
        }
        (None, Some(name)) => Ok(find_or_make(tx, actor, name).await?.0),
        (None, None) => {
            Err(Problem::invalid("client_company_name", FieldErrorCode::Required, "is required")
                .into())
        }
    }
}

/// The status that a request names, or the workspace's first.
pub async fn find_status(
    tx: &mut Tx,
    workspace: WorkspaceId,
    wanted: &StatusReference,
) -> Result<StatusId, OperationError> {
    let statuses = status::all(tx, workspace).await?;
    let found = match (&wanted.id, &wanted.name) {
        (Some(reference), _) => statuses
            .iter()
            .find(|(id, _)| reference.id == Some(*id))
            .ok_or_else(|| reference.not_found("job_status_id"))?,
        (None, Some(name)) => statuses
            .iter()
            .find(|(_, known)| comparison_key(known) == comparison_key(name))
            .ok_or_else(|| unknown_status(&statuses, name))?,
        (None, None) => statuses
            .first()
            .ok_or_else(|| StoreError::Internal("the workspace has no job status".to_owned()))?,
    };
    Ok(found.0)
}

fn unknown_status(statuses: &[(StatusId, String)], name: &str) -> Problem {
    let known: Vec<_> = statuses.iter().map(|(_, name)| name.as_str()).collect();
    let message =
        format!("There is no job status {name:?}; the workspace has {}.", known.join(", "));
    Problem::new(ErrorCode::NotFound, message.clone()).with(FieldError::new(
        "job_status_name",
        FieldErrorCode::NotFound,
        message,
    ))
}
