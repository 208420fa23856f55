//! The error catalogue: every way in which a request can be refused, a line each, with its status
//! and its meaning.

use std::fmt;

use serde::Serialize;

macro_rules! catalogue {
    ($($variant:ident $name:literal $status:literal $doc:literal)*) => {
        /// The code of a refused request. Codes are part of the interface: they are added, never
        /// changed.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        pub enum ErrorCode { $(#[doc = $doc] $variant,)* }

        impl ErrorCode {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            #[must_use]
            pub const fn status(self) -> u16 {
                match self { $(Self::$variant => $status,)* }
            }

            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

catalogue! {
    MalformedJson "MALFORMED_JSON" 400 "The body is not valid JSON, is nested too deeply or \
        repeats a field."
    InvalidRequest "INVALID_REQUEST" 400 "A field or parameter is missing, unknown, of the wrong \
        type or out of range; details lists each."
    Unauthenticated "UNAUTHENTICATED" 401 "The API key is missing, malformed, unknown, revoked \
        or expired."
    Forbidden "FORBIDDEN" 403 "The key is valid but lacks the scope that the operation needs."
    NotFound "NOT_FOUND" 404 "The workspace has no record with that id, or the route is unknown."
    MethodNotAllowed "METHOD_NOT_ALLOWED" 405 "The route does not support this method; the \
        Allow header lists the methods it supports."
    RequestTimeout "REQUEST_TIMEOUT" 408 "The body did not arrive in time."
    DuplicatePerson "DUPLICATE_PERSON" 409 "The request has on_duplicate=error and the person \
        already exists; details gives the id."
    IdentifierConflict "IDENTIFIER_CONFLICT" 409 "An identifier belongs to another person, or the \
        identifiers belong to different persons; details gives their ids."
    AmbiguousJob "AMBIGUOUS_JOB" 409 "Several jobs that are not archived have that name; details \
        gives their ids."
    AmbiguousStage "AMBIGUOUS_STAGE" 409 "Several stages of the job have that name; details gives \
        their ids."
    StageConflict "STAGE_CONFLICT" 409 "The candidate is no longer in from_stage_id."
    IdempotencyConflict "IDEMPOTENCY_CONFLICT" 409 "The Idempotency-Key was used for a different \
        request within the last 24 hours."
    NameTaken "NAME_TAKEN" 409 "Another record of that kind has the name; details gives its id."
    StageInUse "STAGE_IN_USE" 409 "The stage has candidates; choose a stage to move them to."
    LastStage "LAST_STAGE" 409 "A job needs at least one stage that is not a rejection stage."
    DefaultTemplate "DEFAULT_TEMPLATE" 409 "The template is the workspace's default; make another \
        the default first."
    TooManyCandidates "TOO_MANY_CANDIDATES" 409 "The request affects more candidates than can be \
        changed in one call; move some of them first."
    KeyReplaced "KEY_REPLACED" 409 "The key was already rotated; details gives the key that \
        replaced it."
    ProposalDecided "PROPOSAL_DECIDED" 409 "The proposal was already decided differently."
    TooMany "TOO_MANY" 409 "The workspace or the record already has the maximum number of these."
    InvalidMerge "INVALID_MERGE" 409 "A record cannot be merged into itself."
    TooManyWebhooks "TOO_MANY_WEBHOOKS" 409 "The workspace has the maximum number of webhooks; \
        delete one first."
    EventsGone "EVENTS_GONE" 410 "Events after that position are past the retention period and \
        were deleted; read the records again and continue from the newest event."
    CursorGone "CURSOR_GONE" 410 "The person at the position of the search cursor no longer \
        matches; restart the search."
    Erased "ERASED" 410 "The person was erased; the message says when."
    PreconditionFailed "PRECONDITION_FAILED" 412 "The record changed since the ETag in If-Match \
        was read."
    PayloadTooLarge "PAYLOAD_TOO_LARGE" 413 "The body is larger than this route accepts."
    UnsupportedMediaType "UNSUPPORTED_MEDIA_TYPE" 415 "The body's Content-Type is not JSON, or it \
        is compressed."
    RateLimited "RATE_LIMITED" 429 "The key has used up its rate limit; Retry-After says when to \
        retry."
    Internal "INTERNAL" 500 "An internal error occurred; the log has the cause under request_id."
    NotImplemented "NOT_IMPLEMENTED" 501 "The body uses a transfer coding other than \
        chunked."
    Unavailable "UNAVAILABLE" 503 "The database is unreachable, overloaded or out of disk space, \
        or too many large bodies are being read; Retry-After says when to retry."
}

macro_rules! flaws {
    ($($variant:ident $name:literal $doc:literal)*) => {
        /// What is wrong with one field.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum FieldErrorCode { $(#[doc = $doc] $variant,)* }

        impl FieldErrorCode {
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }
    };
}

flaws! {
    Required "REQUIRED" "The field is required but missing."
    UnknownField "UNKNOWN_FIELD" "The operation has no field or parameter with that name."
    InvalidType "INVALID_TYPE" "The value has the wrong JSON type."
    InvalidValue "INVALID_VALUE" "The value is not one of those allowed."
    InvalidCharacter "INVALID_CHARACTER" "The text contains a control character."
    InvalidEmail "INVALID_EMAIL" "The value is not a valid e-mail address."
    InvalidPhone "INVALID_PHONE" "The value is not a valid phone number."
    InvalidUrl "INVALID_URL" "The value is not a valid http or https URL."
    InvalidDate "INVALID_DATE" "The value is not a date or time in the expected format."
    TooLong "TOO_LONG" "The text is longer than allowed."
    TooMany "TOO_MANY" "The list has more entries than allowed."
    TooFew "TOO_FEW" "The list has fewer entries than required."
    OutOfRange "OUT_OF_RANGE" "The number is out of range."
    Contradiction "CONTRADICTION" "The value contradicts another field of the request."
    NotFound "NOT_FOUND" "The value refers to a record that the workspace does not have."
    Conflict "CONFLICT" "The value conflicts with the record given in the message and record_id."
}

impl Serialize for FieldErrorCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

/// One thing that is wrong, and where.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FieldError {
    pub field: String,
    pub code: FieldErrorCode,
    pub message: String,
    /// The record that stands against the request, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record_id: Option<String>,
}

impl FieldError {
    pub fn new(field: impl Into<String>, code: FieldErrorCode, message: impl Into<String>) -> Self {
        Self { field: field.into(), code, message: message.into(), record_id: None }
    }

    /// A detail that names the record in the way.
    pub fn about(
        field: impl Into<String>,
        message: impl Into<String>,
        record_id: impl fmt::Display,
    ) -> Self {
        let record_id = Some(record_id.to_string());
        Self {
            field: field.into(),
            code: FieldErrorCode::Conflict,
            message: message.into(),
            record_id,
        }
    }
}

/// The ids of records, for a sentence.
#[must_use]
pub fn listed(ids: &[impl fmt::Display]) -> String {
    const MOST: usize = 10;
    let named: Vec<_> = ids.iter().take(MOST).map(ToString::to_string).collect();
    match ids.len() - named.len() {
        0 => named.join(", "),
        others => format!("{} and {others} more", named.join(", ")),
    }
}

/// A refused request: a code of the catalogue, a sentence for the client, and what is wrong field
/// by field.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    pub code: ErrorCode,
    pub message: String,
    pub details: Vec<FieldError>,
}

impl Problem {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), details: Vec::new() }
    }

    #[must_use]
    pub fn with(mut self, detail: FieldError) -> Self {
        self.details.push(detail);
        self
    }

    /// A request with one bad field.
    pub fn invalid(
        field: impl Into<String>,
        flaw: FieldErrorCode,
        message: impl Into<String>,
    ) -> Self {
        Self::from_details(vec![FieldError::new(field, flaw, message)])
    }

    /// A request with bad fields, of which there is at least one.
    #[must_use]
    pub fn from_details(details: Vec<FieldError>) -> Self {
        let flaws = details.len();
        Self::from_flaws(details, flaws)
    }

    /// A request with so many bad fields, not all of which are named.
    #[must_use]
    pub fn from_flaws(details: Vec<FieldError>, flaws: usize) -> Self {
        let message = match details.as_slice() {
            [only] if flaws == 1 && only.field.is_empty() => only.message.clone(),
            [only] if flaws == 1 => format!("{}: {}", only.field, only.message),
            [] => ErrorCode::InvalidRequest.meaning().to_owned(),
            [first, ..] => format!(
                "{flaws} fields are not valid; the first is {}: {}",
                first.field, first.message
            ),
        };
        Self { code: ErrorCode::InvalidRequest, message, details }
    }

    /// An id in the path that names nothing in the caller's workspace.
    #[must_use]
    pub fn not_found(noun: &str, id: impl fmt::Display) -> Self {
        Self::new(ErrorCode::NotFound, format!("There is no {noun} {id}."))
    }

    /// A name that another record of the kind has.
    #[must_use]
    pub fn name_taken(noun: &str, name: &str, id: impl fmt::Display) -> Self {
        let detail = FieldError::about("name", format!("is the name of {noun} {id}"), &id);
        Self::new(ErrorCode::NameTaken, format!("The {noun} {id} is already named {name:?}."))
            .with(detail)
    }

    /// A value in the body or query that names nothing in the caller's workspace.
    #[must_use]
    pub fn reference_not_found(field: &str, noun: &str, value: impl fmt::Display) -> Self {
        let message = format!("There is no {noun} {value}.");
        Self::new(ErrorCode::NotFound, message.clone()).with(FieldError::new(
            field,
            FieldErrorCode::NotFound,
            message,
        ))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.code.name(), self.message)
    }
}

impl std::error::Error for Problem {}
