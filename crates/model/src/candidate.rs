//! A candidate: a person on one job, in one stage of its pipeline. What a request may say of one.

use crate::id;
use crate::input::{Fields, Reference};
use crate::problem::FieldErrorCode;
use crate::text::limit;

/// The person who is put on a job.
pub fn read_person(fields: &mut Fields<'_>) -> Option<Reference<id::Person>> {
    fields
        .needed("person_id", |fields| fields.patch_line("person_id", limit::NAME))
        .map(Reference::new)
}

/// The most that are added or moved in one call.
pub const MAX_TOGETHER: usize = 1000;

/// The persons who are put on a job together.
pub fn read_persons(fields: &mut Fields<'_>) -> Vec<Reference<id::Person>> {
    fields.ids("person_ids", MAX_TOGETHER)
}

/// Candidates that go to a stage together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JointMove {
    pub candidates: Vec<Reference<id::Candidate>>,
    pub to: StageMove,
}

impl JointMove {
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let candidates = fields.ids("candidate_ids", MAX_TOGETHER);
        let (stage_id, stage_name) = read_target(fields);
        Self { candidates, to: StageMove { stage_id, stage_name, from_stage_id: None } }
    }
}

/// Where a candidate goes, and where the caller believes it to be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StageMove {
    pub stage_id: Option<Reference<id::Stage>>,
    pub stage_name: Option<String>,
    pub from_stage_id: Option<Reference<id::Stage>>,
}

impl StageMove {
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let (stage_id, stage_name) = read_target(fields);
        Self { stage_id, stage_name, from_stage_id: fields.id("from_stage_id") }
    }
}

/// A stage, by its id or by its name.
fn read_target(fields: &mut Fields<'_>) -> (Option<Reference<id::Stage>>, Option<String>) {
    let ((stage_id, stage_name), is_clean) =
        fields.is_clean(|fields| (fields.id("stage_id"), fields.text("stage_name", limit::NAME)));
    if stage_id.is_none() && stage_name.is_none() && is_clean {
        fields.refuse(
            "stage_id",
            FieldErrorCode::Required,
            "is required unless stage_name is given",
        );
    }
    fields.not_both(stage_id.is_some(), stage_name.is_some(), "stage_name", "stage_id");
    (stage_id, stage_name)
}
