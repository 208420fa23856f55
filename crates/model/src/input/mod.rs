//! Reading a request field by field. Every bad field goes into the report and reading goes on, so
//! that the answer names all of them; a field that nobody asked for is bad too.

mod fields;
mod query;
mod reference;
mod report;

pub use self::fields::Fields;
pub use self::query::Query;
pub use self::reference::Reference;
pub use self::report::FieldErrors;
use crate::json::{self, Json};
use crate::problem::{FieldErrorCode, Problem};

/// Reads a whole body with `read`, then refuses it if anything in it was wrong.
pub fn read_body<T>(bytes: &[u8], read: impl FnOnce(&mut Fields<'_>) -> T) -> Result<T, Problem> {
    let Json::Object(object) = json::parse(bytes)? else {
        return Err(Problem::invalid(
            "",
            FieldErrorCode::InvalidType,
            "The body must be a JSON object.",
        ));
    };
    let mut report = FieldErrors::default();
    let mut fields = Fields::new(object, String::new(), &mut report);
    let value = read(&mut fields);
    fields.finish();
    report.check(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::Patch;
    use crate::problem::ErrorCode;

    #[test]
    fn every_bad_field_is_named_with_its_path() {
        let body = br#"{"name": 7, "emails": [{"value": "x"}, {"valeu": "y"}, 3], "frist": true}"#;
        let problem = read_body(body, |fields| {
            fields.text("name", 10);
            fields.text("first", 10);
            fields.patch_objects("emails", 5, |entry| entry.text("value", 5));
        })
        .unwrap_err();
        let named: Vec<_> =
            problem.details.iter().map(|detail| (detail.field.as_str(), detail.code)).collect();
        assert_eq!(
            named,
            [
                ("name", FieldErrorCode::InvalidType),
                ("emails[1].valeu", FieldErrorCode::UnknownField),
                ("emails[2]", FieldErrorCode::InvalidType),
                ("frist", FieldErrorCode::UnknownField)
            ]
        );
        assert!(problem.details[1].message.contains("did you mean value?"));
        assert_eq!(problem.code, ErrorCode::InvalidRequest);
    }

    #[test]
    fn text_is_trimmed_and_blank_is_absent() {
        let read = |body: &[u8]| read_body(body, |fields| fields.patch_line("name", 7));
        assert_eq!(read(br#"{"name": "  Ada  "}"#), Ok(Patch::Set("Ada".to_owned())));
        assert_eq!(read(br#"{"name": "   "}"#), Ok(Patch::Clear));
        assert_eq!(read(br#"{"name": null}"#), Ok(Patch::Clear));
        assert_eq!(read(br"{}"), Ok(Patch::Absent));
        assert_eq!(read("{\"name\": \"äöüßé\"}".as_bytes()), Ok(Patch::Set("äöüßé".to_owned())));
        assert_eq!(
            read(br#"{"name": "abcdefgh"}"#).unwrap_err().details[0].code,
            FieldErrorCode::TooLong
        );
        assert_eq!(
            read(br#"{"name": "a\u0000"}"#).unwrap_err().details[0].code,
            FieldErrorCode::InvalidCharacter
        );
    }

    #[test]
    fn every_id_of_a_list_is_there_once() {
        let read =
            |body: &[u8]| read_body(body, |fields| fields.ids::<crate::id::Person>("ids", 3));
        let named = |body: &[u8]| {
            let details = read(body).unwrap_err().details;
            details.into_iter().map(|detail| (detail.field, detail.code)).collect::<Vec<_>>()
        };
        let written: Vec<_> = read(br#"{"ids": ["a", " b "]}"#)
            .unwrap()
            .into_iter()
            .map(|reference| reference.written)
            .collect();
        assert_eq!(written, ["a", "b"]);
        for body in [&br"{}"[..], br#"{"ids": null}"#] {
            assert_eq!(named(body), [("ids".to_owned(), FieldErrorCode::Required)]);
        }
        assert_eq!(named(br#"{"ids": []}"#), [("ids".to_owned(), FieldErrorCode::TooFew)]);
        assert_eq!(
            named(br#"{"ids": ["a", "b", "c", "d"]}"#),
            [("ids".to_owned(), FieldErrorCode::TooMany)]
        );
        assert_eq!(named(br#"{"ids": "a"}"#), [("ids".to_owned(), FieldErrorCode::InvalidType)]);
        let bad = [
            ("ids[0]".to_owned(), FieldErrorCode::Required),
            ("ids[1]".to_owned(), FieldErrorCode::InvalidType),
        ];
        assert_eq!(named(br#"{"ids": [" ", null]}"#), bad);
        assert_eq!(
            named(br#"{"ids": ["a", "b", "a "]}"#),
            [("ids[2]".to_owned(), FieldErrorCode::InvalidValue)]
        );
    }

    #[test]
    fn whole_numbers_are_whole_and_in_bounds() {
        let read = |body: &[u8]| read_body(body, |fields| fields.count("months", 100));
        assert_eq!(read(br#"{"months": 3.0}"#), Ok(Some(3)));
        let large =
            |body: &[u8]| read_body(body, |fields| fields.count("number", 9_007_199_254_740_991));
        for number in [7_589_837_735_491_775, 9_007_199_254_740_991] {
            assert_eq!(large(format!("{{\"number\": {number}.0}}").as_bytes()), Ok(Some(number)));
        }
        assert_eq!(
            read(br#"{"months": 3.5}"#).unwrap_err().details[0].code,
            FieldErrorCode::OutOfRange
        );
        assert_eq!(
            read(br#"{"months": -1}"#).unwrap_err().details[0].code,
            FieldErrorCode::OutOfRange
        );
        assert_eq!(
            read(br#"{"months": "3"}"#).unwrap_err().details[0].code,
            FieldErrorCode::InvalidType
        );
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
