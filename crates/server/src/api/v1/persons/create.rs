use axum::http::StatusCode;
use serde::Serialize;
use serde_json::value::RawValue;
use slated_model::contact::{Channel, EMAIL_FIELDS, PHONE_FIELDS, read_new};
use slated_model::input::{Fields, Query};
use slated_model::person::{NewPerson, OnDuplicate, OnInvalid, read_enrichment};
use slated_model::problem::FieldErrorCode;
use slated_operations::persons::create::{CreatePerson, CreatedPerson};
use utoipa::ToSchema;

use crate::api::v1::responses::changes::{ChangesRead, MatchedByName, read_include_changes};
use crate::api::v1::responses::person::PersonCreated;
use crate::http::response::ApiResponse;
use crate::http::response::{WouldBeChange, render, with_match, would_be};
use crate::http::{ApiResult, WriteRequest};

/// A person to create. At least one of these is required: `name`, `first_name`, `last_name`,
/// `social_url` or a contact.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Ada Lovelace",
    "social_url": "https://social.example/in/ada-lovelace", "current_job_title": "Analyst",
    "company_name": "Analytical Engines", "work_email": "ada@example.com", "mobile_phone": "+44 \
        20 7946 0000", "external_source_id": "crm-1815"}))]
#[expect(dead_code, reason = "describes what read_new_person reads")]
pub struct CreatePersonBody {
    /// The full name. Split at the last space if `first_name` and `last_name` are absent.
    name: Option<String>,
    first_name: Option<String>,
    last_name: Option<String>,
    /// An http or https URL that contains the public handle: the segment after `/in/`, else the
    /// last one. Without a scheme, https is assumed.
    social_url: Option<String>,
    current_job_title: Option<String>,
    social_location: Option<String>,
    /// The current company's name. The company is created if none has the name.
    company_name: Option<String>,
    /// E-mail addresses, of the type `work` unless a typed field holds the same one.
    emails: Option<Vec<String>>,
    work_email: Option<String>,
    work_phone: Option<String>,
    personal_email: Option<String>,
    mobile_phone: Option<String>,
    /// Phone numbers, of the type `mobile` unless a typed field holds the same one.
    phone_numbers: Option<Vec<String>>,
    /// Kept as a dated note on the person.
    notes: Option<String>,
    /// Adds the person to this job. If `job_name`, `client_id` or `client_name` is also given, it
    /// must match the job.
    job_id: Option<String>,
    /// Adds the person to the unarchived job of this name; `client_id` or `client_name` selects one
    /// of several.
    job_name: Option<String>,
    /// With `job_name`, the job's client; alone, makes the person a contact of that client, which
    /// is created if it is new.
    client_name: Option<String>,
    /// Like `client_name`, but by id.
    client_id: Option<String>,
    /// The person's id in an external system.
    external_source_id: Option<String>,
    /// True to enrich the person in the background, whether created or found. It never slows or
    /// fails the create.
    enrich_record: Option<bool>,
}

pub fn read_new_person(fields: &mut Fields<'_>, on_invalid: OnInvalid) -> NewPerson {
    let enrich = read_enrichment(fields);
    let new = NewPerson::read(fields, on_invalid, |fields| {
        let emails = read_new(fields, Channel::Email, "emails", &[], &EMAIL_FIELDS);
        let phones = read_new(fields, Channel::Phone, "phone_numbers", &[], &PHONE_FIELDS);
        (emails, phones)
    });
    NewPerson { enrich, ..new }
}

pub fn read_on_duplicate(query: &mut Query) -> OnDuplicate {
    query
        .parsed(
            "on_duplicate",
            FieldErrorCode::InvalidValue,
            OnDuplicate::NAMES,
            OnDuplicate::parse,
        )
        .unwrap_or_default()
}

pub fn read_on_invalid(query: &mut Query) -> OnInvalid {
    query
        .parsed("on_invalid", FieldErrorCode::InvalidValue, OnInvalid::NAMES, OnInvalid::parse)
        .unwrap_or_default()
}

/// Whether a write is only to be tried out.
pub fn read_dry_run(query: &mut Query) -> bool {
    query
        .parsed("dry_run", FieldErrorCode::InvalidValue, "true or false", |written| {
            written.parse().ok()
        })
        .unwrap_or(false)
}

