//! How often something may happen, as a person writes it: `5/s`, `100/m`, `2000/h`.

use serde::Deserialize;

/// The least time between two calls.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(try_from = "String")]
pub struct RateLimit {
    pub interval_millis: i64,
}

impl RateLimit {
    pub fn parse(written: &str) -> Result<Self, String> {
        let not_understood = || {
            format!(
                "{written:?} is not a rate; write a number of at least 1 and /s, /m or /h, as in \
                 100/m"
            )
        };
        let (number, unit) = written.split_once('/').ok_or_else(not_understood)?;
        let millis: i64 = match unit {
            "s" => 1000,
            "m" => 60 * 1000,
            "h" => 60 * 60 * 1000,
            _ => return Err(not_understood()),
        };
        let is_plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        let number = number
            .parse::<i64>()
            .ok()
            .filter(|number| is_plain && *number > 0)
            .ok_or_else(not_understood)?;
        if number > millis {
            return Err(format!(
                "{written:?} is more than 1000 calls per second, which is the maximum; omit the \
                 limit for none"
            ));
        }
        // Rounded up, so that never more are made than were allowed.
        Ok(Self { interval_millis: (millis + number - 1) / number })
    }
}

impl TryFrom<String> for RateLimit {
    type Error = String;

    fn try_from(written: String) -> Result<Self, String> {
        Self::parse(&written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_time_between_two_calls() {
        for (written, expected) in [
            ("1/s", 1000),
            ("7/s", 143),
            ("1000/s", 1),
            ("100/m", 600),
            ("1/h", 3_600_000),
            ("60000/m", 1),
        ] {
            assert_eq!(
                RateLimit::parse(written),
                Ok(RateLimit { interval_millis: expected }),
                "{written}"
            );
        }
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for wrong in [
            "",
            "5",
            "/s",
            "0/s",
            "-1/s",
            "+1/s",
            "1.5/s",
            "5/d",
            "5 / s",
            "1001/s",
            "99999999999999999999/h",
        ] {
            assert!(RateLimit::parse(wrong).is_err(), "{wrong}");
        }
    }
}
