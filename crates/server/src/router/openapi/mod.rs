//! The OpenAPI document. The operations and shapes describe themselves; what all of them share is
//! added here: the bounds of each field, the paging parameters, the headers, and every refusal with
//! an example.

mod events;
mod examples;
mod fields;
mod shared;

use std::sync::LazyLock;

use axum::http::HeaderMap;
use axum::response::Response;
use serde_json::{Map, Value, json};
use slated_model::key::Scope;
use slated_model::problem::ErrorCode;
use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};

use self::events::describe_events;
use self::examples::add_examples;
use self::fields::{
    constrain_bodies, constrain_query, describe_moments, list_parameters, page_parameters,
    refer_to_shapes,
};
use self::shared::share;
use crate::api::{v0, v1};
use crate::http::fixed::Fixed;
use crate::http::health;
use crate::http::request::MAX_IDEMPOTENCY_KEY_LENGTH;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "slated",
        description = "A recruiting data service: persons, candidates and jobs over HTTP and \
            JSON.\n\nEvery operation under /v0 and /v1 needs a key: `Authorization: Bearer \
            <API_KEY>`. Unknown fields and parameters are refused. A field that is not marked \
            nullable is never null: an unknown string or date is `\"\"`, an unknown integer `0`, \
            an empty list `[]`.",
    ),
    paths(
        v1::persons::create::create_person,
        v1::persons::list::list_persons,
        v1::persons::create_many::create_persons,
        v1::persons::read::read_person,
        v1::persons::update::update_person,
        v1::persons::history::replace_history,
        v1::persons::merge::merge_persons,
        v1::persons::duplicates::list_duplicates,
        v1::persons::export::export_person,
        v1::persons::erase::erase_person,
        v1::persons::resolve::resolve_person,
        v1::persons::notes::list_notes,
        v1::persons::notes::add_note,
        v1::persons::notes::update_note,
        v1::persons::notes::delete_note,
        v1::enrichment::request_enrichment,
        v1::enrichment::read_enrichment,
        v1::enrichment::start_run,
        v1::enrichment::list_runs,
        v1::enrichment::read_run,
        v1::enrichment::cancel_run,
        v1::proposals::list_proposals,
        v1::proposals::list_person_proposals,
        v1::proposals::accept_proposal,
        v1::proposals::reject_proposal,
        v0::create_person::create_person,
        v1::candidates::read::read_candidate,
        v1::candidates::move_stage::move_candidate,
        v1::candidates::list_of_job::list_candidates,
        v1::candidates::add::add_candidate,
        v1::candidates::add_many::add_candidates,
        v1::candidates::list_all::list_all_candidates,
        v1::candidates::move_many::move_candidates,
        v1::candidates::remove::remove_candidate,
        v1::candidates::stage_times::read_stage_times,
        v1::candidates::funnel::read_funnel,
        v1::jobs::list::list_jobs,
        v1::jobs::create::create_job,
        v1::jobs::read::read_job,
        v1::jobs::update::update_job,
        v1::stages::list_stages,
        v1::stages::add_stage,
        v1::stages::reorder_stages,
        v1::stages::update_stage,
        v1::stages::remove_stage,
        v1::statuses::list_statuses,
        v1::statuses::create_status,
        v1::statuses::update_status,
        v1::templates::list_templates,
        v1::templates::create_template,
        v1::templates::read_template,
        v1::templates::update_template,
        v1::templates::delete_template,
        v1::companies::list::list_companies,
        v1::companies::create::create_company,
        v1::companies::read::read_company,
        v1::companies::update::update_company,
        v1::companies::merge::merge_company,
        v1::companies::jobs::list_company_jobs,
        v1::companies::contacts::list_contacts,
        v1::companies::contacts::add_contact,
        v1::companies::contacts::remove_contact,
        v1::events::list::list_events,
        v1::events::stream::stream_events,
        v1::events::timeline::read_person_timeline,
        v1::events::timeline::read_candidate_timeline,
        v1::events::timeline::read_job_timeline,
        v1::webhooks::create::create,
        v1::webhooks::list::list,
        v1::webhooks::read::read,
        v1::webhooks::update::update,
        v1::webhooks::delete::delete,
        v1::webhooks::rotate::rotate,
        v1::webhooks::test::test,
        v1::webhooks::replay::replay,
        v1::webhooks::deliveries::list,
        v1::webhooks::deliveries::read,
        v1::webhooks::resend::resend,
        v1::keys::list_keys,
        v1::keys::create_key,
        v1::keys::read_key,
        v1::keys::rotate_key,
        v1::keys::revoke_key,
        v1::me::read_me,
        health::healthz,
        health::readyz,
        health::readyz_writes,
        health::metrics,
    ),
    tags(
        (name = "Persons", description = "Individuals with contacts, a current job and a career \
            history."),
        (name = "Enrichment", description = "Data about persons from providers, fetched in the \
            background, and proposals to accept or reject."),
        (name = "Candidates", description = "Persons on a job, each in one stage of its pipeline."),
        (name = "Jobs", description = "Positions at a client company, with a status and a \
            pipeline."),
        (name = "Pipelines", description = "The stages of a job, the templates for new jobs, and \
            the statuses that jobs can have."),
        (name = "Companies", description = "Employers and clients, and the contacts there."),
        (name = "Events", description = "Every change, once and in order."),
        (name = "Webhooks", description = "Calls to your endpoint when something changes. Managing \
            webhooks needs a key with the scope `admin`."),
        (name = "Keys", description = "API keys. Managing keys needs a key with the scope `admin`; \
            reading one's own key does not."),
        (name = "Operations", description = "For operators of the service."),
    ),
    security(("key" = [])),
)]
struct Document;

