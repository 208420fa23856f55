use percent_encoding::percent_decode_str;

use super::report::FieldErrors;
use crate::clock::Timestamp;
use crate::problem::{FieldErrorCode, Problem};
use crate::text::{Lines, did_you_mean, shorten};

/// Far more than any request has.
const MAX_PARAMETERS: usize = 100;
const TIME_EXAMPLE: &str = "a time such as 2026-11-15T09:30:00Z or a date such as 2026-11-15";

/// The query of a request: names and values, each name at most once.
pub struct Query {
    unread: Vec<(String, String)>,
    known: Vec<&'static str>,
    report: FieldErrors,
}

impl Query {
    #[must_use]
    pub fn new(query: &str) -> Self {
        let mut report = FieldErrors::default();
        let mut unread: Vec<(String, String)> = Vec::new();
        let mut pairs = query.split('&').filter(|pair| !pair.is_empty());
        for pair in pairs.by_ref().take(MAX_PARAMETERS) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let spaced = [name, value].map(|part| part.replace('+', " "));
            let [name, value] = spaced.each_ref().map(|part| percent_decode_str(part));
            let name = name.decode_utf8_lossy().into_owned();
            match (unread.iter().any(|(earlier, _)| *earlier == name), value.decode_utf8()) {
                (true, _) => report.add(
                    shorten(&name),
                    FieldErrorCode::InvalidValue,
                    "must be given only \
                        once",
                ),
                (false, Err(_)) => report.add(
                    shorten(&name),
                    FieldErrorCode::InvalidValue,
                    "must be UTF-8, percent-encoded",
                ),
                (false, Ok(value)) => unread.push((name, value.into_owned())),
            }
        }
        if pairs.next().is_some() {
            report.add(
                "",
                FieldErrorCode::TooMany,
                format!("The query must have at most {MAX_PARAMETERS} parameters."),
            );
        }
        Self { unread, known: Vec::new(), report }
    }

    /// The parameter's value as it was written, if the parameter is there at all.
    pub fn raw(&mut self, name: &'static str) -> Option<String> {
        self.known.push(name);
        let at = self.unread.iter().position(|(written, _)| written == name)?;
        Some(self.unread.swap_remove(at).1)
    }

    pub fn refuse(&mut self, name: &str, flaw: FieldErrorCode, message: impl Into<String>) {
        self.report.add(name, flaw, message);
    }

    /// A parameter that a rule reads; empty is a value like any other.
    pub fn parsed<T>(
        &mut self,
        name: &'static str,
        flaw: FieldErrorCode,
        expected: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Option<T> {
        let written = self.raw(name)?;
        let value = parse(&written);
        if value.is_none() {
            self.refuse(name, flaw, format!("must be {expected}"));
        }
        value
    }

    /// A moment that something is to come after.
    pub fn after(&mut self, name: &'static str) -> Option<Timestamp> {
        self.parsed(name, FieldErrorCode::InvalidDate, TIME_EXAMPLE, Timestamp::parse)
    }

    /// A moment that something is to come before.
    pub fn before(&mut self, name: &'static str) -> Option<Timestamp> {
        self.parsed(name, FieldErrorCode::InvalidDate, TIME_EXAMPLE, Timestamp::parse_bound)
    }

    /// Some text to look for.
    pub fn words(&mut self, name: &'static str) -> Option<String> {
        self.parsed(
            name,
            FieldErrorCode::InvalidValue,
            "a single line of 1 to 255 characters",
            |text| {
                let text = text.trim();
                let fits = !text.is_empty()
                    && text.chars().count() <= 255
                    && text.chars().all(|character| Lines::One.allow(character));
                fits.then(|| text.to_owned())
            },
        )
    }

    pub fn finish<T>(mut self, value: T) -> Result<T, Problem> {
        for (number, (name, _)) in std::mem::take(&mut self.unread).into_iter().enumerate() {
            let near =
                if self.report.may_hint(number) { did_you_mean(&name, &self.known) } else { None };
            let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
            // They are listed once.
            let known = match (number, self.known.as_slice()) {
                (0, []) => ", which takes none".to_owned(),
                (0, known) => format!(", which takes {}", known.join(", ")),
                _ => String::new(),
            };
            self.report.add(
                shorten(&name),
                FieldErrorCode::UnknownField,
                format!("is not a parameter of this request{known}{hint}"),
            );
        }
        self.report.check(value)
    }
}
