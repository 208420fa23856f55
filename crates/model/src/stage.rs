//! Pipeline stages: the ordered steps of one job, and what a request may say of them.

use serde::{Deserialize, Serialize};

use crate::id::{self, StageId};
use crate::input::{Fields, Reference};
use crate::patch::Patch;
use crate::problem::{ErrorCode, FieldError, FieldErrorCode, Problem};
use crate::text::limit;

pub const MAX_STAGES: usize = 50;
/// Candidates that go to another stage, at most, when theirs is removed.
pub const MAX_MOVED: i64 = 5000;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Stage {
    pub id: StageId,
    pub name: String,
    pub stage_order: i64,
    pub is_rejection_stage: bool,
    pub is_interviewing_stage: bool,
}

/// A stage that has no id yet.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
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

impl NewStage {
    fn read(fields: &mut Fields<'_>) -> Self {
        let name = fields.needed("name", |fields| fields.patch_line("name", limit::NAME));
        Self {
            name: name.unwrap_or_default(),
            is_rejection_stage: fields.flag("is_rejection_stage"),
            is_interviewing_stage: fields.flag("is_interviewing_stage"),
        }
    }
}

pub const PIPELINE: &str = "pipeline_stages";

/// `pipeline_stages`, which make a pipeline if there is a stage that is no rejection stage.
pub fn patch_pipeline(fields: &mut Fields<'_>) -> Patch<Vec<NewStage>> {
    let stages = fields.patch_objects(PIPELINE, MAX_STAGES, NewStage::read);
    if stages.set().is_some_and(|stages| stages.iter().all(|stage| stage.is_rejection_stage)) {
        fields.refuse(
            PIPELINE,
            FieldErrorCode::TooFew,
            "must have at least one stage that is not a rejection stage",
        );
    }
    stages
}

/// `pipeline_stages` of a new job, or none if the job takes those of a template.
pub fn read_pipeline(fields: &mut Fields<'_>) -> Option<Vec<NewStage>> {
    patch_pipeline(fields).set().cloned()
}

/// A stage that is added to a job, and its place; without one it is the last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AddedStage {
    pub stage: NewStage,
    pub stage_order: Option<i64>,
}

impl AddedStage {
    pub fn read(fields: &mut Fields<'_>) -> Self {
        Self { stage: NewStage::read(fields), stage_order: patch_order(fields).set().copied() }
    }
}

/// A place in the pipeline. One behind the end is the last.
fn patch_order(fields: &mut Fields<'_>) -> Patch<i64> {
    fields.patch_number("stage_order", 1, MAX_STAGES as i64)
}

/// What changes of a stage; none of it can be cleared.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StagePatch {
    pub name: Option<String>,
    pub stage_order: Option<i64>,
    pub is_rejection_stage: Option<bool>,
    pub is_interviewing_stage: Option<bool>,
}

impl StagePatch {
    pub fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            name: fields.kept("name", |fields| fields.patch_line("name", limit::NAME)),
            stage_order: fields.kept("stage_order", patch_order),
            is_rejection_stage: fields
                .kept("is_rejection_stage", |fields| fields.patch_flag("is_rejection_stage")),
            is_interviewing_stage: fields
                .kept("is_interviewing_stage", |fields| fields.patch_flag("is_interviewing_stage")),
        }
    }

    /// The pipeline with the change made to one of its stages.
    #[must_use]
    pub fn apply(&self, stages: &[Stage], id: StageId) -> Vec<Stage> {
        let Self { name, stage_order, is_rejection_stage, is_interviewing_stage } = self;
        let mut changed = stages.to_vec();
        let Some(place) = changed.iter().position(|stage| stage.id == id) else { return changed };
        let mut stage = changed.remove(place);
        if let Some(name) = name {
            stage.name.clone_from(name);
        }
        stage.is_rejection_stage = is_rejection_stage.unwrap_or(stage.is_rejection_stage);
        stage.is_interviewing_stage = is_interviewing_stage.unwrap_or(stage.is_interviewing_stage);
        let order = stage_order.unwrap_or(stage.stage_order);
        insert(&mut changed, stage, Some(order));
        changed
    }
}

