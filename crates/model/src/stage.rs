//! Pipeline stages: the ordered steps of one job.

use crate::id::StageId;
use crate::input::Fields;
use crate::problem::Flaw;
use crate::text::limit;

pub const MOST_STAGES: usize = 50;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Stage {
    pub id: StageId,
    pub name: String,
    pub stage_order: i64,
    pub is_rejection_stage: bool,
    pub is_interviewing_stage: bool,
}

/// A stage that has no id yet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewStage {
    pub name: String,
    pub is_rejection_stage: bool,
    pub is_interviewing_stage: bool,
}

/// The pipeline of a job that came without one.
#[must_use]
pub fn default_pipeline() -> Vec<NewStage> {
    let stage = |name: &str, is_interviewing_stage, is_rejection_stage| NewStage {
        name: name.to_owned(),
        is_rejection_stage,
        is_interviewing_stage,
    };
    vec![
        stage("Sourced", false, false),
        stage("Contacted", false, false),
        stage("Screening", false, false),
        stage("Interview", true, false),
        stage("Final interview", true, false),
        stage("Offer", false, false),
        stage("Hired", false, false),
        stage("Rejected", false, true),
    ]
}

/// `pipeline_stages` of a new job, or none if the job takes the default.
pub fn read_pipeline(fields: &mut Fields<'_>) -> Option<Vec<NewStage>> {
    const FIELD: &str = "pipeline_stages";
    let stages = fields.patch_objects(FIELD, MOST_STAGES, |entry| {
        let name = entry.needed("name", |entry| entry.patch_line("name", limit::NAME));
        NewStage {
            name: name.unwrap_or_default(),
            is_rejection_stage: entry.flag("is_rejection_stage"),
            is_interviewing_stage: entry.flag("is_interviewing_stage"),
        }
    });
    let stages = stages.set()?.clone();
    if !stages.iter().any(|stage| !stage.is_rejection_stage) {
        fields.refuse(FIELD, Flaw::TooFew, "must have at least one stage that is no rejection stage");
    }
    Some(stages)
}

/// Where a new candidate enters: the lowest stage that is no rejection stage.
#[must_use]
pub fn entry_stage(stages: &[Stage]) -> Option<&Stage> {
    stages.iter().filter(|stage| !stage.is_rejection_stage).min_by_key(|stage| stage.stage_order)
}
