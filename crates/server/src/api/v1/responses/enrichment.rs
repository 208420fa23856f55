use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::enrichment::run::{RunFilter, RunState};
use slated_model::enrichment::{Refused, State};
use slated_model::id::{EnrichmentRunId, PersonId, ProposalId};
use slated_operations::enrichment::request::EnrichmentShown;
use slated_store::records::enrichment::Enrichment;
use slated_store::records::enrichment_run::Run;
use utoipa::ToSchema;

/// The state and result of a person's enrichment.
#[derive(Serialize, ToSchema)]
#[schema(example = json!({
    "person_id": "per_01m1v0e8k7f3vs8xq2zr6c4ybd", "state": "done", "provider": "people",
    "attempts": 1,
    "requested_at": "2026-11-15T09:30:00.000Z", "started_at": "2026-11-15T09:30:00.250Z",
    "finished_at": "2026-11-15T09:30:01.100Z",
    "next_attempt_at": null, "last_error": null, "reason": null, "is_cached": false,
    "fields": ["social_headline", "emails", "work_experience"],
    "proposals": ["prp_01m1v0e8k7r4t6w8y0b2d4f6hk"],
    "refused": [{"field": "work_experience[1].start_date", "reason": "is not a calendar date"}],
    "run_id": null}))]
pub struct EnrichmentRead {
    #[schema(value_type = String)]
    pub person_id: PersonId,
    /// `queued`: it waits, perhaps for a retry. `done`: providers were asked; `provider` is null if
    /// none knew the person. `skipped`: no provider was asked, `reason` says why. `failed`: it was
    /// given up, `last_error` says why.
    #[schema(value_type = EnrichmentStateName)]
    pub state: &'static str,
    /// The provider that knew the person; null until one did, and if none did.
    #[schema(required)]
    pub provider: Option<String>,
    /// The number of rounds in which a provider was asked.
    #[schema(minimum = 0)]
    pub attempts: i64,
    #[schema(value_type = String, format = DateTime)]
    pub requested_at: Timestamp,
    /// When it last started; null if it never did.
    #[schema(value_type = Option<String>, required)]
    pub started_at: Option<Timestamp>,
    /// When it finished; null until then.
    #[schema(value_type = Option<String>, required)]
    pub finished_at: Option<Timestamp>,
    /// When it is tried or retried; null unless it is `queued`.
    #[schema(value_type = Option<String>, required)]
    pub next_attempt_at: Option<Timestamp>,
    /// The last error.
    #[schema(required)]
    pub last_error: Option<String>,
    /// Why it was skipped.
    #[schema(required)]
    pub reason: Option<String>,
    /// Whether an earlier answer of the provider was reused.
    pub is_cached: bool,
    /// The fields that were filled, added to or renewed.
    pub fields: Vec<String>,
    /// The resulting proposals, decided or not.
    #[schema(value_type = Vec<String>)]
    pub proposals: Vec<ProposalId>,
    /// The provider's values that could not be stored.
    #[schema(value_type = Vec<RefusedValue>)]
    pub refused: Vec<Refused>,
    /// The run that requested it; null if only a request for this person did.
    #[schema(value_type = Option<String>, required)]
    pub run_id: Option<EnrichmentRunId>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum EnrichmentStateName {
    Queued,
    Running,
    Done,
    Skipped,
    Failed,
}

/// A value that was not stored.
#[derive(ToSchema)]
#[expect(dead_code, reason = "describes Refused")]
pub struct RefusedValue {
    /// The field's path, as in `work_experience[1].start_date`.
    field: String,
    reason: String,
}

impl EnrichmentRead {
    pub fn new(enrichment: Enrichment, proposals: Vec<ProposalId>) -> Self {
        Self {
            person_id: enrichment.person,
            state: enrichment.state.name(),
            provider: enrichment.provider,
            attempts: enrichment.attempts,
            requested_at: enrichment.requested_at,
            started_at: enrichment.started_at,
            finished_at: enrichment.finished_at,
            // While it is running, it is due when its lease ends.
            next_attempt_at: enrichment.due_at.filter(|_| enrichment.state == State::Queued),
            last_error: enrichment.last_error,
            reason: enrichment.reason,
            is_cached: enrichment.is_cached,
            fields: enrichment.fields,
            proposals,
            refused: enrichment.refused,
            run_id: enrichment.run,
        }
    }
}

impl From<EnrichmentShown> for EnrichmentRead {
    fn from(EnrichmentShown { enrichment, proposals }: EnrichmentShown) -> Self {
        Self::new(enrichment, proposals)
    }
}

/// The enrichment of many persons.
#[derive(Serialize, ToSchema)]
pub struct RunRead {
    #[schema(value_type = String, example = "enr_01m1v0e8k7n3q5s7v9x1z3b5dg")]
    pub id: EnrichmentRunId,
    #[schema(value_type = RunStateName)]
    pub state: &'static str,
    /// Which persons to enrich, as requested.
    #[schema(value_type = RunFilterRead)]
    pub filter: RunFilter,
    /// Whether providers are asked again even if they answered before.
    pub refresh: bool,
    /// True until all persons are found.
    pub is_counting: bool,
    /// The number of persons found so far.
    #[schema(minimum = 0, example = 120)]
    pub person_count: i64,
    /// The number of persons who are waiting or in progress.
    #[schema(minimum = 0, example = 20)]
    pub waiting_count: i64,
    #[schema(minimum = 0, example = 90)]
    pub done_count: i64,
    /// The number of persons for whom no provider was asked, or who were already queued.
    #[schema(minimum = 0, example = 8)]
    pub skipped_count: i64,
    #[schema(minimum = 0, example = 2)]
    pub failed_count: i64,
    #[schema(value_type = String, format = DateTime, example = "2026-11-15T09:30:00.000Z")]
    pub created_at: Timestamp,
    /// When the last person was finished, or when the run was cancelled; null before.
    #[schema(value_type = Option<String>, required)]
    pub finished_at: Option<Timestamp>,
}

#[derive(ToSchema)]
#[schema(rename_all = "lowercase")]
pub enum RunStateName {
    Running,
    Done,
    Cancelled,
}

/// Which persons a run enriches. Conditions that were not given are absent.
#[derive(ToSchema)]
#[schema(example = json!({"company_id": "cmp_01m1v0e8k7c5qd0m3w8x9b2hsn",
    "missing": ["current_job_title"]}))]
#[expect(dead_code, reason = "describes RunFilter")]
pub struct RunFilterRead {
    #[schema(nullable = false)]
    person_ids: Option<Vec<String>>,
    #[schema(nullable = false)]
    company_id: Option<String>,
    #[schema(nullable = false)]
    job_id: Option<String>,
    #[schema(nullable = false)]
    created_after: Option<String>,
    #[schema(nullable = false)]
    created_before: Option<String>,
    #[schema(nullable = false)]
    updated_after: Option<String>,
    #[schema(nullable = false)]
    updated_before: Option<String>,
    #[schema(nullable = false)]
    missing: Option<Vec<String>>,
    #[schema(nullable = false)]
    never_enriched: Option<bool>,
}

impl From<Run> for RunRead {
    fn from(run: Run) -> Self {
        Self {
            id: run.id,
            state: run.state.name(),
            refresh: run.refresh,
            is_counting: !run.is_fed && matches!(run.state, RunState::Running),
            person_count: run.person_count,
            waiting_count: run.waiting_count(),
            done_count: run.done_count,
            skipped_count: run.skipped_count,
            failed_count: run.failed_count,
            created_at: run.created_at,
            finished_at: run.finished_at,
            filter: run.filter,
        }
    }
}
