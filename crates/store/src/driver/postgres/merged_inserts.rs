//! Inserts that nobody waits for, made one statement: each statement costs more than the row that
//! it writes.

use std::sync::Arc;

use crate::driver::postgres::value::Owned;

/// Statements that become one at most.
const MOST: usize = 8;

/// A statement that waits to be sent.
pub(crate) struct Queued {
    pub(crate) sql: Arc<str>,
    pub(crate) params: Vec<Owned>,
    /// Who waits for its answer.
    pub(crate) ticket: Option<usize>,
}

impl Queued {
    /// What inserts rows and does nothing else neither sees nor disturbs others that do.
    pub(crate) fn only_inserts(&self) -> bool {
        self.ticket.is_none()
            && self.sql.starts_with("INSERT INTO ")
            && !self.sql.contains(" ON CONFLICT ")
            && !self.sql.contains("SELECT")
    }
}

/// Puts inserts that follow each other into one statement.
pub(crate) fn merge(queue: Vec<Queued>) -> Vec<Queued> {
    let mut merged: Vec<Queued> = Vec::with_capacity(queue.len());
    let mut group: Vec<Queued> = Vec::new();
    for queued in queue {
        let joins = queued.only_inserts();
        if !joins || group.len() == MOST {
            merged.extend(one_of(std::mem::take(&mut group)));
        }
        match joins {
            true => group.push(queued),
            false => merged.push(queued),
        }
    }
    merged.extend(one_of(group));
    merged
}

/// PostgreSQL runs the statement at the end first, and then those in front of it from the last to
/// the first. So they are written in reverse: who waits for what others insert waits in the order
/// in which it was told, and no two wait for each other who were told in the same order.
fn one_of(group: Vec<Queued>) -> Option<Queued> {
    let mut group = group.into_iter();
    let first = group.next()?;
    if group.len() == 0 {
        return Some(first);
    }
    let mut sql = String::from("WITH ");
    let mut params = Vec::new();
    for (number, queued) in group.rev().enumerate() {
        let comma = if number > 0 { ", " } else { "" };
        sql.push_str(&format!("{comma}insert_{number} AS ("));
        sql.push_str(&shifted(&queued.sql, params.len()));
        sql.push(')');
        params.extend(queued.params);
    }
    sql.push(' ');
    sql.push_str(&shifted(&first.sql, params.len()));
    params.extend(first.params);
    Some(Queued { sql: sql.into(), params, ticket: None })
}

/// The statement with its parameters behind others.
fn shifted(statement: &str, shift: usize) -> String {
    with_params(statement, |number| format!("?{}", number + shift))
}

/// The statement with something else in the place of each parameter.
pub(crate) fn with_params(statement: &str, name: impl Fn(usize) -> String) -> String {
    let mut sql = String::with_capacity(statement.len() * 2);
    let mut rest = statement;
    while let Some(mark) = rest.find('?') {
        sql.push_str(&rest[..mark]);
        rest = &rest[mark + 1..];
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        sql.push_str(&name(rest[..digits].parse().unwrap_or(0)));
        rest = &rest[digits..];
    }
    sql.push_str(rest);
    sql
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queued(sql: &str, numbers: &[i64]) -> Queued {
        Queued {
            sql: sql.into(),
            params: numbers.iter().map(|number| Owned::Int(*number)).collect(),
            ticket: None,
        }
    }

    fn sql_of(queue: Vec<Queued>) -> Vec<String> {
        merge(queue).into_iter().map(|queued| queued.sql.to_string()).collect()
    }

    #[test]
    fn inserts_become_one_that_carries_them_out_in_order() {
        let queue = vec![
            queued("INSERT INTO a (x, y) VALUES (?1, ?2)", &[1, 2]),
            queued("INSERT INTO b (x) VALUES (?1), (?1)", &[3]),
        ];
        let merged = merge(queue);
        assert_eq!(merged.len(), 1);
        assert_eq!(
            &*merged[0].sql,
            "WITH insert_0 AS (INSERT INTO b (x) VALUES (?1), (?1)) INSERT INTO a (x, y) VALUES \
             (?2, ?3)"
        );
        assert_eq!(format!("{:?}", merged[0].params), "[Int(3), Int(1), Int(2)]");
    }

    #[test]
    fn what_does_more_than_insert_stays_alone() {
        let update = "UPDATE a SET x = ?1";
        let insert = "INSERT INTO a (x) VALUES (?1)";
        let upsert = "INSERT INTO a (x) VALUES (?1) ON CONFLICT (x) DO NOTHING";
        let queue =
            || [insert, update, insert, upsert].map(|sql| queued(sql, &[1])).into_iter().collect();
        assert_eq!(sql_of(queue()), [insert, update, insert, upsert]);
        let asked = Queued { ticket: Some(0), ..queued(insert, &[1]) };
        assert_eq!(sql_of(vec![queued(insert, &[1]), asked]), [insert, insert]);
    }
}
