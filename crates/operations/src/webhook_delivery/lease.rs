//! Who works on a webhook: one server at a time, for a while.

use slated_model::id::{LeaseId, WebhookId, WorkspaceId};
use slated_store::records::webhook;
use slated_store::{Operation, OperationError, Tx};

/// How long a server has a webhook to itself, unless it renews that.
pub const LEASE_MILLIS: i64 = 10_000;

/// The webhooks that somebody should work on.
pub struct DueWebhooks;

impl Operation for DueWebhooks {
    type Output = Vec<(WorkspaceId, WebhookId)>;

    async fn run(&self, tx: &mut Tx) -> Result<Self::Output, OperationError> {
        Ok(webhook::due(tx).await?)
    }
}

/// Lets go of all webhooks: nobody else is there to work on them.
pub struct ClearLeases;

impl Operation for ClearLeases {
    type Output = ();

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        Ok(webhook::clear_leases(tx).await?)
    }
}

pub struct RenewLease {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
    pub lease: LeaseId,
}

impl Operation for RenewLease {
    /// False if another server has it now.
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        Ok(webhook::renew_lease(
            tx,
            self.workspace,
            self.id,
            self.lease,
            tx.now().plus_millis(LEASE_MILLIS),
        )
        .await?)
    }
}

/// Takes a webhook for a while, unless another server has it.
pub struct TakeLease {
    pub workspace: WorkspaceId,
    pub id: WebhookId,
    pub lease: LeaseId,
}

impl Operation for TakeLease {
    /// False if there is nothing to take.
    type Output = bool;

    fn workspace(&self) -> Option<WorkspaceId> {
        Some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        let Self { workspace, id, lease } = *self;
        let Some(webhook) = webhook::load(tx, workspace, id).await? else { return Ok(false) };
        let is_taken =
            webhook.lease.is_some_and(|(holder, until)| holder != lease && until > tx.now());
        if is_taken || !webhook.is_enabled {
            return Ok(false);
        }
        webhook::set_lease(tx, workspace, id, Some((lease, tx.now().plus_millis(LEASE_MILLIS))))
            .await?;
        Ok(true)
    }
}
