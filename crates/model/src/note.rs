//! Notes: what somebody wrote down about a person.

use crate::input::Fields;
use crate::text::{Lines, limit};

/// The text of a note, which is never blank.
pub fn read_note(fields: &mut Fields<'_>) -> String {
    fields
        .needed("body", |fields| fields.patch_text("body", limit::NOTE, Lines::Many))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::read_body;
    use crate::problem::FieldErrorCode;

    #[test]
    fn a_note_has_a_text() {
        let read = |body: &str| {
            read_body(body.as_bytes(), read_note).map_err(|problem| problem.details[0].code)
        };
        assert_eq!(read(r#"{"body": " Met at\nthe fair. "}"#), Ok("Met at\nthe fair.".to_owned()));
        for nothing in ["{}", r#"{"body": null}"#, r#"{"body": " \n "}"#] {
            assert_eq!(read(nothing), Err(FieldErrorCode::Required), "{nothing}");
        }
        assert_eq!(read(r#"{"body": 7}"#), Err(FieldErrorCode::InvalidType));
        assert_eq!(read(r#"{"body": "\u0007"}"#), Err(FieldErrorCode::InvalidCharacter));
        assert_eq!(
            read(&format!(r#"{{"body": "{}"}}"#, "ä".repeat(limit::NOTE / 2)))
                .map(|text| text.len()),
            Ok(limit::NOTE)
        );
        assert_eq!(
            read(&format!(r#"{{"body": "{}"}}"#, "x".repeat(limit::NOTE + 1))),
            Err(FieldErrorCode::TooLong)
        );
    }
}
