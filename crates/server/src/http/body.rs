//! The body of a request: JSON, bounded in size, in the time that it may take, and in the memory
//! that all of them may take together.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::HeaderMap;
use axum::http::header::{CONTENT_LENGTH, CONTENT_TYPE, EXPECT};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use slated_model::id::{KeyId, WorkspaceId};
use slated_model::problem::{ErrorCode, Problem};

use super::api_key_cache::KnownKey;
use super::app::App;
use super::body_memory::BodyMemory;
use super::shares::Share;

const LARGEST: usize = 1024 * 1024;
const MAX_BULK_BODY_BYTES: usize = 8 * 1024 * 1024;
const MAX_DRAINED: usize = 32 * 1024 * 1024;
/// How long a client that sends a body that nobody wants may stop.
const MAX_PAUSE: Duration = Duration::from_secs(1);
/// What a body stands for that is not there.
const NO_FIELDS: Bytes = Bytes::from_static(b"{}");

/// What body a route takes.
#[derive(Clone, Copy)]
pub struct BodyPolicy {
    largest: usize,
    may_be_missing: bool,
}

impl BodyPolicy {
    pub const BODY: Self = Self { largest: LARGEST, may_be_missing: false };
    pub const PERHAPS_NO_BODY: Self = Self { largest: LARGEST, may_be_missing: true };
    pub const MANY_RECORDS: Self = Self { largest: MAX_BULK_BODY_BYTES, may_be_missing: false };
}

/// A body, and its place in the room.
pub struct ReadBody {
    pub bytes: Bytes,
    _place: Option<(Share<KeyId>, Option<Share<WorkspaceId>>)>,
}

impl ReadBody {
    const NO_FIELDS: Self = Self { bytes: NO_FIELDS, _place: None };
}

/// Takes what is left of a request off the wire that is answered without its body.
pub async fn drain_all(app: &App, request: Request) {
    let (parts, mut body) = request.into_parts();
    drain(&parts.headers, &mut body, app.settings.body_timeout).await;
}

/// Takes a body that nobody wants off the wire, within bounds: a client that is still sending would
/// not see the answer. One that waits to be asked for it, or does not go on, is answered.
pub async fn drain(headers: &HeaderMap, body: &mut Body, timeout: Duration) {
    if headers.contains_key(EXPECT) {
        return;
    }
    let mut drained = 0;
    let draining = async {
        while let Ok(Some(Ok(frame))) = tokio::time::timeout(MAX_PAUSE, body.frame()).await {
            drained += frame.data_ref().map_or(0, Bytes::len);
            if drained >= MAX_DRAINED {
                return;
            }
        }
    };
    let _ = tokio::time::timeout(timeout, draining).await;
}

pub async fn json_body(
    app: &App,
    sender: &KnownKey,
    headers: &HeaderMap,
    mut body: Body,
    taken: BodyPolicy,
) -> Result<ReadBody, Problem> {
    let (BodyPolicy { largest, may_be_missing }, timeout) = (taken, app.settings.body_timeout);
    let announced = headers
        .get(CONTENT_LENGTH)
        .and_then(|value| value.to_str().ok())
        .and_then(|text| text.parse::<usize>().ok());
    if may_be_missing && body.is_end_stream() {
        return Ok(ReadBody::NO_FIELDS);
    }
    // What comes without a length may turn out to be nothing.
    let may_be_nothing = may_be_missing && announced.is_none();
    let read = match (is_json(headers), announced) {
        (false, _) if may_be_nothing && is_nothing(&mut body, timeout).await => {
            return Ok(ReadBody::NO_FIELDS);
        }
        (false, _) => Err(not_json()),
        (true, Some(length)) if length > largest => Err(too_large(largest)),
        (true, _) => match tokio::time::timeout(
            timeout,
            collect(&mut body, largest, app.room.place(sender)?),
        )
        .await
        {
            Ok(read) => read,
            Err(_) => {
                let message =
                    format!("The body did not arrive within {} seconds.", timeout.as_secs());
                return Err(Problem::new(ErrorCode::RequestTimeout, message));
            }
        },
    };
    match read {
        Ok(read) if may_be_nothing && read.bytes.is_empty() => Ok(ReadBody::NO_FIELDS),
        Ok(read) => Ok(read),
        Err(problem) => {
            drain(headers, &mut body, timeout).await;
            Err(problem)
        }
    }
}

/// Whether the body ends before anything came of it.
async fn is_nothing(body: &mut Body, timeout: Duration) -> bool {
    let looking = async {
        loop {
            match body.frame().await {
                None => return true,
                Some(Ok(frame)) if frame.data_ref().is_none_or(Bytes::is_empty) => {}
                Some(_) => return false,
            }
        }
    };
    tokio::time::timeout(timeout, looking).await.unwrap_or(false)
}

async fn collect(
    body: &mut Body,
    largest: usize,
    mut place: BodyMemory<'_>,
) -> Result<ReadBody, Problem> {
    // Nearly always all of it comes at once.
    let mut only: Option<Bytes> = None;
    let mut whole = Vec::new();
    while let Some(frame) = body.frame().await {
        let broken = |error| {
            Problem::new(ErrorCode::MalformedJson, format!("The body could not be read: {error}."))
        };
        let Ok(part) = frame.map_err(broken)?.into_data() else { continue };
        let length = only.as_ref().map_or(whole.len(), Bytes::len) + part.len();
        if length > largest {
            return Err(too_large(largest));
        }
        place.grow(part.len(), length)?;
        match (only.take(), whole.is_empty()) {
            (None, true) => only = Some(part),
            (first, _) => {
                first.into_iter().chain([part]).for_each(|part| whole.extend_from_slice(&part))
            }
        }
    }
    Ok(ReadBody {
        bytes: only.unwrap_or_else(|| whole.into()),
        _place: Some((place.of_key, place.large)),
    })
}

fn too_large(largest: usize) -> Problem {
    Problem::new(ErrorCode::PayloadTooLarge, format!("The body must be at most {largest} bytes."))
}

fn not_json() -> Problem {
    Problem::new(
        ErrorCode::UnsupportedMediaType,
        "Send the body as JSON, with Content-Type: application/json.",
    )
}

fn is_json(headers: &HeaderMap) -> bool {
    let value = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    media_type == "application/json"
        || (media_type.starts_with("application/") && media_type.ends_with("+json"))
}
