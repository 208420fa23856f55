use axum::http::StatusCode;
use model::contact::{Channel, EMAIL_FIELDS, PHONE_FIELDS, read_new};
use model::input::{Fields, Query};
use model::person::{NewPerson, OnDuplicate, read_enrichment};
use model::problem::Flaw;
use utoipa::ToSchema;

use crate::api::v1::shape::person::PersonCreated;
use crate::http::answer::answer;
use crate::http::{Reply, Tryable, Write};
use crate::ops::persons::create::{CreatePerson, CreatedPerson};

/// A person to create. A name is needed: `name`, or `first_name` or `last_name`, or at least `social_url`.
#[derive(ToSchema)]
#[schema(example = json!({"name": "Ada Lovelace", "social_url": "https://social.example/in/ada-lovelace", "current_job_title": "Analyst",
    "company_name": "Analytical Engines", "work_email": "ada@example.com", "mobile_phone": "+44 20 7946 0000", "external_source_id": "crm-1815"}))]
#[expect(dead_code, reason = "describes what read_new_person reads")]
pub struct CreatePersonBody {
    /// The whole name. Split at the last space when `first_name` and `last_name` are absent.
    name: Option<String>,
    first_name: Option<String>,
    last_name: Option<String>,
    /// An http or https URL that holds the public handle: the segment after `/in/`, else the last one.
    social_url: Option<String>,
    current_job_title: Option<String>,
    social_location: Option<String>,
    /// Finds or makes the company of that name.
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
    /// Puts the person on this job.
    job_id: Option<String>,
    /// Puts the person on the job of this name that is not archived; `client_id` or `client_name` tell several apart.
    job_name: Option<String>,
    /// With `job_name`, the job's client; alone, makes the person a contact of that client, which is made if it is new.
    client_name: Option<String>,
    /// As `client_name`, by id.
    client_id: Option<String>,
    /// The person's id in an outside system.
    external_source_id: Option<String>,
    /// True to enrich the person in the background, whether they are made or found. It never slows or fails the create.
    enrich_record: Option<bool>,
}

pub fn read_new_person(fields: &mut Fields<'_>) -> NewPerson {
    let enrich = read_enrichment(fields);
    let new = NewPerson::read(fields, |fields| {
        let emails = read_new(fields, Channel::Email, "emails", &[], &EMAIL_FIELDS);
        let phones = read_new(fields, Channel::Phone, "phone_numbers", &[], &PHONE_FIELDS);
        (emails, phones)
    });
    NewPerson { enrich, ..new }
}

pub fn read_on_duplicate(query: &mut Query) -> OnDuplicate {
    query.parsed("on_duplicate", Flaw::InvalidValue, OnDuplicate::NAMES, OnDuplicate::parse).unwrap_or_default()
}

/// Whether a write is only to be tried out.
pub fn read_dry_run(query: &mut Query) -> bool {
    query.parsed("dry_run", Flaw::InvalidValue, "true or false", |written| written.parse().ok()).unwrap_or(false)
}

/// Create a person
///
/// Makes the person, or finds the one that `external_source_id`, the social handle or an e-mail address points at (in that order; never the
/// name): then empty fields are filled, contacts united, the job attached, and the answer is 200 with the existing id. So pushing the same
/// person twice is safe. All of it happens or nothing.
#[utoipa::path(post, path = "/v1/persons", operation_id = "createPerson", tag = "Persons",
    params(
        ("on_duplicate" = inline(Option<DuplicateChoice>), Query, description = "What to do when the person is there already: `merge` (the default), `error` to answer 409 with the id, or `create` to make a second person."),
        ("dry_run" = Option<bool>, Query, description = "With `true` nothing is stored: the answer is the one that the write would have given, with the changes that it would have made."),
    ),
    request_body = CreatePersonBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "DUPLICATE_PERSON", "IDENTIFIER_CONFLICT", "AMBIGUOUS_JOB"]))),
    responses(
        (status = 201, description = "The person was made.", body = Tryable<PersonCreated>),
        (status = 200, description = "The person was there already; what was missing was added.", body = Tryable<PersonCreated>)))]
pub async fn create_person(request: Write) -> Reply {
    let mut query = request.query();
    let (on_duplicate, dry_run) = (read_on_duplicate(&mut query), read_dry_run(&mut query));
    query.finish(())?;
    let new = request.read(read_new_person)?;
    let work = CreatePerson::new(request.actor.clone(), new, on_duplicate).prepared();
    let render = |created: CreatedPerson| answer(status(created.is_new), PersonCreated::from(created));
    match dry_run {
        true => request.try_out(work, render).await,
        false => request.carry_out_together(|app| &app.creates, work, render).await,
    }
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
