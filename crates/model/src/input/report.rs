//! What is wrong with a request.

use crate::problem::{FieldError, FieldErrorCode, Problem};

/// Bad fields that are named in one answer, the first of them: a body may have a hundred thousand.
const MAX_NAMED: usize = 1000;
/// Unknown names that are compared with those that are known, to say which was meant: in one
/// object, and in a whole request.
const MAX_HINTS: usize = 10;
const MAX_HINTS_IN_ALL: usize = 100;

/// What was found wrong so far.
#[derive(Debug, Default)]
pub struct FieldErrors {
    pub(super) details: Vec<FieldError>,
    pub(super) flaws: usize,
    pub(super) reported: Reported,
    /// Whether a value that is not valid is left out.
    pub(super) is_tolerant: bool,
    pub(super) dropped: Vec<FieldError>,
}

/// How much a request was told so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reported {
    pub(super) named: usize,
    pub(super) hints: usize,
}

impl FieldErrors {
    /// Of a part of a request that is refused for itself, behind others of it.
    pub(super) fn behind(reported: Reported) -> Self {
        Self { reported, ..Self::default() }
    }

    /// The first bad field is always named.
    pub fn add(
        &mut self,
        field: impl Into<String>,
        flaw: FieldErrorCode,
        message: impl Into<String>,
    ) {
        self.flaws += 1;
        if self.details.is_empty() || self.reported.named < MAX_NAMED {
            self.reported.named += 1;
            self.details.push(FieldError::new(field, flaw, message));
        }
    }

    /// Whether one more name may be compared with others, after so many of its object.
    pub(super) fn may_hint(&mut self, hints_in_object: usize) -> bool {
        let may_hint = hints_in_object < MAX_HINTS && self.reported.hints < MAX_HINTS_IN_ALL;
        self.reported.hints += usize::from(may_hint);
        may_hint
    }

    /// `value` if nothing was wrong, else the refusal that says what was.
    pub fn check<T>(self, value: T) -> Result<T, Problem> {
        match self.flaws {
            0 => Ok(value),
            flaws => Err(Problem::from_flaws(self.details, flaws)),
        }
    }
}
