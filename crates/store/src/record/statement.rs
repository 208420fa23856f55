//! Parts of statements that are put together.

use model::id::WorkspaceId;

use crate::Param;

/// Keeps an engine from taking another way to the rows of a subselect, at the end of which it stands.
pub(super) const FENCE: &str = "LIMIT 1000000000";

/// The values of a statement, each of which has its place in it. The first is the workspace.
pub(super) struct Values<'p>(Vec<Param<'p>>);

impl<'p> Values<'p> {
    pub(super) fn new(workspace: WorkspaceId) -> Self {
        Self(vec![workspace.into()])
    }

    pub(super) fn place(&mut self, value: impl Into<Param<'p>>) -> String {
        self.0.push(value.into());
        format!("?{}", self.0.len())
    }

    pub(super) fn params(&self) -> &[Param<'p>] {
        &self.0
    }
}
