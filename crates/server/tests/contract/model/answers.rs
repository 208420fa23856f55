//! Requests as the model takes them, and answers as it writes them.

use serde_json::{Value, json};

use super::learned::{SENTENCE, number};

/// A request, with placeholders for ids and cursors.
#[derive(Clone, PartialEq, Debug)]
pub struct Request {
    pub method: &'static str,
    /// With its query.
    pub path: String,
    pub body: Option<Value>,
    /// The `Idempotency-Key`.
    pub key: Option<String>,
}

impl Request {
    pub fn new(
        method: &'static str,
        path: impl Into<String>,
        body: impl Into<Option<Value>>,
    ) -> Self {
        Self { method, path: path.into(), body: body.into(), key: None }
    }

    pub fn read(path: impl Into<String>) -> Self {
        Self::new("GET", path, None)
    }

    pub fn writes(&self) -> bool {
        self.method != "GET"
    }

    /// The path without its query.
    pub fn route(&self) -> &str {
        self.path.split('?').next().unwrap_or_default()
    }

    /// Whether the two are the same but for their keys.
    pub fn is_like(&self, other: &Self) -> bool {
        (self.method, &self.path, &self.body) == (other.method, &other.path, &other.body)
    }
}

/// The answer that the service must give.
#[derive(Clone, Debug)]
pub struct Answer {
    pub status: u16,
    pub body: Value,
    /// Whether it is an earlier answer, given again.
    pub is_replay: bool,
}

impl Answer {
    pub fn is_success(&self) -> bool {
        self.status < 300
    }

    /// The placeholder of the next cursor, if there is a next page.
    pub fn next_cursor(&self) -> Option<&str> {
        self.body["meta"]["next_cursor"].as_str()
    }
}

/// Status and body, or the refusal.
pub type Outcome = Result<(u16, Value), Refusal>;

pub fn record(status: u16, data: impl Into<Value>) -> Outcome {
    Ok((status, json!({ "success": true, "data": data.into() })))
}

pub fn message(text: &str) -> Outcome {
    record(200, json!({ "message": text }))
}

#[derive(Clone, Debug)]
pub struct Refusal {
    pub status: u16,
    code: &'static str,
    details: Vec<Value>,
}

impl Refusal {
    pub fn new(status: u16, code: &'static str) -> Self {
        Self { status, code, details: Vec::new() }
    }

    /// A bad field.
    pub fn flaw(field: impl Into<String>, code: &str) -> Self {
        Self::new(400, "INVALID_REQUEST").with(field, code)
    }

    pub fn not_found() -> Self {
        Self::new(404, "NOT_FOUND")
    }

    /// A field that names no record.
    pub fn names_nothing(field: impl Into<String>) -> Self {
        Self::not_found().with(field, "NOT_FOUND")
    }

    pub fn with(mut self, field: impl Into<String>, code: &str) -> Self {
        self.details.push(json!({ "field": field.into(), "code": code, "message": SENTENCE }));
        self
    }

    /// A record that is in the way.
    pub fn about(mut self, field: &str, record: impl Into<String>) -> Self {
        self.details.push(json!({ "field": field, "code": "CONFLICT", "message": SENTENCE,
            "record_id": record.into() }));
        self
    }

    /// The refusal with the details of both.
    pub fn and(mut self, other: Self) -> Self {
        self.details.extend(other.details);
        self
    }

    pub fn body(&self, request_id: &str) -> Value {
        let Self { code, details, .. } = self;
        json!({ "success": false, "error": { "code": code, "message": SENTENCE, "details": details,
            "request_id": request_id } })
    }
}

/// The parameters of a request.
pub struct Query<'r>(Vec<(&'r str, String)>);

impl<'r> Query<'r> {
    pub fn of(request: &'r Request) -> Self {
        let query = request.path.split_once('?').map_or("", |(_, query)| query);
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        Self(
            pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(name, value)| (name, value.replace("%20", " ")))
                .collect(),
        )
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_str())
    }

    /// Refuses any other parameter.
    pub fn expect_only(&self, known: &[&str]) -> Result<(), Refusal> {
        match self.0.iter().find(|(name, _)| !known.contains(name)) {
            Some((name, _)) => Err(Refusal::flaw(*name, "UNKNOWN_FIELD")),
            None => Ok(()),
        }
    }

    /// A parameter that must be one of these words.
    pub fn choice<'q>(&'q self, name: &str, words: &[&str]) -> Result<Option<&'q str>, Refusal> {
        match self.get(name) {
            Some(written) if !words.contains(&written) => Err(Refusal::flaw(name, "INVALID_VALUE")),
            written => Ok(written),
        }
    }

    fn number(
        &self,
        name: &str,
        bounds: std::ops::RangeInclusive<usize>,
    ) -> Result<Option<usize>, Refusal> {
        let Some(written) = self.get(name) else { return Ok(None) };
        let number = written.parse().ok().filter(|number| bounds.contains(number));
        number.map(Some).ok_or_else(|| Refusal::flaw(name, "OUT_OF_RANGE"))
    }
}

pub struct Page {
    pub start: Start,
    pub limit: usize,
    pub is_newest_first: bool,
}

pub enum Start {
    Offset(usize),
    /// The number of the cursor; none for the first page.
    Cursor(Option<u64>),
}

impl Page {
    /// Reads the parameters of a list with these filters.
    pub fn read(query: &Query<'_>, filters: &[&str]) -> Result<Self, Refusal> {
        let is_newest_first =
            query.choice("sort", &["created_at", "-created_at"])? == Some("-created_at");
        let limit = query.number("limit", 1..=100)?.unwrap_or(100);
        let start = match query.get("cursor") {
            None => Start::Offset(query.number("offset", 0..=9_007_199_254_740_991)?.unwrap_or(0)),
            Some("") => Start::Cursor(None),
            Some(written) => {
                let cursor = number("cursor", written)
                    .ok_or_else(|| Refusal::flaw("cursor", "INVALID_VALUE"))?;
                Start::Cursor(Some(cursor))
            }
        };
        query.expect_only(&[&["sort", "limit", "cursor", "offset"], filters].concat())?;
        Ok(Self { start, limit, is_newest_first })
    }
}
