//! What operators ask: is the program alive, can it serve, and how is it doing.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use serde::Serialize;
use slated_store::StoreError;
use utoipa::ToSchema;

use super::app::App;
use super::response::{ApiResult, render};
use crate::http::response::ApiResponse;

/// The state of the program.
#[derive(Serialize, ToSchema)]
pub struct Health {
    #[schema(example = "ok")]
    status: &'static str,
}

/// Check liveness
///
/// Returns 200 while the program runs, without reading the database. Needs no key.
#[utoipa::path(get, path = "/healthz", operation_id = "health", tag = "Operations", security(()),
    responses((status = 200, description = "The program is alive.", body = Health,
        example = json!({"status": "ok"}))))]
pub async fn healthz() -> ApiResponse {
    ok()
}

/// Check readiness
///
/// Returns 200 if the database can be read and written, or if its disk is full, since reads still
/// work; 503 otherwise. Needs no key.
#[utoipa::path(get, path = "/readyz", operation_id = "readiness", tag = "Operations", security(()),
    extensions(("x-errors" = json!(["INTERNAL", "UNAVAILABLE"]))),
    responses((status = 200, description = "The database can be read, and written unless its disk \
        is full.", body = Health, example = json!({"status": "ok"}))))]
pub async fn readyz(State(app): State<Arc<App>>) -> ApiResult {
    match app.readiness.look(&app.store).await {
        Ok(()) | Err(StoreError::DiskFull) => Ok(ok()),
        Err(error) => Err(error.into()),
    }
}

/// Check write readiness
///
/// Returns 200 if the database can be written, 503 otherwise, as on a full disk. Needs no key.
#[utoipa::path(get, path = "/readyz/writes", operation_id = "writeReadiness", tag = "Operations",
    security(()),
    extensions(("x-errors" = json!(["INTERNAL", "UNAVAILABLE"]))),
    responses((status = 200, description = "The database can be written.", body = Health,
        example = json!({"status": "ok"}))))]
pub async fn readyz_writes(State(app): State<Arc<App>>) -> ApiResult {
    app.readiness.look(&app.store).await?;
    Ok(ok())
}

fn ok() -> ApiResponse {
    render(axum::http::StatusCode::OK, &Health { status: "ok" })
}

/// Read metrics
///
/// Counts, times and queue depths in the Prometheus text format. Needs no key and contains none.
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
