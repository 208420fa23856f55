use axum::http::StatusCode;
use slated_model::listing::Page;
use slated_operations::persons::list::{ListPersons, PersonQuery};

use crate::api::v1::responses::person_item::PersonListItem;
use crate::http::response::{list_meta, render};
use crate::http::{ApiResult, ListOf, ReadRequest};

/// List and search persons
///
/// All persons of the workspace, oldest first. With `q`, up to 1,000 persons who have all of its
/// words, best matches first, each with the fields that contain the words. Page with `offset` and
/// `limit`, or with `cursor`.
#[utoipa::path(get, path = "/v1/persons", operation_id = "listPersons", tag = "Persons",
    params(
        ("q" = Option<String>, Query, description = "Words that persons must have in names, \
            handles, titles, companies, e-mail addresses, headlines, locations, addresses, career \
            histories or notes. A word of two or more letters also matches longer words that begin \
            with it; case and accents are ignored."),
        ("email" = Option<String>, Query, description = "Only persons who have this e-mail \
            address."),
        ("phone" = Option<String>, Query, description = "Only persons who have this phone number; \
            only its digits are compared."),
        ("external_source_id" = Option<String>, Query, description = "Only persons with this id in \
            an external system."),
        ("social_public_id" = Option<String>, Query, description = "Only persons with this \
            handle."),
        ("company_id" = Option<String>, Query, description = "Only persons who currently work for \
            this company."),
        ("job_id" = Option<String>, Query, description = "Only persons who are candidates of this \
            job."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "CURSOR_GONE"])), ("x-list" = json!(true))),
    responses((status = 200, description = "A page of persons.", body = ListOf<PersonListItem>)))]
pub async fn list_persons(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let filters = PersonQuery::read(&mut query);
    let page = Page::read(&mut query, &filters);
    let (filters, page) = query.finish((filters, page))?;
    let work = ListPersons { workspace: request.workspace, query: filters, page: page.clone() };
    let listed = request.look_for_page(work.query.wants_all(), &page, work).await?;
    let meta = list_meta(&page, &listed, |(item, _)| item.id);
    let data = listed.records.into_iter().map(PersonListItem::from).collect();
    Ok(render(StatusCode::OK, &ListOf { success: true, data, meta }))
}
