use serde::Serialize;
use slated_model::event::Event;
use utoipa::ToSchema;

/// A change, as recorded in the log.
#[derive(ToSchema)]
#[schema(example = json!({
    "id": "evt_01m1v0e8k7p5w2d8h4j6n0q3xz", "sequence": 42, "type": "candidate.moved",
    "created_at": "2026-11-15T09:30:00.000Z",
    "key_id": "key_01m1v0e8k7c6m9r2t4w8y1a3ef", "request_id": "req_01m1v0e8k7h6j9k2m4n8p0q3rs",
    "record_id": "cnd_01m1v0e8k7ez4gy9v5n1tq8rja",
    "data": {
        "before": {"current_pipeline_stage_id": "stg_01m1v0e8k7b4k8s2d6f0g5h7jm",
            "current_pipeline_stage_name": "Screening",
            "current_pipeline_stage_date": "2026-11-10T08:00:00.000Z"},
        "after": {"current_pipeline_stage_id": "stg_01m1v0e8k7b4k8s2d6f0g5h7jn",
        "current_pipeline_stage_name": "Interview",
        "current_pipeline_stage_date": "2026-11-15T09:30:00.000Z"},
        "person": {"id": "per_01m1v0e8k7f3vs8xq2zr6c4ybd", "name": "Ada Lovelace"},
        "job": {"id": "job_01m1v0e8k7a9t6r3p5n8w2x4cz", "name": "Chief Analyst"}
    },
    "previous_hash": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}))]
#[expect(dead_code, reason = "describes what Event writes")]
pub struct EventRead {
    id: String,
    /// Its number in the log of the workspace: 1, 2, 3 and so on, without gaps.
    #[schema(minimum = 1)]
    sequence: i64,
    /// The type of the event.
    r#type: String,
    created_at: String,
    /// The key that the change was made with; null for the command line.
    #[schema(required)]
    key_id: Option<String>,
    /// The request that made the change; null for the command line.
    #[schema(required)]
    request_id: Option<String>,
    /// The record that changed.
    record_id: String,
    /// The changed fields, before and after the change. Null once the event is erased.
    #[schema(required)]
    data: Option<EventData>,
    /// The hash of the previous entry.
    #[schema(min_length = 64, max_length = 64)]
    previous_hash: String,
}

/// The contents of an event.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is told of a change")]
pub struct EventData {
    #[schema(value_type = Object)]
    before: serde_json::Value,
    #[schema(value_type = Object)]
    after: serde_json::Value,
    /// The person that it concerns, in addition to the record itself.
    person: Option<NamedRecord>,
    /// The job that it concerns, in addition to the record itself.
    job: Option<NamedRecord>,
    /// The stage of the job's pipeline that it concerns.
    stage: Option<NamedRecord>,
    /// The stage to which the candidates of a removed stage moved.
    moved_to: Option<NamedRecord>,
}

#[derive(ToSchema)]
#[expect(dead_code, reason = "describes what is told of a change")]
pub struct NamedRecord {
    id: String,
    name: String,
}

/// A page of the feed.
#[derive(Serialize, ToSchema)]
pub struct EventPage {
    #[schema(example = true)]
    pub success: bool,
    #[schema(value_type = Vec<EventRead>)]
    pub data: Vec<Event>,
    pub meta: FeedMeta,
}

/// The end of the page.
#[derive(Serialize, ToSchema)]
pub struct FeedMeta {
    /// The `after` of the next page.
    #[schema(minimum = 0)]
    pub next_after: i64,
    /// Whether there are more events already.
    pub has_more: bool,
}

/// A page of a timeline.
#[derive(Serialize, ToSchema)]
pub struct TimelinePage {
    #[schema(example = true)]
    pub success: bool,
    #[schema(value_type = Vec<EventRead>)]
    pub data: Vec<Event>,
    pub meta: BackwardMeta,
}

/// The end of a page that is sorted newest first.
#[derive(Serialize, ToSchema)]
pub struct BackwardMeta {
    /// The `before` of the next page; null at the end.
    #[schema(required, minimum = 1)]
    pub next_before: Option<i64>,
}
