//! Answers on their way out, in the envelope of version 1.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, ETAG};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use model::id::{Id, Kind};
use model::listing::{Page, Start};
use serde::Serialize;
use store::record::listing::Listed;
use utoipa::ToSchema;

use super::refusal::Refusal;
use crate::ops::idempotency::Answer;

const REPLAYED: HeaderName = HeaderName::from_static("idempotency-replayed");

/// What every handler gives back.
pub type Reply = Result<Answer, Refusal>;

/// A single record.
#[derive(Serialize, ToSchema)]
pub struct Envelope<T> {
    #[schema(example = true)]
    pub success: bool,
    pub data: T,
}

/// A page of records.
#[derive(Serialize, ToSchema)]
pub struct ListOf<T> {
    #[schema(example = true)]
    pub success: bool,
    pub data: Vec<T>,
    pub meta: ListMeta,
}

/// Where the page stands: with `offset`, or with `next_cursor` if the list was asked for with `cursor`.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum ListMeta {
    /// A page by offset.
    Offset {
        /// All records that match.
        #[schema(minimum = 0)]
        total: i64,
        /// The records that were skipped.
        #[schema(minimum = 0)]
        offset: i64,
        #[schema(minimum = 1, maximum = 100)]
        limit: i64,
    },
    /// A page by cursor.
    Cursor {
        /// All records that matched when the first page was read.
        #[schema(minimum = 0)]
        total: i64,
        #[schema(minimum = 1, maximum = 100)]
        limit: i64,
        /// What goes into `cursor` for the next page; null at the end.
        #[schema(required)]
        next_cursor: Option<String>,
    },
}

/// A record in the envelope.
pub fn answer<T: Serialize>(status: StatusCode, data: T) -> Answer {
    render(status, &Envelope { success: true, data })
}

/// Any body as it is.
pub fn render(status: StatusCode, body: &impl Serialize) -> Answer {
    let mut buffer = Vec::with_capacity(1024);
    match serde_json::to_writer(&mut buffer, body) {
        Ok(()) => Answer { status: status.as_u16(), etag: None, body: buffer, is_replay: false },
        Err(error) => {
            tracing::error!(error = %error, "an answer could not be written");
            Answer { status: 500, etag: None, body: Vec::new(), is_replay: false }
        }
    }
}

pub fn with_etag(answer: Answer, etag: String) -> Answer {
    Answer { etag: Some(etag), ..answer }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.body));
        *response.status_mut() = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        if self.status != StatusCode::NOT_MODIFIED.as_u16() {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        if let Some(etag) = self.etag.and_then(|etag| HeaderValue::try_from(etag).ok()) {
            headers.insert(ETAG, etag);
        }
        if self.is_replay {
            headers.insert(REPLAYED, HeaderValue::from_static("true"));
        }
        response
    }
}

/// The `meta` of a page, as it was asked for.
pub fn list_meta<T, K: Kind>(page: &Page<K>, listed: &Listed<T>, id: impl Fn(&T) -> Id<K>) -> ListMeta {
    let Listed { records, total, more } = listed;
    match page.start {
        Start::Offset(offset) => ListMeta::Offset { total: *total, offset, limit: page.limit },
        Start::Cursor(_) => {
            let last = records.last().filter(|_| *more);
            let next_cursor = last.map(|last| page.cursor_after(id(last), *total).write());
            ListMeta::Cursor { total: *total, limit: page.limit, next_cursor }
        }
    }
}
