//! Entity tags: a fingerprint of all that a read shows of a record, and of its version, so that a change of what the read leaves out
//! counts too.

use std::hash::{Hash, Hasher};

use model::problem::{Code, Problem};
use sha2::{Digest, Sha256};

/// The tag of a record as it was read. Every server gives the same one, whatever it was built with.
pub fn of(view: &impl Hash) -> String {
    let mut hasher = StableHasher(Sha256::new());
    view.hash(&mut hasher);
    format!("\"{:016x}\"", hasher.finish())
}

struct StableHasher(Sha256);

impl Hasher for StableHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest = self.0.clone().finalize();
        digest.iter().take(8).fold(0, |value, byte| value << 8 | u64::from(*byte))
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
                Code::PreconditionFailed,
                "The record changed since this ETag was read; read it again and repeat the change.",
            )),
        }
    }
}