/// Create a person
///
/// Creates the person, or finds an existing one by `external_source_id`, social profile or e-mail
/// address, in that order and never by name. For an existing person, empty fields are filled,
/// contacts are combined, the job is attached, and the response is 200 with the existing id and
/// `X-Matched-By`. Different values become proposals, so pushing the same person twice is safe. A
/// shared profile or address does not match if the `external_source_id`, or the handle on the same
/// network, differs: those are two persons. The request is atomic.
#[utoipa::path(post, path = "/v1/persons", operation_id = "createPerson", tag = "Persons",
    params(
        ("on_duplicate" = inline(Option<DuplicateChoice>), Query, description = "What to do if the \
            person already exists: `merge` (the default), `error` to return 409 with the id, or \
            `create` to create a second person."),
        ("on_invalid" = inline(Option<InvalidChoice>), Query, description = "What to do with \
            invalid contacts and an invalid `social_url`: `refuse` the request (the default), or \
            `drop` them and keep the rest; `include=changes` lists the dropped values."),
        ("include" = inline(Option<CreateInclude>), Query, description = "`changes` adds to \
            `data` how the person was matched, what was filled, and what was kept back or \
            dropped."),
        ("dry_run" = Option<bool>, Query, description = "With `true`, nothing is \
            stored: the response is that of the write, with the changes that it would \
            have made."),
    ),
    request_body = CreatePersonBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "DUPLICATE_PERSON", "IDENTIFIER_CONFLICT",
        "AMBIGUOUS_JOB"]))),
    responses(
        (status = 201, description = "The person was created.", body = CreateAnswer),
        (status = 200, description = "The person already existed; missing values were added.",
            body = CreateAnswer,
            headers(("X-Matched-By" = MatchedByName, description = "The identifier by which the \
                person was found: `external_source_id`, `social_url` or `email`.")))))]
pub async fn create_person(request: WriteRequest) -> ApiResult {
    let mut query = request.query();
    let (on_duplicate, on_invalid) = (read_on_duplicate(&mut query), read_on_invalid(&mut query));
    let (includes_changes, dry_run) = (read_include_changes(&mut query), read_dry_run(&mut query));
    query.finish(())?;
    let new = request.read(|fields| read_new_person(fields, on_invalid))?;
    let work = CreatePerson::new(request.actor.clone(), new, on_duplicate).precomputed();
    match (dry_run, includes_changes) {
        (true, false) => request.dry_run(work, |created| told(created, false, None)).await,
        (true, true) => {
            let (created, tried) = request.app.store.dry_run(work).await?;
            Ok(told(created, true, Some(would_be(&tried))))
        }
        (false, _) => {
            request
                .execute_batched(
                    |app| &app.creates,
                    work,
                    move |created| told(created, includes_changes, None),
                )
                .await
        }
    }
}

/// The answer to a create.
fn told(
    mut created: CreatedPerson,
    includes_changes: bool,
    events: Option<Vec<Box<RawValue>>>,
) -> ApiResponse {
    let (status, changes) = (status(created.is_new), std::mem::take(&mut created.changes));
    let matched_by = changes.matched_by;
    let changes = includes_changes.then(|| ChangesRead { events, ..ChangesRead::from(changes) });
    with_match(
        render(status, &CreateAnswer { success: true, data: created.into(), changes }),
        matched_by,
    )
}

/// The person, and the outcome of the values that were sent.
#[derive(Serialize, ToSchema)]
pub struct CreateAnswer {
    #[schema(example = true)]
    success: bool,
    data: PersonCreated,
    /// With `include=changes`, the outcome of the values that were sent; with `dry_run=true` alone,
    /// the events that would have been written.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<CreateChanges>, nullable = false)]
    changes: Option<ChangesRead>,
}

#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum CreateChanges {
    Values(ChangesRead),
    Events(Vec<WouldBeChange>),
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum InvalidChoice {
    Refuse,
    Drop,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum CreateInclude {
    Changes,
}

pub const fn status(is_new: bool) -> StatusCode {
    match is_new {
        true => StatusCode::CREATED,
        false => StatusCode::OK,
    }
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum DuplicateChoice {
    Merge,
    Error,
    Create,
}