/// The document for people to read, and to keep beside the code.
pub fn text() -> String {
    serde_json::to_string_pretty(&build()).unwrap_or_default() + "\n"
}

/// The document as it is served, without white space.
static SERVED: LazyLock<Fixed> = LazyLock::new(|| {
    Fixed::new("application/json", serde_json::to_vec(&build()).unwrap_or_default())
});

pub async fn document(headers: HeaderMap) -> Response {
    SERVED.answer(&headers)
}

fn build() -> Value {
    let mut openapi = Document::openapi();
    let bearer = HttpBuilder::new()
        .scheme(HttpAuthScheme::Bearer)
        .description(Some("An API key of the workspace."))
        .build();
    if let Some(components) = &mut openapi.components {
        components.add_security_scheme("key", SecurityScheme::Http(bearer));
    }
    let mut document = serde_json::to_value(&openapi).unwrap_or_default();
    let schemas = &mut document["components"]["schemas"];
    schemas["Error"] = error_schema();
    schemas["ErrorV0"] = error_schema_v0();
    refer_to_shapes(schemas);
    constrain_bodies(schemas);
    describe_moments(schemas);
    document["webhooks"] = describe_events(&mut document["components"]["schemas"]);
    let schemas = &mut document["components"]["schemas"];
    let schemas = schemas.clone();
    if let Some(paths) = document["paths"].as_object_mut() {
        for (path, methods) in paths {
            for (method, operation) in methods.as_object_mut().into_iter().flatten() {
                complete(path, method, operation);
                add_examples(operation, &schemas);
            }
        }
    }
    document["servers"] =
        json!([{"url": "/", "description": "The server that serves this document."}]);
    share(&mut document);
    document
}

