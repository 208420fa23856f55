use axum::http::StatusCode;
use slated_model::career::CareerPatch;
use slated_model::clock::Timestamp;
use slated_operations::etag;
use slated_operations::persons::history::ReplaceHistory;
use utoipa::ToSchema;

use crate::api::v1::responses::person::PersonRead;
use crate::http::response::{answer, with_etag};
use crate::http::{ApiResult, Envelope, WriteRequest};

/// A career history in the format of a read. Each list is optional: a given list replaces the old
/// one, null or `[]` clears it.
#[derive(ToSchema)]
#[schema(example = json!({"work_experience": [{"company_name": "Analytical Engines", "positions": [
    {"title": "Analyst", "start_date": "2022-03-01", "end_date": null, "location": "London",
        "position_type": "Full-time"}]}],
    "education_experience": [{"company_name": "University of London", "degree": "Mathematics",
        "start_date": "2016-10-01", "end_date": "2019-06-30"}],
    "certifications": [{"name": "Certified Analyst", "credential_id": "CA-42",
        "start_date": "2021-01-01", "company_name": "Institute of Analysts"}]}))]
#[expect(dead_code, reason = "describes what CareerPatch reads")]
pub struct ReplaceHistoryBody {
    #[schema(max_items = 100)]
    work_experience: Option<Vec<WorkExperienceInput>>,
    #[schema(max_items = 100)]
    education_experience: Option<Vec<EducationInput>>,
    #[schema(max_items = 100)]
    certifications: Option<Vec<CertificationInput>>,
}

/// The employment at one company.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what CareerPatch reads")]
pub struct WorkExperienceInput {
    #[schema(max_items = 100)]
    positions: Option<Vec<PositionInput>>,
    /// Computed when absent: the months in which one of the positions was held.
    duration_in_months: Option<i64>,
    company_name: Option<String>,
    company_social_url: Option<String>,
    company_social_id: Option<i64>,
    /// A company of the workspace.
    company_id: Option<String>,
}

/// One position at a company.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what CareerPatch reads")]
pub struct PositionInput {
    title: Option<String>,
    start_date: Option<String>,
    /// Null or absent while the position is held.
    end_date: Option<String>,
    /// Computed when absent: the whole months from `start_date` to `end_date`, or to today.
    duration_in_months: Option<i64>,
    description: Option<String>,
    location: Option<String>,
    position_type: Option<String>,
}

/// The education at one school.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what CareerPatch reads")]
pub struct EducationInput {
    company_name: Option<String>,
    start_date: Option<String>,
    end_date: Option<String>,
    description: Option<String>,
    degree: Option<String>,
    company_social_url: Option<String>,
    company_social_id: Option<i64>,
    company_id: Option<String>,
}

/// A certificate and who issued it.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what CareerPatch reads")]
pub struct CertificationInput {
    name: Option<String>,
    credential_id: Option<String>,
    start_date: Option<String>,
    end_date: Option<String>,
    company_name: Option<String>,
    company_social_url: Option<String>,
    company_social_id: Option<i64>,
    company_id: Option<String>,
}

/// Write a person's career history
///
/// Returns the person in the format of a read.
#[utoipa::path(put, path = "/v1/persons/{id}/history", operation_id = "replaceHistory",
    tag = "Persons",
    params(("id" = String, Path, description = "The person's id.",
        example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")),
    request_body = ReplaceHistoryBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "ERASED", "PRECONDITION_FAILED"])),
        ("x-if-match" = json!(true)), ("x-etag" = json!(true))),
    responses((status = 200, description = "The person with the new history.",
        body = Envelope<PersonRead>)))]
pub async fn replace_history(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let today = Timestamp::now().date();
    let career = request.read(|fields| CareerPatch::read(fields, today))?;
    let work = ReplaceHistory {
        actor: request.actor.clone(),
        id: request.id()?,
        career,
        precondition: request.precondition.clone(),
    };
    request
        .execute(work, |view| {
            let tag = etag::of(&view);
            with_etag(answer(StatusCode::OK, PersonRead::from(view)), tag)
        })
        .await
}
