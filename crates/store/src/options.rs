//! What can be set about a database that is reached over a network.

use std::time::Duration;

use crate::driver::postgres::address::Address;

/// What can be set about a database that is reached over a network.
#[derive(Clone, Debug)]
pub struct Options {
    /// Connections that are open at most.
    pub connections: usize,
    /// How long one waits for a connection, and for each answer of the database.
    pub patience: Duration,
    /// A replica that serves reads.
    pub read_from: Option<Address>,
}

impl Default for Options {
    fn default() -> Self {
        Self { connections: 16, patience: Duration::from_millis(1500), read_from: None }
    }
}
