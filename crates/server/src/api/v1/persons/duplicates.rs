use axum::http::StatusCode;
use slated_model::duplicate::Place;
use slated_model::listing::MAX_PER_PAGE;
use slated_model::problem::FieldErrorCode;

use crate::api::v1::events::list::read_limit;
use crate::api::v1::responses::duplicate::{DuplicateMeta, DuplicatePage, DuplicateRead};
use crate::http::response::render;
use crate::http::{ApiResult, ReadRequest};
use slated_operations::persons::duplicates::FindDuplicates;

/// List likely duplicates
///
/// Pairs of persons who are likely the same one, in the order of their ids, each pair once. A page
/// looks at 500 persons at most, so it may be short or empty although there is more: go on until
/// `next_cursor` is null.
#[utoipa::path(get, path = "/v1/persons/duplicates", operation_id = "listDuplicates",
    tag = "Persons",
    params(
        ("cursor" = Option<String>, Query, description = "Empty or absent to begin, then \
            `next_cursor` of the page before."),
        ("limit" = Option<i64>, Query, description = "How many pairs a page has at most."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST"]))),
    responses((status = 200, description = "A page of pairs.", body = DuplicatePage)))]
pub async fn list_duplicates(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let expected = "empty, or next_cursor of the page before";
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
