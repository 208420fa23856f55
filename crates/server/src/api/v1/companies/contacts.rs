use axum::http::StatusCode;
use slated_model::candidate::read_person;
use slated_model::listing::Page;
use slated_model::problem::{FieldErrorCode, Problem};
use slated_operations::companies::contacts::{AddContact, ListContacts, RemoveContact};
use utoipa::ToSchema;

use crate::api::v1::persons::create::status;
use crate::api::v1::persons::update::Confirmation;
use crate::api::v1::responses::company::ClientContactRead;
use crate::http::response::{answer, list_meta, render};
use crate::http::{ApiResult, BodilessWriteRequest, Envelope, ListOf, ReadRequest, WriteRequest};

/// List the contacts of a company
///
/// The contact persons at the company, in the order in which they became contacts.
#[utoipa::path(get, path = "/v1/companies/{id}/contacts", operation_id = "listCompanyContacts",
    tag = "Companies",
    params(("id" = String, Path, description = "The company's id.",
        example = "cmp_01m1v0e8k7d2r9w4t6y8p1q3sk")),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "NOT_FOUND"])), ("x-page" = json!(true))),
    responses((status = 200, description = "A page of contacts.",
        body = ListOf<ClientContactRead>)))]
pub async fn list_contacts(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let page = Page::read(&mut query, &());
    let page = query.finish(page)?;
    let work =
        ListContacts { workspace: request.workspace, company: request.id()?, page: page.clone() };
    let listed = request.app.store.read_consistent(work).await?;
    let meta = list_meta(&page, &listed, |contact| contact.id);
    let data = listed.records.into_iter().map(ClientContactRead::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}

/// The person to make a contact.
#[derive(ToSchema)]
#[schema(example = json!({"person_id": "per_01m1v0e8k7f3vs8xq2zr6c4ybd"}))]
#[expect(dead_code, reason = "describes what read_person reads")]
pub struct AddContactBody {
    person_id: String,
}

/// Make a person a contact of a company
///
/// If the person is already a contact, nothing changes and the response is 200.
#[utoipa::path(post, path = "/v1/companies/{id}/contacts", operation_id = "addCompanyContact",
    tag = "Companies",
    params(("id" = String, Path, description = "The company's id.",
        example = "cmp_01m1v0e8k7d2r9w4t6y8p1q3sk")),
    request_body = AddContactBody,
    extensions(("x-errors" = json!(["NOT_FOUND", "ERASED"]))),
    responses(
        (status = 201, description = "The person became a contact.",
            body = Envelope<ClientContactRead>),
        (status = 200, description = "The person was already a contact.",
            body = Envelope<ClientContactRead>)))]
pub async fn add_contact(request: WriteRequest) -> ApiResult {
    request.no_query()?;
    let person = request
        .read(read_person)?
        .ok_or_else(|| Problem::invalid("person_id", FieldErrorCode::Required, "is required"))?;
    let work = AddContact { actor: request.actor.clone(), company: request.id()?, person };
    request
        .execute(work, |(view, is_new)| answer(status(is_new), ClientContactRead::from(view)))
        .await
}

/// Remove a contact from a company
///
/// The person is kept, but is no longer a contact of the company.
#[utoipa::path(delete, path = "/v1/companies/{id}/contacts/{contact_id}",
    operation_id = "removeCompanyContact", tag = "Companies",
    params(
        ("id" = String, Path, description = "The company's id.",
            example = "cmp_01m1v0e8k7d2r9w4t6y8p1q3sk"),
        ("contact_id" = String, Path, description = "The contact's id.",
            example = "ctc_01m1v0e8k7n4q6s8v0x2z5b7df"),
    ),
    extensions(("x-errors" = json!(["NOT_FOUND"])), ("x-writes" = json!(true))),
    responses((status = 200, description = "The person is no longer a contact.",
        body = Envelope<Confirmation>)))]
pub async fn remove_contact(BodilessWriteRequest(request): BodilessWriteRequest) -> ApiResult {
    request.no_query()?;
    request.read(|_| ())?;
    let work = RemoveContact {
        actor: request.actor.clone(),
        company: request.id()?,
        contact: request.second_id()?,
    };
    request
        .execute(work, |()| {
            answer(
                StatusCode::OK,
                Confirmation { message: "The person is no longer a contact of the company." },
            )
        })
        .await
}
