//! Reading the log.

use slated_model::event::TypeFilter;
use slated_model::id::WorkspaceId;
use slated_model::problem::{ErrorCode, FieldError, FieldErrorCode, Problem};
use slated_store::records::events::reading::{Gone, Most, Page};
use slated_store::records::events::{log, reading};
use slated_store::{Operation, OperationError, Tx};

/// Where in the log to begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Position {
    /// The oldest that is kept.
    Oldest,
    /// Behind all that there is.
    Newest,
    After(i64),
}

/// A page of the log.
pub struct ReadEvents {
    pub workspace: WorkspaceId,
    pub position: Position,
    pub types: TypeFilter,
    pub most: Most,
}

impl Operation for ReadEvents {
    type Output = Page;

    /// Whoever was woken because the log has grown must not read it where that is not known yet. A
    /// position to begin at, though, must not be ahead of the records that are read next.
    fn workspace(&self) -> Option<WorkspaceId> {
        (self.position == Position::Newest).then_some(self.workspace)
    }

    async fn run(&self, tx: &mut Tx) -> Result<Page, OperationError> {
        let after = match self.position {
            Position::Oldest => None,
            Position::After(after) => Some(after),
            Position::Newest => {
                let next_after = log::newest(tx, self.workspace).await?;
                return Ok(Page { events: Vec::new(), next_after, has_more: false });
            }
        };
        reading::page(tx, self.workspace, after, &self.types, self.most)
            .await?
            .map_err(|gone| forgotten(&gone).into())
    }
}

pub fn forgotten(gone: &Gone) -> Problem {
    let Gone { oldest } = gone;
    let message = format!(
        "Events after that position were deleted; the oldest one kept is {oldest}. Note \
         the end of the log \
         with GET /v1/events?after=latest, read the records again, and continue from there."
    );
    Problem::new(ErrorCode::EventsGone, message).with(FieldError::new(
        "after",
        FieldErrorCode::OutOfRange,
        format!("must be at least {}", oldest - 1),
    ))
}

/// The number of the newest event, for whoever waits for the next.
pub struct NewestEvent {
    pub workspace: WorkspaceId,
}

impl Operation for NewestEvent {
    type Output = i64;

    async fn run(&self, tx: &mut Tx) -> Result<i64, OperationError> {
        Ok(log::newest(tx, self.workspace).await?)
    }
}
