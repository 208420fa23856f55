//! Whether a provider may be asked now. The limits are the operator's, and hold for all servers
//! together.

use slated_store::records::provider_rate_limit;
use slated_store::records::provider_rate_limit::Permit;
use slated_store::{Operation, OperationError, Tx};

/// Takes the right to one call, if there is one.
pub struct TakePermit {
    pub provider: String,
    /// The time between two calls, in the long run.
    pub interval_millis: Option<i64>,
    /// How far ahead of that calls may be.
    pub burst_millis: i64,
    pub daily_budget: Option<i64>,
}

impl Operation for TakePermit {
    type Output = Permit;

    fn replicas_must_show(&self) -> bool {
        false
    }

    async fn run(&self, tx: &mut Tx) -> Result<Permit, OperationError> {
        Ok(provider_rate_limit::take(
            tx,
            &self.provider,
            self.interval_millis,
            self.burst_millis,
            self.daily_budget,
        )
        .await?)
    }
}
