use crate::id::{Id, Kind};
use crate::problem::Problem;

/// An id as a client wrote it, together with what it means, if anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference<K: Kind> {
    pub written: String,
    pub id: Option<Id<K>>,
}

impl<K: Kind> Reference<K> {
    #[must_use]
    pub fn new(written: String) -> Self {
        Self { id: Id::parse(&written), written }
    }

    /// The refusal when no such record is in the workspace.
    #[must_use]
    pub fn not_found(&self, field: &str) -> Problem {
        Problem::reference_not_found(field, K::NOUN, &self.written)
    }

    pub fn resolve(&self, field: &str) -> Result<Id<K>, Problem> {
        self.id.ok_or_else(|| self.not_found(field))
    }
}
