//! Accepting connections. Each is bounded: in the size of its head, in the time that the head may
//! take or the connection may idle, and in the time that the client may leave an answer unread. On
//! a stop, what is in flight is finished.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use http_body_util::BodyExt;
use hyper::body::Body as _;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use metrics::gauge;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use super::app::Settings;
use super::connections::{Busy, Connections, Place};
use super::peer::Peer;
use super::write_timeout::StallGuard;

/// Connections that wait to be accepted; the system asks whoever comes behind them to come again a
/// second later.
const MAX_ARRIVING: u32 = 4096;
/// What the system takes of an answer before its client does, about.
const SEND_BUFFER: u32 = 128 * 1024;
const MAX_HEAD_BYTES: usize = 64 * 1024;
const MAX_HEADERS: usize = 100;
/// How long a new connection may take to its first head.
const FIRST_HEAD_WITHIN: Duration = Duration::from_secs(10);
/// How long an answer may lie unread.
const UNREAD_TIMEOUT: Duration = Duration::from_secs(30);
/// How long requests in flight have to finish once the program is told to stop.
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// How long to wait when the system has no more connections to give.
const EXHAUSTED_BACKOFF: Duration = Duration::from_millis(50);
const TOO_MANY_OF_ADDRESS: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: \
    2\r\nconnection: close\r\ncontent-length: 0\r\n\r\n";

pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // So that an address can be listened on again at once.
    socket.set_reuseaddr(true)?;
    // Connections have it from here. The system would keep megabytes for each that is not read.
    socket.set_send_buffer_size(SEND_BUFFER)?;
    socket.bind(address)?;
    socket.listen(MAX_ARRIVING)
}

/// Serves until `stop` is done.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    settings: &Settings,
    stop: impl Future<Output = ()>,
) {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(settings.head_timeout)
        .max_buf_size(MAX_HEAD_BYTES)
        .max_headers(MAX_HEADERS)
        .half_close(true);
    let first_head_timeout = settings.head_timeout.min(FIRST_HEAD_WITHIN);
    let connections =
        Connections::new(settings.max_connections, settings.max_connections_of_address);
    let open = gauge!("slated_http_connections");
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            () = &mut stop => break,
        };
        let Some((stream, place)) = accepted else { continue };
        let connection =
            serve_connection(builder.clone(), stream, router.clone(), place, first_head_timeout);
        let open = open.clone();
        tokio::spawn(async move {
            open.increment(1);
            // A client that goes away or dawdles is its own business.
            if let Err(error) = connection.await {
                tracing::debug!(error = %error, "a connection ended early");
            }
            open.decrement(1);
        });
    }
    drop(listener);
    tracing::info!(
        connections = connections.count(),
        "stopping; waiting for requests in flight to \
        finish"
    );
    if tokio::time::timeout(STOP_TIMEOUT, connections.close()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
}

async fn serve_connection(
    builder: http1::Builder,
    stream: TcpStream,
    router: Router,
    place: Place,
    first_head_timeout: Duration,
) -> hyper::Result<()> {
    let router = TowerToHyperService::new(router);
    let activity = &place.activity;
    let stream = Arc::new(stream);
    let peer = Peer(Arc::clone(&stream));
    let service = service_fn(|mut request: hyper::Request<_>| {
        let busy = Busy::begin(Arc::clone(activity));
        request.extensions_mut().insert(peer.clone());
        let answering = router.call(request);
        async move {
            let answer = answering.await;
            answer.map(|response| match response.body().size_hint().exact() {
                Some(_) => response,
                // It goes on for as long as it is sent.
                None => response.map(|body| {
                    Body::new(body.map_frame(move |frame| {
                        let _ = &busy;
                        frame
                    }))
                }),
            })
        }
    });
    let mut connection = pin!(builder.serve_connection(
        TokioIo::new(StallGuard::new(stream, UNREAD_TIMEOUT, Arc::clone(activity))),
        service
    ));
    let mut first_head = pin!(tokio::time::sleep(first_head_timeout));
    let (mut is_new, mut is_leaving) = (true, false);
    loop {
        tokio::select! {
            outcome = &mut connection => return outcome,
            () = activity.leaving(), if !is_leaving => {
                is_leaving = true;
                match activity.has_had_request() {
                    true => connection.as_mut().graceful_shutdown(),
                    false => return Ok(()),
                }
            }
            () = &mut first_head, if is_new => {
                is_new = false;
                if !activity.has_had_request() {
                    return Ok(());
                }
            }
        }
    }
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Connections>,
) -> Option<(TcpStream, Place)> {
    match listener.accept().await {
        Ok((stream, peer)) => {
            let Some(place) = connections.place(peer.ip()).await else {
                let _ = stream.try_write(TOO_MANY_OF_ADDRESS);
                return None;
            };
            // Answers are whole when they are written; holding them back would only delay them.
            stream.set_nodelay(true).ok()?;
            Some((stream, place))
        }
        Err(error) => {
            if !is_of_one_connection(&error) {
                tracing::warn!(error = %error, "a connection could not be accepted");
                tokio::time::sleep(EXHAUSTED_BACKOFF).await;
            }
            None
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionRefused
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
    )
}
