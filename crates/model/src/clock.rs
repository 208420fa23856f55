//! Time as the service shows it: moments in UTC to the millisecond, and calendar dates.

use std::fmt;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, civil};
use serde::{Serialize, Serializer};

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// A moment in UTC, in milliseconds since 1970.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Timestamp(i64);

impl Timestamp {
    #[must_use]
    pub const fn from_millis(millis: i64) -> Self {
        Self(millis)
    }

    /// The machine's clock. This and the tests' own moments are the only sources of time.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    pub fn now() -> Self {
        Self(jiff::Timestamp::now().as_millisecond())
    }

    #[must_use]
    pub const fn millis(self) -> i64 {
        self.0
    }

    #[must_use]
    pub const fn plus_millis(self, millis: i64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// Days since 1970, in UTC.
    #[must_use]
    pub const fn day(self) -> i64 {
        self.0.div_euclid(DAY_MILLIS)
    }

    /// The first moment of the next day.
    #[must_use]
    pub const fn next_day(self) -> Self {
        Self((self.day() + 1) * DAY_MILLIS)
    }

    #[must_use]
    pub fn date(self) -> Date {
        Date(self.civil().date())
    }

    /// A moment as RFC 3339 writes it, or a date, which stands for its first moment in UTC. What is
    /// finer than a millisecond is cut off.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::read(text).map(|(moment, _)| moment)
    }

    /// The same as a bound that something is before: the first millisecond that is not.
    #[must_use]
    pub fn parse_bound(text: &str) -> Option<Self> {
        Self::read(text).map(|(moment, is_later)| moment.plus_millis(is_later.into()))
    }

    /// The moment, and whether it was a little later than that.
    fn read(text: &str) -> Option<(Self, bool)> {
        if let Some(date) = Date::parse(text) {
            return Self::read(&format!("{date}T00:00:00Z"));
        }
        // The last day of the calendar stands for "never" with many, and is just out of reach.
        let (text, more) = match text.strip_prefix("9999-12-31") {
            Some(time) => (&*format!("9999-12-29{time}"), 2 * DAY_MILLIS),
            None => (text, 0),
        };
        let offset = text
            .rsplit_once(['+', '-'])
            .and_then(|(_, offset)| offset.get(..2))
            .filter(|_| !text.ends_with(['Z', 'z']));
        if offset.and_then(|hours| hours.parse::<u8>().ok()).is_some_and(|hours| hours > 23) {
            return None;
        }
        let moment = text.parse::<jiff::Timestamp>().ok()?;
        Some((Self(moment.as_millisecond() + more), moment.subsec_nanosecond() % 1_000_000 > 0))
    }

    fn civil(self) -> civil::DateTime {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(moment) => TimeZone::UTC.to_datetime(moment),
            // The first and the last day of the calendar, somewhere on earth.
            Err(_) => civil::DateTime::constant(1970, 1, 1, 0, 0, 0, 0)
                .saturating_add(SignedDuration::from_millis(self.0)),
        }
    }

    fn write_to(self, buffer: &mut [u8; 24]) -> &str {
        let moment = self.civil();
        buffer.copy_from_slice(b"0000-00-00T00:00:00.000Z");
        write_digits(&mut buffer[0..4], moment.year().unsigned_abs());
        write_digits(&mut buffer[5..7], moment.month().unsigned_abs().into());
        write_digits(&mut buffer[8..10], moment.day().unsigned_abs().into());
        write_digits(&mut buffer[11..13], moment.hour().unsigned_abs().into());
        write_digits(&mut buffer[14..16], moment.minute().unsigned_abs().into());
        write_digits(&mut buffer[17..19], moment.second().unsigned_abs().into());
        write_digits(&mut buffer[20..23], moment.millisecond().unsigned_abs());
        std::str::from_utf8(buffer).unwrap_or_default()
    }
}

fn write_digits(digits: &mut [u8], mut value: u16) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (value % 10) as u8;
        value /= 10;
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.write_to(&mut [0; 24]))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.write_to(&mut [0; 24]))
    }
}

/// A calendar date, `YYYY-MM-DD`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Date(civil::Date);

impl Date {
    #[must_use]
    pub fn new(year: i16, month: i8, day: i8) -> Option<Self> {
        civil::Date::new(year, month, day).ok().map(Self)
    }