/// Puts the stage at that place, or behind all others, and numbers them anew.
pub fn insert(stages: &mut Vec<Stage>, stage: Stage, order: Option<i64>) {
    let last = stages.len();
    let place = order.map_or(last, |order| usize::try_from(order - 1).unwrap_or(0).min(last));
    stages.insert(place, stage);
    renumber(stages);
}

pub fn renumber(stages: &mut [Stage]) {
    for (order, stage) in (1..).zip(stages) {
        stage.stage_order = order;
    }
}

/// Refuses a pipeline that no candidate could enter.
pub fn check_pipeline(stages: &[Stage]) -> Result<(), Problem> {
    match entry_stage(stages) {
        Some(_) => Ok(()),
        None => {
            let message = "The job would be left with rejection stages only; add another stage, \
                or change one, first.";
            Err(Problem::new(ErrorCode::LastStage, message))
        }
    }
}

/// All stages of a job, in the order that they are to have.
pub fn read_order(fields: &mut Fields<'_>) -> Vec<Reference<id::Stage>> {
    const FIELD: &str = "stage_ids";
    let named = fields.needed(FIELD, |fields| {
        fields.patch_strings(FIELD, MAX_STAGES, limit::NAME, |written| Ok(Reference::new(written)))
    });
    named.unwrap_or_default()
}

/// The stages in the order in which they are named: each of them, once.
pub fn reorder(stages: &[Stage], named: &[Reference<id::Stage>]) -> Result<Vec<Stage>, Problem> {
    let field = |place: usize| format!("stage_ids[{place}]");
    let mut ordered: Vec<Stage> = Vec::with_capacity(stages.len());
    let (mut unknown, mut wrong) = (Vec::new(), Vec::new());
    for (place, reference) in named.iter().enumerate() {
        match stages.iter().find(|stage| reference.id == Some(stage.id)) {
            None => unknown.push(FieldError::new(
                field(place),
                FieldErrorCode::NotFound,
                format!("The job has no pipeline stage {}.", reference.written),
            )),
            Some(stage) if ordered.iter().any(|earlier| earlier.id == stage.id) => {
                wrong.push(FieldError::new(
                    field(place),
                    FieldErrorCode::InvalidValue,
                    format!("repeats stage {}; list each stage once", stage.id),
                ));
            }
            Some(stage) => ordered.push(stage.clone()),
        }
    }
    if let [first, ..] = unknown.as_slice() {
        return Err(Problem {
            code: ErrorCode::NotFound,
            message: first.message.clone(),
            details: unknown,
        });
    }
    let missing: Vec<_> =
        stages.iter().filter(|stage| ordered.iter().all(|named| named.id != stage.id)).collect();
    if !missing.is_empty() {
        let missing: Vec<_> =
            missing.iter().map(|stage| format!("{} ({:?})", stage.id, stage.name)).collect();
        wrong.push(FieldError::new(
            "stage_ids",
            FieldErrorCode::TooFew,
            format!("must list every stage of the job; missing: {}", missing.join(", ")),
        ));
    }
    if !wrong.is_empty() {
        return Err(Problem::from_details(wrong));
    }
    renumber(&mut ordered);
    Ok(ordered)
}

