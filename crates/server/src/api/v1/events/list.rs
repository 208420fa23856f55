use axum::http::StatusCode;
use slated_model::event::TypeFilter;
use slated_model::input::Query;
use slated_model::listing::{MAX_OFFSET, whole_number};
use slated_model::problem::FieldErrorCode;
use slated_model::webhook::unknown_type;
use slated_operations::events::read::{Position, ReadEvents};
use slated_store::records::events::reading::Most;

use crate::api::v1::responses::event::{EventPage, FeedMeta};
use crate::http::response::render;
use crate::http::{ApiResult, ReadRequest};

pub const MAX_EVENTS_PER_PAGE: i64 = 1000;
const DEFAULT_PER_PAGE: i64 = 100;

/// List events
///
/// All changes, oldest first, from any point within the retention. Send `next_after` as `after` in
/// the next call. With `types`, a page may be short or empty even if there is more: continue while
/// `has_more` is true.
#[utoipa::path(get, path = "/v1/events", operation_id = "listEvents", tag = "Events",
    params(
        ("after" = Option<String>, Query, description = "Only events after this number; `latest` \
            for new events only. If absent, from the oldest event kept."),
        ("types" = Option<String>, Query, description = "Only events of these types, separated by \
            commas: `person.created`, `person.*`, `*`."),
        ("limit" = Option<i64>, Query, description = "The maximum number of events on a page."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "EVENTS_GONE"]))),
    responses((status = 200, description = "A page of events.", body = EventPage)))]
pub async fn list_events(request: ReadRequest) -> ApiResult {
    let mut query = request.query();
    let position = read_after(&mut query).unwrap_or(Position::Oldest);
    let types = read_types(&mut query);
    let limit = read_limit(&mut query, MAX_EVENTS_PER_PAGE, DEFAULT_PER_PAGE);
    let (types, limit) = query.finish((types, limit))?;
    let work =
        ReadEvents { workspace: request.workspace, position, types, most: Most::events(limit) };
    let page = request.look_at_much(work).await?;
    let meta = FeedMeta { next_after: page.next_after, has_more: page.has_more };
    Ok(render(StatusCode::OK, &EventPage { success: true, data: page.events, meta }))
}

/// Where to begin, if it is said.
pub fn read_after(query: &mut Query) -> Option<Position> {
    query.parsed(
        "after",
        FieldErrorCode::InvalidValue,
        "the number of an event, or latest",
        |written| match written {
            "latest" => Some(Position::Newest),
            number => sequence(number).map(Position::After),
        },
    )
}

pub fn read_types(query: &mut Query) -> TypeFilter {
    let Some(written) = query.raw("types") else { return TypeFilter::everything() };
    let blank = written.split(',').find(|part| part.trim().is_empty());
    match blank.map_or_else(|| TypeFilter::parse(written.split(',')), |blank| Err(blank.to_owned()))
    {
        Ok(types) => types,
        Err(unknown) => {
            query.refuse("types", FieldErrorCode::InvalidValue, unknown_type(&unknown));
            TypeFilter::everything()
        }
    }
}

pub fn read_limit(query: &mut Query, most: i64, default: i64) -> i64 {
    let expected = format!("a whole number from 1 to {most}");
    let limit = query.parsed("limit", FieldErrorCode::OutOfRange, &expected, |written| {
        whole_number(written).filter(|number| (1..=most).contains(number))
    });
    limit.unwrap_or(default)
}

/// Where a page that goes back in time begins.
pub fn read_before(query: &mut Query) -> Option<i64> {
    query.parsed("before", FieldErrorCode::InvalidValue, "the number of an event", sequence)
}

/// The number of an event, as it is written.
pub fn sequence(written: &str) -> Option<i64> {
    whole_number(written).filter(|number| *number <= MAX_OFFSET)
}
