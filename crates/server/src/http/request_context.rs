//! What surrounds every request: its id, its caller, its limit, the way a refusal is told, and its
//! line in the log.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::header::{CACHE_CONTROL, ETAG, RETRY_AFTER, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::FutureExt;
use slated_model::clock::Timestamp;
use slated_model::id::{KeyId, RequestId};
use slated_model::problem::{ErrorCode, Problem};
use slated_store::OperationError;
use tracing::{Instrument, Level};

use super::api_key_cache::{Allowance, KnownKey};
use super::app::App;
use super::body::drain_all;
use super::caller::identify;
use super::error_response::{Version, internal, tell, tell_problem};
use super::head;
use super::request::RequestName;
use super::request_metrics::known_method;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
const LIMIT: HeaderName = HeaderName::from_static("x-ratelimit-limit");
const REMAINING: HeaderName = HeaderName::from_static("x-ratelimit-remaining");
const RESET: HeaderName = HeaderName::from_static("x-ratelimit-reset");
const MAX_REQUEST_ID_LENGTH: usize = 64;

pub async fn wrap(State(app): State<Arc<App>>, mut request: Request, next: Next) -> Response {
    let started = Instant::now();
    let request_id: Arc<str> = request_id(request.headers()).into();
    request.extensions_mut().insert(RequestName(Arc::clone(&request_id)));
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let version = Version::of(&path);
    let route = request.extensions().get::<MatchedPath>().cloned();
    let needs_key = route.as_ref().is_some_and(|route| route.as_str().starts_with("/v"));

    let mut allowance = None;
    let mut caller = None;
    let admitted = match head::check(&request) {
        Ok(()) if needs_key => admit(&app, &mut request, &mut caller, &mut allowance).await,
        checked => checked.map_err(OperationError::from),
    };
    let response = match admitted {
        // A handler that panics must not take the connection with it.
        Ok(()) => {
            let span = tracing::debug_span!("request", request.id = %request_id);
            AssertUnwindSafe(next.run(request).instrument(span)).catch_unwind().await.ok()
        }
        Err(failure) => {
            drain_all(&app, request).await;
            Some(tell(&failure, version, &request_id))
        }
    };
    let response = match response {
        Some(mut response) => match response.extensions_mut().remove::<Arc<OperationError>>() {
            Some(failure) => {
                with_headers_of(tell(&failure, version, &request_id), response.headers())
            }
            None => response,
        },
        None => tell_problem(&internal(), version, &request_id),
    };
    let placed = match &caller {
        Some(caller) => app.unread.place(caller.workspace, !method.is_safe(), response).await,
        None => Ok(response),
    };
    let mut response =
        placed.unwrap_or_else(|problem| tell_problem(&problem, version, &request_id));

    add_headers(response.headers_mut(), &request_id, allowance);
    let route = route.as_ref().map_or("unknown", |route| route.as_str());
    let status = response.status().as_u16();
    let duration = started.elapsed();
    app.measures.record(route, &method, status, duration);
    log(&Line {
        method: known_method(&method),
        route,
        path: &loggable(&path),
        status,
        millis: (duration.as_secs_f64() * 1_000_000.0).round() / 1000.0,
        request_id: &request_id,
        key_id: caller.map(|caller| caller.id),
    });
    response
}

/// Lets the caller in, or says why not.
async fn admit(
    app: &App,
    request: &mut Request,
    caller: &mut Option<Arc<KnownKey>>,
    allowance: &mut Option<Allowance>,
) -> Result<(), OperationError> {
    let (key, spent) = identify(app, request.headers()).await?;
    *caller = Some(Arc::clone(&key));
    *allowance = spent;
    request.extensions_mut().insert(key);
    if let Some(spent) = spent {
        request.extensions_mut().insert(spent);
    }
    let workspace = caller.as_ref().map(|key| key.workspace);
    match spent.and_then(|spent| spent.retry_after) {
        None if request.method().is_safe() => Ok(()),
        None => Ok(workspace.map_or(Ok(()), |workspace| app.unread.check(workspace))?),
        Some(seconds) => Err(Problem::new(
            ErrorCode::RateLimited,
            format!("The key used up its rate limit; try again in {seconds} seconds."),
        )
        .into()),
    }
}

