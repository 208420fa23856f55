use serde::Serialize;
use slated_model::clock::Timestamp;
use slated_model::event::{EventType, Subject};
use slated_model::id::{CandidateId, JobId, PersonId, StageId};
use slated_model::stage::Stage;
use slated_store::records::candidate::CandidateView;
use slated_store::{OperationError, Tx};

use super::event_data::{Empty, EventData, RecordRef, emit};
use crate::Actor;

/// The stage that a candidate is in, as events show it.
#[derive(Serialize)]
struct StageFields<'s> {
    current_pipeline_stage_id: StageId,
    current_pipeline_stage_name: &'s str,
    current_pipeline_stage_date: Timestamp,
}

#[derive(Serialize)]
struct CandidateFields<'s> {
    person_id: PersonId,
    job_id: JobId,
    #[serde(flatten)]
    stage: StageFields<'s>,
    created_at: Timestamp,
}

impl<'s> CandidateFields<'s> {
    fn of(candidate: &'s CandidateView) -> Self {
        let CandidateView {
            person_id,
            job_id,
            stage_id,
            stage_name,
            stage_entered_at,
            created_at,
            ..
        } = candidate;
        let stage = StageFields {
            current_pipeline_stage_id: *stage_id,
            current_pipeline_stage_name: stage_name,
            current_pipeline_stage_date: *stage_entered_at,
        };
        Self { person_id: *person_id, job_id: *job_id, stage, created_at: *created_at }
    }
}

/// A candidate with the person and the job that it stands for.
#[derive(Clone, Copy)]
pub struct Concerned<'c> {
    pub candidate: CandidateId,
    pub person: RecordRef<'c, PersonId>,
    pub job: RecordRef<'c, JobId>,
}

impl<'c> Concerned<'c> {
    async fn emit(
        &self,
        tx: &mut Tx,
        actor: &Actor,
        kind: EventType,
        before: impl Serialize,
        after: impl Serialize,
    ) -> Result<(), OperationError> {
        let subject = Subject::candidate(self.candidate, self.person.id, self.job.id);
        let told = EventData { before, after, person: Some(self.person), job: Some(self.job) };
        emit(tx, actor, kind, subject, &told).await.map(|_| ())
    }

    pub async fn created(
        &self,
        tx: &mut Tx,
        actor: &Actor,
        stage: &Stage,
    ) -> Result<(), OperationError> {
        let at = self.candidate.moment();
        let after = CandidateFields {
            person_id: self.person.id,
            job_id: self.job.id,
            stage: in_stage(stage, at),
            created_at: at,
        };
        self.emit(tx, actor, EventType::CandidateCreated, Empty {}, after).await
    }

    pub async fn moved(
        &self,
        tx: &mut Tx,
        actor: &Actor,
        from: (&Stage, Timestamp),
        to: (&Stage, Timestamp),
    ) -> Result<(), OperationError> {
        self.emit(
            tx,
            actor,
            EventType::CandidateMoved,
            in_stage(from.0, from.1),
            in_stage(to.0, to.1),
        )
        .await
    }

    /// `last` is the candidate as it was before it went.
    pub async fn removed(
        &self,
        tx: &mut Tx,
        actor: &Actor,
        last: &CandidateView,
    ) -> Result<(), OperationError> {
        self.emit(tx, actor, EventType::CandidateRemoved, CandidateFields::of(last), Empty {}).await
    }

    /// The same for a candidate that went into another.
    pub async fn merged(
        &self,
        tx: &mut Tx,
        actor: &Actor,
        last: &CandidateView,
        into: CandidateId,
    ) -> Result<(), OperationError> {
        self.emit(
            tx,
            actor,
            EventType::CandidateMerged,
            CandidateFields::of(last),
            MergedInto { merged_into: into },
        )
        .await
    }
}

#[derive(Serialize)]
struct MergedInto {
    merged_into: CandidateId,
}

fn in_stage(stage: &Stage, since: Timestamp) -> StageFields<'_> {
    StageFields {
        current_pipeline_stage_id: stage.id,
        current_pipeline_stage_name: &stage.name,
        current_pipeline_stage_date: since,
    }
}