fn error_schema() -> Value {
    let codes: Vec<_> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    let flaws: Vec<_> =
        slated_model::problem::FieldErrorCode::ALL.iter().map(|flaw| flaw.name()).collect();
    json!({
        "type": "object",
        "description": "A refused request. Nothing was stored.",
        "required": ["success", "error"],
        "properties": {
            "success": {"type": "boolean", "const": false},
            "error": {
                "type": "object",
                "required": ["code", "message", "details", "request_id"],
                "properties": {
                    "code": {"type": "string", "x-extensible-enum": codes, "description": "What is \
                        wrong. New codes may be added in the future."},
                    "message": {"type": "string", "description": "What is wrong, in one sentence."},
                    "details": {
                        "type": "array",
                        "description": "Every invalid field; empty if the error is not about \
                            single fields.",
                        "items": {
                            "type": "object",
                            "required": ["field", "code", "message"],
                            "properties": {
                                "field": {"type": "string", "description": "The field's path, as \
                                    in emails[1].value."},
                                "code": {"type": "string", "x-extensible-enum": flaws},
                                "message": {"type": "string"},
                                "record_id": {"type": "string", "description": "The record that \
                                    conflicts with the request, if there is one."},
                            },
                        },
                    },
                    "request_id": {"type": "string", "description": "Also in X-Request-Id and in \
                        the log."},
                },
            },
        },
    })
}

fn error_schema_v0() -> Value {
    json!({
        "type": "object",
        "description": "A refused request of version 0. Nothing was stored.",
        "required": ["error", "data"],
        "properties": {"error": {"type": "string", "description": "What is wrong, in one \
            sentence."}, "data": {"type": "null"}},
    })
}

/// Adds to an operation what its marks ask for, and takes the marks away.
fn complete(path: &str, method: &str, operation: &mut Value) {
    let Some(operation) = operation.as_object_mut() else { return };
    let needs_key = path.starts_with("/v");
    if !needs_key {
        operation.insert("security".to_owned(), json!([]));
    }
    let mark = |operation: &mut Map<String, Value>, name: &str| operation.shift_remove(name);
    let asks = mark(operation, "x-asks").is_some();
    if needs_key {
        require_scope(path, method, asks, operation);
    }
    let has_body = operation.contains_key("requestBody");
    let writes = mark(operation, "x-writes").is_some() || (has_body && !asks);
    let own_errors = mark(operation, "x-errors").unwrap_or_default();
    if mark(operation, "x-may-be-empty").is_some() {
        operation["requestBody"]["required"] = false.into();
    }
    let is_list = mark(operation, "x-list").is_some();
    let is_paged = mark(operation, "x-page").is_some();
    let takes_if_match = mark(operation, "x-if-match").is_some();
    let gives_etag = mark(operation, "x-etag").is_some();

    let mut parameters =
        operation.get("parameters").and_then(Value::as_array).cloned().unwrap_or_default();
    parameters
        .iter_mut()
        .filter(|parameter| parameter["in"] == "query")
        .for_each(|parameter| constrain_query(path, parameter));
    // A page to try calls on would fill in the id of a record that nobody has.
    parameters
        .iter_mut()
        .filter_map(Value::as_object_mut)
        .filter(|parameter| parameter["in"] == "path")
        .for_each(|parameter| {
            parameter.shift_remove("example");
        });
    if is_list {
        parameters.extend(list_parameters(path));
    }
    if is_paged {
        parameters.extend(page_parameters(path));
    }
    if takes_if_match {
        parameters.push(header_parameter(
            "If-Match",
            "Make the change only if the record still has this ETag.",
            &json!({"type": "string", "examples": ["\"9f1c2a7be04d3586\""]}),
        ));
    }
    if gives_etag && method == "get" {
        parameters.push(header_parameter(
            "If-None-Match",
            "Answer 304 if the record still has this ETag.",
            &json!({"type": "string", "examples": ["\"9f1c2a7be04d3586\""]}),
        ));
    }
    if writes {
        let schema = json!({"type": "string", "minLength": 1,
            "maxLength": MAX_IDEMPOTENCY_KEY_LENGTH, "pattern": "^[!-~]+$"});
        let text = "A key chosen by the caller. For 24 hours, a repeated request with it gets the \
            first response again and changes nothing.";
        parameters.push(header_parameter("Idempotency-Key", text, &schema));
    }
    if !parameters.is_empty() {
        operation.insert("parameters".to_owned(), Value::Array(parameters));
    }

    let responses = &mut operation["responses"];
    for (status, response) in responses.as_object_mut().into_iter().flatten() {
        let gives_etag = gives_etag && status.starts_with('2');
        describe_headers(response, needs_key, gives_etag);
        if writes && status.starts_with('2') {
            let text = "Present if this is the stored response to an earlier request with the same \
                Idempotency-Key.";
            add_header(
                response,
                "Idempotency-Replayed",
                text,
                &json!({"type": "string", "const": "true"}),
            );
        }
    }
    if gives_etag && method == "get" {
        let mut unchanged =
            json!({"description": "The record still has the ETag of If-None-Match."});
        describe_headers(&mut unchanged, needs_key, true);
        responses["304"] = unchanged;
    }
    let version_0 = path.starts_with("/v0/");
    for (status, codes) in by_status(&errors(&own_errors, needs_key, writes || has_body, writes)) {
        let mut response = error_response(&codes, version_0);
        describe_headers(&mut response, needs_key && status != "401", false);
        match status.as_str() {
            "401" => add_header(
                &mut response,
                "WWW-Authenticate",
                "The required authentication scheme.",
                &json!({"type": "string", "const": "Bearer"}),
            ),
            "429" | "503" => add_header(
                &mut response,
                "Retry-After",
                "Seconds to wait before a retry.",
                &json!({"type": "integer", "minimum": 1}),
            ),
            _ => {}
        }
        responses[status] = response;
    }
    if let Some(responses) = responses.as_object_mut() {
        responses.sort_keys();
    }
}

