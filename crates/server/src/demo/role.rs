//! What an invented person is to be.

use super::random::Random;
use super::tracks::{TRACKS, Track};

/// What a person is to be.
#[derive(Clone, Copy, Debug)]
pub struct Role {
    pub track: &'static Track,
    /// Where they are today, if that is not left to chance.
    pub employer: Option<&'static str>,
    pub title: Option<&'static str>,
}

impl Role {
    #[must_use]
    pub const fn of(track: &'static Track) -> Self {
        Self { track, employer: None, title: None }
    }

    /// A role that the person's number decides.
    #[must_use]
    pub fn any(number: u64) -> Self {
        Self::of(TRACKS[Random::new(!number).below(TRACKS.len())])
    }
}
