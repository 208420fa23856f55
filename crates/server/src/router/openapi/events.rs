//! Events in the OpenAPI document: a shape for each kind of record, with what it may hold before
//! and after, and a call of a webhook for each type. There may be other types in future, and the
//! shape of all of them stays.

use serde_json::{Map, Value, json};
use slated_model::event::EventType;

/// A kind of record, what its events are called, and the fields that `before` and `after` may hold.
type Kind = (&'static str, &'static str, &'static [(&'static str, Held)]);

/// In the order of the types.
const KINDS: &[Kind] = &[
    (
        "person",
        "PersonEvent",
        &[
            ("name", Held::Text),
            ("first_name", Held::Text),
            ("last_name", Held::Text),
            ("social_public_id", Held::Text),
            ("social_url", Held::Text),
            ("social_location", Held::Text),
            ("social_headline", Held::Text),
            ("address", Held::Text),
            ("current_job_title", Held::Text),
            ("current_company_id", Held::Text),
            ("current_company_name", Held::Text),
            ("external_source_id", Held::TextOrNull),
            ("emails", Held::List("ContactEntry")),
            ("phones", Held::List("ContactEntry")),
            ("work_experience", Held::List("WorkExperienceEntry")),
            ("education_experience", Held::List("EducationEntry")),
            ("certifications", Held::List("CertificationEntry")),
            ("notes", Held::Text),
            ("note", Held::Shape("NoteRead")),
            ("enrichment", Held::Enrichment),
            ("merged", Held::Shape("NamedRecord")),
            ("id", Held::Text),
            ("ids", Held::Texts),
            ("erased_at", Held::Moment),
        ],
    ),
    (
        "candidate",
        "CandidateEvent",
        &[
            ("person_id", Held::Text),
            ("job_id", Held::Text),
            ("current_pipeline_stage_id", Held::Text),
            ("current_pipeline_stage_name", Held::Text),
            ("current_pipeline_stage_date", Held::Moment),
            ("created_at", Held::Moment),
            ("merged_into", Held::Text),
        ],
    ),
    (
        "job",
        "JobEvent",
        &[
            ("name", Held::Text),
            ("is_archived", Held::Flag),
            ("client_company_name", Held::Text),
            ("client_company_id", Held::Text),
            ("job_status_name", Held::Text),
            ("job_status_id", Held::Text),
            ("pipeline_stages", Held::List("StageRead")),
            ("created_at", Held::Moment),
        ],
    ),
    ("status", "StatusEvent", &[("name", Held::Text), ("position", Held::Number)]),
    (
        "template",
        "TemplateEvent",
        &[("name", Held::Text), ("is_default", Held::Flag), ("pipeline_stages", Held::Objects)],
    ),
    (
        "company",
        "CompanyEvent",
        &[
            ("name", Held::Text),
            ("merged", Held::Shape("NamedRecord")),
            ("client_contact_id", Held::Text),
            ("person_id", Held::Text),
        ],
    ),
    (
        "key",
        "KeyEvent",
        &[
            ("name", Held::Text),
            ("scope", Held::Text),
            ("expires_at", Held::MomentOrNull),
            ("replaced_by", Held::Text),
            ("revoked_at", Held::Moment),
        ],
    ),
    (
        "webhook",
        "WebhookEvent",
        &[
            ("host", Held::Text),
            ("types", Held::Texts),
            ("description", Held::Text),
            ("is_enabled", Held::Flag),
            ("old_secret_until", Held::Moment),
            ("paused_at", Held::MomentOrNull),
            ("last_error", Held::Text),
            ("message", Held::Text),
        ],
    ),
];

/// What comes with each call.
const HEADERS: [(&str, &str); 3] = [
    ("webhook-id", "The id of the event, the same on every attempt."),
    ("webhook-timestamp", "When the call was made, in seconds of Unix time."),
    ("webhook-signature", "The signature of id, time and body, as defined by Standard Webhooks."),
];

#[derive(Clone, Copy)]
enum Held {
    Text,
    TextOrNull,
    Texts,
    Number,
    Flag,
    Moment,
    MomentOrNull,
    Enrichment,
    Objects,
    Shape(&'static str),
    List(&'static str),
}

impl Held {
    fn schema(self) -> Value {
        let shape = |name: &str| json!({"$ref": format!("#/components/schemas/{name}")});
        match self {
            Self::Text => json!({"type": "string"}),
            Self::TextOrNull => json!({"type": ["string", "null"]}),
            Self::Texts => json!({"type": "array", "items": {"type": "string"}}),
            Self::Number => json!({"type": "integer"}),
            Self::Flag => json!({"type": "boolean"}),
            Self::Moment => json!({"type": "string", "format": "date-time"}),
            Self::MomentOrNull => json!({"type": ["string", "null"], "format": "date-time"}),
            Self::Enrichment => json!({"type": "object", "required": ["provider", "fields"],
                "properties": {"provider": {"type": "string"},
                "fields": {"type": "array", "items": {"type": "string"}}}}),
            Self::Objects => json!({"type": "array", "items": {"type": "object"}}),
            Self::Shape(name) => shape(name),
            Self::List(name) => json!({"type": "array", "items": shape(name)}),
        }
    }
}

/// Adds the shapes of events, and gives back the calls of webhooks.
pub fn describe_events(schemas: &mut Value) -> Value {
    let mut calls = Map::new();
    for (family, shape, fields) in KINDS {
        let types: Vec<_> =
            EventType::ALL.iter().copied().filter(|kind| kind.family() == *family).collect();
        let held: Map<_, _> =
            fields.iter().map(|(name, held)| ((*name).to_owned(), held.schema())).collect();
        let fields = format!("{shape}Fields");
        let about = format!("The changed fields in an event about a {family}.");
        schemas[&fields] = json!({"type": "object", "description": about, "properties": held});
        let held = json!({"$ref": format!("#/components/schemas/{fields}")});
        let names: Vec<_> = types.iter().map(|kind| kind.name()).collect();
        let data =
            json!({"type": ["object", "null"], "properties": {"before": held, "after": held}});
        let about = format!("An event about a {family}.");
        schemas[*shape] = json!({"description": about,
            "allOf": [{"$ref": "#/components/schemas/EventRead"},
            {"type": "object",
                "properties": {"type": {"type": "string", "enum": names}, "data": data}}]});
        let shape = json!({"$ref": format!("#/components/schemas/{shape}")});
        calls.extend(types.iter().map(|kind| (kind.name().to_owned(), call(*kind, &shape))));
    }
    Value::Object(calls)
}

/// How a webhook is called with an event of that type.
fn call(kind: EventType, shape: &Value) -> Value {
    let about = kind.about();
    json!({"post": {
        "operationId": format!("on{}", name_of(kind)),
        "summary": about,
        "tags": ["Webhooks"],
        "security": [],
        "parameters": HEADERS.map(|(name, about)| {
            json!({"name": name, "in": "header", "required": true, "description": about,
                "schema": {"type": "string"}})
        }),
        "requestBody": {"required": true, "content": {"application/json": {"schema": shape}}},
        "responses": {"2XX": {"description": "The event was accepted. After any other response it \
            is sent again later."}},
    }})
}

/// `person.note_added` as `PersonNoteAdded`.
fn name_of(kind: EventType) -> String {
    let words = kind.name().split(['.', '_']);
    words.map(|word| word[..1].to_uppercase() + &word[1..]).collect()
}
