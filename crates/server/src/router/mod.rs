//! All routes on one page.

pub mod openapi;

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::middleware::from_fn_with_state;
use axum::routing::{delete, get, patch, post, put};
use slated_model::problem::{ErrorCode, Problem};

use crate::api::{v0, v1};
use crate::http::app::App;
use crate::http::body::drain_all;
use crate::http::error_response::ErrorResponse;
use crate::http::request_context::wrap;
use crate::http::{docs, front, health};

pub fn router(app: Arc<App>) -> Router {
    Router::new()
        .route("/v0/persons", post(v0::create_person::create_person))
        .route(
            "/v1/persons",
            get(v1::persons::list::list_persons).post(v1::persons::create::create_person),
        )
        .route("/v1/persons/batch", post(v1::persons::create_many::create_persons))
        .route(
            "/v1/persons/{id}",
            get(v1::persons::read::read_person)
                .patch(v1::persons::update::update_person)
                .delete(v1::persons::erase::erase_person),
        )
        .route("/v1/persons/duplicates", get(v1::persons::duplicates::list_duplicates))
        .route("/v1/persons/{id}/merge", post(v1::persons::merge::merge_persons))
        .route("/v1/persons/{id}/export", get(v1::persons::export::export_person))
        .route("/v1/persons/resolve", post(v1::persons::resolve::resolve_person))
        .route("/v1/persons/{id}/history", put(v1::persons::history::replace_history))
        .route(
            "/v1/persons/{id}/notes",
            get(v1::persons::notes::list_notes).post(v1::persons::notes::add_note),
        )
        .route(
            "/v1/persons/{id}/notes/{note_id}",
            patch(v1::persons::notes::update_note).delete(v1::persons::notes::delete_note),
        )
        .route(
            "/v1/persons/{id}/enrichment",
            get(v1::enrichment::read_enrichment).post(v1::enrichment::request_enrichment),
        )
        .route("/v1/persons/{id}/proposals", get(v1::proposals::list_person_proposals))
        .route("/v1/enrichments", get(v1::enrichment::list_runs).post(v1::enrichment::start_run))
        .route("/v1/enrichments/{id}", get(v1::enrichment::read_run))
        .route("/v1/enrichments/{id}/cancel", post(v1::enrichment::cancel_run))
        .route("/v1/proposals", get(v1::proposals::list_proposals))
        .route("/v1/proposals/{id}/accept", post(v1::proposals::accept_proposal))
        .route("/v1/proposals/{id}/reject", post(v1::proposals::reject_proposal))
        .route("/v1/candidates", get(v1::candidates::list_all::list_all_candidates))
        .route(
            "/v1/candidates/{id}",
            get(v1::candidates::read::read_candidate)
                .patch(v1::candidates::move_stage::move_candidate)
                .delete(v1::candidates::remove::remove_candidate),
        )
        .route("/v1/candidates/move", post(v1::candidates::move_many::move_candidates))
        .route(
            "/v1/candidates/{id}/stage-times",
            get(v1::candidates::stage_times::read_stage_times),
        )
        .route("/v1/jobs", get(v1::jobs::list::list_jobs).post(v1::jobs::create::create_job))
        .route("/v1/jobs/{id}", get(v1::jobs::read::read_job).patch(v1::jobs::update::update_job))
        .route(
            "/v1/jobs/{id}/candidates",
            get(v1::candidates::list_of_job::list_candidates)
                .post(v1::candidates::add::add_candidate),
        )
        .route("/v1/jobs/{id}/candidates/batch", post(v1::candidates::add_many::add_candidates))
        .route("/v1/jobs/{id}/stages", get(v1::stages::list_stages).post(v1::stages::add_stage))
        .route("/v1/jobs/{id}/stages/order", put(v1::stages::reorder_stages))
        .route(
            "/v1/jobs/{id}/stages/{stage_id}",
            patch(v1::stages::update_stage).delete(v1::stages::remove_stage),
        )
        .route(
            "/v1/job-statuses",
            get(v1::statuses::list_statuses).post(v1::statuses::create_status),
        )
        .route("/v1/job-statuses/{id}", patch(v1::statuses::update_status))
        .route(
            "/v1/pipeline-templates",
            get(v1::templates::list_templates).post(v1::templates::create_template),
        )
        .route(
            "/v1/pipeline-templates/{id}",
            get(v1::templates::read_template)
                .patch(v1::templates::update_template)
                .delete(v1::templates::delete_template),
        )
        .route("/v1/jobs/{id}/funnel", get(v1::candidates::funnel::read_funnel))
        .route("/v1/persons/{id}/timeline", get(v1::events::timeline::read_person_timeline))
        .route("/v1/candidates/{id}/timeline", get(v1::events::timeline::read_candidate_timeline))
        .route("/v1/jobs/{id}/timeline", get(v1::events::timeline::read_job_timeline))
        .route(
            "/v1/companies",
            get(v1::companies::list::list_companies).post(v1::companies::create::create_company),
        )
        .route(
            "/v1/companies/{id}",
            get(v1::companies::read::read_company).patch(v1::companies::update::update_company),
        )
        .route("/v1/companies/{id}/merge", post(v1::companies::merge::merge_company))
        .route("/v1/companies/{id}/jobs", get(v1::companies::jobs::list_company_jobs))
        .route(
            "/v1/companies/{id}/contacts",
            get(v1::companies::contacts::list_contacts).post(v1::companies::contacts::add_contact),
        )
        .route(
            "/v1/companies/{id}/contacts/{contact_id}",
            delete(v1::companies::contacts::remove_contact),
        )
        .route("/v1/events", get(v1::events::list::list_events))
        .route("/v1/events/stream", get(v1::events::stream::stream_events))
        .route("/v1/webhooks", get(v1::webhooks::list::list).post(v1::webhooks::create::create))
        .route(
            "/v1/webhooks/{id}",
            get(v1::webhooks::read::read)
                .patch(v1::webhooks::update::update)
                .delete(v1::webhooks::delete::delete),
        )
        .route("/v1/webhooks/{id}/rotate", post(v1::webhooks::rotate::rotate))
        .route("/v1/webhooks/{id}/test", post(v1::webhooks::test::test))
        .route("/v1/webhooks/{id}/replay", post(v1::webhooks::replay::replay))
        .route("/v1/webhooks/{id}/deliveries", get(v1::webhooks::deliveries::list))
        .route("/v1/webhooks/{id}/deliveries/{sequence}", get(v1::webhooks::deliveries::read))
        .route("/v1/webhooks/{id}/deliveries/{sequence}/resend", post(v1::webhooks::resend::resend))
        .route("/v1/keys", get(v1::keys::list_keys).post(v1::keys::create_key))
        .route("/v1/keys/{id}", get(v1::keys::read_key).delete(v1::keys::revoke_key))
        .route("/v1/keys/{id}/rotate", post(v1::keys::rotate_key))
        .route("/v1/me", get(v1::me::read_me))
        .route("/", get(front::front))
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/readyz/writes", get(health::readyz_writes))
        .route("/metrics", get(health::metrics))
        .route("/openapi.json", get(openapi::document))
        .route("/docs", get(docs::to_index))
        .route("/docs/", get(docs::index))
        .route("/docs/{*path}", get(docs::page))
        .fallback(unknown_route)
        .method_not_allowed_fallback(unknown_method)
        .layer(from_fn_with_state(Arc::clone(&app), wrap))
        .with_state(app)
}

async fn unknown_route(
    State(app): State<Arc<App>>,
    request: axum::extract::Request,
) -> ErrorResponse {
    let path: String = request.uri().path().chars().take(128).collect();
    drain_all(&app, request).await;
    Problem::new(
        ErrorCode::NotFound,
        format!("The route {path} does not exist; GET /openapi.json lists all routes."),
    )
    .into()
}

async fn unknown_method(
    State(app): State<Arc<App>>,
    request: axum::extract::Request,
) -> ErrorResponse {
    let method: String = request.method().as_str().chars().take(32).collect();
    drain_all(&app, request).await;
    Problem::new(
        ErrorCode::MethodNotAllowed,
        format!(
            "This route does not support {method}; the Allow header lists the methods it \
            supports."
        ),
    )
    .into()
}
