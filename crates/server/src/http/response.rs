//! Answers on their way out, in the envelope of version 1.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use serde_json::value::RawValue;
use slated_model::id::{Id, Kind};
use slated_model::listing::{Order, Page, Start};
use slated_model::person::IdentifierKind;
use slated_operations::idempotency::StoredResponse;
use slated_store::Tried;
use slated_store::records::pagination::PageResult;
use utoipa::ToSchema;

use super::error_response::ErrorResponse;

const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");
/// By what a create found the person who was there already.
const MATCHED_BY: HeaderName = HeaderName::from_static("x-matched-by");

/// Room for the answer to most reads, so that it need not be moved while it is written.
const LIKELY_LENGTH: usize = 4096;

/// A complete answer to a request.
#[derive(Clone, Debug)]
pub struct ApiResponse {
    pub status: u16,
    pub etag: Option<String>,
    /// By what a create found the person who was there already.
    pub matched_by: Option<IdentifierKind>,
    pub body: Vec<u8>,
    /// True if this is an earlier answer, given again.
    pub is_replay: bool,
}

impl From<StoredResponse> for ApiResponse {
    fn from(StoredResponse { status, etag, matched_by, body, is_replay }: StoredResponse) -> Self {
        Self { status, etag, matched_by, body, is_replay }
    }
}

impl From<ApiResponse> for StoredResponse {
    fn from(ApiResponse { status, etag, matched_by, body, is_replay }: ApiResponse) -> Self {
        Self { status, etag, matched_by, body, is_replay }
    }
}

/// What every handler gives back.
pub type ApiResult = Result<ApiResponse, ErrorResponse>;

/// A single record.
#[derive(Serialize, ToSchema)]
pub struct Envelope<T> {
    #[schema(example = true)]
    pub success: bool,
    pub data: T,
}

/// A single record, found by its id or by the id of a record merged into it.
#[derive(Serialize, ToSchema)]
pub struct MaybeMerged<T> {
    #[schema(example = true)]
    pub success: bool,
    pub data: T,
    /// The id of the record, if the request named the id of one that was merged into it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub merged_into: Option<String>,
}

/// The record of a write or of a dry run.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what with_changes writes")]
pub struct WithDryRunChanges<T> {
    #[schema(example = true)]
    success: bool,
    data: T,
    /// With `dry_run=true`: the events that would have been written.
    #[schema(nullable = false)]
    changes: Option<Vec<WouldBeChange>>,
}

/// An event that would have been written.
#[derive(Serialize, ToSchema)]
pub struct WouldBeChange {
    /// The type of the event.
    #[schema(example = "person.created")]
    r#type: String,
    #[schema(example = "per_01m1v0e8k7f3vs8xq2zr6c4ybd")]
    record_id: String,
    #[schema(value_type = Object,
        example = json!({"before": {}, "after": {"name": "Ada Lovelace"}}))]
    data: serde_json::Value,
}

/// A page of records.
#[derive(Serialize, ToSchema)]
pub struct ListOf<T> {
    #[schema(example = true)]
    pub success: bool,
    pub data: Vec<T>,
    pub meta: ListMeta,
}

/// The position of the page: `offset`, or `next_cursor` if the list was requested with
/// `cursor`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum ListMeta {
    /// A page by offset.
    Offset {
        /// The number of matching records.
        #[schema(minimum = 0)]
        total: i64,
        /// The number of skipped records.
        #[schema(minimum = 0)]
        offset: i64,
        #[schema(minimum = 1, maximum = 100)]
        limit: i64,
    },
    /// A page by cursor.
    Cursor {
        /// The number of matching records; with filters, as of the first page.
        #[schema(minimum = 0)]
        total: i64,
        #[schema(minimum = 1, maximum = 100)]
        limit: i64,
        /// The `cursor` of the next page; null at the end.
        #[schema(required)]
        next_cursor: Option<String>,
    },
}

/// A record in the envelope.
pub fn answer<T: Serialize>(status: StatusCode, data: T) -> ApiResponse {
    render(status, &Envelope { success: true, data })
}

/// A record that was asked for under an id which may have been merged into it.
pub fn followed<T: Serialize, K: Kind>(asked_for: Id<K>, found: Id<K>, data: T) -> ApiResponse {
    let merged_into = (found != asked_for).then(|| found.to_string());
    render(StatusCode::OK, &MaybeMerged { success: true, data, merged_into })
}

/// Any body as it is.
pub fn render(status: StatusCode, body: &impl Serialize) -> ApiResponse {
    let mut buffer = Vec::with_capacity(LIKELY_LENGTH);
    match serde_json::to_writer(&mut buffer, body) {
        Ok(()) => ApiResponse {
            status: status.as_u16(),
            etag: None,
            matched_by: None,
            body: buffer,
            is_replay: false,
        },
        Err(error) => {
            tracing::error!(error = %error, "a response could not be serialized");
            ApiResponse {
                status: 500,
                etag: None,
                matched_by: None,
                body: Vec::new(),
                is_replay: false,
            }
        }
    }
}

pub fn with_etag(answer: ApiResponse, etag: String) -> ApiResponse {
    ApiResponse { etag: Some(etag), ..answer }
}

