//! What a store runs: an operation, in one transaction.

use std::future::Future;
use std::sync::{Arc, Mutex};

use slated_model::id::WorkspaceId;

use crate::error::{OperationError, StoreError};
use crate::tx::{Tried, Tx};

/// Something that is done in one transaction: as a whole or not at all.
///
/// The work may run more than once if the engine asks for a retry, so it changes nothing but the
/// transaction, and inside it awaits nothing else either: on an embedded engine every await is
/// ready at once. An operation that never runs on an embedded engine may wait for others of its
/// server, a moment at most.
pub trait Operation: Send + Sync + 'static {
    type Output: Send + 'static;

    fn run(&self, tx: &mut Tx)
    -> impl Future<Output = Result<Self::Output, OperationError>> + Send;

    /// The workspace whose records the work reads or changes, if it is one. A read that names one
    /// may be served by a replica, and by an embedded engine at a state that lacks what another
    /// process committed in the last milliseconds. One that must see that at once names none.
    fn workspace(&self) -> Option<WorkspaceId> {
        None
    }

    fn pace(&self) -> Pace {
        Pace::Quick
    }

    /// False if it changes nothing that a replica would have to show.
    fn replicas_must_show(&self) -> bool {
        true
    }
}

impl<W: Operation> Operation for Arc<W> {
    type Output = W::Output;

    fn run(
        &self,
        tx: &mut Tx,
    ) -> impl Future<Output = Result<Self::Output, OperationError>> + Send {
        W::run(self, tx)
    }

    fn workspace(&self) -> Option<WorkspaceId> {
        W::workspace(self)
    }

    fn pace(&self) -> Pace {
        W::pace(self)
    }

    fn replicas_must_show(&self) -> bool {
        W::replicas_must_show(self)
    }
}

/// How work that changes something goes about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pace {
    Quick,
    /// It touches many rows, and may wait longer for those that others hold.
    AtLength,
    /// It is the work of many who wait. It is not run again if others get in its way, and waits for
    /// them a moment at most: each of the many is better off alone then.
    Together,
    /// It is always undone.
    Trial,
    /// It changes nothing and waits for nobody, to find out whether work can be done.
    Probe,
}

/// Where an outcome is put by whoever comes to it, and taken from by whoever waits.
pub(crate) type Slot<T> = Arc<Mutex<Option<T>>>;

/// An operation that is undone when it is done.
pub(crate) struct Trial<W: Operation> {
    pub(crate) work: W,
    pub(crate) outcome: Slot<(W::Output, Vec<Tried>)>,
}

impl<W: Operation> Operation for Trial<W> {
    type Output = ();

    fn workspace(&self) -> Option<WorkspaceId> {
        self.work.workspace()
    }

    fn pace(&self) -> Pace {
        Pace::Trial
    }

    async fn run(&self, tx: &mut Tx) -> Result<(), OperationError> {
        tx.begin_trial();
        let outcome = self.work.run(tx).await;
        let tried = tx.end_trial();
        let outcome = outcome?;
        // What was told to the engine without waiting must have been done by now.
        tx.row("SELECT 1", &[], |_| Ok(())).await?;
        if let Ok(mut kept) = self.outcome.lock() {
            *kept = Some((outcome, tried));
        }
        Err(StoreError::TriedOut.into())
    }
}

/// A commit with nothing in it.
pub(crate) struct Nothing;

impl Operation for Nothing {
    type Output = ();

    async fn run(&self, _: &mut Tx) -> Result<(), OperationError> {
        Ok(())
    }
}
