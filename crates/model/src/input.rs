//! Reading a request field by field. Every bad field goes into the report and reading goes on, so that the answer names all
//! of them; a field that nobody asked for is bad too.

use std::collections::HashMap;

use crate::clock::{Date, Timestamp};
use crate::id::{Id, Kind};
use crate::json::{self, Json};
use crate::patch::Patch;
use crate::problem::{Detail, Flaw, Problem};
use crate::text::{Lines, did_you_mean, shorten};

/// What was found wrong so far.
#[derive(Debug, Default)]
pub struct Report {
    details: Vec<Detail>,
}

impl Report {
    pub fn add(&mut self, field: impl Into<String>, flaw: Flaw, message: impl Into<String>) {
        self.details.push(Detail::new(field, flaw, message));
    }

    /// `value` if nothing was wrong, else the refusal that names all that was.
    pub fn check<T>(self, value: T) -> Result<T, Problem> {
        match self.details.is_empty() {
            true => Ok(value),
            false => Err(Problem::from_details(self.details)),
        }
    }
}

/// Reads a whole body with `read`, then refuses it if anything in it was wrong.
pub fn read_body<T>(bytes: &[u8], read: impl FnOnce(&mut Fields<'_>) -> T) -> Result<T, Problem> {
    let Json::Object(object) = json::parse(bytes)? else {
        return Err(Problem::invalid("", Flaw::InvalidType, "The body must be a JSON object."));
    };
    let mut report = Report::default();
    let mut fields = Fields::new(object, String::new(), &mut report);
    let value = read(&mut fields);
    fields.finish();
    report.check(value)
}

/// The fields of one JSON object that have not been read yet.
pub struct Fields<'r> {
    unread: Vec<(String, Json)>,
    known: Vec<&'static str>,
    path: String,
    report: &'r mut Report,
}

impl<'r> Fields<'r> {
    fn new(unread: Vec<(String, Json)>, path: String, report: &'r mut Report) -> Self {
        Self { unread, known: Vec::with_capacity(24), path, report }
    }

