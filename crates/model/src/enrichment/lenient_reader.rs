//! Reading an answer field by field. It was written by others, so whatever is wrong is left out and
//! named, and all else is taken.

use serde_json::{Map, Value};

use super::Refused;
use super::dates::{Edge, Written, read_date};
use super::value::{type_name, whole};
use crate::clock::Date;
use crate::problem::FieldErrorCode;
use crate::text::Lines;

/// An answer with more that is wrong is no better described by all of it.
const MAX_REFUSED: usize = 100;

/// What a rule makes of a line, or what is wrong with it.
type Parsed<T> = Result<T, (FieldErrorCode, String)>;

/// The fields of one object of an answer.
pub(super) struct Reader<'v, 'r> {
    object: &'v Map<String, Value>,
    path: String,
    refused: &'r mut Vec<Refused>,
}

impl<'v, 'r> Reader<'v, 'r> {
    pub(super) const fn new(object: &'v Map<String, Value>, refused: &'r mut Vec<Refused>) -> Self {
        Self { object, path: String::new(), refused }
    }

    fn path_of(&self, name: &str) -> String {
        match self.path.is_empty() {
            true => name.to_owned(),
            false => format!("{}.{name}", self.path),
        }
    }

    pub(super) fn refuse(&mut self, name: &str, reason: impl Into<String>) {
        let path = self.path_of(name);
        self.note(path, reason);
    }

    /// Refuses all of the object.
    pub(super) fn refuse_whole(&mut self, reason: impl Into<String>) {
        let path = self.path.clone();
        self.note(path, reason);
    }

    fn note(&mut self, field: String, reason: impl Into<String>) {
        if self.refused.len() < MAX_REFUSED {
            self.refused.push(Refused::new(field, reason));
        }
    }

