use std::collections::HashMap;

use super::reference::Reference;
use super::report::{FieldErrors, Reported};
use crate::clock::Date;
use crate::id::Kind;
use crate::json::Json;
use crate::patch::Patch;
use crate::problem::{FieldError, FieldErrorCode, Problem};
use crate::text::{Lines, did_you_mean, shorten};

/// The fields of one JSON object that have not been read yet.
pub struct Fields<'r> {
    unread: Vec<(String, Json)>,
    known: Vec<&'static str>,
    path: String,
    report: &'r mut FieldErrors,
}

impl<'r> Fields<'r> {
    pub(super) fn new(
        unread: Vec<(String, Json)>,
        path: String,
        report: &'r mut FieldErrors,
    ) -> Self {
        Self { unread, known: Vec::with_capacity(24), path, report }
    }

    /// The field's name as the client would write it: `emails[1].value`.
    fn path_of(&self, name: &str) -> String {
        match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{}.{name}", self.path),
        }
    }

    pub fn refuse(&mut self, name: &str, flaw: FieldErrorCode, message: impl Into<String>) {
        let path = self.path_of(name);
        // Of entries that are too many nobody could say which to keep.
        match self.report.is_tolerant && flaw != FieldErrorCode::TooMany {
            true => self.report.dropped.push(FieldError::new(path, flaw, message)),
            false => self.report.add(path, flaw, message),
        }
    }

    /// From here on what is not valid is left out and noted, or refused again.
    pub fn tolerate(&mut self, is_tolerant: bool) {
        self.report.is_tolerant = is_tolerant;
    }

    /// What was left out so far.
    pub fn take_dropped(&mut self) -> Vec<FieldError> {
        std::mem::take(&mut self.report.dropped)
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
    pub fn patch_text(
        &mut self,
        name: &'static str,
        longest: usize,
        lines: Lines,
    ) -> Patch<String> {
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

    fn accept_text(
        &mut self,
        name: &str,
        value: Json,
        longest: usize,
        lines: Lines,
    ) -> Option<String> {
        let Json::String(text) = value else {
            self.refuse(
                name,
                FieldErrorCode::InvalidType,
                format!("must be a string, not {}", value.type_name()),
            );
            return None;
        };
        let (length, unit) = match lines {
            Lines::One if text.len() > longest => (text.chars().count(), "characters"),
            Lines::One => (0, "characters"),
            Lines::Many => (text.len(), "bytes"),
        };
        if length > longest {
            self.refuse(
                name,
                FieldErrorCode::TooLong,
                format!("must be at most {longest} {unit} long"),
            );
            return None;
        }
        let trimmed = text.trim();
        if let Some(wrong) = trimmed.chars().find(|character| !lines.allow(*character)) {
            self.refuse(
                name,
                FieldErrorCode::InvalidCharacter,
                format!("must not contain the control character U+{:04X}", u32::from(wrong)),
            );
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

    /// One line of text that a rule turns into something else, or refuses with a flaw and a
    /// sentence.
    pub fn patch_parsed<T>(
        &mut self,
        name: &'static str,
        longest: usize,
        parse: impl FnOnce(String) -> Result<T, (FieldErrorCode, String)>,
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

    pub fn parsed<T>(
        &mut self,
        name: &'static str,
        longest: usize,
        parse: impl FnOnce(String) -> Result<T, (FieldErrorCode, String)>,
    ) -> Option<T> {
        match self.patch_parsed(name, longest, parse) {
            Patch::Set(value) => Some(value),
            Patch::Absent | Patch::Clear => None,
        }
    }

    /// A reference to a record. What is no id of that kind names no record, which the caller finds
    /// out by looking.
    pub fn id<K: Kind>(&mut self, name: &'static str) -> Option<Reference<K>> {
        self.text(name, crate::text::limit::NAME).map(Reference::new)
    }

    pub fn date(&mut self, name: &'static str) -> Option<Date> {
        self.parsed(name, 64, |text| {
            Date::parse(&text).ok_or_else(|| {
                (FieldErrorCode::InvalidDate, "must be a valid date (YYYY-MM-DD)".to_owned())
            })
        })
    }

    pub fn patch_flag(&mut self, name: &'static str) -> Patch<bool> {
        match self.take_patch(name) {
            Patch::Absent => Patch::Absent,
            Patch::Clear => Patch::Clear,
            Patch::Set(Json::Bool(flag)) => Patch::Set(flag),
            Patch::Set(other) => {
                self.refuse(
                    name,
                    FieldErrorCode::InvalidType,
                    format!("must be true or false, not {}", other.type_name()),
                );
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
            Json::Number(number) if number.fract() == 0.0 && number.abs() < 9.1e15 => {
                Some(number as i64)
            }
            _ => None,
        };
        match number {
            Some(number) if (least..=most).contains(&number) => return Patch::Set(number),
            _ if matches!(value, Json::Integer(_) | Json::Number(_)) => self.refuse(
                name,
                FieldErrorCode::OutOfRange,
                format!("must be a whole number from {least} to {most}"),
            ),
            _ => self.refuse(
                name,
                FieldErrorCode::InvalidType,
                format!("must be a whole number, not {}", value.type_name()),
            ),
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
                self.refuse(
                    name,
                    FieldErrorCode::TooMany,
                    format!("must have at most {most} entries"),
                );
                Patch::Absent
            }
            Patch::Set(Json::Array(list)) => Patch::Set(list),
            Patch::Set(other) => {
                self.refuse(
                    name,
                    FieldErrorCode::InvalidType,
                    format!("must be an array, not {}", other.type_name()),
                );
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
        mut parse: impl FnMut(String) -> Result<T, (FieldErrorCode, String)>,
    ) -> Vec<T> {
        let unless_blank =
            |text: String| if text.is_empty() { Ok(None) } else { parse(text).map(Some) };
        match self.patch_strings(name, most, longest, unless_blank) {
            Patch::Set(list) => list.into_iter().flatten().collect(),
            Patch::Absent | Patch::Clear => Vec::new(),
        }
    }

    /// A list of strings, each read by a rule, where one that is absent means something else than
    /// an empty one.
    pub fn patch_strings<T>(
        &mut self,
        name: &'static str,
        most: usize,
        longest: usize,
        mut parse: impl FnMut(String) -> Result<T, (FieldErrorCode, String)>,
    ) -> Patch<Vec<T>> {
        let list = match self.patch_list(name, most) {
            Patch::Set(list) => list,
            Patch::Absent => return Patch::Absent,
            Patch::Clear => return Patch::Clear,
        };
        let mut values = Vec::with_capacity(list.len());
        for (index, value) in list.into_iter().enumerate() {
            let entry = format!("{name}[{index}]");
            match self.accept_text(&entry, value, longest, Lines::One).map(&mut parse) {
                Some(Ok(value)) => values.push(value),
                Some(Err((flaw, message))) => self.refuse(&entry, flaw, message),
                None => {}
            }
        }
        Patch::Set(values)
    }

    /// Names of which there must be at least one if there is a list, none of them blank.
    pub fn names<T>(
        &mut self,
        name: &'static str,
        most: usize,
        mut parse: impl FnMut(String) -> Result<T, (FieldErrorCode, String)>,
    ) -> Vec<T> {
        let Patch::Set(list) = self.patch_list(name, most) else { return Vec::new() };
        if list.is_empty() {
            self.refuse(name, FieldErrorCode::TooFew, "must have at least one entry");
        }
        let mut names = Vec::with_capacity(list.len());
        for (index, value) in list.into_iter().enumerate() {
            let entry = format!("{name}[{index}]");
            match self
                .accept_text(&entry, value, crate::text::limit::NAME, Lines::One)
                .map(&mut parse)
            {
                Some(Ok(value)) => names.push(value),
                Some(Err((flaw, message))) => self.refuse(&entry, flaw, message),
                None => {}
            }
        }
        names
    }

    /// References to 1 to `most` records, each named once.
    pub fn ids<K: Kind>(&mut self, name: &'static str, most: usize) -> Vec<Reference<K>> {
        self.needed(name, |fields| fields.patch_ids(name, most)).unwrap_or_default()
    }

    /// The same where the list may be absent.
    pub fn patch_ids<K: Kind>(
        &mut self,
        name: &'static str,
        most: usize,
    ) -> Patch<Vec<Reference<K>>> {
        let list = match self.patch_list(name, most) {
            Patch::Set(list) => list,
            Patch::Absent => return Patch::Absent,
            Patch::Clear => return Patch::Clear,
        };
        if list.is_empty() {
            self.refuse(name, FieldErrorCode::TooFew, "must have at least one entry");
        }
        let mut references = Vec::with_capacity(list.len());
        let mut places = HashMap::with_capacity(list.len());
        for (index, value) in list.into_iter().enumerate() {
            let entry = format!("{name}[{index}]");
            let Some(written) =
                self.accept_text(&entry, value, crate::text::limit::NAME, Lines::One)
            else {
                continue;
            };
            if written.is_empty() {
                self.refuse(&entry, FieldErrorCode::Required, "must not be empty");
            } else if let Some(earlier) = places.insert(written.clone(), index) {
                self.refuse(
                    &entry,
                    FieldErrorCode::InvalidValue,
                    format!("repeats {name}[{earlier}]; list each id once"),
                );
            }
            references.push(Reference::new(written));
        }
        Patch::Set(references)
    }

    /// An object, read field by field.
    pub fn patch_object<T>(
        &mut self,
        name: &'static str,
        read: impl FnOnce(&mut Fields<'_>) -> T,
    ) -> Patch<T> {
        match self.take_patch(name) {
            Patch::Absent => Patch::Absent,
            Patch::Clear => Patch::Clear,
            Patch::Set(Json::Object(object)) => {
                let path = self.path_of(name);
                let mut fields = Fields::new(object, path, self.report);
                let value = read(&mut fields);
                fields.finish();
                Patch::Set(value)
            }
            Patch::Set(other) => {
                self.refuse(
                    name,
                    FieldErrorCode::InvalidType,
                    format!("must be an object, not {}", other.type_name()),
                );
                Patch::Absent
            }
        }
    }

    /// A list of objects, each read field by field.
    pub fn patch_objects<T>(
        &mut self,
        name: &'static str,
        most: usize,
        mut read: impl FnMut(&mut Fields<'_>) -> T,
    ) -> Patch<Vec<T>> {
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
                other => self.refuse(
                    &entry,
                    FieldErrorCode::InvalidType,
                    format!("must be an object, not {}", other.type_name()),
                ),
            }
        }
        Patch::Set(values)
    }

    /// A list of objects of which each is read, and refused, for itself. Fields are named as if the
    /// object were alone.
    pub fn objects_apart<T>(
        &mut self,
        name: &'static str,
        most: usize,
        mut read: impl FnMut(&mut Fields<'_>) -> T,
    ) -> Vec<Result<T, Problem>> {
        let Some(list) = self.needed(name, |fields| fields.patch_list(name, most)) else {
            return Vec::new();
        };
        if list.is_empty() {
            self.refuse(name, FieldErrorCode::TooFew, "must have at least one entry");
        }
        let mut reported = Reported::default();
        let apart = |value| {
            let Json::Object(object) = value else {
                return Err(Problem::invalid(
                    "",
                    FieldErrorCode::InvalidType,
                    format!("The entry must be an object, not {}.", value.type_name()),
                ));
            };
            let mut report = FieldErrors::behind(reported);
            let mut fields = Fields::new(object, String::new(), &mut report);
            let value = read(&mut fields);
            fields.finish();
            reported = report.reported;
            report.check(value)
        };
        list.into_iter().map(apart).collect()
    }

    /// A field that must be there. One that is there and bad is named once, for what is wrong with
    /// it.
    pub fn needed<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> Patch<T>) -> Option<T> {
        let flaws = self.report.flaws;
        match read(self) {
            Patch::Set(value) => return Some(value),
            Patch::Absent | Patch::Clear if self.report.flaws == flaws => {
                self.refuse(name, FieldErrorCode::Required, "is required")
            }
            Patch::Absent | Patch::Clear => {}
        }
        None
    }

    /// A field that may be absent and must not be cleared.
    pub fn kept<T>(&mut self, name: &str, read: impl FnOnce(&mut Self) -> Patch<T>) -> Option<T> {
        match read(self) {
            Patch::Set(value) => return Some(value),
            Patch::Clear => self.refuse(name, FieldErrorCode::Required, "must not be cleared"),
            Patch::Absent => {}
        }
        None
    }

    /// True if nothing was found wrong since `read` began. For fields that stand in for each other.
    pub fn is_clean<T>(&mut self, read: impl FnOnce(&mut Self) -> T) -> (T, bool) {
        let flaws = self.report.flaws;
        let value = read(self);
        (value, self.report.flaws == flaws)
    }

    /// Refuses two fields that say the same thing in two ways.
    pub fn not_both(&mut self, one: bool, other: bool, field: &str, beside: &str) {
        if one && other {
            self.refuse(
                field,
                FieldErrorCode::Contradiction,
                format!("must not be given together with {beside}"),
            );
        }
    }

    /// Refuses what is left: nobody asked for it, and dropping it silently would lose data.
    pub(super) fn finish(&mut self) {
        for (number, (name, _)) in std::mem::take(&mut self.unread).into_iter().enumerate() {
            let near =
                if self.report.may_hint(number) { did_you_mean(&name, &self.known) } else { None };
            let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
            self.refuse(
                &shorten(&name),
                FieldErrorCode::UnknownField,
                format!("is not a field of this request{hint}"),
            );
        }
    }
}