    /// The field's name as the client would write it: `emails[1].value`.
    fn path_of(&self, name: &str) -> String {
        match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{}.{name}", self.path),
        }
    }

    pub fn refuse(&mut self, name: &str, flaw: Flaw, message: impl Into<String>) {
        let path = self.path_of(name);
        self.report.add(path, flaw, message);
    }

    fn take(&mut self, name: &'static str) -> Option<Json> {
        self.known.push(name);
        let at = self.unread.iter().position(|(written, _)| written == name)?;
        Some(self.unread.swap_remove(at).1)
    }

    /// A value as a patch says it, before its type is looked at.
    fn take_patch(&mut self, name: &'static str) -> Patch<Json> {
        match self.take(name) {
            None => Patch::Absent,
            Some(Json::Null) => Patch::Clear,
            Some(value) => Patch::Set(value),
        }
    }

    /// A string, trimmed; blank is the same as null.
    pub fn patch_text(&mut self, name: &'static str, longest: usize, lines: Lines) -> Patch<String> {
        match self.take_patch(name) {
            Patch::Absent => Patch::Absent,
            Patch::Clear => Patch::Clear,
            Patch::Set(value) => match self.accept_text(name, value, longest, lines) {
                Some(text) if text.is_empty() => Patch::Clear,
                Some(text) => Patch::Set(text),
                None => Patch::Absent,
            },
        }
    }

    fn accept_text(&mut self, name: &str, value: Json, longest: usize, lines: Lines) -> Option<String> {
        let Json::String(text) = value else {
            self.refuse(name, Flaw::InvalidType, format!("must be a string, not {}", value.type_name()));
            return None;
        };
        let (length, unit) = match lines {
            Lines::One if text.len() > longest => (text.chars().count(), "characters"),
            Lines::One => (0, "characters"),
            Lines::Many => (text.len(), "bytes"),
        };
        if length > longest {
            self.refuse(name, Flaw::TooLong, format!("must be at most {longest} {unit} long"));
            return None;
        }
        let trimmed = text.trim();
        if let Some(wrong) = trimmed.chars().find(|character| !lines.allow(*character)) {
            self.refuse(name, Flaw::InvalidCharacter, format!("must not hold the control character U+{:04X}", u32::from(wrong)));
            return None;
        }
        Some(match trimmed.len() == text.len() {
            true => text,
            false => trimmed.to_owned(),
        })
    }

    /// One line of text; absent, null and blank are all none.
    pub fn text(&mut self, name: &'static str, longest: usize) -> Option<String> {
        self.lines(name, longest, Lines::One)
    }

    pub fn lines(&mut self, name: &'static str, longest: usize, lines: Lines) -> Option<String> {
        match self.patch_text(name, longest, lines) {
            Patch::Set(text) => Some(text),
            Patch::Absent | Patch::Clear => None,
        }
    }

    pub fn patch_line(&mut self, name: &'static str, longest: usize) -> Patch<String> {
        self.patch_text(name, longest, Lines::One)
    }

    /// One line of text that a rule turns into something else, or refuses with a flaw and a sentence.
    pub fn patch_parsed<T>(
        &mut self,
        name: &'static str,
        longest: usize,
        parse: impl FnOnce(String) -> Result<T, (Flaw, String)>,
    ) -> Patch<T> {
        match self.patch_line(name, longest) {
            Patch::Absent => Patch::Absent,
            Patch::Clear => Patch::Clear,
            Patch::Set(text) => match parse(text) {
                Ok(value) => Patch::Set(value),
                Err((flaw, message)) => {
                    self.refuse(name, flaw, message);
                    Patch::Absent
                }
            },
        }
    }

    pub fn parsed<T>(&mut self, name: &'static str, longest: usize, parse: impl FnOnce(String) -> Result<T, (Flaw, String)>) -> Option<T> {
        match self.patch_parsed(name, longest, parse) {
            Patch::Set(value) => Some(value),
            Patch::Absent | Patch::Clear => None,
        }
    }

    /// A reference to a record. What is no id of that kind names no record, which the caller finds out by looking.
    pub fn id<K: Kind>(&mut self, name: &'static str) -> Option<Reference<K>> {
        self.text(name, crate::text::limit::NAME).map(Reference::new)
    }

    pub fn date(&mut self, name: &'static str) -> Option<Date> {
        self.parsed(name, 64, |text| {
            Date::parse(&text).ok_or_else(|| (Flaw::InvalidDate, "must be a date of the form YYYY-MM-DD".to_owned()))
        })
    }

    pub fn patch_flag(&mut self, name: &'static str) -> Patch<bool> {
        match self.take_patch(name) {
            Patch::Absent => Patch::Absent,
            Patch::Clear => Patch::Clear,
            Patch::Set(Json::Bool(flag)) => Patch::Set(flag),
            Patch::Set(other) => {
                self.refuse(name, Flaw::InvalidType, format!("must be true or false, not {}", other.type_name()));
                Patch::Absent
            }
        }
    }

    /// True or false; absent and null are false.
    pub fn flag(&mut self, name: &'static str) -> bool {
        matches!(self.patch_flag(name), Patch::Set(true))
    }

    /// A whole number from 0 to `most`; absent and null are none.
    pub fn count(&mut self, name: &'static str, most: i64) -> Option<i64> {
        self.patch_number(name, 0, most).set().copied()
    }

    /// A whole number from `least` to `most`.
    pub fn patch_number(&mut self, name: &'static str, least: i64, most: i64) -> Patch<i64> {
        let value = match self.take_patch(name) {
            Patch::Absent => return Patch::Absent,
            Patch::Clear => return Patch::Clear,
            Patch::Set(value) => value,
        };
        // JSON knows no integers: 3.0 is the number 3.
        let number = match value {
            Json::Integer(number) => Some(number),
            Json::Number(number) if number.fract() == 0.0 && number.abs() < 9.1e15 => Some(number as i64),
            _ => None,
        };
        match number {
            Some(number) if (least..=most).contains(&number) => return Patch::Set(number),
            _ if matches!(value, Json::Integer(_) | Json::Number(_)) => {
                self.refuse(name, Flaw::OutOfRange, format!("must be a whole number from {least} to {most}"))
            }
            _ => self.refuse(name, Flaw::InvalidType, format!("must be a whole number, not {}", value.type_name())),
        }
        Patch::Absent
    }

    /// A whole number from 0 to `most` that must be there.
    pub fn needed_count(&mut self, name: &'static str, most: i64) -> Option<i64> {
        self.needed(name, |fields| fields.count(name, most).map_or(Patch::Absent, Patch::Set))
    }

    fn patch_list(&mut self, name: &'static str, most: usize) -> Patch<Vec<Json>> {
        match self.take_patch(name) {
            Patch::Absent => Patch::Absent,
            Patch::Clear => Patch::Clear,
            Patch::Set(Json::Array(list)) if list.len() > most => {
                self.refuse(name, Flaw::TooMany, format!("must have at most {most} entries"));
                Patch::Absent
            }
            Patch::Set(Json::Array(list)) => Patch::Set(list),
            Patch::Set(other) => {
                self.refuse(name, Flaw::InvalidType, format!("must be an array, not {}", other.type_name()));
                Patch::Absent
            }
        }
    }

    /// A list of strings, each read by a rule; blank entries are left out.
    pub fn strings<T>(
        &mut self,
        name: &'static str,
        most: usize,
        longest: usize,
        parse: impl FnMut(String) -> Result<T, (Flaw, String)>,
    ) -> Vec<T> {
        match self.patch_strings(name, most, longest, parse) {
            Patch::Set(list) => list,
            Patch::Absent | Patch::Clear => Vec::new(),
        }
    }

    /// The same where a list that is absent means something else than an empty one.
    pub fn patch_strings<T>(
        &mut self,
        name: &'static str,
        most: usize,
        longest: usize,
        mut parse: impl FnMut(String) -> Result<T, (Flaw, String)>,
    ) -> Patch<Vec<T>> {
        let list = match self.patch_list(name, most) {
            Patch::Set(list) => list,
            Patch::Absent => return Patch::Absent,
            Patch::Clear => return Patch::Clear,
        };
        let mut values = Vec::with_capacity(list.len());
        for (index, value) in list.into_iter().enumerate() {
            let entry = format!("{name}[{index}]");
            match self.accept_text(&entry, value, longest, Lines::One).filter(|text| !text.is_empty()).map(&mut parse) {
                Some(Ok(value)) => values.push(value),
                Some(Err((flaw, message))) => self.refuse(&entry, flaw, message),
                None => {}
            }
        }
        Patch::Set(values)
    }

    /// References to 1 to `most` records, each named once.
    pub fn ids<K: Kind>(&mut self, name: &'static str, most: usize) -> Vec<Reference<K>> {
        let Some(list) = self.needed(name, |fields| fields.patch_list(name, most)) else { return Vec::new() };
        if list.is_empty() {
            self.refuse(name, Flaw::TooFew, "must have at least one entry");
        }
        let mut references = Vec::with_capacity(list.len());
        let mut places = HashMap::with_capacity(list.len());
        for (index, value) in list.into_iter().enumerate() {
            let entry = format!("{name}[{index}]");
            let Some(written) = self.accept_text(&entry, value, crate::text::limit::NAME, Lines::One) else { continue };
            if written.is_empty() {
                self.refuse(&entry, Flaw::Required, "must name a record");
            } else if let Some(earlier) = places.insert(written.clone(), index) {
                self.refuse(&entry, Flaw::InvalidValue, format!("must be given once; it is {name}[{earlier}] as well"));
            }
            references.push(Reference::new(written));
        }
        references
    }

    /// A list of objects, each read field by field.
    pub fn patch_objects<T>(&mut self, name: &'static str, most: usize, mut read: impl FnMut(&mut Fields<'_>) -> T) -> Patch<Vec<T>> {
        let list = match self.patch_list(name, most) {
            Patch::Absent => return Patch::Absent,
            Patch::Clear => return Patch::Clear,
            Patch::Set(list) => list,
        };
        let mut values = Vec::with_capacity(list.len());
        for (index, value) in list.into_iter().enumerate() {
            let entry = format!("{name}[{index}]");
            match value {
                Json::Object(object) => {
                    let path = self.path_of(&entry);
                    let mut fields = Fields::new(object, path, self.report);
                    values.push(read(&mut fields));
                    fields.finish();
                }
                other => self.refuse(&entry, Flaw::InvalidType, format!("must be an object, not {}", other.type_name())),
            }
        }
        Patch::Set(values)
    }

    /// A list of objects of which each is read, and refused, for itself. Fields are named as if the object were alone.
    pub fn objects_apart<T>(
        &mut self,
        name: &'static str,
        most: usize,
        mut read: impl FnMut(&mut Fields<'_>) -> T,
    ) -> Vec<Result<T, Problem>> {
        let Some(list) = self.needed(name, |fields| fields.patch_list(name, most)) else { return Vec::new() };
        if list.is_empty() {
            self.refuse(name, Flaw::TooFew, "must have at least one entry");
        }
        let apart = |value| {
            let mut report = Report::default();
            let Json::Object(object) = value else {
                return Err(Problem::invalid("", Flaw::InvalidType, format!("The entry must be an object, not {}.", value.type_name())));
            };
            let mut fields = Fields::new(object, String::new(), &mut report);
            let value = read(&mut fields);
            fields.finish();
            report.check(value)
        };
        list.into_iter().map(apart).collect()
    }

    /// A field that must be there. One that is there and bad is named once, for what is wrong with it.
    pub fn needed<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> Patch<T>) -> Option<T> {
        let flaws = self.report.details.len();
        match read(self) {
            Patch::Set(value) => return Some(value),
            Patch::Absent | Patch::Clear if self.report.details.len() == flaws => self.refuse(name, Flaw::Required, "must be given"),
            Patch::Absent | Patch::Clear => {}
        }
        None
    }

    /// A field that may be absent and must not be cleared.
    pub fn kept<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> Patch<T>) -> Option<T> {
        match read(self) {
            Patch::Set(value) => return Some(value),
            Patch::Clear => self.refuse(name, Flaw::Required, "must not be cleared"),
            Patch::Absent => {}
        }
        None
    }

    /// True if nothing was found wrong since `read` began. For fields that stand in for each other.
    pub fn is_clean<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let flaws = self.report.details.len();
        let value = read(self);
        (value, self.report.details.len() == flaws)
    }

    /// Refuses two fields that say the same thing in two ways.
    pub fn not_both(&mut self, one: bool, other: bool, field: &str, beside: &str) {
        if one && other {
            self.refuse(field, Flaw::Contradiction, format!("must not be given together with {beside}"));
        }
    }

    /// Refuses what is left: nobody asked for it, and dropping it silently would lose data.
    fn finish(&mut self) {
        for (name, _) in std::mem::take(&mut self.unread) {
            let known = &self.known;
            let hint = did_you_mean(&name, known).map_or_else(String::new, |near| format!("; did you mean {near}?"));
            self.refuse(&shorten(&name), Flaw::UnknownField, format!("is not a field of this request{hint}"));
        }
    }
}

