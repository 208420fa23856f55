//! Answers that can be asked for again. A write that comes with an `Idempotency-Key` keeps its
//! answer in the same transaction, so that a repeated request gets that answer and changes nothing.

use slated_model::clock::Timestamp;
use slated_model::id::WorkspaceId;
use slated_model::person::IdentifierKind;
use slated_model::problem::{ErrorCode, Problem};
use slated_store::records::idempotency;
use slated_store::records::idempotency::KeptAnswer;
use slated_store::{Operation, OperationError, Pace, StoreError, Tx};

use super::Actor;

pub const KEPT_FOR_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// A complete response to a request that was carried out.
#[derive(Clone, Debug)]
pub struct StoredResponse {
    pub status: u16,
    pub etag: Option<String>,
    /// By what a create found the person who was there already.
    pub matched_by: Option<IdentifierKind>,
    pub body: Vec<u8>,
    /// True if this is an earlier answer, given again.
    pub is_replay: bool,
}

/// A key that the caller chose, and the fingerprint of the request that came with it.
#[derive(Clone, Debug)]
pub struct IdempotencyKey {
    pub key: String,
    pub request_hash: [u8; 32],
}

/// An operation together with how its outcome is told, once for each key.
pub struct Answered<W, R> {
    pub actor: Actor,
    /// The time, as far as the clock is believed.
    pub now: Timestamp,
    pub key: IdempotencyKey,
    pub work: W,
    pub render: R,
}

impl<W, R> Operation for Answered<W, R>
where
    W: Operation,
    R: Fn(W::Output) -> StoredResponse + Send + Sync + 'static,
{
    type Output = StoredResponse;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.actor.workspace)
    }

    fn pace(&self) -> Pace {
        self.work.pace()
    }

    async fn run(&self, tx: &mut Tx) -> Result<StoredResponse, OperationError> {
        let IdempotencyKey { key, request_hash } = &self.key;
        let workspace = self.actor.workspace;
        let kept = idempotency::find(tx, workspace, key).await?;
        if let Some(old) =
            kept.as_ref().filter(|kept| kept.created_at.plus_millis(KEPT_FOR_MILLIS) <= self.now)
        {
            idempotency::drop_kept(tx, workspace, key, old.created_at).await?;
        } else if let Some(kept) = kept {
            if kept.request_hash != request_hash {
                let message = "This Idempotency-Key was used for a different request within the \
                    last 24 hours; use a new one.";
                return Err(Problem::new(ErrorCode::IdempotencyConflict, message).into());
            }
            let status = u16::try_from(kept.status).unwrap_or(200);
            return Ok(StoredResponse {
                status,
                etag: kept.etag,
                matched_by: kept.matched_by,
                body: kept.body,
                is_replay: true,
            });
        }
        let outcome = match self.work.run(tx).await {
            // What was sent with the same key at the same instant may have been done meanwhile,
            // which may be why this is refused now. If so, this runs again.
            Err(OperationError::Rejected(_))
                if idempotency::find(tx, workspace, key).await?.is_some() =>
            {
                return Err(StoreError::Conflict(
                    "the same request was completed meanwhile".to_owned(),
                )
                .into());
            }
            outcome => outcome?,
        };
        let answer = (self.render)(outcome);
        let kept = KeptAnswer {
            request_hash: request_hash.to_vec(),
            status: answer.status.into(),
            etag: answer.etag.clone(),
            matched_by: answer.matched_by,
            body: answer.body.clone(),
            created_at: tx.now(),
        };
        idempotency::keep(tx, workspace, key, &kept).await?;
        Ok(answer)
    }
}
