//! A job: a position at a client company, with a status and a pipeline of stages.

use crate::company::read_company_name;
use crate::id::{self, CompanyId, JobId, StatusId};
use crate::input::{Fields, Reference};
use crate::patch::Patch;
use crate::problem::FieldErrorCode;
use crate::stage::{NewStage, PIPELINE, read_pipeline};
use crate::text::limit;

/// What is kept of a job, beside its stages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    pub id: JobId,
    pub name: String,
    pub company_id: CompanyId,
    pub status_id: StatusId,
    pub is_archived: bool,
}

/// The statuses that a workspace begins with; a new job has the first.
pub const DEFAULT_STATUSES: [&str; 4] = ["Open", "On hold", "Filled", "Closed"];

/// The client company of a job, by id or by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClientReference {
    pub id: Option<Reference<id::Company>>,
    pub name: Option<String>,
}

impl ClientReference {
    fn read(fields: &mut Fields<'_>) -> Self {
        let client = Self {
            name: read_company_name(fields, "client_company_name"),
            id: fields.id("client_company_id"),
        };
        client.check(fields);
        client
    }

    fn check(&self, fields: &mut Fields<'_>) {
        fields.not_both(
            self.id.is_some(),
            self.name.is_some(),
            "client_company_name",
            "client_company_id",
        );
    }

    #[must_use]
    pub const fn is_given(&self) -> bool {
        self.id.is_some() || self.name.is_some()
    }
}

/// A status of the workspace, by id or by name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StatusReference {
    pub id: Option<Reference<id::Status>>,
    pub name: Option<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NewJob {
    pub name: String,
    pub client: ClientReference,
    pub status: StatusReference,
    pub stages: Option<Vec<NewStage>>,
    /// The template that the pipeline is taken from, if it is not the default one.
    pub template: Option<Reference<id::Template>>,
}

impl NewJob {
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let name = fields.needed("name", |fields| fields.patch_line("name", limit::NAME));
        let (client, is_clean) = fields.is_clean(ClientReference::read);
        if !client.is_given() && is_clean {
            fields.refuse(
                "client_company_name",
                FieldErrorCode::Required,
                "is required unless client_company_id is given",
            );
        }
        let status =
            StatusReference { name: fields.text("job_status_name", limit::NAME), id: None };
        let (stages, template) = (read_pipeline(fields), fields.id("pipeline_template_id"));
        fields.not_both(stages.is_some(), template.is_some(), "pipeline_template_id", PIPELINE);
        Self { name: name.unwrap_or_default(), client, status, stages, template }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobPatch {
    pub name: Option<String>,
    pub is_archived: Option<bool>,
    pub client: ClientReference,
    pub status: StatusReference,
}

impl JobPatch {
    /// A job without a name, a client or a status is none, so nothing here can be cleared.
    pub fn read(fields: &mut Fields<'_>) -> Self {
        let mut kept = |name: &'static str| match fields.patch_line(name, limit::NAME) {
            Patch::Absent => None,
            Patch::Set(text) => Some(text),
            Patch::Clear => {
                fields.refuse(name, FieldErrorCode::Required, "must not be cleared");
                None
            }
        };
        let name = kept("name");
        let status = StatusReference {
            name: kept("job_status_name"),
            id: kept("job_status_id").map(Reference::new),
        };
        let client = ClientReference {
            name: kept("client_company_name"),
            id: kept("client_company_id").map(Reference::new),
        };
        client.check(fields);
        fields.not_both(
            status.id.is_some(),
            status.name.is_some(),
            "job_status_name",
            "job_status_id",
        );
        let is_archived = fields.patch_flag("is_archived");
        if is_archived == Patch::Clear {
            fields.refuse("is_archived", FieldErrorCode::Required, "must not be cleared");
        }
        Self { name, is_archived: is_archived.set().copied(), client, status }
    }
}
