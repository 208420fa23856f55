//! Spans of time as a person writes them: `90d`, `12h`, `30m`, `45s`.

/// Milliseconds.
pub fn parse_duration(written: &str) -> Result<i64, String> {
    let understood = || format!("{written:?} is no span of time; write a number and d, h, m or s, as in 90d");
    let unit = written.chars().last().ok_or_else(understood)?;
    let number: i64 = written.strip_suffix(unit).unwrap_or_default().parse().map_err(|_| understood())?;
    let seconds = match unit {
        's' => 1,
        'm' => 60,
        'h' => 60 * 60,
        'd' => 24 * 60 * 60,
        _ => return Err(understood()),
    };
    number.checked_mul(seconds * 1000).filter(|millis| (0..=100 * 365 * 86_400_000).contains(millis)).ok_or_else(understood)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_with_their_unit() {
        assert_eq!(parse_duration("90d"), Ok(90 * 86_400_000));
        assert_eq!(parse_duration("0s"), Ok(0));
        for wrong in ["", "d", "90", "-1d", "1.5h", "9x", "99999999999999999d", "1é"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
