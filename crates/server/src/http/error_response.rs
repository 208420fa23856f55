//! Refusals on their way out. A handler only says what went wrong; `request_context`, which knows
//! the request's id and version, tells it.

use std::sync::Arc;

use axum::body::Body;
use axum::http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use slated_model::problem::{ErrorCode, FieldError, Problem};
use slated_store::{OperationError, StoreError};

/// A failure, as the error type of handlers and extractors.
#[derive(Debug)]
pub struct ErrorResponse(pub OperationError);

impl<F: Into<OperationError>> From<F> for ErrorResponse {
    fn from(failure: F) -> Self {
        Self(failure.into())
    }
}

impl IntoResponse for ErrorResponse {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::empty());
        response.extensions_mut().insert(Arc::new(self.0));
        response
    }
}

/// How a refusal is written: version 0 has a shape of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Version {
    V0,
    V1,
}

impl Version {
    pub fn of(path: &str) -> Self {
        match path == "/v0" || path.starts_with("/v0/") {
            true => Self::V0,
            false => Self::V1,
        }
    }
}

#[derive(Serialize)]
struct ErrorV1<'p> {
    success: bool,
    error: ErrorBody<'p>,
}

#[derive(Serialize)]
struct ErrorBody<'p> {
    code: &'static str,
    message: &'p str,
    details: &'p [FieldError],
    request_id: &'p str,
}

#[derive(Serialize)]
struct ErrorV0<'p> {
    error: &'p str,
    data: (),
}

/// Tells a failure to the client. What broke inside goes to the log and not further.
pub fn tell(failure: &OperationError, version: Version, request_id: &str) -> Response {
    match failure {
        OperationError::Rejected(problem) => tell_problem(problem, version, request_id),
        OperationError::Store(error @ StoreError::Unavailable(_)) => {
            tracing::error!(request.id = request_id, error = %error, "the database is unavailable");
            tell_problem(
                &Problem::new(
                    ErrorCode::Unavailable,
                    "The database is not available now; try again shortly.",
                ),
                version,
                request_id,
            )
        }
        OperationError::Store(error @ StoreError::DiskFull) => {
            tracing::error!(request.id = request_id, error = %error, "nothing can be written");
            let message = "The disk of the database is full. Writes are refused until the operator \
                frees space; reads still work.";
            tell_problem(&Problem::new(ErrorCode::Unavailable, message), version, request_id)
        }
        OperationError::Store(StoreError::TookTooLong) => {
            tracing::warn!(
                request.id = request_id,
                "a request was refused because it took too long"
            );
            let message = "This request takes too long. Use narrower filters, or page by cursor \
                instead of by a large offset.";
            tell_problem(&Problem::new(ErrorCode::Unavailable, message), version, request_id)
        }
        OperationError::Store(error) => {
            tracing::error!(request.id = request_id, error = %error, "a request failed");
            tell_problem(&internal(), version, request_id)
        }
    }
}

pub fn internal() -> Problem {
    Problem::new(
        ErrorCode::Internal,
        "An internal error occurred. The server's log has the cause under the request's id.",
    )
}

pub fn tell_problem(problem: &Problem, version: Version, request_id: &str) -> Response {
    let Problem { code, message, details } = problem;
    let body = match version {
        Version::V1 => {
            let error = ErrorBody { code: code.name(), message, details, request_id };
            serde_json::to_vec(&ErrorV1 { success: false, error })
        }
        Version::V0 => serde_json::to_vec(&ErrorV0 { error: message, data: () }),
    };
    let mut response = Response::new(Body::from(body.unwrap_or_default()));
    *response.status_mut() =
        StatusCode::from_u16(code.status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    match code {
        ErrorCode::Unauthenticated => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        ErrorCode::Unavailable | ErrorCode::RateLimited => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("2"));
        }
        // Where the body ends is not certain, nor what comes behind it.
        ErrorCode::NotImplemented => {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        _ => {}
    }
    response
}
