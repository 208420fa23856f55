use axum::http::StatusCode;
use serde::Serialize;
use slated_model::input::Fields;
use slated_model::problem::{FieldError, Problem};
use slated_operations::persons::create::{CreatePerson, CreatedPerson};
use slated_operations::persons::create_many::CreatePersons;
use utoipa::ToSchema;

use super::create::{
    CreateInclude, CreatePersonBody, DuplicateChoice, InvalidChoice, read_new_person,
    read_on_duplicate, read_on_invalid, status,
};
use crate::api::v1::responses::changes::{ChangesRead, read_include_changes};
use crate::api::v1::responses::person::PersonCreated;
use crate::http::response::answer;
use crate::http::{ApiResult, BulkRequest, Envelope};

pub const MAX_PERSONS: usize = 1000;

/// Persons to create.
#[derive(ToSchema)]
#[schema(example = json!({"persons": [{"name": "Ada Lovelace", "work_email": "ada@example.com"},
    {"name": "Grace Hopper"}]}))]
#[expect(dead_code, reason = "describes what create_persons reads")]
pub struct CreatePersonsBody {
    /// From 1 to 1,000 persons, each as in a single create.
    persons: Vec<CreatePersonBody>,
}

/// The outcome for one of the persons.
#[derive(Serialize, ToSchema)]
pub struct BatchRow {
    pub success: bool,
    /// The status that a single create of this person would have had.
    #[schema(example = 201)]
    pub status: u16,
    /// The person, if created or found.
    #[schema(required)]
    pub data: Option<PersonCreated>,
    /// The error, if the person was refused.
    #[schema(required)]
    pub error: Option<RowError>,
    /// With `include=changes`: the outcome of the values, if the person was created or found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub changes: Option<ChangesRead>,
}

/// Why a person was refused, as a single create of this person would report it.
#[derive(Serialize, ToSchema)]
pub struct RowError {
    #[schema(example = "INVALID_REQUEST")]
    pub code: &'static str,
    pub message: String,
    #[schema(value_type = Vec<RowErrorDetail>)]
    pub details: Vec<FieldError>,
}

/// What is wrong with one field.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes a detail of a problem")]
pub struct RowErrorDetail {
    #[schema(example = "emails[0]")]
    field: String,
    #[schema(example = "INVALID_EMAIL")]
    code: String,
    #[schema(example = "must be an e-mail address, as in ada@example.com")]
    message: String,
    /// The record that the error is about, if there is one.
    record_id: Option<String>,
}

impl BatchRow {
    fn of(outcome: Result<CreatedPerson, Problem>, includes_changes: bool) -> Self {
        match outcome {
            Ok(mut created) => {
                let changes = std::mem::take(&mut created.changes);
                Self {
                    success: true,
                    status: status(created.is_new).as_u16(),
                    data: Some(created.into()),
                    error: None,
                    changes: includes_changes.then(|| changes.into()),
                }
            }
            Err(Problem { code, message, details }) => {
                let error = RowError { code: code.name(), message, details };
                Self {
                    success: false,
                    status: code.status(),
                    data: None,
                    error: Some(error),
                    changes: None,
                }
            }
        }
    }
}

/// Create many persons
///
/// Up to 1,000 creates in one call of at most 8 MiB. Each is carried out or refused like a single
/// create, and the response gives the outcome of each. All that are carried out become durable
/// together.
#[utoipa::path(post, path = "/v1/persons/batch", operation_id = "createPersons", tag = "Persons",
    params(
        ("on_duplicate" = inline(Option<DuplicateChoice>), Query, description = "What to do with \
            persons who already exist: `merge` (the default), `error`, or `create` to create \
            second ones."),
        ("on_invalid" = inline(Option<InvalidChoice>), Query, description = "What to do with \
            invalid contacts and invalid `social_url`: `refuse` the row (the default), or `drop` \
            them and keep the rest."),
        ("include" = inline(Option<CreateInclude>), Query, description = "`changes` adds to each \
            row how the person was matched, what was filled, and what was kept back or dropped."),
    ),
    request_body = CreatePersonsBody,
    extensions(("x-errors" = json!(["INVALID_REQUEST"]))),
    responses((status = 200, description = "The outcome for each person, in order.",
        body = Envelope<Vec<BatchRow>>)))]
pub async fn create_persons(BulkRequest(request): BulkRequest) -> ApiResult {
    let mut query = request.query();
    let (on_duplicate, on_invalid) = (read_on_duplicate(&mut query), read_on_invalid(&mut query));
    let includes_changes = read_include_changes(&mut query);
    query.finish(())?;
    let read = |row: &mut Fields<'_>| read_new_person(row, on_invalid);
    let rows = request.read(|fields| fields.objects_apart("persons", MAX_PERSONS, read))?;
    // A database that is a server of its own looks up what the rows need while they are prepared;
    // an embedded one would wait for that.
    let is_shared = request.app.store.is_shared();
    let create = |new| {
        let create = CreatePerson::new(request.actor.clone(), new, on_duplicate);
        if is_shared { create } else { create.precomputed() }
    };
    let rows = rows.into_iter().map(|row| row.map(create)).collect();
    let work = CreatePersons { workspace: request.actor.workspace, rows };
    let render = move |outcomes: Vec<_>| {
        let rows = outcomes.into_iter().map(|outcome| BatchRow::of(outcome, includes_changes));
        answer(StatusCode::OK, rows.collect::<Vec<_>>())
    };
    request.execute(work, render).await
}
