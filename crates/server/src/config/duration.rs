//! Spans of time as a person writes them: `90d`, `12h`, `30m`, `45s`, `250ms`.

use std::time::Duration;

use serde::Deserialize;

const MAX_MILLIS: i64 = 36_500 * 86_400_000;

/// Milliseconds.
pub fn parse_duration(written: &str) -> Result<i64, String> {
    let not_understood = || {
        format!("{written:?} is not a time span; write a number and d, h, m, s or ms, as in 90d")
    };
    let digits = written.bytes().take_while(u8::is_ascii_digit).count();
    let number: i64 = written[..digits].parse().map_err(|_| not_understood())?;
    let millis = match &written[digits..] {
        "ms" => 1,
        "s" => 1000,
        "m" => 60 * 1000,
        "h" => 60 * 60 * 1000,
        "d" => 24 * 60 * 60 * 1000,
        _ => return Err(not_understood()),
    };
    number
        .checked_mul(millis)
        .filter(|millis| *millis <= MAX_MILLIS)
        .ok_or_else(|| format!("{written:?} is too long; at most 36500d"))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_with_their_unit() {
        assert_eq!(parse_duration("90d"), Ok(90 * 86_400_000));
        assert_eq!(parse_duration("0s"), Ok(0));
        assert_eq!(parse_duration("250ms"), Ok(250));
        for wrong in ["", "d", "90", "-1d", "1.5h", "9x", "99999999999999999d", "1é"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_duration("36500d"), Ok(MAX_MILLIS));
        assert_eq!(
            parse_duration("36501d"),
            Err("\"36501d\" is too long; at most 36500d".to_owned())
        );
    }
}
