//! Dates as other services write them: a year, a month, a day, or a word for today.

use serde_json::{Map, Value};

use super::value::{type_name, whole};
use crate::clock::{Date, Timestamp};
use crate::text::comparison_key;

/// Nobody who can be asked for worked before that.
const FIRST_YEAR: i16 = 1900;
/// How far ahead somebody may start, and how far ahead it may be known that something ends.
const YEARS_TO_START: i16 = 1;
const YEARS_TO_END: i16 = 10;

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Which end of a span a date is: a year alone is its first day or its last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edge {
    Start,
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Written {
    Day(Date),
    /// It is said to go on.
    Current,
    Nothing,
}

/// Reads a date however it is written, or says what is wrong with it.
pub fn read_date(value: &Value, edge: Edge, today: Date) -> Result<Written, String> {
    let unreadable = || "is not in a known date format".to_owned();
    let parts = match value {
        Value::Null => return Ok(Written::Nothing),
        Value::String(text) => match comparison_key(text).as_str() {
            "" => return Ok(Written::Nothing),
            "present" | "current" | "now" | "today" | "ongoing" => return Ok(Written::Current),
            _ => Parts::of_text(text.trim()).ok_or_else(unreadable)?,
        },
        Value::Number(number) => {
            Parts::of_year(whole(number).ok_or_else(unreadable)?).ok_or_else(unreadable)?
        }
        Value::Object(object) => match Parts::of_object(object)? {
            Some(parts) => parts,
            None => return Ok(Written::Nothing),
        },
        Value::Bool(_) | Value::Array(_) => {
            return Err(format!("must be a date, not {}", type_name(value)));
        }
    };
    let day = parts.day_at(edge).ok_or_else(|| "is not a calendar date".to_owned())?;
    let years_ahead = match edge {
        Edge::Start => YEARS_TO_START,
        Edge::End => YEARS_TO_END,
    };
    if parts.year < FIRST_YEAR {
        return Err(format!("is before {FIRST_YEAR}"));
    }
    if day > today.plus_years(years_ahead) {
        return Err(match edge {
            Edge::Start => "is more than a year ahead".to_owned(),
            Edge::End => format!("is more than {YEARS_TO_END} years ahead"),
        });
    }
    Ok(Written::Day(day))
}

#[derive(Clone, Copy)]
struct Parts {
    year: i16,
    month: Option<i8>,
    day: Option<i8>,
}

/// A word or a number of a date.
#[derive(Clone, Copy)]
enum Piece {
    /// Four digits.
    Year(i16),
    /// One digit or two.
    Small(i8),
    Month(i8),
}

impl Piece {
    fn parse(text: &str) -> Option<Self> {
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        match (is_number, text.len()) {
            (true, 4) => text.parse().ok().map(Self::Year),
            (true, 1 | 2) => text.parse().ok().map(Self::Small),
            (true, _) => None,
            (false, _) => month_named(text).map(Self::Month),
        }
    }
}

/// The number of a month by its English name, or the beginning of it that is commonly written.
fn month_named(text: &str) -> Option<i8> {
    let text = text.to_ascii_lowercase();
    let place = match text.as_str() {
        "sept" => 8,
        _ => MONTHS.iter().position(|month| *month == text || month[..3] == text)?,
    };
    i8::try_from(place + 1).ok()
}

impl Parts {
    fn of_year(year: i64) -> Option<Self> {
        Some(Self { year: i16::try_from(year).ok()?, month: None, day: None })
    }

    fn of_text(text: &str) -> Option<Self> {
        if let Some(date) = date_of_moment(text) {
            return Self::of_text(date);
        }
        let pieces: Option<Vec<Piece>> = match text.contains(char::is_alphabetic) {
            true => text
                .split(|character: char| {
                    character.is_whitespace() || matches!(character, '-' | '/' | '.' | ',')
                })
                .filter(|piece| !piece.is_empty())
                .map(Piece::parse)
                .collect(),
            false => text.split(['-', '/']).map(Piece::parse).collect(),
        };
        let (year, month, day) = match *pieces?.as_slice() {
            [Piece::Year(year)] => (year, None, None),
            [Piece::Year(year), Piece::Small(month)] => (year, Some(month), None),
            [Piece::Small(month) | Piece::Month(month), Piece::Year(year)] => {
                (year, Some(month), None)
            }
            [Piece::Year(year), Piece::Small(month), Piece::Small(day)] => {
                (year, Some(month), Some(day))
            }
            [Piece::Small(day), Piece::Month(month), Piece::Year(year)] => {
                (year, Some(month), Some(day))
            }
            [Piece::Month(month), Piece::Small(day), Piece::Year(year)] => {
                (year, Some(month), Some(day))
            }
            _ => return None,
        };
        Some(Self { year, month, day })
    }

    /// Nothing if no part of it is known.
    fn of_object(object: &Map<String, Value>) -> Result<Option<Self>, String> {
        let part = |name: &str| match object.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(value) => number_of(value).map(Some).ok_or_else(|| {
                format!(
                    "has a {name} that is not a \
                    number"
                )
            }),
        };
        let (year, month, day) = (part("year")?, part("month")?, part("day")?);
        let small = |number: Option<i64>| {
            number.map(i8::try_from).transpose().map_err(|_| "is not a calendar date".to_owned())
        };
        match (year, month, day) {
            (None, None, None) => Ok(None),
            (None, ..) => Err("has no year".to_owned()),
            (Some(_), None, Some(_)) => Err("has a day but no month".to_owned()),
            (Some(year), month, day) => {
                let year = i16::try_from(year).map_err(|_| "has an invalid year".to_owned())?;
                Ok(Some(Self { year, month: small(month)?, day: small(day)? }))
            }
        }
    }

    fn day_at(self, edge: Edge) -> Option<Date> {
        match (self.month, self.day, edge) {
            (Some(month), Some(day), _) => Date::new(self.year, month, day),
            (Some(month), None, Edge::Start) => Date::new(self.year, month, 1),
            (Some(month), None, Edge::End) => {
                Date::new(self.year, month, 1).map(Date::last_of_month)
            }
            (None, None, Edge::Start) => Date::new(self.year, 1, 1),
            (None, None, Edge::End) => Date::new(self.year, 12, 31),
            (None, Some(_), _) => None,
        }
    }
}

