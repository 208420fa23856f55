//! What a database is opened for.

/// What the database is opened for: an embedded one has one server at a time, and any number of
/// short commands beside it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    Serve,
    Command,
    /// A command that makes no sense on a database that is not there.
    Inspect,
}