    /// A field that is there and not null.
    pub(super) fn get(&self, name: &str) -> Option<&'v Value> {
        self.object.get(name).filter(|value| !value.is_null())
    }

    /// One line, with each run of blanks as one; nothing if it is empty.
    pub(super) fn line(&mut self, name: &str, longest: usize) -> Option<String> {
        let text = self.string(name)?;
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let length = line.chars().count();
        self.accept(name, line, length, longest, Lines::One)
    }

    /// Text of any number of lines; nothing if it is empty.
    pub(super) fn lines(&mut self, name: &str, longest: usize) -> Option<String> {
        let text = self.string(name)?.trim().to_owned();
        let length = text.len();
        self.accept(name, text, length, longest, Lines::Many)
    }

    fn string(&mut self, name: &str) -> Option<&'v str> {
        match self.get(name)? {
            Value::String(text) => Some(text),
            other => {
                self.refuse(name, format!("must be a string, not {}", type_name(other)));
                None
            }
        }
    }

    fn accept(
        &mut self,
        name: &str,
        text: String,
        length: usize,
        longest: usize,
        lines: Lines,
    ) -> Option<String> {
        let unit = match lines {
            Lines::One => "characters",
            Lines::Many => "bytes",
        };
        if length > longest {
            self.refuse(name, format!("is longer than {longest} {unit}"));
            return None;
        }
        if let Some(wrong) = text.chars().find(|character| !lines.allow(*character)) {
            self.refuse(name, format!("contains the control character U+{:04X}", u32::from(wrong)));
            return None;
        }
        (!text.is_empty()).then_some(text)
    }

    /// One line that a rule turns into something else, or refuses with a sentence.
    pub(super) fn parsed<T>(
        &mut self,
        name: &str,
        longest: usize,
        parse: impl FnOnce(String) -> Parsed<T>,
    ) -> Option<T> {
        match parse(self.line(name, longest)?) {
            Ok(value) => Some(value),
            Err((_, reason)) => {
                self.refuse(name, reason);
                None
            }
        }
    }

    /// A whole number from 0 to `most`, which may be written as a string.
    pub(super) fn count(&mut self, name: &str, most: i64) -> Option<i64> {
        let number = match self.get(name)? {
            Value::Number(number) => whole(number),
            Value::String(text) if text.trim().is_empty() => return None,
            Value::String(text) => text.trim().parse().ok(),
            _ => None,
        };
        let number = number.filter(|number| (0..=most).contains(number));
        if number.is_none() {
            self.refuse(name, format!("must be a whole number from 0 to {most}"));
        }
        number
    }

    /// What a date says; nothing if it cannot be read.
    pub(super) fn date(&mut self, name: &str, edge: Edge, today: Date) -> Option<Written> {
        match read_date(self.get(name).unwrap_or(&Value::Null), edge, today) {
            Ok(written) => Some(written),
            Err(reason) => {
                self.refuse(name, reason);
                None
            }
        }
    }

    /// The first `most` entries of a list; none if it is absent.
    pub(super) fn list(&mut self, name: &str, most: usize) -> &'v [Value] {
        match self.get(name) {
            None => &[],
            Some(Value::Array(list)) => match list.split_at_checked(most) {
                Some((first, rest)) if !rest.is_empty() => {
                    self.refuse(name, format!("has more than {most} entries"));
                    first
                }
                _ => list,
            },
            Some(other) => {
                self.refuse(name, format!("must be an array, not {}", type_name(other)));
                &[]
            }
        }
    }

    /// An entry of the list of that name, if it is an object.
    pub(super) fn entry(
        &mut self,
        list: &str,
        index: usize,
        value: &'v Value,
    ) -> Option<Reader<'v, '_>> {
        let name = format!("{list}[{index}]");
        match value {
            Value::Object(object) => {
                Some(Reader { object, path: self.path_of(&name), refused: self.refused })
            }
            Value::Null => None,
            other => {
                self.refuse(&name, format!("must be an object, not {}", type_name(other)));
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::social::http_url;

    fn read<T>(
        value: &Value,
        read: impl FnOnce(&mut Reader<'_, '_>) -> T,
    ) -> (T, Vec<(String, String)>) {
        let mut refused = Vec::new();
        let found = read(&mut Reader::new(value.as_object().unwrap(), &mut refused));
        (found, refused.into_iter().map(|refused| (refused.field, refused.reason)).collect())
    }

    fn refused(field: &str, reason: &str) -> Vec<(String, String)> {
        vec![(field.to_owned(), reason.to_owned())]
    }

    #[test]
    fn a_line_is_tidied() {
        let line = |value: Value| read(&json!({ "x": value }), |reader| reader.line("x", 8));
        assert_eq!(line(json!("  Ada\t \n King ")), (Some("Ada King".to_owned()), vec![]));
        assert_eq!(line(json!("ÄÖÜäöüßé")), (Some("ÄÖÜäöüßé".to_owned()), vec![]));
        for empty in [json!(""), json!(" \n "), json!(null)] {
            assert_eq!(line(empty), (None, vec![]));
        }
        assert_eq!(
            line(json!("Ada  King Lovelace")),
            (None, refused("x", "is longer than 8 characters"))
        );
        assert_eq!(
            line(json!("a\u{0}")),
            (None, refused("x", "contains the control character U+0000"))
        );
        assert_eq!(line(json!(true)), (None, refused("x", "must be a string, not a boolean")));
        assert_eq!(line(json!({})), (None, refused("x", "must be a string, not an object")));
        assert_eq!(read(&json!({}), |reader| reader.line("x", 8)), (None, vec![]));
    }

    #[test]
    fn longer_text_keeps_its_lines() {
        let lines = |value: Value| read(&json!({ "x": value }), |reader| reader.lines("x", 8));
        assert_eq!(lines(json!(" a\n\tb\r\n")), (Some("a\n\tb".to_owned()), vec![]));
        assert_eq!(lines(json!("äöüßé")), (None, refused("x", "is longer than 8 bytes")));
        assert_eq!(
            lines(json!("a\u{7f}")),
            (None, refused("x", "contains the control character U+007F"))
        );
    }

    #[test]
    fn numbers_may_be_strings() {
        let count = |value: Value| read(&json!({ "x": value }), |reader| reader.count("x", 10));
        for seven in [json!(7), json!(7.0), json!("7"), json!(" 7 ")] {
            assert_eq!(count(seven), (Some(7), vec![]));
        }
        assert_eq!(count(json!("")), (None, vec![]));
        for wrong in [json!(11), json!(-1), json!(7.5), json!("seven"), json!([7]), json!(1e300)] {
            assert_eq!(
                count(wrong.clone()),
                (None, refused("x", "must be a whole number from 0 to 10")),
                "{wrong}"
            );
        }
    }

    #[test]
    fn a_rule_refuses_with_its_own_reason() {
        let url =
            |value: Value| read(&json!({ "x": value }), |reader| reader.parsed("x", 40, http_url));
        assert_eq!(
            url(json!("https://acme.example/a")),
            (Some("https://acme.example/a".to_owned()), vec![])
        );
        let (found, refused) = url(json!("acme"));
        assert_eq!((found, refused.len()), (None, 1));
        assert!(refused[0].1.starts_with("must be a URL"), "{refused:?}");
    }

    #[test]
    fn entries_are_named_by_their_path() {
        let value =
            json!({ "work": [{ "positions": [{ "title": "a" }, 7, null, { "title": 7 }] }, "x"] });
        let (titles, refused) = read(&value, |reader| {
            let mut titles = Vec::new();
            for (index, value) in reader.list("work", 5).iter().enumerate() {
                let Some(mut entry) = reader.entry("work", index, value) else { continue };
                for (index, value) in entry.list("positions", 5).iter().enumerate() {
                    let Some(mut position) = entry.entry("positions", index, value) else {
                        continue;
                    };
                    titles.extend(position.line("title", 5));
                    position.refuse_whole("is looked at");
                }
            }
            titles
        });
        assert_eq!(titles, ["a"]);
        let fields: Vec<_> = refused.iter().map(|(field, _)| field.as_str()).collect();
        let [first, second] = ["work[0].positions[0]", "work[0].positions[3]"];
        assert_eq!(
            fields,
            [first, "work[0].positions[1]", "work[0].positions[3].title", second, "work[1]"]
        );
    }

    #[test]
    fn the_rest_of_a_long_list_is_refused_once() {
        let list = |value: Value| read(&json!({ "x": value }), |reader| reader.list("x", 2).len());
        assert_eq!(list(json!([1, 2])), (2, vec![]));
        assert_eq!(list(json!([1, 2, 3, 4])), (2, refused("x", "has more than 2 entries")));
        assert_eq!(list(json!("1")), (0, refused("x", "must be an array, not a string")));
        assert_eq!(list(json!(null)), (0, vec![]));
    }

    #[test]
    fn not_everything_is_named_that_is_wrong() {
        let (_, refused) = read(&json!({ "x": 7 }), |reader| {
            (0..1000).for_each(|_| assert_eq!(reader.line("x", 5), None))
        });
        assert_eq!(refused.len(), MAX_REFUSED);
    }
}
