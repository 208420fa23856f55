use serde::Serialize;
use slated_model::id::StatusId;
use slated_model::status::JobStatus;
use utoipa::ToSchema;

/// A status that jobs of the workspace may have.
#[derive(Serialize, ToSchema)]
pub struct JobStatusRead {
    #[schema(value_type = String, example = "sts_01m1v0e8k7g8h2j4k6m0n5p7rt")]
    pub id: StatusId,
    #[schema(example = "On hold")]
    pub name: String,
    /// The position, from 1. A new job gets the first status.
    #[schema(minimum = 1, example = 2)]
    pub position: i64,
}

impl From<JobStatus> for JobStatusRead {
    fn from(status: JobStatus) -> Self {
        let JobStatus { id, name, position } = status;
        Self { id, name, position }
    }
}
