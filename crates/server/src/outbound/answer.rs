//! What an answer to a call out says beside its body, and what is said of a call that got none.

use std::error::Error;
use std::time::Duration;

use reqwest::header::{HeaderMap, RETRY_AFTER};
use slated_model::clock::Timestamp;

const MAX_EXPLANATION_LENGTH: usize = 512;

/// The seconds that an endpoint asks to wait: written as such, or as a date.
pub fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<i64> {
    let written = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(written.parse().unwrap_or(i64::MAX));
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(written).ok()?;
    Some((date.as_millisecond() - now.millis()) / 1000)
}

/// The causes one after the other, without the URL: it may hold what is nobody's business.
/// `timeout` is what the client was made with.
pub fn explain(error: reqwest::Error, timeout: Duration) -> String {
    if error.is_timeout() {
        return format!("it did not answer within {}", span(timeout));
    }
    let error = error.without_url();
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text.chars().take(MAX_EXPLANATION_LENGTH).collect()
}

fn span(timeout: Duration) -> String {
    match timeout.subsec_millis() {
        0 => format!("{} seconds", timeout.as_secs()),
        _ => format!("{} milliseconds", timeout.as_millis()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(written: &str, now: &str) -> Option<i64> {
        let mut headers = HeaderMap::new();
        headers.insert(RETRY_AFTER, written.parse().unwrap());
        retry_after(&headers, Timestamp::parse(now).unwrap())
    }

    #[test]
    fn a_wait_is_written_in_seconds_or_as_a_date() {
        let now = "1994-11-06T08:49:07Z";
        assert_eq!(asked("120", now), Some(120));
        assert_eq!(asked(" 7 ", now), Some(7));
        assert_eq!(asked("99999999999999999999", now), Some(i64::MAX));
        assert_eq!(asked("Sun, 06 Nov 1994 08:49:37 GMT", now), Some(30));
        assert_eq!(asked("Sun, 06 Nov 1994 08:48:37 GMT", now), Some(-30));
        for wrong in ["", "soon", "-1", "1.5"] {
            assert_eq!(asked(wrong, now), None, "{wrong}");
        }
        assert_eq!(retry_after(&HeaderMap::new(), Timestamp::default()), None);
    }

    #[test]
    fn a_time_out_is_told_as_it_was_set() {
        assert_eq!(span(Duration::from_secs(10)), "10 seconds");
        assert_eq!(span(Duration::from_millis(250)), "250 milliseconds");
    }
}