/// Says which scope a key must have.
fn require_scope(path: &str, method: &str, asks: bool, operation: &mut Map<String, Value>) {
    let scope = match method {
        _ if path.starts_with("/v1/keys") || path.starts_with("/v1/webhooks") => Scope::Admin,
        "get" => Scope::Read,
        _ if asks => Scope::Read,
        _ => Scope::Write,
    };
    operation.insert("security".to_owned(), json!([{"key": [scope.name()]}]));
    let about = operation.get("description").and_then(Value::as_str).unwrap_or_default();
    let about = format!("{about}\n\nNeeds a key with the scope `{}`.", scope.name());
    operation.insert("description".to_owned(), about.trim().into());
}

fn header_parameter(name: &str, description: &str, schema: &Value) -> Value {
    json!({"name": name, "in": "header", "required": false, "description": description,
        "schema": schema})
}

/// All codes that the operation may answer with: its own, and those that come with a key or a body.
fn errors(own: &Value, needs_key: bool, takes_body: bool, writes: bool) -> Vec<ErrorCode> {
    let is_own =
        |code: &ErrorCode| own.as_array().into_iter().flatten().any(|name| name == code.name());
    let with_key = [
        ErrorCode::Unauthenticated,
        ErrorCode::Forbidden,
        ErrorCode::RateLimited,
        ErrorCode::Internal,
        ErrorCode::Unavailable,
    ];
    let with_body = [
        ErrorCode::MalformedJson,
        ErrorCode::InvalidRequest,
        ErrorCode::RequestTimeout,
        ErrorCode::PayloadTooLarge,
        ErrorCode::UnsupportedMediaType,
    ];
    let is_common = |code: &ErrorCode| match code {
        ErrorCode::IdempotencyConflict => writes,
        _ => (needs_key && with_key.contains(code)) || (takes_body && with_body.contains(code)),
    };
    let applies = |code: &&ErrorCode| is_own(code) || is_common(code);
    ErrorCode::ALL.iter().filter(applies).copied().collect()
}

fn by_status(codes: &[ErrorCode]) -> Vec<(String, Vec<ErrorCode>)> {
    let mut grouped: Vec<(String, Vec<ErrorCode>)> = Vec::new();
    for code in codes {
        let status = code.status().to_string();
        match grouped.iter_mut().find(|(known, _)| *known == status) {
            Some((_, codes)) => codes.push(*code),
            None => grouped.push((status, vec![*code])),
        }
    }
    grouped
}