    /// Exactly `YYYY-MM-DD`, a day that exists.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let shaped = bytes.len() == 10
            && bytes.iter().enumerate().all(|(index, byte)| match index {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !shaped {
            return None;
        }
        Self::new(text[0..4].parse().ok()?, text[5..7].parse().ok()?, text[8..10].parse().ok()?)
    }

    #[must_use]
    pub fn next_day(self) -> Self {
        Self(self.0.tomorrow().unwrap_or(self.0))
    }

    #[must_use]
    pub fn last_of_month(self) -> Self {
        Self(self.0.last_of_month())
    }

    /// The same day so many years later, or the one before it if that year has no such day.
    #[must_use]
    pub fn plus_years(self, years: i16) -> Self {
        Self(self.0.saturating_add(jiff::Span::new().try_years(years).unwrap_or_default()))
    }

    /// The whole months from the beginning of this day to the end of `last`.
    #[must_use]
    pub fn months_through(self, last: Self) -> i64 {
        let end = last.next_day().0;
        let months = |date: civil::Date| i64::from(date.year()) * 12 + i64::from(date.month());
        let whole = months(end) - months(self.0) - i64::from(end.day() < self.0.day());
        whole.max(0)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, formatter)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn date(text: &str) -> Date {
        Date::parse(text).unwrap()
    }

    #[test]
    fn a_moment_is_shown_in_utc_to_the_millisecond() {
        assert_eq!(
            Timestamp::from_millis(1_794_735_000_007).to_string(),
            "2026-11-15T09:30:00.007Z"
        );
        assert_eq!(Timestamp::from_millis(0).to_string(), "1970-01-01T00:00:00.000Z");
    }

    #[test]
    fn a_moment_is_read_with_an_offset_or_as_a_date() {
        let noon = Timestamp::parse("2026-11-15T12:00:00+01:00").unwrap();
        assert_eq!(noon.to_string(), "2026-11-15T11:00:00.000Z");
        assert_eq!(Timestamp::parse("2026-11-15").unwrap().to_string(), "2026-11-15T00:00:00.000Z");
        assert!(
            Timestamp::parse("9999-12-31T23:59:59Z") > Timestamp::parse("9999-12-30T00:00:00Z")
        );
        assert_eq!(Timestamp::parse("9999-12-31").unwrap().to_string(), "9999-12-31T00:00:00.000Z");
        assert_eq!(
            Timestamp::parse("9999-12-31T23:59:59.999Z").unwrap().to_string(),
            "9999-12-31T23:59:59.999Z"
        );
        assert_eq!(Timestamp::parse("yesterday"), None);
        assert_eq!(Timestamp::parse("2026-11-15T12:00:00"), None);
        assert_eq!(
            Timestamp::parse("2026-11-15T12:00:00-23:59"),
            Timestamp::parse("2026-11-16T11:59:00Z")
        );
        for offset in ["+24:00", "-24:00", "+25:59", "-99:00"] {
            assert_eq!(Timestamp::parse(&format!("2026-11-15T12:00:00{offset}")), None);
        }
    }

    #[test]
    fn a_bound_is_the_first_millisecond_that_is_not_before_it() {
        let bound = |text: &str| Timestamp::parse_bound(text).unwrap().to_string();
        assert_eq!(bound("2026-11-15T09:30:00.791Z"), "2026-11-15T09:30:00.791Z");
        assert_eq!(bound("2026-11-15T09:30:00.791001Z"), "2026-11-15T09:30:00.792Z");
        assert_eq!(bound("2026-11-15"), "2026-11-15T00:00:00.000Z");
        assert_eq!(
            Timestamp::parse("2026-11-15T09:30:00.791999Z").unwrap().to_string(),
            "2026-11-15T09:30:00.791Z"
        );
    }

    #[test]
    fn a_day_begins_at_midnight() {
        let next = |millis| Timestamp::from_millis(millis).next_day().to_string();
        assert_eq!(
            [0, DAY_MILLIS - 1, DAY_MILLIS].map(next),
            ["1970-01-02", "1970-01-02", "1970-01-03"].map(|day| format!("{day}T00:00:00.000Z"))
        );
        assert_eq!(
            [-1, 0, DAY_MILLIS].map(|millis| Timestamp::from_millis(millis).day()),
            [-1, 0, 1]
        );
    }

    #[test]
    fn only_days_that_exist_are_dates() {
        for wrong in [
            "2026-02-30",
            "2026-13-01",
            "26-01-01",
            "2026-1-1",
            "2026-01-01T",
            "",
            "２０２６-01-01",
        ] {
            assert_eq!(Date::parse(wrong), None, "{wrong}");
        }
        assert_eq!(date("2024-02-29").to_string(), "2024-02-29");
    }

    #[test]
    fn whole_months_count_the_last_day_in() {
        assert_eq!(date("2020-01-01").months_through(date("2020-12-31")), 12);
        assert_eq!(date("2020-01-01").months_through(date("2021-01-01")), 12);
        assert_eq!(date("2019-05-15").months_through(date("2019-06-13")), 0);
        assert_eq!(date("2019-05-15").months_through(date("2019-06-14")), 1);
        assert_eq!(date("2021-01-01").months_through(date("2020-01-01")), 0);
        assert_eq!(date("9998-12-31").months_through(date("9999-12-31")), 12);
    }

    #[test]
    fn months_end_and_years_pass() {
        assert_eq!(date("2024-02-01").last_of_month(), date("2024-02-29"));
        assert_eq!(date("2023-02-28").last_of_month(), date("2023-02-28"));
        assert_eq!(date("2024-02-29").plus_years(1), date("2025-02-28"));
        assert_eq!(date("2026-11-15").plus_years(10), date("2036-11-15"));
        assert_eq!(date("9999-06-01").plus_years(10), date("9999-12-31"));
    }

    proptest! {
        #[test]
        fn a_moment_survives_being_written_and_read(millis in 0i64..253_402_300_800_000) {
            let moment = Timestamp::from_millis(millis);
            prop_assert_eq!(Timestamp::parse(&moment.to_string()), Some(moment));
        }
    }
}
