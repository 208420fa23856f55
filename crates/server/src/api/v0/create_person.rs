use serde::Serialize;
use slated_model::contact::{Channel, read_new};
use slated_model::input::Fields;
use slated_model::person::{NewPerson, OnInvalid};
use slated_operations::persons::create::{CreatePerson, CreatedPerson};
use utoipa::ToSchema;

use crate::api::v1::persons::create::{DuplicateChoice, read_on_duplicate, status};
use crate::api::v1::responses::contact::ContactEntry;
use crate::http::response::{render, with_match};
use crate::http::{ApiResult, WriteRequest};

/// A person to create, in the format of version 0: all strings, with a single `email` and
/// `phone_number` beside the lists.
#[derive(ToSchema)]
#[schema(example = json!({"first_name": "Ada", "last_name": "Lovelace", "email": "ada@example.com",
    "phone_number": "+44 20 7946 0000"}))]
#[expect(dead_code, reason = "describes what read_new_person reads")]
pub struct CreatePersonBodyV0 {
    name: Option<String>,
    first_name: Option<String>,
    last_name: Option<String>,
    social_url: Option<String>,
    current_job_title: Option<String>,
    social_location: Option<String>,
    company_name: Option<String>,
    email: Option<String>,
    emails: Option<Vec<String>>,
    phone_number: Option<String>,
    phone_numbers: Option<Vec<String>>,
    notes: Option<String>,
    job_id: Option<String>,
    job_name: Option<String>,
    client_name: Option<String>,
    client_id: Option<String>,
    external_source_id: Option<String>,
}

fn read_new_person(fields: &mut Fields<'_>) -> NewPerson {
    NewPerson::read(fields, OnInvalid::Refuse, |fields| {
        let emails = read_new(fields, Channel::Email, "emails", &["email"], &[]);
        let phones = read_new(fields, Channel::Phone, "phone_numbers", &["phone_number"], &[]);
        (emails, phones)
    })
}

/// The envelope of version 0.
#[derive(Serialize, ToSchema)]
pub struct EnvelopeV0 {
    /// Empty on success.
    #[schema(example = "")]
    error: &'static str,
    data: PersonCreatedV0,
}

/// A person in the format of version 0: an unset field is an empty string.
#[derive(Serialize, ToSchema)]
pub struct PersonCreatedV0 {
    #[schema(example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    id: String,
    #[schema(example = "Ada Lovelace")]
    name: String,
    social_public_id: String,
    current_job_title: String,
    company_name: String,
    social_location: String,
    #[schema(value_type = Vec<ContactEntry>)]
    emails: Vec<slated_model::contact::Contact>,
    #[schema(value_type = Vec<ContactEntry>)]
    phones: Vec<slated_model::contact::Contact>,
    candidate_id: String,
    client_contact_id: String,
    external_source_id: String,
}

impl From<CreatedPerson> for PersonCreatedV0 {
    fn from(created: CreatedPerson) -> Self {
        let CreatedPerson {
            is_new: _,
            person,
            company_name,
            candidate_id,
            client_contact_id,
            changes: _,
        } = created;
        Self {
            id: person.id.to_string(),
            name: person.name.whole,
            social_public_id: person.social.handle,
            current_job_title: person.current_job_title,
            company_name,
            social_location: person.social_location,
            emails: person.emails.into_entries(),
            phones: person.phones.into_entries(),
            candidate_id: candidate_id.map(|id| id.to_string()).unwrap_or_default(),
            client_contact_id: client_contact_id.map(|id| id.to_string()).unwrap_or_default(),
            external_source_id: person.external_source_id.unwrap_or_default(),
        }
    }
}

/// Create a person (version 0)
///
/// The same rules as in version 1, with the fields and the envelope of version 0. The fields that
/// version 1 added are refused.
#[utoipa::path(post, path = "/v0/persons", operation_id = "createPersonV0", tag = "Persons",
    params(("on_duplicate" = inline(Option<DuplicateChoice>), Query, description = "What to do if \
        the person already exists: `merge` (the default), `error` or `create`.")),
    request_body = CreatePersonBodyV0,
    extensions(("x-errors" = json!(["NOT_FOUND", "DUPLICATE_PERSON", "IDENTIFIER_CONFLICT",
        "AMBIGUOUS_JOB"]))),
    responses(
        (status = 201, description = "The person was created.", body = EnvelopeV0),
        (status = 200, description = "The person already existed; missing values were added.",
            body = EnvelopeV0)))]
pub async fn create_person(request: WriteRequest) -> ApiResult {
    let mut query = request.query();
    let on_duplicate = read_on_duplicate(&mut query);
    query.finish(())?;
    let new = request.read(read_new_person)?;
    let work = CreatePerson::new(request.actor.clone(), new, on_duplicate).precomputed();
    request
        .execute_batched(
            |app| &app.creates,
            work,
            |created| {
                let (status, matched_by) = (status(created.is_new), created.changes.matched_by);
                with_match(
                    render(status, &EnvelopeV0 { error: "", data: created.into() }),
                    matched_by,
                )
            },
        )
        .await
}
