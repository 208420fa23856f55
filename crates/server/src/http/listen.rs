//! Accepting connections. Each is bounded: in the size of its head, in the time that the head may take or the connection may idle,
//! and in the time that the client may leave an answer unread. On a stop, what is in flight is finished.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use metrics::gauge;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::app::Settings;
use super::stall::StallGuard;

const LARGEST_HEAD: usize = 64 * 1024;
const MOST_HEADERS: usize = 100;
/// How long an answer may lie unread.
const UNREAD_FOR: Duration = Duration::from_secs(30);
/// How long requests in flight have to finish once the program is told to stop.
const GRACE: Duration = Duration::from_secs(30);
/// How long to wait when the system has no more connections to give.
const EXHAUSTED_FOR: Duration = Duration::from_millis(50);

/// Serves until `stop` is done.
pub async fn serve(listener: TcpListener, router: Router, settings: &Settings, stop: impl Future<Output = ()>) {
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(settings.head_timeout)
        .max_buf_size(LARGEST_HEAD)
        .max_headers(MOST_HEADERS)
        .half_close(true);
    let connections = Arc::new(Semaphore::new(settings.max_connections));
    let graceful = GracefulShutdown::new();
    let open = gauge!("slated_http_connections");
    let mut stop = pin!(stop);
    loop {
        let accepted = tokio::select! {
            accepted = accept(&listener, &connections) => accepted,
            () = &mut stop => break,
        };
        let Some((stream, permit)) = accepted else { continue };
        let service = TowerToHyperService::new(router.clone());
        let connection = builder.serve_connection(TokioIo::new(StallGuard::new(stream, UNREAD_FOR)), service);
        let connection = graceful.watch(connection);
        let open = open.clone();
        tokio::spawn(async move {
            open.increment(1);
            // A client that goes away or dawdles is its own business.
            if let Err(error) = connection.await {
                tracing::debug!(error = %error, "a connection ended early");
            }
            open.decrement(1);
            drop(permit);
        });
    }
    drop(listener);
    tracing::info!(connections = graceful.count(), "stopping; requests in flight are finished");
    if tokio::time::timeout(GRACE, graceful.shutdown()).await.is_err() {
        tracing::warn!("some requests did not finish in time");
    }
}

async fn accept(listener: &TcpListener, connections: &Arc<Semaphore>) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let permit = Arc::clone(connections).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => {
            // Answers are whole when they are written; holding them back would only delay them.
            stream.set_nodelay(true).ok()?;
            Some((stream, permit))
        }
        Err(error) => {
            if !is_of_one_connection(&error) {
                tracing::warn!(error = %error, "no connection can be accepted now");
                tokio::time::sleep(EXHAUSTED_FOR).await;
            }
            None
        }
    }
}

fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::ConnectionRefused | io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset)
}