fn error_response(codes: &[ErrorCode], version_0: bool) -> Value {
    let description: Vec<_> =
        codes.iter().map(|code| format!("`{}`: {}", code.name(), code.meaning())).collect();
    let schema =
        if version_0 { "#/components/schemas/ErrorV0" } else { "#/components/schemas/Error" };
    let examples: Map<_, _> = codes
        .iter()
        .map(|code| (code.name().to_owned(), json!({"value": example(*code, version_0)})))
        .collect();
    json!({
        "description": description.join("\n\n"),
        "content": {"application/json": {"schema": {"$ref": schema}, "examples": examples}},
    })
}

fn example(code: ErrorCode, version_0: bool) -> Value {
    if version_0 {
        return json!({"error": code.meaning(), "data": null});
    }
    let detail = |field: &str, code: &str, message: &str| json!([{"field": field, "code": code, "message": message}]);
    let about = |field: &str, message: &str, id: &str| json!([{"field": field, "code": "CONFLICT", "message": message, "record_id": id}]);
    let person = "per_01m1v0e8k7f3vs8xq2zr6c4ybd";
    let details = match code {
        ErrorCode::InvalidRequest => detail(
            "emails[1].value",
            "INVALID_EMAIL",
            "must be an e-mail address, as in ada@example.com",
        ),
        ErrorCode::DuplicatePerson | ErrorCode::IdentifierConflict => {
            about("emails", &format!("ada@example.com belongs to person {person}"), person)
        }
        ErrorCode::AmbiguousJob => about(
            "job_name",
            "is the name of job job_01m1v0e8k7a9t6r3p5n8w2x4cz",
            "job_01m1v0e8k7a9t6r3p5n8w2x4cz",
        ),
        ErrorCode::AmbiguousStage => about(
            "stage_name",
            "is the name of stage stg_01m1v0e8k7b4k8s2d6f0g5h7jm",
            "stg_01m1v0e8k7b4k8s2d6f0g5h7jm",
        ),
        ErrorCode::NameTaken => about(
            "name",
            "is the name of company cmp_01m1v0e8k7d2r9w4t6y8p1q3sk",
            "cmp_01m1v0e8k7d2r9w4t6y8p1q3sk",
        ),
        ErrorCode::StageInUse => {
            detail("move_to", "REQUIRED", "is required because the stage has candidates")
        }
        ErrorCode::StageConflict => about(
            "from_stage_id",
            "The candidate is now in \"Offer\".",
            "stg_01m1v0e8k7b4k8s2d6f0g5h7jm",
        ),
        _ => json!([]),
    };
    let request_id = "req_01m1v0e8k7h6j9k2m4n8p0q3rs";
    json!({"success": false, "error": {"code": code.name(), "message": code.meaning(),
        "details": details, "request_id": request_id}})
}

fn describe_headers(response: &mut Value, with_limits: bool, with_etag: bool) {
    add_header(
        response,
        "X-Request-Id",
        "The id of the request, also in the log.",
        &json!({"type": "string"}),
    );
    response["headers"]["X-Request-Id"]["required"] = true.into();
    if with_limits {
        let count = json!({"type": "integer", "minimum": 0});
        add_header(
            response,
            "X-RateLimit-Limit",
            "Requests per minute that the key may make. Absent if the operator set no limit.",
            &count,
        );
        add_header(response, "X-RateLimit-Remaining", "Requests that remain now.", &count);
        add_header(
            response,
            "X-RateLimit-Reset",
            "Seconds until the whole limit is available again.",
            &count,
        );
    }
    if with_etag {
        add_header(
            response,
            "ETag",
            "The version of the record, for If-Match and If-None-Match.",
            &json!({"type": "string"}),
        );
    }
}

fn add_header(response: &mut Value, name: &str, description: &str, schema: &Value) {
    response["headers"][name] = json!({"description": description, "schema": schema});
}
