use axum::http::StatusCode;
use serde::Serialize;
use slated_model::person::PersonPatch;
use slated_operations::persons::update::UpdatePerson;
use utoipa::ToSchema;

use super::create::read_dry_run;
use crate::http::response::answer;
use crate::http::{ApiResult, WithDryRunChanges, WriteRequest};

/// The fields of a person to change, as a JSON merge patch: an absent field is kept, null (or an
/// empty string) clears, a list replaces the old one.
#[derive(ToSchema)]
#[schema(example = json!({"current_job_title": "Chief Analyst", "work_email": "ada@new.example",
    "mobile_phone": null}))]
#[expect(dead_code, reason = "describes what PersonPatch reads")]
pub struct UpdatePersonBody {
    social_url: Option<String>,
    /// The person's e-mail addresses; replaces all old ones.
    emails: Option<Vec<EmailInput>>,
    /// The person's phone numbers; replaces all old ones.
    phone_numbers: Option<Vec<PhoneInput>>,
    name: Option<String>,
    first_name: Option<String>,
    last_name: Option<String>,
    current_job_title: Option<String>,
    company_name: Option<String>,
    social_location: Option<String>,
    social_headline: Option<String>,
    address: Option<String>,
    /// True to enrich the person in the background after the change.
    enrich_record: Option<bool>,
    /// Replaces all e-mail addresses of the type `work`.
    work_email: Option<String>,
    /// Replaces all e-mail addresses of the type `personal`.
    personal_email: Option<String>,
    /// Replaces all phone numbers of the type `mobile`.
    mobile_phone: Option<String>,
    /// Replaces all phone numbers of the type `work`.
    work_phone: Option<String>,
    /// Adds the person to this job.
    job_id: Option<String>,
}

/// An e-mail address to store.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what PersonPatch reads")]
pub struct EmailInput {
    /// `work` (if absent), `personal` or `other`. `work_email` and `personal_email` are also
    /// accepted and stored as the short names.
    contact_data_type: Option<String>,
    #[schema(example = "ada@example.com")]
    value: String,
}

/// A phone number to store.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what PersonPatch reads")]
pub struct PhoneInput {
    /// `mobile` (if absent), `work`, `home` or `other`. `mobile_phone` and `work_phone` are also
    /// accepted and stored as the short names.
    contact_data_type: Option<String>,
    #[schema(example = "+44 20 7946 0000")]
    value: String,
}

/// Confirms that the change was made.
#[derive(Serialize, ToSchema)]
pub struct Confirmation {
    #[schema(example = "The person was updated.")]
    pub message: &'static str,
}

/// Update a person
///
/// Changes the fields in the body and keeps the rest. With `If-Match`, only if the person has not
/// changed since it was read.
#[utoipa::path(patch, path = "/v1/persons/{id}", operation_id = "updatePerson", tag = "Persons",
    params(
        ("id" = String, Path, description = "The person's id.",
            example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd"),
        ("dry_run" = Option<bool>, Query, description = "With `true`, nothing is \
            stored: the response is that of the write, with the changes that it would \
            have made."),
    ),
    request_body = UpdatePersonBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "IDENTIFIER_CONFLICT", "ERASED",
        "PRECONDITION_FAILED"])), ("x-if-match" = json!(true))),
    responses((status = 200, description = "The change was made.", body = WithDryRunChanges<Confirmation>)))]
pub async fn update_person(request: WriteRequest) -> ApiResult {
    let mut query = request.query();
    let dry_run = read_dry_run(&mut query);
    query.finish(())?;
    let patch = request.read(PersonPatch::read)?;
    let work = UpdatePerson {
        actor: request.actor.clone(),
        id: request.id()?,
        patch,
        precondition: request.precondition.clone(),
    };
    let render = |()| answer(StatusCode::OK, Confirmation { message: "The person was updated." });
    match dry_run {
        true => request.dry_run(work, render).await,
        false => request.execute_batched(|app| &app.updates, work, render).await,
    }
}
