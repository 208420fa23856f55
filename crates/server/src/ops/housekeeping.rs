//! What has to be thrown away from time to time.

use store::record::{idempotency, workspace};
use store::{Failure, Tx, Work};

use super::idempotency::KEPT_FOR_MILLIS;

/// How many answers one run forgets for each workspace, so that no writer waits long behind it.
const MOST_PER_RUN: i64 = 1000;

/// Forgets kept answers that are too old to be asked for. Says how many.
pub struct ForgetAnswers;

impl Work for ForgetAnswers {
    type Output = usize;

    async fn run(&self, tx: &mut Tx) -> Result<usize, Failure> {
        let before = tx.now().plus_millis(-KEPT_FOR_MILLIS);
        let mut forgotten = 0;
        for (workspace, _) in workspace::all(tx).await? {
            forgotten += idempotency::forget(tx, workspace, before, MOST_PER_RUN).await?;
        }
        Ok(forgotten)
    }
}
