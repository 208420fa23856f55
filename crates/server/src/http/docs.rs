//! The page on which a person reads the interface and tries calls. All its files are inside the
//! program.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::extract::Path;
use axum::http::header::{CONTENT_SECURITY_POLICY, LOCATION, X_FRAME_OPTIONS};
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use slated_model::problem::{ErrorCode, Problem};
use utoipa_swagger_ui::Config;

use super::error_response::{ErrorResponse, internal};
use super::fixed::Fixed;

static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| {
    let config = Config::from("/openapi.json")
        .use_base_layout()
        .filter(true)
        .doc_expansion("none")
        .default_models_expand_depth(-1)
        .try_it_out_enabled(true)
        .display_request_duration(true)
        .persist_authorization(true);
    Arc::new(config)
});

/// Keys are typed into the page: it loads nothing from elsewhere, and stands in no other page.
pub const GUARDED: [(HeaderName, &str); 2] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (X_FRAME_OPTIONS, "DENY"),
];

pub async fn to_index() -> impl IntoResponse {
    (StatusCode::PERMANENT_REDIRECT, [(LOCATION, "/docs/")])
}

pub async fn index(headers: HeaderMap) -> Result<Response, ErrorResponse> {
    file("", &headers)
}

pub async fn page(Path(path): Path<String>, headers: HeaderMap) -> Result<Response, ErrorResponse> {
    file(&path, &headers)
}

/// The files that were asked for.
static FILES: LazyLock<Mutex<HashMap<String, Fixed>>> = LazyLock::new(Mutex::default);

fn file(path: &str, headers: &HeaderMap) -> Result<Response, ErrorResponse> {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let file = match files.get(path) {
        Some(file) => file.clone(),
        None => {
            let file = make(path)?;
            files.insert(path.to_owned(), file.clone());
            file
        }
    };
    Ok((GUARDED, file.answer(headers)).into_response())
}

fn make(path: &str) -> Result<Fixed, ErrorResponse> {
    match utoipa_swagger_ui::serve(path, Arc::clone(&CONFIG)) {
        Ok(Some(file)) if file.content_type.starts_with("text/html") => {
            let page = String::from_utf8_lossy(&file.bytes)
                .replace("<title>Swagger UI</title>", "<title>slated: API reference</title>");
            Ok(Fixed::new(&file.content_type, page.into_bytes()))
        }
        Ok(Some(file)) => Ok(Fixed::new(&file.content_type, file.bytes.into_owned())),
        Ok(None) => Err(Problem::new(ErrorCode::NotFound, "This page does not exist.").into()),
        Err(error) => {
            tracing::error!(error = %error, "a page of the documentation could not be served");
            Err(internal().into())
        }
    }
}