/// Where a new candidate enters: the lowest stage that is no rejection stage.
#[must_use]
pub fn entry_stage(stages: &[Stage]) -> Option<&Stage> {
    stages.iter().filter(|stage| !stage.is_rejection_stage).min_by_key(|stage| stage.stage_order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Timestamp;
    use crate::input::read_body;

    fn pipeline(names: &str) -> Vec<Stage> {
        let stage = |(order, name): (i64, char)| Stage {
            id: StageId::at(Timestamp::from_millis(1_700_000_000_000), u128::from(u32::from(name))),
            name: name.to_string(),
            stage_order: order,
            is_rejection_stage: name == 'X',
            is_interviewing_stage: false,
        };
        (1..).zip(names.chars()).map(stage).collect()
    }

    fn names(stages: &[Stage]) -> String {
        assert!((1..).zip(stages).all(|(order, stage)| stage.stage_order == order), "{stages:?}");
        stages.iter().map(|stage| stage.name.as_str()).collect()
    }

    #[test]
    fn a_stage_goes_to_the_place_that_it_is_given_and_the_others_make_room() {
        let places = [
            (None, "ABCN"),
            (Some(1), "NABC"),
            (Some(2), "ANBC"),
            (Some(3), "ABNC"),
            (Some(4), "ABCN"),
            (Some(50), "ABCN"),
        ];
        for (order, expected) in places {
            let mut stages = pipeline("ABC");
            insert(&mut stages, pipeline("N").remove(0), order);
            assert_eq!(names(&stages), expected, "{order:?}");
        }
    }

    #[test]
    fn a_stage_that_changes_its_place_stands_there_afterwards() {
        let stages = pipeline("ABCD");
        for (order, expected) in [(1, "BACD"), (2, "ABCD"), (3, "ACBD"), (4, "ACDB"), (50, "ACDB")]
        {
            let patch = StagePatch { stage_order: Some(order), ..StagePatch::default() };
            assert_eq!(names(&patch.apply(&stages, stages[1].id)), expected, "{order}");
        }
        assert_eq!(StagePatch::default().apply(&stages, stages[1].id), stages);
    }

    #[test]
    fn a_pipeline_needs_a_stage_to_enter() {
        assert!(check_pipeline(&pipeline("XA")).is_ok());
        for stages in ["", "X", "XX"] {
            assert_eq!(
                check_pipeline(&pipeline(stages)).unwrap_err().code,
                ErrorCode::LastStage,
                "{stages}"
            );
        }
    }

    #[test]
    fn an_order_names_every_stage_once() {
        let stages = pipeline("ABC");
        let order = |written: &str| {
            let id = |name: char| {
                pipeline("ABCD")
                    .into_iter()
                    .find(|stage| stage.name.starts_with(name))
                    .map(|stage| stage.id.to_string())
            };
            let named: Vec<_> =
                written.chars().map(|name| Reference::new(id(name).unwrap_or_default())).collect();
            reorder(&stages, &named)
        };
        assert_eq!(names(&order("CAB").unwrap()), "CAB");
        for (written, code, fields) in [
            ("AB", ErrorCode::InvalidRequest, &["stage_ids"][..]),
            ("", ErrorCode::InvalidRequest, &["stage_ids"]),
            ("ABCA", ErrorCode::InvalidRequest, &["stage_ids[3]"]),
            ("AAB", ErrorCode::InvalidRequest, &["stage_ids[1]", "stage_ids"]),
            ("ABCD", ErrorCode::NotFound, &["stage_ids[3]"]),
            ("?ABD", ErrorCode::NotFound, &["stage_ids[0]", "stage_ids[3]"]),
        ] {
            let problem = order(written).unwrap_err();
            let named: Vec<_> =
                problem.details.iter().map(|detail| detail.field.as_str()).collect();
            assert_eq!((problem.code, named.as_slice()), (code, fields), "{written}");
        }
    }

    #[test]
    fn nothing_of_a_stage_can_be_cleared() {
        let body = br#"{"name": null, "stage_order": null, "is_rejection_stage": null, "is_interviewing_stage": null}"#;
        let problem = read_body(body, StagePatch::read).unwrap_err();
        assert_eq!(problem.details.len(), 4);
        assert!(problem.details.iter().all(|detail| detail.code == FieldErrorCode::Required));
        assert_eq!(read_body(b"{}", StagePatch::read), Ok(StagePatch::default()));
    }

    #[test]
    fn a_place_is_a_number_from_one() {
        for order in ["0", "-1", "51", "1.5"] {
            let body = format!("{{\"name\": \"Offer\", \"stage_order\": {order}}}");
            let problem = read_body(body.as_bytes(), AddedStage::read).unwrap_err();
            assert_eq!(
                (problem.details[0].field.as_str(), problem.details[0].code),
                ("stage_order", FieldErrorCode::OutOfRange),
                "{order}"
            );
        }
    }
}
