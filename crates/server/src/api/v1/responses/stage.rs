use serde::Serialize;
use slated_model::id::StageId;
use slated_model::stage::Stage;
use slated_operations::jobs::stages::CountedStage;
use utoipa::ToSchema;

/// A stage of a job's pipeline, with the number of candidates in it.
#[derive(Serialize, ToSchema)]
pub struct StageRead {
    #[schema(value_type = String, example = "stg_01m1v0e8k7b4k8s2d6f0g5h7jm")]
    pub id: StageId,
    #[schema(example = "Screening")]
    pub name: String,
    /// The position in the pipeline, from 1.
    #[schema(minimum = 1, maximum = 50, example = 3)]
    pub stage_order: i64,
    pub is_rejection_stage: bool,
    pub is_interviewing_stage: bool,
    /// The number of candidates currently in the stage.
    #[schema(minimum = 0, example = 4)]
    pub candidate_count: i64,
}

impl From<CountedStage> for StageRead {
    fn from(counted: CountedStage) -> Self {
        let CountedStage { stage, candidate_count } = counted;
        let Stage { id, name, stage_order, is_rejection_stage, is_interviewing_stage } = stage;
        Self { id, name, stage_order, is_rejection_stage, is_interviewing_stage, candidate_count }
    }
}