/// The date in front of a time of day, with or without an offset.
fn date_of_moment(text: &str) -> Option<&str> {
    let (date, time) = text.split_at_checked(10)?;
    let has_time =
        || Timestamp::parse(text).or_else(|| Timestamp::parse(&format!("{text}Z"))).is_some();
    (time.starts_with(['T', 't', ' ']) && has_time()).then_some(date)
}

fn number_of(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => whole(number),
        Value::String(text) => {
            let text = text.trim();
            let is_number =
                (1..=4).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse().ok())?
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn today() -> Date {
        Date::parse("2026-11-15").unwrap()
    }

    fn read(value: &Value, edge: Edge) -> Result<Written, String> {
        read_date(value, edge, today())
    }

    fn span(value: &Value) -> (String, String) {
        let day = |edge| match read(value, edge) {
            Ok(Written::Day(day)) => day.to_string(),
            other => format!("{other:?}"),
        };
        (day(Edge::Start), day(Edge::End))
    }

    #[test]
    fn a_year_is_all_of_its_days() {
        let objects = [json!({"year": 2019}), json!({"year": "2019", "month": null})];
        for value in
            [json!("2019"), json!(" 2019 "), json!(2019), json!(2019.0)].into_iter().chain(objects)
        {
            assert_eq!(span(&value), ("2019-01-01".to_owned(), "2019-12-31".to_owned()), "{value}");
        }
    }

    #[test]
    fn a_month_is_all_of_its_days() {
        for value in [
            json!("2019-02"),
            json!("2019-2"),
            json!("2019/02"),
            json!("02/2019"),
            json!("2/2019"),
            json!("02-2019"),
            json!("Feb 2019"),
            json!("FEB. 2019"),
            json!("february 2019"),
            json!("  February,  2019 "),
            json!("feb-2019"),
            json!({"year": 2019, "month": 2}),
            json!({"year": "2019", "month": "02", "day": null}),
            json!({"year": 2019, "month": 2.0, "text": "ignored"}),
        ] {
            assert_eq!(span(&value), ("2019-02-01".to_owned(), "2019-02-28".to_owned()), "{value}");
        }
        assert_eq!(span(&json!("2020-02")).1, "2020-02-29");
        assert_eq!(span(&json!("Sept. 2019")), ("2019-09-01".to_owned(), "2019-09-30".to_owned()));
        assert_eq!(span(&json!("sep 2019")), span(&json!("September 2019")));
    }

    #[test]
    fn a_day_is_a_day() {
        for value in [
            json!("2019-05-14"),
            json!("2019/05/14"),
            json!("2019-5-14"),
            json!("14 May 2019"),
            json!("May 14, 2019"),
            json!("14-may-2019"),
            json!("2019-05-14T23:30:00Z"),
            json!("2019-05-14T23:30:00.123+02:00"),
            json!("2019-05-14t00:00:00z"),
            json!("2019-05-14T00:00:00"),
            json!("2019-05-14 12:00:00Z"),
            json!({"year": 2019, "month": 5, "day": 14}),
            json!({"day": "14", "month": "5", "year": "2019"}),
        ] {
            assert_eq!(span(&value), ("2019-05-14".to_owned(), "2019-05-14".to_owned()), "{value}");
        }
    }

    #[test]
    fn every_month_has_its_names() {
        for (index, name) in MONTHS.iter().enumerate() {
            let number = i8::try_from(index + 1).unwrap();
            for written in [(*name).to_owned(), name.to_uppercase(), name[..3].to_owned()] {
                assert_eq!(month_named(&written), Some(number), "{written}");
            }
        }
        for wrong in ["", "ma", "sepp", "sept.", "mayo", "januar", "mär"] {
            assert_eq!(month_named(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn words_for_today_and_nothing_are_no_days() {
        for value in
            [json!("Present"), json!("current"), json!(" NOW "), json!("today"), json!("Ongoing")]
        {
            assert_eq!(read(&value, Edge::End), Ok(Written::Current), "{value}");
        }
        for value in [
            json!(null),
            json!(""),
            json!("  "),
            json!({}),
            json!({"year": null, "month": null}),
            json!({"text": "2019"}),
        ] {
            assert_eq!(read(&value, Edge::Start), Ok(Written::Nothing), "{value}");
        }
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for value in [
            json!("soon"),
            json!("19"),
            json!("20190514"),
            json!("2019-"),
            json!("-2019"),
            json!("+2019"),
            json!("2019--05"),
            json!("2019-05-14-01"),
            json!("14/05/2019"),
            json!("05/14/2019"),
            json!("2019-05-14T"),
            json!("2019-05-14Tnoon"),
            json!("2019-05-14T25:00:00Z"),
            json!("Mayhem 2019"),
            json!("May"),
            json!("14 May"),
            json!("2019 to 2020"),
            json!("２０１９"),
            json!("2019–05"),
            json!(true),
            json!([2019]),
            json!(2019.5),
            json!(1_557_792_000_000_i64),
            json!({"month": 5}),
            json!({"year": 2019, "day": 5}),
            json!({"year": "MMXIX"}),
            json!({"year": 2019, "month": "May"}),
            json!({"year": 2019, "month": 1.5}),
            json!({"year": 99_999}),
        ] {
            assert!(read(&value, Edge::Start).is_err(), "{value}");
            assert!(read(&value, Edge::End).is_err(), "{value}");
        }
    }

    #[test]
    fn days_that_do_not_exist_are_refused() {
        for value in [
            json!("2019-02-30"),
            json!("30 February 2019"),
            json!("2019-13"),
            json!("0/2019"),
            json!("2019-00-00"),
            json!("2023-02-29"),
            json!({"year": 2019, "month": 13}),
            json!({"year": 2019, "month": 0}),
            json!({"year": 2019, "month": 300}),
            json!({"year": 2019, "month": 5, "day": 32}),
        ] {
            assert_eq!(
                read(&value, Edge::Start),
                Err("is not a calendar date".to_owned()),
                "{value}"
            );
        }
        assert_eq!(span(&json!("2024-02-29")).0, "2024-02-29");
    }

    #[test]
    fn what_is_too_long_ago_or_too_far_ahead_is_refused() {
        let start = |text: &str| read(&json!(text), Edge::Start);
        let end = |text: &str| read(&json!(text), Edge::End);
        assert!(start("1900").is_ok() && end("1900-01-01").is_ok());
        assert_eq!(start("1899-12-31"), Err("is before 1900".to_owned()));
        assert_eq!(end("1899"), Err("is before 1900".to_owned()));
        assert_eq!(read(&json!(19), Edge::Start), Err("is before 1900".to_owned()));
        assert!(start("2027-11-15").is_ok());
        assert_eq!(start("2027-11-16"), Err("is more than a year ahead".to_owned()));
        assert!(end("2036-11-15").is_ok());
        assert_eq!(end("2036-11-16"), Err("is more than 10 years ahead".to_owned()));
        assert_eq!(end("9999"), Err("is more than 10 years ahead".to_owned()));
    }

    fn texts() -> impl Strategy<Value = String> {
        prop_oneof![
            "\\PC{0,24}",
            "[0-9]{1,4}[-/. ][0-9]{1,4}",
            "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}",
            "(19|20)[0-9]{2}(-(0[1-9]|1[0-2]))?",
            "[0-9]{0,2} ?(Jan|feb|MARCH|Sept|may)[.,]? ?[0-9]{0,2},? (19|20)[0-9]{2}",
            "20[0-9]{2}-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:00(Z|\\+01:00)?",
        ]
    }

    proptest! {
        #[test]
        fn reading_never_panics_and_stays_in_bounds(text in texts()) {
            for (edge, latest) in [(Edge::Start, today().plus_years(1)),
                (Edge::End, today().plus_years(10))] {
                if let Ok(Written::Day(day)) = read(&json!(text), edge) {
                    prop_assert!(day >= Date::new(1900, 1, 1).unwrap() && day <= latest, "{text}: \
                        {day}");
                }
            }
        }

        #[test]
        fn a_start_is_never_behind_the_end_of_the_same_text(text in texts()) {
            if let (Ok(Written::Day(start)),
                Ok(Written::Day(end))) = (read(&json!(text), Edge::Start),
                read(&json!(text), Edge::End)) {
                prop_assert!(start <= end, "{text}: {start} {end}");
            }
        }

        #[test]
        fn any_object_is_read_or_refused(year: Option<i64>, month: Option<i64>,
            day in proptest::option::of(-1i64..40)) {
            let value = json!({"year": year, "month": month, "day": day});
            let _ = read(&value, Edge::Start);
            let _ = read(&value, Edge::End);
        }

        #[test]
        fn a_day_survives_every_way_of_writing_it(year in 1900i16..2027, month in 1i8..=12,
            day in 1i8..=28) {
            let expected = Ok(Written::Day(Date::new(year, month, day).unwrap()));
            let name = MONTHS[usize::try_from(month - 1).unwrap()];
            for text in [
                format!("{year}-{month:02}-{day:02}"),
                format!("{year}/{month}/{day}"),
                format!("{day} {name} {year}"),
                format!("{} {day}, {year}", &name[..3]),
                format!("{year}-{month:02}-{day:02}T10:00:00Z"),
            ] {
                prop_assert_eq!(read(&json!(text), Edge::Start), expected.clone());
                prop_assert_eq!(read(&json!(text), Edge::End), expected.clone());
            }
            prop_assert_eq!(read(&json!({"year": year, "month": month, "day": day}), Edge::End),
                expected);
        }
    }
}