/// What the router already said about the answer, such as the methods that a route has.
fn with_headers_of(mut response: Response, headers: &HeaderMap) -> Response {
    if let Some(allow) = headers.get(axum::http::header::ALLOW) {
        response.headers_mut().insert(axum::http::header::ALLOW, allow.clone());
    }
    response
}

/// The caller's id for the request if it is a sane one, else a new one.
fn request_id(headers: &HeaderMap) -> String {
    let is_sane = |id: &&str| {
        (1..=MAX_REQUEST_ID_LENGTH).contains(&id.len())
            && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte))
    };
    let sent = headers.get(REQUEST_ID).and_then(|value| value.to_str().ok()).filter(is_sane);
    sent.map_or_else(|| RequestId::at(Timestamp::now(), rand::random()).to_string(), str::to_owned)
}

fn add_headers(headers: &mut HeaderMap, request_id: &str, allowance: Option<Allowance>) {
    if let Ok(value) = HeaderValue::from_str(request_id) {
        headers.insert(REQUEST_ID, value);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    if !headers.contains_key(CACHE_CONTROL) {
        // What has an ETag may be kept by its caller, and is asked for again with it.
        let caching = if headers.contains_key(ETAG) { "private, no-cache" } else { "no-store" };
        headers.insert(CACHE_CONTROL, HeaderValue::from_static(caching));
    }
    let Some(Allowance { limit, remaining, reset, retry_after }) = allowance else { return };
    headers.insert(LIMIT, limit.into());
    headers.insert(REMAINING, remaining.into());
    headers.insert(RESET, reset.into());
    if let Some(seconds) = retry_after {
        headers.insert(RETRY_AFTER, seconds.into());
    }
}

/// The path as far as it may stand in the log: ids, numbers and words. Anything else may be a key,
/// or the address of a person, in the wrong place.
fn loggable(path: &str) -> Cow<'_, str> {
    const MAX_SEGMENTS: usize = 10;
    // An id has 30 characters, and a key more.
    const LONGEST: usize = 32;
    let is_plain = |segment: &str| {
        segment.len() <= LONGEST
            && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
    };
    let mut segments = path.split('/');
    if segments.clone().take(MAX_SEGMENTS + 1).count() <= MAX_SEGMENTS
        && segments.clone().all(is_plain)
    {
        return Cow::Borrowed(path);
    }
    let shown: Vec<_> = segments
        .by_ref()
        .take(MAX_SEGMENTS)
        .map(|segment| if is_plain(segment) { segment } else { "…" })
        .collect();
    let more = if segments.next().is_some() { "/…" } else { "" };
    Cow::Owned(shown.join("/") + more)
}

struct Line<'r> {
    method: &'static str,
    route: &'r str,
    path: &'r str,
    status: u16,
    millis: f64,
    request_id: &'r str,
    key_id: Option<KeyId>,
}

/// One line for each request of the interface; others are said in detail only. The query is left
/// out: it may name persons.
fn log(line: &Line<'_>) {
    let Line { method, route, path, status, millis, request_id, key_id } = line;
    let key_id = key_id.map(tracing::field::display);
    macro_rules! say {
        ($level:expr) => {
            tracing::event!(
                $level,
                http.method = method,
                http.route = route,
                http.path = path,
                http.status = status,
                http.duration_ms = millis,
                request.id = request_id,
                key.id = key_id,
                "request"
            )
        };
    }
    match route.starts_with("/v") || *status >= 500 {
        true => say!(Level::INFO),
        false => say!(Level::DEBUG),
    }
}
