//! Lists: which rows they hold, and how a page of them is found.
//!
//! The records of a list are numbered in the order in which they were made, without gaps, or with
//! gaps that are known ([`super::position_gaps`]). So a list without filters knows its total and
//! finds any page by its numbers, whatever the depth. With filters the total is counted once and
//! the page found from the start (by offset) or from the last record seen (by cursor). Persons with
//! filters are listed by [`super::person_filter`].

use slated_model::clock::Timestamp;
use slated_model::id::Kind;
use slated_model::listing::{Cursor, Order, Page, Start, TimeFilter};

use crate::driver::param::Param;
use crate::driver::row::Row;
use crate::error::StoreError;
use crate::records::places;
use crate::tx::Tx;

/// What a list gives back: a page, and the number of all records that match.
#[derive(Clone, Debug)]
pub struct PageResult<T> {
    pub records: Vec<T>,
    pub total: i64,
    /// True if there are records behind this page. Known only to a page by cursor.
    pub more: bool,
}

/// The conditions of a statement, with their values.
pub struct Conditions<'p> {
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

    /// Narrows the list to records whose `column` holds one of the values, of which there is at
    /// least one.
    pub(super) fn filter_among(
        &mut self,
        column: &str,
        values: impl IntoIterator<Item = impl Into<Param<'p>>>,
    ) {
        self.filtered = true;
        let first = self.params.len() + 1;
        self.params.extend(values.into_iter().map(Into::into));
        self.sql.push_str(&format!(
            " AND {column} IN ({})",
            places(self.params.len() + 1 - first, first)
        ));
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

    /// Goes on from somewhere in the list, which makes it no shorter list.
    pub(super) fn narrow(&mut self, condition: &str, value: impl Into<Param<'p>>) {
        self.push(condition, value.into());
    }

    pub(super) fn sql(&self) -> &str {
        &self.sql
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

    /// The statement for a page, which begins `from` there.
    pub(super) fn page<K: Kind>(
        mut self,
        select: &str,
        alias: &str,
        page: &Page<K>,
        total: i64,
        from: PageStart,
    ) -> (String, Vec<Param<'p>>) {
        let newest_first = page.order == Order::NewestFirst;
        let mut tail = String::new();
        match page.start {
            Start::Cursor(cursor) => {
                if cursor.is_some() && newest_first {
                    self.push(&format!("{alias}.position < {{}}"), from.first_after.into());
                } else if cursor.is_some() {
                    self.push(&format!("{alias}.position > {{}}"), from.last_before.into());
                }
                tail = format!(" LIMIT {}", page.limit + 1);
            }
            Start::Offset(offset) if self.filtered => {
                tail = format!(" LIMIT {} OFFSET {offset}", page.limit)
            }
            Start::Offset(offset) => match from.first_of_page {
                Some(first) => {
                    let sign = if newest_first { "<=" } else { ">=" };
                    self.push(&format!("{alias}.position {sign} {{}}"), first.into());
                    tail = format!(" LIMIT {}", page.limit);
                }
                None if newest_first => {
                    self.push(&format!("{alias}.position <= {{}}"), (total - offset).into());
                    self.push(
                        &format!("{alias}.position > {{}}"),
                        (total - offset - page.limit).into(),
                    );
                }
                None => {
                    self.push(&format!("{alias}.position > {{}}"), offset.into());
                    self.push(
                        &format!("{alias}.position <= {{}}"),
                        (offset.saturating_add(page.limit)).into(),
                    );
                }
            },
        }
        let direction = if newest_first { " DESC" } else { "" };
        (
            format!("{select} WHERE {} ORDER BY {alias}.position{direction}{tail}", self.sql),
            self.params,
        )
    }
}

/// Where a page begins: where the id of a cursor stands among the records of the list, on one or
/// between two, or with which record.
#[derive(Clone, Copy, Default)]
pub(super) struct PageStart {
    /// The number of the last record that is not behind the id.
    last_before: i64,
    /// The number of the first record that is not before the id.
    first_after: i64,
    /// The number of the record that a page by offset begins with, where it does not follow from
    /// the offset.
    pub(super) first_of_page: Option<i64>,
}

/// Finds the place of a cursor's id. The record is usually there; if it is gone, or never was in
/// this list, the ids around it are, in order. `number_of` finds the number of the record `?1`,
/// `id_at` the id of the record with the number `?1`, or the next behind it if there is none; both
/// may use `scope` from `?2` on, and `last_number` is the last of them.
pub(super) async fn place<K: Kind>(
    tx: &mut Tx,
    page: &Page<K>,
    last_number: i64,
    number_of: &str,
    id_at: &str,
    scope: &[Param<'_>],
) -> Result<PageStart, StoreError> {
    let Start::Cursor(Some(Cursor { last, .. })) = page.start else {
        return Ok(PageStart::default());
    };
    let with_scope = |value: Param<'static>| [&[value], scope].concat();
    if let Some(number) = tx.row(number_of, &with_scope(last.into()), |row| row.int(0)).await? {
        return Ok(PageStart { last_before: number, first_after: number, first_of_page: None });
    }
    let (mut before, mut after) = (0, last_number + 1);
    while after - before > 1 {
        let middle = before + (after - before) / 2;
        match tx.row(id_at, &with_scope(middle.into()), |row| row.id::<K>(0)).await? {
            Some(id) if id <= last => before = middle,
            _ => after = middle,
        }
    }
    Ok(PageStart { last_before: before, first_after: after, first_of_page: None })
}

/// A page of a list that is short enough to be counted, in the order of ids. It is given as a
/// select without conditions, what comes from its `FROM` on, and the alias of the table.
pub(super) async fn list_counted<T, K: Kind>(
    tx: &mut Tx,
    page: &Page<K>,
    mut conditions: Conditions<'_>,
    (select, from, alias): (&str, &str, &str),
    map: fn(&Row<'_>) -> Result<T, StoreError>,
) -> Result<PageResult<T>, StoreError> {
    let total = match page.known_total().filter(|_| conditions.is_filtered()) {
        Some(total) => total,
        None => tx
            .row(&conditions.count(from), conditions.params(), |row| row.int(0))
            .await?
            .unwrap_or(0),
    };
    let (sign, direction) = match page.order {
        Order::OldestFirst => (">", ""),
        Order::NewestFirst => ("<", " DESC"),
    };
    let (limit, offset) = match page.start {
        Start::Offset(offset) => (page.limit, offset),
        Start::Cursor(cursor) => {
            if let Some(cursor) = cursor {
                conditions.narrow(&format!("{alias}.id {sign} {{}}"), cursor.last);
            }
            (page.limit + 1, 0)
        }
    };
    let sql = format!(
        "{select} WHERE {} ORDER BY {alias}.id{direction} LIMIT {limit} OFFSET {offset}",
        conditions.sql()
    );
    let records = tx.rows(&sql, conditions.params(), map).await?;
    Ok(finish(records, total, page))
}

/// Cuts off the record that was read only to see whether there is one.
pub(super) fn finish<T, K: Kind>(mut records: Vec<T>, total: i64, page: &Page<K>) -> PageResult<T> {
    let limit = usize::try_from(page.limit).unwrap_or(0);
    let more = records.len() > limit;
    records.truncate(limit);
    PageResult { records, total, more }
}

/// A pattern that finds the folded text anywhere.
pub(super) fn contains(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in slated_model::text::comparison_key(text).chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}
