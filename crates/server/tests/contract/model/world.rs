//! The plain model of a workspace: records in maps, and the documented rules in as few lines as
//! possible. It is written from the documentation, not from the service, so that the two can
//! disagree. It knows no database, no clock and no form of an id. Each kind of record has its file,
//! as an `impl World`; this one has the dispatch, idempotency keys, events and pages. A new
//! operation is a line in `carry_out`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::answers::{Answer, Outcome, Page, Query, Refusal, Request, Start};
use super::candidates::Candidate;
use super::fields::fold;
use super::jobs::Job;
use super::learned::{placeholder, strings};
use super::persons::{Identifier, Person};

/// The contents of a workspace. Numbers grow in the order in which records are made.
#[derive(Clone, Default)]
pub struct World {
    made: u64,
    pub persons: BTreeMap<u64, Person>,
    pub erased: BTreeSet<u64>,
    /// The persons who have each identifier. It finds the first of them.
    pub identifiers: BTreeMap<Identifier, Vec<u64>>,
    pub jobs: BTreeMap<u64, Job>,
    pub candidates: BTreeMap<u64, Candidate>,
    pub companies: BTreeMap<u64, String>,
    pub statuses: Vec<(u64, String)>,
    cursors: BTreeMap<u64, End>,
    pub kept: BTreeMap<String, Kept>,
    events: Vec<ExpectedEvent>,
}

/// The place behind a page by cursor, and the total of its list.
#[derive(Clone, Copy)]
struct End {
    last: u64,
    total: usize,
}

/// The answer that is kept under an `Idempotency-Key`.
#[derive(Clone)]
pub struct Kept {
    pub request: Request,
    answer: Answer,
}

/// An event that the feed must have.
#[derive(Clone, Debug)]
pub struct ExpectedEvent {
    pub kind: &'static str,
    pub record: String,
    /// The person whose erasure removes the contents.
    pub about: Option<u64>,
    pub data: Value,
    pub id: String,
    pub at: String,
    pub hash: String,
}

impl World {
    /// A workspace without records, but for its statuses.
    pub fn new() -> Self {
        let mut world = Self::default();
        world.statuses = ["Open", "On hold", "Filled", "Closed"]
            .map(|name| (world.next(), name.to_owned()))
            .into();
        world
    }

    /// The answer to a request, and the events that it writes.
    pub fn answer(&mut self, request: &Request, request_id: &str) -> (Answer, Vec<ExpectedEvent>) {
        let kept =
            request.key.as_ref().filter(|_| request.writes()).and_then(|key| self.kept.get(key));
        if let Some(Kept { answer, .. }) = kept.filter(|kept| kept.request.is_like(request)) {
            return (Answer { is_replay: true, ..answer.clone() }, Vec::new());
        }
        let is_other = kept.is_some();
        let before = is_other.then(|| self.clone());
        let outcome = match (self.carry_out(request), before) {
            // A request that is invalid by itself is refused before its key is looked at.
            (Err(flaw), Some(_)) if flaw.status == 400 => Err(flaw),
            (_, Some(before)) => {
                *self = before;
                Err(Refusal::new(409, "IDEMPOTENCY_CONFLICT"))
            }
            (outcome, None) => outcome,
        };
        let events = std::mem::take(&mut self.events);
        let (status, body) =
            outcome.unwrap_or_else(|refusal| (refusal.status, refusal.body(request_id)));
        let answer = Answer { status, body, is_replay: false };
        if let Some(key) = request.key.as_ref().filter(|_| request.writes() && answer.is_success())
        {
            self.kept
                .insert(key.clone(), Kept { request: request.clone(), answer: answer.clone() });
        }
        assert!(
            answer.is_success() || events.is_empty(),
            "a refused request writes no event: {request:?}"
        );
        (answer, events)
    }

    fn carry_out(&mut self, request: &Request) -> Outcome {
        let (query, empty) = (Query::of(request), json!({}));
        let body = request.body.as_ref().unwrap_or(&empty);
        let segments: Vec<_> = request.route().split('/').skip(2).collect();
        match (request.method, segments.as_slice()) {
            ("GET", ["persons"]) => self.list_persons(&query),
            ("POST", ["persons"]) => self.create_person(&query, body),
            ("GET", ["persons", id]) => self.read_person(id),
            ("PATCH", ["persons", id]) => self.update_person(id, body),
            ("DELETE", ["persons", id]) => self.erase_person(id),
            ("GET", ["persons", id, "notes"]) => self.list_notes(id, &query),
            ("POST", ["persons", id, "notes"]) => self.add_note(id, body),
            ("PATCH", ["persons", id, "notes", note]) => self.update_note(id, note, body),
            ("DELETE", ["persons", id, "notes", note]) => self.delete_note(id, note),
            ("GET", ["jobs"]) => self.list_jobs(&query),
            ("POST", ["jobs"]) => self.create_job(body),
            ("GET", ["jobs", id]) => self.read_job(id),
            ("PATCH", ["jobs", id]) => self.update_job(id, body),
            ("GET", ["job-statuses"]) => self.list_statuses(&query),
            ("POST", ["job-statuses"]) => self.add_status(body),
            ("PATCH", ["job-statuses", id]) => self.rename_status(id, body),
            ("GET", ["jobs", id, "stages"]) => self.list_stages(id, &query),
            ("POST", ["jobs", id, "stages"]) => self.add_stage(id, body),
            ("PUT", ["jobs", id, "stages", "order"]) => self.reorder_stages(id, body),
            ("PATCH", ["jobs", id, "stages", stage]) => self.update_stage(id, stage, body),
            ("DELETE", ["jobs", id, "stages", stage]) => self.remove_stage(id, stage, &query),
            ("GET", ["jobs", id, "candidates"]) => self.list_candidates_of_job(id, &query),
            ("POST", ["jobs", id, "candidates"]) => self.add_candidate(id, body),
            ("GET", ["candidates"]) => self.list_all_candidates(&query),
            ("GET", ["candidates", id]) => self.read_candidate(id),
            ("PATCH", ["candidates", id]) => self.move_candidate(id, body),
            ("DELETE", ["candidates", id]) => self.remove_candidate(id),
            _ => Err(Refusal::not_found()),
        }
    }

