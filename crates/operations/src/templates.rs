//! The pipeline templates of a workspace: listed, made, changed and deleted. One of them is always
//! the default.

use serde::Serialize;
use slated_model::event::{EventType, Subject};
use slated_model::id::{TemplateId, WorkspaceId};
use slated_model::problem::{ErrorCode, Problem};
use slated_model::stage::{NewStage, default_pipeline};
use slated_model::template::{FIRST_TEMPLATE, MAX_TEMPLATES, NewTemplate, Template, TemplatePatch};
use slated_model::text::comparison_key;
use slated_store::records::{template, workspace};
use slated_store::{Operation, OperationError, Tx};

use super::Actor;
use super::emit::{Empty, EventData, differences, emit};

/// A template as events show it.
#[derive(Serialize)]
struct TemplateFields<'t> {
    name: &'t str,
    is_default: bool,
    pipeline_stages: Vec<StageFields<'t>>,
}

#[derive(Serialize)]
struct StageFields<'t> {
    name: &'t str,
    stage_order: i64,
    is_rejection_stage: bool,
    is_interviewing_stage: bool,
}

impl<'t> TemplateFields<'t> {
    fn of(template: &'t Template) -> Self {
        let stage = |(stage_order, stage): (i64, &'t NewStage)| StageFields {
            name: &stage.name,
            stage_order,
            is_rejection_stage: stage.is_rejection_stage,
            is_interviewing_stage: stage.is_interviewing_stage,
        };
        let pipeline_stages = (1..).zip(&template.stages).map(stage).collect();
        Self { name: &template.name, is_default: template.is_default, pipeline_stages }
    }
}

fn missing(id: TemplateId) -> Problem {
    Problem::not_found("pipeline template", id)
}

/// Refuses a name that one of the others has.
fn check_name<'t>(
    mut others: impl Iterator<Item = &'t Template>,
    name: &str,
) -> Result<(), Problem> {
    match others.find(|template| comparison_key(&template.name) == comparison_key(name)) {
        None => Ok(()),
        Some(other) => Err(Problem::name_taken("pipeline template", &other.name, other.id)),
    }
}

/// Makes the template that a workspace begins with.
pub async fn make_first(tx: &mut Tx, workspace: WorkspaceId) -> Result<(), OperationError> {
    let (name, stages) = (FIRST_TEMPLATE.to_owned(), default_pipeline());
    let first = Template {
        id: tx.new_id(),
        name,
        is_default: true,
        stages,
        created_at: tx.now(),
        updated_at: tx.now(),
    };
    Ok(template::insert(tx, workspace, &first).await?)
}

/// Keeps what changed of a template and tells of it.
async fn keep(
    tx: &mut Tx,
    actor: &Actor,
    before: &Template,
    mut updated: Template,
) -> Result<Template, OperationError> {
    let changes = differences(&TemplateFields::of(before), &TemplateFields::of(&updated))?;
    let Some((was, is)) = changes else { return Ok(updated) };
    updated.updated_at = tx.now();
    template::update(tx, actor.workspace, &updated).await?;
    emit(tx, actor, EventType::TemplateUpdated, Subject::of(updated.id), &EventData::new(was, is))
        .await?;
    Ok(updated)
}

/// Lets whichever was the default be it no longer.
async fn make_room(
    tx: &mut Tx,
    actor: &Actor,
    known: &[Template],
    next: TemplateId,
) -> Result<(), OperationError> {
    for old in known.iter().filter(|template| template.is_default && template.id != next) {
        keep(tx, actor, old, Template { is_default: false, ..old.clone() }).await?;
    }
    Ok(())
}

pub struct ListTemplates {
    pub workspace: WorkspaceId,
}

impl Operation for ListTemplates {
    type Output = Vec<Template>;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Vec<Template>, OperationError> {
        Ok(template::all(tx, self.workspace).await?)
    }
}

pub struct ReadTemplate {
    pub workspace: WorkspaceId,
    pub id: TemplateId,
}

impl Operation for ReadTemplate {
    type Output = Template;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Template, OperationError> {
        Ok(template::find(tx, self.workspace, self.id).await?.ok_or_else(|| missing(self.id))?)
    }
}

pub struct CreateTemplate {
    pub actor: Actor,
    pub new: NewTemplate,
}

impl Operation for CreateTemplate {
    type Output = Template;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Template, OperationError> {
        let workspace = self.actor.workspace;
        // So that two at once do not both become the default.
        workspace::lock(tx, workspace).await?;
        let known = template::all(tx, workspace).await?;
        check_name(known.iter(), &self.new.name)?;
        if known.len() >= MAX_TEMPLATES {
            let message = format!(
                "The workspace has {MAX_TEMPLATES} pipeline templates, which is the maximum; \
                 delete one first."
            );
            return Err(Problem::new(ErrorCode::TooMany, message).into());
        }
        let NewTemplate { name, stages, is_default } = self.new.clone();
        let is_default = is_default || known.iter().all(|template| !template.is_default);
        let created = Template {
            id: tx.new_id(),
            name,
            is_default,
            stages,
            created_at: tx.now(),
            updated_at: tx.now(),
        };
        if is_default {
            make_room(tx, &self.actor, &known, created.id).await?;
        }
        template::insert(tx, workspace, &created).await?;
        let told = EventData::new(Empty {}, TemplateFields::of(&created));
        emit(tx, &self.actor, EventType::TemplateCreated, Subject::of(created.id), &told).await?;
        Ok(created)
    }
}

pub struct UpdateTemplate {
    pub actor: Actor,
    pub id: TemplateId,
    pub patch: TemplatePatch,
}

impl Operation for UpdateTemplate {
    type Output = Template;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Template, OperationError> {
        let workspace = self.actor.workspace;
        workspace::lock(tx, workspace).await?;
        let known = template::all(tx, workspace).await?;
        let before =
            known.iter().find(|template| template.id == self.id).ok_or_else(|| missing(self.id))?;
        let TemplatePatch { name, stages, is_default } = self.patch.clone();
        if let Some(name) = &name {
            check_name(known.iter().filter(|template| template.id != self.id), name)?;
        }
        if before.is_default && is_default == Some(false) {
            let message = "The workspace needs a default template; make another template the \
                default instead.";
            return Err(Problem::new(ErrorCode::DefaultTemplate, message).into());
        }
        let mut updated = before.clone();
        updated.name = name.unwrap_or(updated.name);
        updated.stages = stages.unwrap_or(updated.stages);
        updated.is_default = is_default.unwrap_or(updated.is_default);
        if updated.is_default {
            make_room(tx, &self.actor, &known, self.id).await?;
        }
        keep(tx, &self.actor, before, updated).await
    }
}

pub struct DeleteTemplate {
    pub actor: Actor,
    pub id: TemplateId,
}

impl Operation for DeleteTemplate {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        let workspace = self.actor.workspace;
        workspace::lock(tx, workspace).await?;
        let before =
            template::find(tx, workspace, self.id).await?.ok_or_else(|| missing(self.id))?;
        if before.is_default {
            let message = "The default template cannot be deleted; make another the default first.";
            return Err(Problem::new(ErrorCode::DefaultTemplate, message).into());
        }
        template::remove(tx, workspace, self.id).await?;
        let told = EventData::new(TemplateFields::of(&before), Empty {});
        emit(tx, &self.actor, EventType::TemplateDeleted, Subject::of(self.id), &told).await?;
        Ok(())
    }
}
