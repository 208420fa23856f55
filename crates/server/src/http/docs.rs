//! The page on which a person reads the interface and tries calls. All its files are inside the program.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use axum::body::Bytes;
use axum::extract::Path;
use axum::http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, LOCATION, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS};
use axum::http::{HeaderName, StatusCode};
use axum::response::{IntoResponse, Response};
use model::problem::{Code, Problem};
use utoipa_swagger_ui::Config;

use super::refusal::{Refusal, internal};

static CONFIG: LazyLock<Arc<Config<'static>>> = LazyLock::new(|| {
    let config = Config::from("/openapi.json").try_it_out_enabled(true).display_request_duration(true).persist_authorization(false);
    Arc::new(config)
});

/// Keys are typed into the page: it loads nothing from elsewhere, and stands in no other page.
const GUARDED: [(HeaderName, &str); 3] = [
    (
        CONTENT_SECURITY_POLICY,
        "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    ),
    (X_FRAME_OPTIONS, "DENY"),
    (X_CONTENT_TYPE_OPTIONS, "nosniff"),
];

pub async fn to_index() -> impl IntoResponse {
    (StatusCode::PERMANENT_REDIRECT, [(LOCATION, "/docs/")])
}

pub async fn index() -> Result<Response, Refusal> {
    file("")
}

pub async fn page(Path(path): Path<String>) -> Result<Response, Refusal> {
    file(&path)
}

/// The files that were asked for, each made once: an answer that is not read holds no copy of its own.
static FILES: LazyLock<Mutex<HashMap<String, (Bytes, String)>>> = LazyLock::new(Mutex::default);

fn file(path: &str) -> Result<Response, Refusal> {
    let mut files = FILES.lock().unwrap_or_else(PoisonError::into_inner);
    let (bytes, content_type) = match files.get(path) {
        Some(file) => file.clone(),
        None => {
            let file = make(path)?;
            files.insert(path.to_owned(), file.clone());
            file
        }
    };
    Ok((GUARDED, [(CONTENT_TYPE, content_type)], bytes).into_response())
}

fn make(path: &str) -> Result<(Bytes, String), Refusal> {
    match utoipa_swagger_ui::serve(path, Arc::clone(&CONFIG)) {
        Ok(Some(file)) => Ok((file.bytes.into_owned().into(), file.content_type)),
        Ok(None) => Err(Problem::new(Code::NotFound, "There is no such page.").into()),
        Err(error) => {
            tracing::error!(error = %error, "a page of the documentation could not be made");
            Err(internal().into())
        }
    }
}
