//! What operators ask: is the program alive, can it serve, and how is it doing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use metrics::gauge;
use serde::Serialize;
use slated_store::{OperationError, Store, StoreError};
use tokio::sync::Mutex;
use utoipa::ToSchema;

use super::answer::{Reply, render};
use super::app::App;
use crate::http::answer::Answer;
use slated_operations::workspaces::{TryToRead, TryToWrite};

const PATIENCE: Duration = Duration::from_secs(2);
/// How long what was found out holds.
const FRESH: Duration = Duration::from_millis(250);

/// The state of the program.
#[derive(Serialize, ToSchema)]
pub struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}

/// Is the program alive?
///
/// Answers without touching the database and without a key.
#[utoipa::path(get, path = "/healthz", operation_id = "health", tag = "Operations", security(()),
    responses((status = 200, description = "The program is alive.", body = Health,
        example = json!({"status": "ok"}))))]
pub async fn healthz() -> Answer {
    ok()
}

/// Can the program serve?
///
/// Answers 200 when the database can be read and written, and also when its disk is full, since
/// reads go on; 503 when it cannot. Needs no key.
#[utoipa::path(get, path = "/readyz", operation_id = "readiness", tag = "Operations", security(()),
    extensions(("x-errors" = json!(["INTERNAL", "UNAVAILABLE"]))),
    responses((status = 200, description = "The database can be read, and written unless its disk \
        is full.", body = Health, example = json!({"status": "ok"}))))]
pub async fn readyz(State(app): State<Arc<App>>) -> Reply {
    match app.readiness.look(&app.store).await {
        Ok(()) | Err(StoreError::DiskFull) => Ok(ok()),
        Err(error) => Err(error.into()),
    }
}

/// Can the program write?
///
/// Answers 200 when a change can be made, 503 when it cannot, as on a full disk. Needs no key.
#[utoipa::path(get, path = "/readyz/writes", operation_id = "writeReadiness", tag = "Operations",
    security(()),
    extensions(("x-errors" = json!(["INTERNAL", "UNAVAILABLE"]))),
    responses((status = 200, description = "The database can be written.", body = Health,
        example = json!({"status": "ok"}))))]
pub async fn readyz_writes(State(app): State<Arc<App>>) -> Reply {
    app.readiness.look(&app.store).await?;
    Ok(ok())
}

fn ok() -> Answer {
    render(axum::http::StatusCode::OK, &Health { status: "ok" })
}

/// What was last found out. Anybody may ask, without a key and as often as they like, so the
/// database is asked by one of them at a time, and not again at once.
#[derive(Default)]
pub struct Readiness(Mutex<Option<(Instant, Result<(), StoreError>)>>);

impl Readiness {
    async fn look(&self, store: &Store) -> Result<(), StoreError> {
        let mut last = self.0.lock().await;
        match &*last {
            Some((moment, outcome)) if moment.elapsed() < FRESH => outcome.clone(),
            _ => {
                let outcome = is_ready(store).await;
                gauge!("slated_store_writable").set(if outcome.is_ok() { 1.0 } else { 0.0 });
                last.insert((Instant::now(), outcome)).1.clone()
            }
        }
    }
}

async fn is_ready(store: &Store) -> Result<(), StoreError> {
    let broken = |failure: OperationError| match failure {
        OperationError::Rejected(problem) => StoreError::Internal(problem.message),
        OperationError::Store(error) => error,
    };
    let looking = async {
        // What cannot be read is away, whatever the reason.
        store.read(TryToRead).await.map_err(|failure| {
            OperationError::Store(StoreError::Unavailable(failure.to_string()))
        })?;
        // The writer must be alive and the database writable.
        store.write(TryToWrite).await?;
        // That changes nothing, and needs no room.
        if store.has_room() { Ok(()) } else { Err(StoreError::DiskFull.into()) }
    };
    let looked = tokio::time::timeout(PATIENCE, looking).await;
    looked
        .map_err(|_| StoreError::Unavailable("it did not answer in time".to_owned()))?
        .map_err(broken)
}

/// How is the program doing?
///
/// Counts, times and queue depths in the text format of Prometheus. Needs no key and names none.
#[utoipa::path(get, path = "/metrics", operation_id = "metrics", tag = "Operations", security(()),
    responses((status = 200, description = "The metrics.", body = String,
        content_type = "text/plain; version=0.0.4",
        example = json!("# TYPE slated_http_requests_total \
            counter\nslated_http_requests_total{route=\"/v1/jobs\",method=\"GET\",status=\"200\"} \
            1\n"))))]
pub async fn metrics(State(app): State<Arc<App>>) -> impl IntoResponse {
    // It is a metric, too.
    let _ = app.readiness.look(&app.store).await;
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], app.metrics.render())
}
