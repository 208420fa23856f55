//! Whether the database can be read and written, as it was last found out.

use std::time::{Duration, Instant};

use metrics::gauge;
use slated_operations::workspaces::{TryToRead, TryToWrite};
use slated_store::{OperationError, Store, StoreError};
use tokio::sync::Mutex;

const CHECK_TIMEOUT: Duration = Duration::from_secs(2);
/// How long what was found out holds.
const CHECK_INTERVAL: Duration = Duration::from_millis(250);

/// What was last found out. Anybody may ask, without a key and as often as they like, so the
/// database is asked by one of them at a time, and not again at once.
#[derive(Default)]
pub struct Readiness(Mutex<Option<(Instant, Result<(), StoreError>)>>);

impl Readiness {
    pub async fn look(&self, store: &Store) -> Result<(), StoreError> {
        let mut last = self.0.lock().await;
        match &*last {
            Some((moment, outcome)) if moment.elapsed() < CHECK_INTERVAL => outcome.clone(),
            _ => {
                let outcome = is_ready(store).await;
                gauge!("slated_store_writable").set(if outcome.is_ok() { 1.0 } else { 0.0 });
                last.insert((Instant::now(), outcome)).1.clone()
            }
        }
    }
}

async fn is_ready(store: &Store) -> Result<(), StoreError> {
    let broken = |failure: OperationError| match failure {
        OperationError::Rejected(problem) => StoreError::Internal(problem.message),
        OperationError::Store(error) => error,
    };
    let looking = async {
        // What cannot be read is away, whatever the reason.
        store.read(TryToRead).await.map_err(|failure| {
            OperationError::Store(StoreError::Unavailable(failure.to_string()))
        })?;
        // The writer must be alive and the database writable.
        store.write(TryToWrite).await?;
        // That changes nothing, and needs no room.
        if store.has_room() { Ok(()) } else { Err(StoreError::DiskFull.into()) }
    };
    let looked = tokio::time::timeout(CHECK_TIMEOUT, looking).await;
    looked
        .map_err(|_| StoreError::Unavailable("it did not answer in time".to_owned()))?
        .map_err(broken)
}
