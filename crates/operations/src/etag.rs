//! Entity tags: a fingerprint of all that a read shows of a record, and of its version, so that a
//! change of what the read leaves out counts too.

use std::hash::{Hash, Hasher};

use slated_model::problem::{ErrorCode, Problem};
use xxhash_rust::xxh3::xxh3_64;

/// The tag of a record as it was read. Servers of one version give the same one.
pub fn of(view: &impl Hash) -> String {
    let mut shown = Shown(Vec::with_capacity(4096));
    view.hash(&mut shown);
    format!("\"{:016x}\"", shown.finish())
}

/// All that is hashed in one piece, which takes less time than bit by bit.
struct Shown(Vec<u8>);

impl Hasher for Shown {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn finish(&self) -> u64 {
        xxh3_64(&self.0)
    }
}

/// What a caller believes the record to be.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum Precondition {
    #[default]
    None,
    AnyVersion,
    OneOf(Vec<String>),
}

impl Precondition {
    pub const fn needs_tag(&self) -> bool {
        matches!(self, Self::OneOf(_))
    }

    pub fn check(&self, view: &impl Hash) -> Result<(), Problem> {
        match self {
            Self::None | Self::AnyVersion => Ok(()),
            Self::OneOf(tags) if tags.contains(&of(view)) => Ok(()),
            Self::OneOf(_) => Err(Problem::new(
                ErrorCode::PreconditionFailed,
                "If-Match is not the record's ETag. The record changed since it was read, or the \
                 tag lacks its quotes, starts with W/ or comes from a read with include. \
                 Read the record again and retry.",
            )),
        }
    }
}