/// An id as a client wrote it, together with what it means, if anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reference<K: Kind> {
    pub written: String,
    pub id: Option<Id<K>>,
}

impl<K: Kind> Reference<K> {
    #[must_use]
    pub fn new(written: String) -> Self {
        Self { id: Id::parse(&written), written }
    }

    /// The refusal when no such record is in the workspace.
    #[must_use]
    pub fn not_found(&self, field: &str) -> Problem {
        Problem::reference_not_found(field, K::NOUN, &self.written)
    }

    pub fn resolve(&self, field: &str) -> Result<Id<K>, Problem> {
        self.id.ok_or_else(|| self.not_found(field))
    }
}

/// Far more than any request has.
const MOST_PARAMETERS: usize = 100;

/// The query of a request: names and values, each name at most once.
pub struct Query {
    unread: Vec<(String, String)>,
    known: Vec<&'static str>,
    report: Report,
}

impl Query {
    #[must_use]
    pub fn new(query: &str) -> Self {
        let decode = |text: &str| {
            let spaced = text.replace('+', " ");
            percent_encoding::percent_decode_str(&spaced).decode_utf8_lossy().into_owned()
        };
        let mut report = Report::default();
        let mut unread: Vec<(String, String)> = Vec::new();
        let mut pairs = query.split('&').filter(|pair| !pair.is_empty());
        for pair in pairs.by_ref().take(MOST_PARAMETERS) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = decode(name);
            match unread.iter().any(|(earlier, _)| *earlier == name) {
                true => report.add(shorten(&name), Flaw::InvalidValue, "must be given once"),
                false => unread.push((name, decode(value))),
            }
        }
        if pairs.next().is_some() {
            report.add("", Flaw::TooMany, format!("The query must have at most {MOST_PARAMETERS} parameters."));
        }
        Self { unread, known: Vec::new(), report }
    }

    /// The parameter's value as it was written, if the parameter is there at all.
    pub fn raw(&mut self, name: &'static str) -> Option<String> {
        self.known.push(name);
        let at = self.unread.iter().position(|(written, _)| written == name)?;
        Some(self.unread.swap_remove(at).1)
    }

    pub fn refuse(&mut self, name: &str, flaw: Flaw, message: impl Into<String>) {
        self.report.add(name, flaw, message);
    }

    /// A parameter that a rule reads; empty is a value like any other.
    pub fn parsed<T>(&mut self, name: &'static str, flaw: Flaw, expected: &str, parse: impl FnOnce(&str) -> Option<T>) -> Option<T> {
        let written = self.raw(name)?;
        let value = parse(&written);
        if value.is_none() {
            self.refuse(name, flaw, format!("must be {expected}"));
        }
        value
    }

    pub fn moment(&mut self, name: &'static str) -> Option<Timestamp> {
        let expected = "a time such as 2026-11-15T09:30:00Z or a date such as 2026-11-15";
        self.parsed(name, Flaw::InvalidDate, expected, Timestamp::parse)
    }

    /// Some text to look for.
    pub fn words(&mut self, name: &'static str) -> Option<String> {
        self.parsed(name, Flaw::InvalidValue, "between 1 and 255 characters of one line", |text| {
            let text = text.trim();
            let fits = !text.is_empty() && text.chars().count() <= 255 && text.chars().all(|character| Lines::One.allow(character));
            fits.then(|| text.to_owned())
        })
    }

    pub fn finish<T>(mut self, value: T) -> Result<T, Problem> {
        for (name, _) in std::mem::take(&mut self.unread) {
            let hint = did_you_mean(&name, &self.known).map_or_else(String::new, |near| format!("; did you mean {near}?"));
            self.report.add(shorten(&name), Flaw::UnknownField, format!("is not a parameter of this request{hint}"));
        }
        self.report.check(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Code;

    #[test]
    fn every_bad_field_is_named_with_its_path() {
        let body = br#"{"name": 7, "emails": [{"value": "x"}, {"valeu": "y"}, 3], "frist": true}"#;
        let problem = read_body(body, |fields| {
            fields.text("name", 10);
            fields.text("first", 10);
            fields.patch_objects("emails", 5, |entry| entry.text("value", 5));
        })
        .unwrap_err();
        let named: Vec<_> = problem.details.iter().map(|detail| (detail.field.as_str(), detail.code)).collect();
        assert_eq!(
            named,
            [
                ("name", Flaw::InvalidType),
                ("emails[1].valeu", Flaw::UnknownField),
                ("emails[2]", Flaw::InvalidType),
                ("frist", Flaw::UnknownField)
            ]
        );
        assert!(problem.details[1].message.contains("did you mean value?"));
        assert_eq!(problem.code, Code::InvalidRequest);
    }

    #[test]
    fn text_is_trimmed_and_blank_is_absent() {
        let read = |body: &[u8]| read_body(body, |fields| fields.patch_line("name", 7));
        assert_eq!(read(br#"{"name": "  Ada  "}"#), Ok(Patch::Set("Ada".to_owned())));
        assert_eq!(read(br#"{"name": "   "}"#), Ok(Patch::Clear));
        assert_eq!(read(br#"{"name": null}"#), Ok(Patch::Clear));
        assert_eq!(read(br"{}"), Ok(Patch::Absent));
        assert_eq!(read("{\"name\": \"äöüßé\"}".as_bytes()), Ok(Patch::Set("äöüßé".to_owned())));
        assert_eq!(read(br#"{"name": "abcdefgh"}"#).unwrap_err().details[0].code, Flaw::TooLong);
        assert_eq!(read(br#"{"name": "a\u0000"}"#).unwrap_err().details[0].code, Flaw::InvalidCharacter);
    }

    #[test]
    fn every_id_of_a_list_is_there_once() {
        let read = |body: &[u8]| read_body(body, |fields| fields.ids::<crate::id::Person>("ids", 3));
        let named = |body: &[u8]| {
            let details = read(body).unwrap_err().details;
            details.into_iter().map(|detail| (detail.field, detail.code)).collect::<Vec<_>>()
        };
        let written: Vec<_> = read(br#"{"ids": ["a", " b "]}"#).unwrap().into_iter().map(|reference| reference.written).collect();
        assert_eq!(written, ["a", "b"]);
        for body in [&br"{}"[..], br#"{"ids": null}"#] {
            assert_eq!(named(body), [("ids".to_owned(), Flaw::Required)]);
        }
        assert_eq!(named(br#"{"ids": []}"#), [("ids".to_owned(), Flaw::TooFew)]);
        assert_eq!(named(br#"{"ids": ["a", "b", "c", "d"]}"#), [("ids".to_owned(), Flaw::TooMany)]);
        assert_eq!(named(br#"{"ids": "a"}"#), [("ids".to_owned(), Flaw::InvalidType)]);
        let bad = [("ids[0]".to_owned(), Flaw::Required), ("ids[1]".to_owned(), Flaw::InvalidType)];
        assert_eq!(named(br#"{"ids": [" ", null]}"#), bad);
        assert_eq!(named(br#"{"ids": ["a", "b", "a "]}"#), [("ids[2]".to_owned(), Flaw::InvalidValue)]);
    }

    #[test]
    fn whole_numbers_are_whole_and_in_bounds() {
        let read = |body: &[u8]| read_body(body, |fields| fields.count("months", 100));
        assert_eq!(read(br#"{"months": 3.0}"#), Ok(Some(3)));
        assert_eq!(read(br#"{"months": 3.5}"#).unwrap_err().details[0].code, Flaw::OutOfRange);
        assert_eq!(read(br#"{"months": -1}"#).unwrap_err().details[0].code, Flaw::OutOfRange);
        assert_eq!(read(br#"{"months": "3"}"#).unwrap_err().details[0].code, Flaw::InvalidType);
    }

    #[test]
    fn an_unknown_parameter_is_refused_with_the_one_that_was_meant() {
        let mut query = Query::new("ofset=3&q=a%20b+c");
        assert_eq!(query.raw("offset"), None);
        assert_eq!(query.words("q").as_deref(), Some("a b c"));
        let problem = query.finish(()).unwrap_err();
        assert_eq!(problem.details[0].field, "ofset");
        assert!(problem.details[0].message.contains("did you mean offset?"));
    }
}
