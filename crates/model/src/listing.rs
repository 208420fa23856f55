//! How a list is asked for: a page by offset or by cursor, its order, and the filters that narrow
//! it.

use std::hash::Hasher;

use crate::clock::Timestamp;
use crate::id::{Id, Kind};
use crate::input::Query;
use crate::problem::FieldErrorCode;

pub const MAX_PER_PAGE: i64 = 100;
/// The largest whole number that every JSON client reads exactly.
pub const MAX_OFFSET: i64 = 9_007_199_254_740_991;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Order {
    #[default]
    OldestFirst,
    NewestFirst,
}

/// Where a page begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start<K: Kind> {
    Offset(i64),
    Cursor(Option<Cursor<K>>),
}

/// The end of the page before: the last record, and the total that was counted for the first page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Cursor<K: Kind> {
    pub last: Id<K>,
    pub total: i64,
    /// Ties the cursor to the order and filters that it was made for.
    fingerprint: u32,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page<K: Kind> {
    pub start: Start<K>,
    pub limit: i64,
    pub order: Order,
    fingerprint: u32,
}

/// An offset past which a page may be long in finding.
const FAR: i64 = 1000;

impl<K: Kind> Page<K> {
    /// Whether the page lies far behind the beginning of the list.
    #[must_use]
    pub const fn is_far(&self) -> bool {
        matches!(self.start, Start::Offset(offset) if offset > FAR)
    }

    /// Reads the paging parameters. `filters` is whatever else decides which records the list
    /// holds.
    pub fn read(query: &mut Query, filters: &impl std::hash::Hash) -> Self {
        let limit = query
            .parsed(
                "limit",
                FieldErrorCode::OutOfRange,
                &format!("a whole number from 1 to {MAX_PER_PAGE}"),
                |written| {
                    whole_number(written).filter(|number| (1..=MAX_PER_PAGE).contains(number))
                },
            )
            .unwrap_or(MAX_PER_PAGE);
        let order = query
            .parsed("sort", FieldErrorCode::InvalidValue, "created_at or -created_at", |written| {
                match written {
                    "created_at" => Some(Order::OldestFirst),
                    "-created_at" => Some(Order::NewestFirst),
                    _ => None,
                }
            })
            .unwrap_or_default();
        let fingerprint = fingerprint(order, filters);
        let offset = read_offset(query);
        let start = match query.raw("cursor") {
            Some(written) if written.is_empty() => Start::Cursor(None),
            Some(written) => {
                let cursor = Cursor::parse(&written);
                if cursor.is_none() {
                    query.refuse(
                        "cursor",
                        FieldErrorCode::InvalidValue,
                        "must be empty or the next_cursor of the previous page",
                    );
                }
                Start::Cursor(cursor)
            }
            None => Start::Offset(offset),
        };
        Self { start, limit, order, fingerprint }
    }

    /// The total that the caller knows from the page before, if that page was of the same list.
    #[must_use]
    pub fn known_total(&self) -> Option<i64> {
        match self.start {
            Start::Cursor(Some(cursor)) if cursor.fingerprint == self.fingerprint => {
                Some(cursor.total)
            }
            _ => None,
        }
    }

    /// The cursor that goes on behind `last`.
    #[must_use]
    pub const fn cursor_after(&self, last: Id<K>, total: i64) -> Cursor<K> {
        Cursor { last, total, fingerprint: self.fingerprint }
    }
}

impl<K: Kind> Cursor<K> {
    fn parse(written: &str) -> Option<Self> {
        let (last, rest) = written.split_once('.')?;
        let (total, fingerprint) = rest.split_once('.')?;
        Some(Self {
            last: Id::parse(last)?,
            total: whole_number(total)?,
            fingerprint: u32::from_str_radix(fingerprint, 16).ok()?,
        })
    }

    #[must_use]
    pub fn write(&self) -> String {
        format!("{}.{}.{:08x}", self.last, self.total, self.fingerprint)
    }
}