/// The answer of a create that says by what it found the person, if it found one.
pub fn with_match(answer: ApiResponse, matched_by: Option<IdentifierKind>) -> ApiResponse {
    ApiResponse { matched_by, ..answer }
}

/// The answer with a secret in a field of its `data`. One that is given again shows no secret: its
/// caller had it, or has to make a new one.
pub fn with_secret(answer: ApiResponse, field: &str, secret: &str) -> ApiResponse {
    match answer.is_replay {
        true => answer,
        false => with_field(answer, field, secret.into()),
    }
}

/// The answer with one more field of its `data`.
pub fn with_field(answer: ApiResponse, field: &str, value: serde_json::Value) -> ApiResponse {
    let mut body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    body["data"][field] = value;
    let status = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    ApiResponse { body: render(status, &body).body, ..answer }
}

/// What a change that was only tried out would have told.
#[derive(Serialize)]
struct TriedChange<'t> {
    r#type: &'static str,
    record_id: String,
    data: &'t RawValue,
}

/// The events that would have been written, as JSON.
pub fn would_be(tried: &[Tried]) -> Vec<Box<RawValue>> {
    let change = |tried: &Tried| {
        let data = serde_json::from_str(&tried.data).ok()?;
        let change = TriedChange {
            r#type: tried.kind.name(),
            record_id: tried.kind.record_id(tried.subject.record),
            data,
        };
        serde_json::value::to_raw_value(&change).ok()
    };
    tried.iter().filter_map(change).collect()
}

/// The answer with the changes that would have been made beside its `data`.
pub fn with_changes(mut answer: ApiResponse, tried: &[Tried]) -> ApiResponse {
    let changes: Vec<_> = would_be(tried).iter().map(|change| change.get().to_owned()).collect();
    if answer.body.pop() == Some(b'}') {
        answer.body.extend_from_slice(format!(",\"changes\":[{}]}}", changes.join(",")).as_bytes());
    }
    ApiResponse { etag: None, ..answer }
}

impl IntoResponse for ApiResponse {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() =
            StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        if self.status != StatusCode::NOT_MODIFIED.as_u16() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(etag) = self.etag.and_then(|etag| HeaderValue::try_from(etag).ok()) {
            headers.insert(ETAG, etag);
        }
        if let Some(matched_by) = self.matched_by {
            headers.insert(MATCHED_BY, HeaderValue::from_static(matched_by.name()));
        }
        if self.is_replay {
            headers.insert(REPLAYED, HeaderValue::from_static("true"));
        }
        response
    }
}

/// A page of a short list that was read as a whole, the oldest first.
pub fn page_of<T, K: Kind>(
    page: &Page<K>,
    all: Vec<T>,
    id: impl Fn(&T) -> Id<K>,
) -> (Vec<T>, ListMeta) {
    let seen = |all: &[T], last: Id<K>| {
        let replicas_must_show = |record: &&T| match page.order {
            Order::OldestFirst => id(record) <= last,
            Order::NewestFirst => id(record) >= last,
        };
        all.iter().filter(replicas_must_show).count()
    };
    page_behind(page, all, &id, seen)
}

/// The same of a list that has an order of its own, in which a record that is gone has no place: it
/// begins anew behind that.
pub fn page_of_ordered<T, K: Kind>(
    page: &Page<K>,
    all: Vec<T>,
    id: impl Fn(&T) -> Id<K>,
) -> (Vec<T>, ListMeta) {
    page_behind(page, all, &id, |_, _| 0)
}

fn page_behind<T, K: Kind>(
    page: &Page<K>,
    mut all: Vec<T>,
    id: &impl Fn(&T) -> Id<K>,
    seen_when_gone: impl Fn(&[T], Id<K>) -> usize,
) -> (Vec<T>, ListMeta) {
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    if page.order == Order::NewestFirst {
        all.reverse();
    }
    let start = match page.start {
        Start::Offset(offset) => usize::try_from(offset).unwrap_or(usize::MAX),
        Start::Cursor(None) => 0,
        Start::Cursor(Some(cursor)) => all
            .iter()
            .position(|record| id(record) == cursor.last)
            .map_or_else(|| seen_when_gone(&all, cursor.last), |at| at + 1),
    };
    let limit = usize::try_from(page.limit).unwrap_or(0);
    let more = all.len() > start.saturating_add(limit);
    let records: Vec<T> = all.into_iter().skip(start).take(limit).collect();
    let listed = PageResult { records, total, more };
    let meta = list_meta(page, &listed, id);
    (listed.records, meta)
}

/// The `meta` of a page, as it was asked for.
pub fn list_meta<T, K: Kind>(
    page: &Page<K>,
    listed: &PageResult<T>,
    id: impl Fn(&T) -> Id<K>,
) -> ListMeta {
    let PageResult { records, total, more } = listed;
    match page.start {
        Start::Offset(offset) => ListMeta::Offset { total: *total, offset, limit: page.limit },
        Start::Cursor(_) => {
            let last = records.last().filter(|_| *more);
            let next_cursor = last.map(|last| page.cursor_after(id(last), *total).write());
            ListMeta::Cursor { total: *total, limit: page.limit, next_cursor }
        }
    }
}
