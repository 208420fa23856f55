pub mod create;
pub mod list;
pub mod stages;
pub mod update;

use slated_model::id::{JobId, WorkspaceId};
use slated_model::problem::{FieldErrorCode, Problem};
use slated_store::records::job;
use slated_store::{OperationError, Tx};

/// The job that a filter names.
pub async fn filtered(
    tx: &mut Tx,
    workspace: WorkspaceId,
    written: &str,
) -> Result<JobId, OperationError> {
    let unknown = || {
        Problem::invalid(
            "job_id",
            FieldErrorCode::InvalidValue,
            format!("there is no job {written}"),
        )
    };
    let id = JobId::parse(written).ok_or_else(unknown)?;
    job::places(tx, workspace, id).await?.ok_or_else(unknown)?;
    Ok(id)
}
