//! All routes on one page.

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post, put};
use model::problem::{Code, Problem};

use super::app::App;
use super::edge::edge;
use super::refusal::Refusal;
use super::{docs, health, openapi};
use crate::api::{v0, v1};

pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/v0/persons", post(v0::create_person::create_person))
        .route("/v1/persons", post(v1::persons::create::create_person))
        .route("/v1/persons/{id}", get(v1::persons::read::read_person).patch(v1::persons::update::update_person))
        .route("/v1/persons/{id}/history", put(v1::persons::history::replace_history))
        .route("/v1/candidates/{id}", get(v1::candidates::read::read_candidate).patch(v1::candidates::move_stage::move_candidate))
        .route("/v1/jobs", get(v1::jobs::list::list_jobs).post(v1::jobs::create::create_job))
        .route("/v1/jobs/{id}", get(v1::jobs::read::read_job).patch(v1::jobs::update::update_job))
        .route("/v1/jobs/{id}/candidates", get(v1::candidates::list_of_job::list_candidates).post(v1::candidates::add::add_candidate))
        .route("/v1/persons/{id}/timeline", get(v1::events::timeline::read_person_timeline))
        .route("/v1/candidates/{id}/timeline", get(v1::events::timeline::read_candidate_timeline))
        .route("/v1/jobs/{id}/timeline", get(v1::events::timeline::read_job_timeline))
        .route("/v1/events", get(v1::events::list::list_events))
        .route("/v1/events/stream", get(v1::events::stream::stream_events))
        .route("/v1/webhooks", get(v1::webhooks::list::list).post(v1::webhooks::create::create))
        .route("/v1/webhooks/{id}", get(v1::webhooks::read::read).patch(v1::webhooks::update::update).delete(v1::webhooks::delete::delete))
        .route("/v1/webhooks/{id}/rotate", post(v1::webhooks::rotate::rotate))
        .route("/v1/webhooks/{id}/test", post(v1::webhooks::test::test))
        .route("/v1/webhooks/{id}/replay", post(v1::webhooks::replay::replay))
        .route("/v1/webhooks/{id}/deliveries", get(v1::webhooks::deliveries::list))
        .route("/v1/webhooks/{id}/deliveries/{sequence}", get(v1::webhooks::deliveries::read))
        .route("/v1/webhooks/{id}/deliveries/{sequence}/resend", post(v1::webhooks::resend::resend))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(openapi::document))
        .route("/docs", get(docs::to_index))
        .route("/docs/", get(docs::index))
        .route("/docs/{*path}", get(docs::page))
        .fallback(unknown_route)
        .method_not_allowed_fallback(unknown_method)
        .layer(from_fn_with_state(Arc::clone(&app), edge))
        .with_state(app)
}

async fn unknown_route(request: axum::extract::Request) -> Refusal {
    let path: String = request.uri().path().chars().take(128).collect();
    Problem::new(Code::NotFound, format!("There is no route {path}; GET /openapi.json lists those there are.")).into()
}

async fn unknown_method(request: axum::extract::Request) -> Refusal {
    let method: String = request.method().as_str().chars().take(32).collect();
    Problem::new(Code::MethodNotAllowed, format!("This route does not take {method}; the Allow header lists what it takes.")).into()
}