    pub fn next(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    pub fn new_placeholder(&mut self, kind: &str) -> String {
        placeholder(kind, self.next())
    }

    pub fn moment(&mut self) -> String {
        self.new_placeholder("time")
    }

    pub fn emit(&mut self, kind: &'static str, record: String, about: Option<u64>, data: Value) {
        let [id, at, hash] = ["evt", "time", "hash"].map(|kind| self.new_placeholder(kind));
        self.events.push(ExpectedEvent { kind, record, about, data, id, at, hash });
    }

    /// Emits an event with the fields that differ, if there are any.
    pub fn emit_change(
        &mut self,
        kind: &'static str,
        record: String,
        about: Option<u64>,
        before: &Value,
        after: &Value,
    ) {
        let (before, after) = differences(before, after);
        if after.as_object().is_some_and(|after| !after.is_empty()) {
            self.emit(kind, record, about, json!({ "before": before, "after": after }));
        }
    }

    pub fn company_named(&self, name: &str) -> Option<u64> {
        self.companies
            .iter()
            .find(|(_, known)| fold(known) == fold(name))
            .map(|(number, _)| *number)
    }

    pub fn find_or_make_company(&mut self, name: &str) -> u64 {
        self.company_named(name).unwrap_or_else(|| {
            let number = self.next();
            self.companies.insert(number, name.to_owned());
            self.emit(
                "company.created",
                placeholder("cmp", number),
                None,
                json!({ "before": {}, "after": { "name": name } }),
            );
            number
        })
    }

    /// The name and the id of a company, both empty if there is none.
    pub fn shown_company(&self, company: Option<u64>) -> (String, String) {
        company.map_or_else(Default::default, |number| {
            (self.companies[&number].clone(), placeholder("cmp", number))
        })
    }

    /// A page of entries that are given oldest first. With filters, the total stays that of the
    /// first page.
    pub fn page(
        &mut self,
        page: &Page,
        mut entries: Vec<(u64, Value)>,
        is_filtered: bool,
    ) -> Outcome {
        let Page { start, limit, is_newest_first } = page;
        if *is_newest_first {
            entries.reverse();
        }
        let is_behind =
            |number: u64, last: u64| if *is_newest_first { number < last } else { number > last };
        let mut total = entries.len();
        let skipped = match start {
            Start::Offset(offset) => *offset,
            Start::Cursor(None) => 0,
            Start::Cursor(Some(cursor)) => {
                let end = self.cursors[cursor];
                total = if is_filtered { end.total } else { total };
                entries.iter().take_while(|(number, _)| !is_behind(*number, end.last)).count()
            }
        };
        let has_more = entries.len() > skipped.saturating_add(*limit);
        let shown: Vec<_> = entries.into_iter().skip(skipped).take(*limit).collect();
        let meta = match start {
            Start::Offset(offset) => json!({ "total": total, "offset": offset, "limit": limit }),
            Start::Cursor(_) => {
                let last = shown.last().filter(|_| has_more).map(|(number, _)| *number);
                let next = last.map(|last| self.keep_cursor(End { last, total }));
                json!({ "total": total, "limit": limit, "next_cursor": next })
            }
        };
        let data: Vec<_> = shown.into_iter().map(|(_, entry)| entry).collect();
        Ok((200, json!({ "success": true, "data": data, "meta": meta })))
    }

    fn keep_cursor(&mut self, end: End) -> String {
        let number = self.next();
        self.cursors.insert(number, end);
        placeholder("cursor", number)
    }

    /// Forgets the kept answers in which one of these texts is the value of a field.
    pub fn forget_answers(&mut self, traces: &BTreeSet<String>) {
        self.kept.retain(|_, kept| {
            !strings(&kept.answer.body).into_iter().any(|text| traces.contains(text))
        });
    }
}

/// The fields that differ: their old values and their new ones.
fn differences(before: &Value, after: &Value) -> (Value, Value) {
    let only = |one: &Value, other: &Value| {
        let fields = one.as_object().into_iter().flatten();
        fields
            .filter(|(name, value)| other.get(name.as_str()) != Some(value))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    };
    (only(before, after), only(after, before))
}
