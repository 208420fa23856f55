//! Running an operation on the thread that asks for it.

use std::pin::pin;
use std::task::{Context, Poll, Waker};

use crate::error::{OperationError, StoreError};
use crate::operation::Operation;
use crate::tx::Tx;

/// Runs work to its end on this thread. Nothing in it waits, so one poll is enough.
pub fn run_now<W: Operation>(work: &W, tx: &mut Tx) -> Result<W::Output, OperationError> {
    match pin!(work.run(tx)).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => Err(StoreError::Internal(
            "an operation awaited something other than its transaction".to_owned(),
        )
        .into()),
    }
}
