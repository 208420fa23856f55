//! Pipeline templates: named pipelines that jobs are opened with. One of them is the default.

use crate::clock::Timestamp;
use crate::id::TemplateId;
use crate::input::Fields;
use crate::stage::{NewStage, PIPELINE, patch_pipeline};
use crate::text::limit;

pub const MAX_TEMPLATES: usize = 100;
/// The template that a workspace begins with: the default pipeline, as the default.
pub const FIRST_TEMPLATE: &str = "Standard";

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    pub id: TemplateId,
    pub name: String,
    /// Whether a job that names no pipeline gets this one.
    pub is_default: bool,
    pub stages: Vec<NewStage>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewTemplate {
    pub name: String,
    pub stages: Vec<NewStage>,
    pub is_default: bool,
}

impl NewTemplate {
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let name = fields.needed("name", |fields| fields.patch_line("name", limit::NAME));
        let stages = fields.needed(PIPELINE, patch_pipeline);
        Self {
            name: name.unwrap_or_default(),
            stages: stages.unwrap_or_default(),
            is_default: fields.flag("is_default"),
        }
    }
}

/// What changes of a template; none of it can be cleared.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TemplatePatch {
    pub name: Option<String>,
    pub stages: Option<Vec<NewStage>>,
    pub is_default: Option<bool>,
}

impl TemplatePatch {
    pub fn read(fields: &mut Fields<'_>) -> Self {
        Self {
            name: fields.kept("name", |fields| fields.patch_line("name", limit::NAME)),
            stages: fields.kept(PIPELINE, patch_pipeline),
            is_default: fields.kept("is_default", |fields| fields.patch_flag("is_default")),
        }
    }
}
