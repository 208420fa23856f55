//! Job statuses: the labels that the jobs of a workspace may have, in order. A new job has the
//! first.

use crate::id::StatusId;
use crate::input::Fields;
use crate::text::limit;

pub const MAX_STATUSES: usize = 100;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JobStatus {
    pub id: StatusId,
    pub name: String,
    /// The place in the order, from 1.
    pub position: i64,
}

/// The name of a status that is made.
pub fn read_name(fields: &mut Fields<'_>) -> String {
    fields.needed("name", |fields| fields.patch_line("name", limit::NAME)).unwrap_or_default()
}

/// The name that a status gets, if it gets another.
pub fn read_new_name(fields: &mut Fields<'_>) -> Option<String> {
    fields.kept("name", |fields| fields.patch_line("name", limit::NAME))
}
