use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::id::TemplateId;
use slated_model::stage::NewStage;
use slated_model::template::Template;
use utoipa::ToSchema;

/// A pipeline that jobs can be opened with.
#[derive(Serialize, ToSchema)]
pub struct TemplateRead {
    #[schema(value_type = String, example = "tpl_01m1v0e8k7t5v7x9z1b3d5f7hj")]
    pub id: TemplateId,
    #[schema(example = "Engineering")]
    pub name: String,
    /// Whether a job without a pipeline of its own gets this one.
    pub is_default: bool,
    /// The stages that a job gets, in order.
    pub pipeline_stages: Vec<TemplateStage>,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub updated_at: Timestamp,
}

/// A stage of a template. It has no id: each job gets its own stages.
#[derive(Serialize, ToSchema)]
pub struct TemplateStage {
    #[schema(example = "Screening")]
    pub name: String,
    /// The position in the pipeline, from 1.
    #[schema(minimum = 1, example = 1)]
    pub stage_order: i64,
    pub is_rejection_stage: bool,
    pub is_interviewing_stage: bool,
}

impl From<Template> for TemplateRead {
    fn from(template: Template) -> Self {
        let Template { id, name, is_default, stages, created_at, updated_at } = template;
        let stage = |(stage_order, stage): (i64, NewStage)| TemplateStage {
            name: stage.name,
            stage_order,
            is_rejection_stage: stage.is_rejection_stage,
            is_interviewing_stage: stage.is_interviewing_stage,
        };
        Self {
            id,
            name,
            is_default,
            pipeline_stages: (1..).zip(stages).map(stage).collect(),
            created_at,
            updated_at,
        }
    }
}
