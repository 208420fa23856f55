//! What the head of a request must be, beside what the parser of HTTP sees to. Whoever reads these
//! otherwise than a proxy in front does takes one request for another.

use axum::extract::Request;
use axum::http::header::{CONTENT_ENCODING, HOST, TRANSFER_ENCODING};
use axum::http::{HeaderMap, HeaderName, Version};
use slated_model::problem::{ErrorCode, Problem};

pub fn check(request: &Request) -> Result<(), Problem> {
    let headers = request.headers();
    let hosts = headers.get_all(HOST).iter().count();
    if hosts > 1 || hosts == 0 && request.version() == Version::HTTP_11 {
        let message = format!(
            "A request must have exactly one Host header; this one has {}.",
            if hosts == 0 { "none" } else { "several" }
        );
        return Err(Problem::new(ErrorCode::InvalidRequest, message));
    }
    if !is_only(headers, &TRANSFER_ENCODING, "chunked") {
        let message = "The only supported transfer coding is chunked; send the body without any \
            other.";
        return Err(Problem::new(ErrorCode::NotImplemented, message));
    }
    if !is_only(headers, &CONTENT_ENCODING, "identity") {
        return Err(Problem::new(
            ErrorCode::UnsupportedMediaType,
            "A body must not be compressed; send it without a Content-Encoding.",
        ));
    }
    Ok(())
}

/// Whether the header is absent, or says this once.
fn is_only(headers: &HeaderMap, name: &HeaderName, expected: &str) -> bool {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => true,
        (Some(value), None) => {
            value.to_str().is_ok_and(|value| value.trim().eq_ignore_ascii_case(expected))
        }
        _ => false,
    }
}
