//! Spans of time, written as on the command line: `30d`, `10s`, `250ms`.

use std::time::Duration;

use serde::Deserialize;

use super::duration::parse_duration;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct Span(i64);

impl Span {
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }

    #[must_use]
    pub const fn duration(self) -> Duration {
        Duration::from_millis(self.0.unsigned_abs())
    }
}

impl TryFrom<String> for Span {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        parse_duration(&written).map(Self)
    }
}
