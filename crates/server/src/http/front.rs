//! What stands at the address itself: a word for people who come with a browser, and the way to the
//! document for programs.

use std::sync::LazyLock;

use axum::http::HeaderMap;
use axum::http::StatusCode;
use axum::http::header::{ACCEPT, LOCATION};
use axum::response::{IntoResponse, Response};

use super::docs::GUARDED;
use super::fixed::Fixed;

static PAGE: LazyLock<Fixed> =
    LazyLock::new(|| Fixed::new("text/html; charset=utf-8", include_bytes!("front.html").to_vec()));

pub async fn front(headers: HeaderMap) -> Response {
    let wants_page = headers
        .get(ACCEPT)
        .and_then(|accept| accept.to_str().ok())
        .is_some_and(|accept| accept.contains("text/html"));
    match wants_page {
        true => (GUARDED, PAGE.answer(&headers)).into_response(),
        false => (StatusCode::SEE_OTHER, [(LOCATION, "/openapi.json")]).into_response(),
    }
}
