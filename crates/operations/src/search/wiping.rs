//! What an erasure leaves to be done: words that left the index still lie in its pages and
//! segments, and what was there before in the log of an embedded engine. It is wiped out in the
//! background, at once if somebody waits for it, and before a server ends.

use std::sync::Arc;
use std::time::Duration;

use slated_model::id::WorkspaceId;
use slated_store::records::search::segment_build;
use slated_store::{Operation, OperationError, Store, Tx};
use tokio::time::{sleep, timeout};

use crate::search::index::{MergeSome, MergeWanted};
use crate::search::segments;

/// How long somebody waits for it, or the end of a server.
const WIPE_TIMEOUT: Duration = Duration::from_secs(20);
/// How long it takes until somebody who reads an old state may be done.
const RETRY_INTERVAL: Duration = Duration::from_millis(50);

/// Wipes out what is left of whoever was erased in a workspace. False if that was not done in time,
/// or could not be.
pub async fn wipe(store: &Arc<Store>, workspace: WorkspaceId) -> bool {
    let wiping = async {
        while store.read(IsOutdated { workspace }).await?
            && segments::make(store, workspace).await?
        {}
        merge(store).await?;
        while !store.empty_log().await? {
            sleep(RETRY_INTERVAL).await;
        }
        Ok::<_, OperationError>(())
    };
    match timeout(WIPE_TIMEOUT, wiping).await {
        Ok(Ok(())) => true,
        Ok(Err(failure)) => {
            tracing::warn!(error = %failure, "words of an erased person are still in the search \
                index");
            false
        }
        Err(_) => false,
    }
}

/// The same for all workspaces before a server ends, which empties the log anyway.
pub async fn wipe_at_stop(store: &Arc<Store>) -> Result<bool, OperationError> {
    let wiping = async {
        for workspace in store.read(OutdatedWorkspaces).await? {
            while store.read(IsOutdated { workspace }).await?
                && segments::make(store, workspace).await?
            {}
        }
        merge(store).await
    };
    timeout(WIPE_TIMEOUT, wiping).await.map_or(Ok(false), |outcome| outcome.map(|()| true))
}

/// Wipes words that left the index out of its pages.
pub async fn merge(store: &Store) -> Result<(), OperationError> {
    if let Some(wanted_at) = store.read(MergeWanted).await? {
        let mut is_first = true;
        while store.write(MergeSome { wanted_at, is_first }).await? {
            is_first = false;
        }
    }
    Ok(())
}

/// Whether somebody is in a segment of the workspace who was erased.
struct IsOutdated {
    workspace: WorkspaceId,
}

impl Operation for IsOutdated {
    type Output = bool;

    async fn run(&self, tx: &mut Tx) -> Result<bool, OperationError> {
        Ok(segment_build::is_outdated(tx, self.workspace).await?)
    }
}

struct OutdatedWorkspaces;

impl Operation for OutdatedWorkspaces {
    type Output = Vec<WorkspaceId>;

    async fn run(&self, tx: &mut Tx) -> Result<Vec<WorkspaceId>, OperationError> {
        Ok(segment_build::outdated_workspaces(tx).await?)
    }
}
