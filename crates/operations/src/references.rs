//! Records that a request names in a list: all of them must be there.

use slated_model::id::Kind;
use slated_model::input::Reference;
use slated_model::problem::{ErrorCode, FieldError, FieldErrorCode, Problem};

/// What was found for each reference, or the refusal that names all for which nothing was.
pub fn all_known<K: Kind, T>(
    field: &str,
    references: &[Reference<K>],
    found: Vec<Option<T>>,
) -> Result<Vec<T>, Problem> {
    let mut details = Vec::new();
    for (place, (reference, _)) in
        references.iter().zip(&found).enumerate().filter(|(_, (_, found))| found.is_none())
    {
        let message = format!("There is no {} {}.", K::NOUN, reference.written);
        details.push(FieldError::new(
            format!("{field}[{place}]"),
            FieldErrorCode::NotFound,
            message,
        ));
    }
    let message = match details.as_slice() {
        [] => return Ok(found.into_iter().flatten().collect()),
        [only] => only.message.clone(),
        [first, ..] => format!(
            "{} of the records do not exist; the first is {}: {}",
            details.len(),
            first.field,
            first.message
        ),
    };
    Err(Problem { code: ErrorCode::NotFound, message, details })
}
