//! Parts of statements that are put together.

use std::fmt::Display;

use slated_model::id::{Id, Kind, WorkspaceId};

use crate::driver::param::Param;
use crate::tx::Tx;

/// Keeps an engine from taking another way to the rows of a subselect, at the end of which it
/// stands.
pub(crate) const FENCE: &str = "LIMIT 1000000000";

/// The values of a statement, each of which has its place in it. The first is the workspace.
pub(crate) struct Values<'p>(Vec<Param<'p>>);

impl<'p> Values<'p> {
    pub(crate) fn new(workspace: WorkspaceId) -> Self {
        Self(vec![workspace.into()])
    }

    pub(crate) fn place(&mut self, value: impl Into<Param<'p>>) -> String {
        self.0.push(value.into());
        format!("?{}", self.0.len())
    }

    pub(crate) fn params(&self) -> &[Param<'p>] {
        &self.0
    }
}

/// A list of values as one value of a statement, in the way of the engine.
pub(crate) fn list_of<V: Display>(tx: &Tx, values: impl Iterator<Item = V>) -> String {
    let values = values.map(|value| value.to_string()).collect::<Vec<_>>().join(",");
    if tx.is_embedded() { format!("[{values}]") } else { format!("{{{values}}}") }
}

/// The same of ids.
pub(crate) fn list_of_ids<K: Kind>(tx: &Tx, ids: &[Id<K>]) -> String {
    list_of(tx, ids.iter().map(|id| format!("\"{:032x}\"", u128::from_be_bytes(id.to_bytes()))))
}

/// The condition that a column holds one of the ids of such a list. However many there are, the
/// statement has one text.
pub(crate) fn among(tx: &Tx, column: &str, list: &str) -> String {
    match tx.is_embedded() {
        true => format!("{column} IN (SELECT unhex(value) FROM json_each({list}))"),
        false => format!("{column} = ANY (CAST(CAST({list} AS text) AS uuid[]))"),
    }
}