/// How many records to skip; absent, empty and `null` are 0.
fn read_offset(query: &mut Query) -> i64 {
    let expected = format!("a whole number from 0 to {MAX_OFFSET}");
    let offset =
        query.parsed("offset", FieldErrorCode::OutOfRange, &expected, |written| match written {
            "" | "null" => Some(0),
            _ => whole_number(written).filter(|number| *number <= MAX_OFFSET),
        });
    offset.unwrap_or(0)
}

/// Digits and nothing else.
#[must_use]
pub fn whole_number(written: &str) -> Option<i64> {
    let plain = !written.is_empty() && written.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| written.parse().ok())?
}

/// The same on every server of one version, since a cursor may travel between them. A cursor of
/// another version only has its total counted anew.
fn fingerprint(order: Order, filters: &impl std::hash::Hash) -> u32 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    hasher.write_u8(u8::from(order == Order::NewestFirst));
    filters.hash(&mut hasher);
    (hasher.finish() ^ (hasher.finish() >> 32)) as u32
}

struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// The filters that every list has.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Default)]
pub struct TimeFilter {
    pub created_after: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
    pub updated_after: Option<Timestamp>,
    pub updated_before: Option<Timestamp>,
}

impl TimeFilter {
    pub fn read(query: &mut Query) -> Self {
        Self {
            created_after: query.after("created_after"),
            created_before: query.before("created_before"),
            updated_after: query.after("updated_after"),
            updated_before: query.before("updated_before"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::id::{self, JobId};
    use crate::problem::Problem;

    fn read(query: &str) -> Result<Page<id::Job>, Problem> {
        let mut query = Query::new(query);
        let page = Page::read(&mut query, &());
        query.finish(page)
    }

    #[test]
    fn without_parameters_a_page_is_the_first_hundred() {
        for query in ["", "offset=", "offset=null", "offset=0"] {
            let page = read(query).unwrap();
            assert_eq!(
                (page.start, page.limit, page.order),
                (Start::Offset(0), 100, Order::OldestFirst),
                "{query}"
            );
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        for query in [
            "limit=0",
            "limit=101",
            "limit=",
            "limit=null",
            "limit=ten",
            "limit=1.0",
            "limit=%2B1",
            "offset=-1",
            "offset=1.5",
            "offset=1e3",
            "offset=9007199254740992",
            "offset=99999999999999999999999",
            "sort=name",
            "sort=",
            "cursor=x",
            "limit=1&limit=1",
        ] {
            assert!(read(query).is_err(), "{query}");
        }
        assert_eq!(read("limit=0&offset=-1").unwrap_err().details.len(), 2);
    }

    #[test]
    fn a_cursor_carries_its_total_to_the_same_list_only() {
        let page = read("cursor=").unwrap();
        let cursor = page.cursor_after(JobId::at(Timestamp::from_millis(5), 5), 3).write();
        assert_eq!(read(&format!("cursor={cursor}")).unwrap().known_total(), Some(3));
        assert_eq!(read(&format!("cursor={cursor}&sort=-created_at")).unwrap().known_total(), None);
        assert_eq!(read(&format!("cursor={cursor}&offset=7")).unwrap().known_total(), Some(3));
    }

    proptest! {
        #[test]
        fn a_cursor_survives_being_written_and_read(random: u128, total in 0..i64::MAX,
            fingerprint: u32) {
            let cursor = Cursor { last: JobId::at(Timestamp::from_millis(1_000), random), total,
                fingerprint };
            prop_assert_eq!(Cursor::parse(&cursor.write()), Some(cursor));
        }

        #[test]
        fn every_offset_and_limit_within_bounds_is_taken(offset in 0..=MAX_OFFSET,
            limit in 1..=MAX_PER_PAGE) {
            let page = read(&format!("offset={offset}&limit={limit}")).unwrap();
            prop_assert_eq!((page.start, page.limit), (Start::Offset(offset), limit));
        }
    }
}
