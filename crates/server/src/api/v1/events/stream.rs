use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use slated_model::event::{Event, TypeFilter};
use slated_model::id::WorkspaceId;
use slated_model::problem::{ErrorCode, FieldErrorCode, Problem};
use slated_operations::events::read::{Position, ReadEvents};
use slated_store::records::events::reading::Most;
use tokio::sync::watch;
use tokio::time::Instant;

use super::list::{read_after, read_types, sequence};
use crate::events::MAX_FOLLOWERS;
use crate::http::{App, ErrorResponse, ReadRequest, is_still_good};

/// A client that went away is found out by the second one that it does not take, and has its place
/// until then.
const HEARTBEAT: Duration = Duration::from_secs(5);
const KEY_CHECK_INTERVAL: Duration = Duration::from_secs(4);
/// What a client that reads slowly keeps in memory.
const PER_READ: Most = Most { events: 500, bytes: 256 * 1024 };
/// How long to wait when the log cannot be read.
const PAUSE: Duration = Duration::from_secs(1);

/// Stream events
///
/// The event feed as server-sent events, sent as they happen: `id` is the number, `event` the type,
/// `data` the event. A client that reconnects with `Last-Event-ID` misses nothing. Without a
/// position, the stream starts now. A comment is sent every 5 seconds.
#[utoipa::path(get, path = "/v1/events/stream", operation_id = "streamEvents", tag = "Events",
    params(
        ("after" = Option<String>, Query, description = "Only events after this number; if \
            `latest` or absent, only new events."),
        ("types" = Option<String>, Query, description = "Only events of these types, separated by \
            commas: `person.created`, `person.*`, `*`."),
        ("Last-Event-ID" = Option<i64>, Header, description = "The number of the last event \
            received; takes precedence over `after`."),
    ),
    extensions(("x-errors" = json!(["INVALID_REQUEST", "EVENTS_GONE"]))),
    responses((status = 200, description = "Events, until the connection is closed.",
        body = String, content_type = "text/event-stream")))]
pub async fn stream_events(request: ReadRequest) -> Result<Response, ErrorResponse> {
    let mut query = request.query();
    let position = read_after(&mut query).unwrap_or(Position::Newest);
    let types = read_types(&mut query);
    let types = query.finish(types)?;
    let position = last_event_id(request.headers())?.unwrap_or(position);
    let workspace = request.workspace;
    // Whatever comes from here on wakes us.
    let news = request.app.subscribers.subscribe(workspace).ok_or_else(too_many)?;
    let first = request
        .app
        .store
        .read_consistent(ReadEvents { workspace, position, types: types.clone(), most: PER_READ })
        .await?;
    let following = Following {
        stopping: request.app.stopping.clone(),
        app: Arc::clone(&request.app),
        headers: request.headers().clone(),
        workspace,
        types,
        news,
        after: first.next_after,
        has_more: first.has_more,
        ready: first.events.into(),
        key_checked: Instant::now(),
    };
    let messages = stream::unfold(following, |mut following| async {
        let message = following.next().await?;
        Some((Ok::<_, Infallible>(message), following))
    });
    let mut response =
        Sse::new(messages).keep_alive(KeepAlive::new().interval(HEARTBEAT)).into_response();
    // Proxies that gather answers would hold events back.
    response
        .headers_mut()
        .insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    Ok(response)
}

fn too_many() -> Problem {
    Problem::new(
        ErrorCode::RateLimited,
        format!(
            "The workspace has {MAX_FOLLOWERS} streams open on this server; close one and try \
             again."
        ),
    )
}

fn last_event_id(headers: &HeaderMap) -> Result<Option<Position>, Problem> {
    const NAME: &str = "Last-Event-ID";
    let Some(value) = headers.get(NAME) else { return Ok(None) };
    let number = value.to_str().ok().and_then(|written| sequence(written.trim()));
    match number {
        Some(number) => Ok(Some(Position::After(number))),
        None => Err(Problem::invalid(
            NAME,
            FieldErrorCode::InvalidValue,
            "must be the number of an event",
        )),
    }
}

/// A client that follows the log.
struct Following {
    app: Arc<App>,
    headers: HeaderMap,
    workspace: WorkspaceId,
    types: TypeFilter,
    news: watch::Receiver<()>,
    stopping: watch::Receiver<bool>,
    after: i64,
    has_more: bool,
    ready: VecDeque<Event>,
    key_checked: Instant,
}

impl Following {
    /// The next event; nothing when it is over.
    async fn next(&mut self) -> Option<Message> {
        loop {
            if *self.stopping.borrow() || !self.is_welcome().await {
                return None;
            }
            if let Some(event) = self.ready.pop_front() {
                let data = serde_json::to_string(&event).ok()?;
                return Some(
                    Message::default()
                        .id(event.sequence.to_string())
                        .event(event.kind.name())
                        .data(data),
                );
            }
            if !self.has_more {
                self.wait().await?;
            }
            self.read().await?;
        }
    }

    /// Whether the key still opens the door; asked for every few seconds, however much there is to
    /// tell.
    async fn is_welcome(&mut self) -> bool {
        if self.key_checked.elapsed() < KEY_CHECK_INTERVAL {
            return true;
        }
        self.key_checked = Instant::now();
        is_still_good(&self.app, &self.headers).await
    }

    /// Waits for news, or for the key to be due to be looked at; nothing if it is over instead.
    async fn wait(&mut self) -> Option<()> {
        tokio::select! {
            news = self.news.changed() => news.ok(),
            _ = self.stopping.changed() => None,
            () = tokio::time::sleep_until(self.key_checked + KEY_CHECK_INTERVAL) => Some(()),
        }
    }

    async fn read(&mut self) -> Option<()> {
        let work = ReadEvents {
            workspace: self.workspace,
            position: Position::After(self.after),
            types: self.types.clone(),
            most: PER_READ,
        };
        match self.app.store.read_consistent(work).await {
            Ok(page) => {
                (self.after, self.has_more) = (page.next_after, page.has_more);
                self.ready = page.events.into();
                Some(())
            }
            // It fell out of the retention while it was not reading: it will be told so when it
            // connects again.
            Err(slated_store::OperationError::Rejected(_)) => None,
            Err(slated_store::OperationError::Store(error)) => {
                tracing::debug!(error = %error, "a stream could not read the log; it tries again");
                self.has_more = true;
                tokio::time::sleep(PAUSE).await;
                Some(())
            }
        }
    }
}
