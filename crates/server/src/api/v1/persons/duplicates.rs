use axum::http::StatusCode;
use slated_model::duplicate::Place;
use slated_model::listing::MAX_PER_PAGE;
use slated_model::problem::FieldErrorCode;
use slated_operations::persons::duplicates::FindDuplicates;

use crate::api::v1::events::list::read_limit;
use crate::api::v1::responses::duplicate::{DuplicateMeta, DuplicatePage, DuplicateRead};
use crate::http::response::render;
use crate::http::{ApiResult, ReadRequest};

/// List likely duplicates
///
/// Pairs of persons who are likely the same, in the order of their ids, each pair once. A page
/// examines at most 500 persons, so it may be short or empty even if there is more: continue until
/// `next_cursor` is null.
#[utoipa::path(get, path = "/v1/persons/duplicates", operation_id = "listDuplicates",
    tag = "Persons",
    params(
        ("cursor" = Option<String>, Query, description = "Empty or absent for the first page, then \
            `next_cursor` of the previous page."),
        ("limit" = Option<i64>, Query, description = "The maximum number of pairs on a page."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST"]))),
    responses((status = 200, description = "A page of pairs.", body = DuplicatePage)))]
pub async fn list_duplicates(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let expected = "empty, or next_cursor of the previous page";
    let after =
        query.parsed("cursor", FieldErrorCode::InvalidValue, expected, |written| match written {
            "" => Some(None),
            _ => Place::parse(written).map(Some),
        });
    let limit = read_limit(&mut query, MAX_PER_PAGE, MAX_PER_PAGE);
    let (after, limit) = query.finish((after.flatten(), limit))?;
    let work = FindDuplicates {
        workspace: request.workspace,
        after,
        limit: usize::try_from(limit).unwrap_or(1),
    };
    let (pairs, next) = request.look_at_length(work).await?;
    let meta = DuplicateMeta { limit, next_cursor: next.map(|place| place.write()) };
    let data = pairs.into_iter().map(DuplicateRead::from).collect();
    Ok(render(StatusCode::OK, &DuplicatePage { success: true, data, meta }))
}
