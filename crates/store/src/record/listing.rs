//! Lists: which rows they hold, and how a page of them is found.
//!
//! The records of a list are numbered without gaps in the order in which they were made. So a list without filters knows its
//! total and finds any page by its numbers, whatever the depth. With filters the total is counted once and the page found from
//! the start (by offset) or from the last record seen (by cursor).

use model::clock::Timestamp;
use model::id::Kind;
use model::listing::{Order, Page, Start, TimeFilter};

use crate::Param;

/// What a list gives back: a page, and the number of all records that match.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    pub records: Vec<T>,
    pub total: i64,
    /// True if there are records behind this page. Known only to a page by cursor.
    pub more: bool,
}

/// The conditions of a statement, with their values.
pub(super) struct Conditions<'p> {
    sql: String,
    params: Vec<Param<'p>>,
    filtered: bool,
}

impl<'p> Conditions<'p> {
    /// Begins with what every row of the list has in common.
    pub(super) fn new(scope: &str, params: Vec<Param<'p>>) -> Self {
        Self { sql: scope.to_owned(), params, filtered: false }
    }

    fn push(&mut self, condition: &str, value: Param<'p>) {
        self.params.push(value);
        let place = format!("?{}", self.params.len());
        self.sql.push_str(" AND ");
        self.sql.push_str(&condition.replace("{}", &place));
    }

    /// Narrows the list. `condition` holds `{}` where the value goes.
    pub(super) fn filter(&mut self, condition: &str, value: impl Into<Param<'p>>) {
        self.filtered = true;
        self.push(condition, value.into());
    }

    pub(super) fn filter_times(&mut self, alias: &str, times: &TimeFilter) {
        let mut bound = |moment: Option<Timestamp>, column: &str, sign: &str| {
            if let Some(moment) = moment {
                self.filter(&format!("{alias}.{column} {sign} {{}}"), moment);
            }
        };
        bound(times.created_after, "created_at", ">");
        bound(times.created_before, "created_at", "<");
        bound(times.updated_after, "updated_at", ">");
        bound(times.updated_before, "updated_at", "<");
    }

    pub(super) const fn is_filtered(&self) -> bool {
        self.filtered
    }

    pub(super) fn count(&self, from: &str) -> String {
        format!("SELECT COUNT(*) {from} WHERE {}", self.sql)
    }

    pub(super) fn params(&self) -> &[Param<'p>] {
        &self.params
    }

    /// The statement for a page. `place_of` is a statement's text that gives the number of the record `{}`.
    pub(super) fn page<K: Kind>(
        mut self,
        select: &str,
        alias: &str,
        page: &Page<K>,
        total: i64,
        place_of: &str,
    ) -> (String, Vec<Param<'p>>) {
        let newest_first = page.order == Order::NewestFirst;
        let mut tail = String::new();
        match page.start {
            Start::Cursor(cursor) => {
                if let Some(cursor) = cursor {
                    let sign = if newest_first { "<" } else { ">" };
                    self.push(&format!("{alias}.position {sign} ({place_of})"), cursor.last.into());
                }
                tail = format!(" LIMIT {}", page.limit + 1);
            }
            Start::Offset(offset) if self.filtered => tail = format!(" LIMIT {} OFFSET {offset}", page.limit),
            Start::Offset(offset) if newest_first => {
                self.push(&format!("{alias}.position <= {{}}"), (total - offset).into());
                self.push(&format!("{alias}.position > {{}}"), (total - offset - page.limit).into());
            }
            Start::Offset(offset) => {
                self.push(&format!("{alias}.position > {{}}"), offset.into());
                self.push(&format!("{alias}.position <= {{}}"), (offset.saturating_add(page.limit)).into());
            }
        }
        let direction = if newest_first { " DESC" } else { "" };
        (format!("{select} WHERE {} ORDER BY {alias}.position{direction}{tail}", self.sql), self.params)
    }
}

/// Cuts off the record that was read only to see whether there is one.
pub(super) fn finish<T, K: Kind>(mut records: Vec<T>, total: i64, page: &Page<K>) -> Listed<T> {
    let limit = usize::try_from(page.limit).unwrap_or(0);
    let more = records.len() > limit;
    records.truncate(limit);
    Listed { records, total, more }
}

/// A pattern that finds the folded text anywhere.
pub(super) fn contains(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in model::text::fold(text).chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}
