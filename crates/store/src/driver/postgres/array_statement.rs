//! Statements of one text that wait together, made one over arrays of their parameters: a statement
//! costs more than the row that it is about.

use std::sync::Arc;

use tokio_postgres::types::Type;

use crate::driver::postgres::merged_inserts::{Queued, merge, with_params};
use crate::driver::postgres::pool::Connection;
use crate::driver::postgres::value::Owned;
use crate::schema::TABLES;

/// Fewer of one text are sent as they are.
const FEWEST: usize = 8;

/// What is sent as one statement.
pub(crate) enum Outgoing {
    One(Queued),
    ArrayStatement(ArrayStatement),
}

/// Statements of one text.
pub(crate) struct ArrayStatement {
    sql: Arc<str>,
    /// Who waits for the answer of each. Of a question that is asked again at once those who asked
    /// it.
    tickets: Vec<Vec<usize>>,
    /// For each parameter its value in each of them.
    columns: Vec<Owned>,
}

/// Who waits for the answer to what is sent.
pub(crate) enum Recipient {
    One(Option<usize>),
    /// The rows end with the number of the question that they answer.
    Many(Vec<Vec<usize>>),
}

impl Outgoing {
    pub(crate) fn sql(&self) -> &str {
        match self {
            Self::One(one) => &one.sql,
            Self::ArrayStatement(many) => many.sql(),
        }
    }

    /// Whether it can be sent without the server being asked first.
    pub(crate) fn is_prepared(&self, connection: &Connection) -> bool {
        match self {
            Self::One(one) => connection.prepared(&one.sql).is_some(),
            Self::ArrayStatement(many) => connection
                .prepared(&many.sql)
                .is_some_and(|one| connection.prepared(&many.over_arrays(one.params())).is_some()),
        }
    }

    pub(crate) fn params(&self) -> &[Owned] {
        match self {
            Self::One(one) => &one.params,
            Self::ArrayStatement(many) => &many.columns,
        }
    }

    pub(crate) fn into_parts(self) -> (Vec<Owned>, Recipient) {
        match self {
            Self::One(one) => (one.params, Recipient::One(one.ticket)),
            Self::ArrayStatement(many) => (many.columns, Recipient::Many(many.tickets)),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StatementKind {
    /// Writes rows, and neither sees nor disturbs others that do.
    Insert,
    /// Only looks.
    Question,
    Other,
}

fn kind_of(queued: &Queued) -> StatementKind {
    if queued.only_inserts() {
        return StatementKind::Insert;
    }
    // What is only kept from others is seen by all as before.
    let looked_at = queued.sql.split_once(" FOR KEY SHARE").map_or(&*queued.sql, |(sql, _)| sql);
    let is_question =
        queued.ticket.is_some() && looked_at.starts_with("SELECT ") && !looked_at.contains(" FOR ");
    // What has no parameters has nothing that an array could be made of.
    match is_question && !queued.params.is_empty() {
        true => StatementKind::Question,
        false => StatementKind::Other,
    }
}

/// What becomes of statements that wait together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Coalescing {
    /// All are sent as they are.
    Nothing,
    /// Inserts that follow each other become one.
    Inserts,
    /// Those of one text become one too. That is for many: a plan for all of them knows less than
    /// one for each.
    Alike,
}

/// Makes few statements of those that wait. The last stays as it is if somebody may wait for its
/// rows without a ticket.
pub(crate) fn gather(
    mut queue: Vec<Queued>,
    keeps_last: bool,
    joining: Coalescing,
) -> Vec<Outgoing> {
    let last = queue.pop_if(|last| keeps_last && last.ticket.is_none());
    match joining {
        Coalescing::Nothing => return queue.into_iter().chain(last).map(Outgoing::One).collect(),
        Coalescing::Inserts => {
            return merge(queue).into_iter().chain(last).map(Outgoing::One).collect();
        }
        Coalescing::Alike => {}
    }
    let mut sent = Vec::with_capacity(queue.len());
    let mut run: Vec<Queued> = Vec::new();
    let mut kind = StatementKind::Other;
    for queued in queue {
        let next = kind_of(&queued);
        if next != kind {
            sent.extend(gather_run(std::mem::take(&mut run), kind));
            kind = next;
        }
        run.push(queued);
    }
    sent.extend(gather_run(run, kind));
    sent.extend(last.map(Outgoing::One));
    sent
}

fn gather_run(run: Vec<Queued>, kind: StatementKind) -> Vec<Outgoing> {
    if kind == StatementKind::Other || run.len() < FEWEST {
        return merge(run).into_iter().map(Outgoing::One).collect();
    }
    let mut groups: Vec<Vec<Queued>> = Vec::new();
    for queued in run {
        match groups.iter_mut().find(|group| group[0].sql == queued.sql) {
            Some(group) => group.push(queued),
            None => groups.push(vec![queued]),
        }
    }
    if kind == StatementKind::Insert {
        // What a row points at is written before it.
        groups.sort_by_key(|group| place(&group[0].sql));
    }
    groups.into_iter().flat_map(send_group).collect()
}

fn send_group(group: Vec<Queued>) -> Vec<Outgoing> {
    match group.len() < FEWEST {
        true => group.into_iter().map(Outgoing::One).collect(),
        false => vec![Outgoing::ArrayStatement(ArrayStatement::of(group))],
    }
}

/// Where the table of an insert stands among all tables; those that no other points at come last.
fn place(insert: &str) -> usize {
    let table = insert.split_ascii_whitespace().nth(2).unwrap_or_default();
    TABLES.iter().position(|known| *known == table).unwrap_or(TABLES.len())
}

impl ArrayStatement {
    fn of(group: Vec<Queued>) -> Self {
        let sql = group.first().map_or_else(|| Arc::from(""), |queued| Arc::clone(&queued.sql));
        let width = group.first().map_or(0, |queued| queued.params.len());
        let mut tickets: Vec<Vec<usize>> = Vec::with_capacity(group.len());
        let mut columns: Vec<Vec<Owned>> =
            (0..width).map(|_| Vec::with_capacity(group.len())).collect();
        for queued in group {
            match (queued.ticket, tickets.last_mut()) {
                (Some(ticket), Some(others))
                    if columns.iter().filter_map(|column| column.last()).eq(&queued.params) =>
                {
                    others.push(ticket)
                }
                _ => {
                    tickets.push(queued.ticket.into_iter().collect());
                    columns
                        .iter_mut()
                        .zip(queued.params)
                        .for_each(|(column, value)| column.push(value));
                }
            }
        }
        Self { sql, tickets, columns: columns.into_iter().map(Owned::List).collect() }
    }

    /// The text of one of them.
    pub(crate) fn sql(&self) -> &str {
        &self.sql
    }

    /// One statement for all, given the types of the parameters. The rows that it finds end with
    /// the number of the question that they answer.
    pub(crate) fn over_arrays(&self, types: &[Type]) -> String {
        let arrays: Vec<_> = types
            .iter()
            .enumerate()
            .map(|(place, ty)| format!("?{}::{}[]", place + 1, ty.name()))
            .collect();
        let names: Vec<_> = (1..=types.len()).map(|number| format!("p{number}")).collect();
        let (arrays, names) = (arrays.join(", "), names.join(", "));
        let filled = |sql: &str| with_params(sql, |number| format!("given.p{number}"));
        match self.sql.split_once(" VALUES ") {
            Some((head, rows)) if self.sql.starts_with("INSERT INTO ") => {
                let tuples = tuples(rows);
                if let [tuple] = tuples.as_slice() {
                    return format!(
                        "{head} SELECT {} FROM unnest({arrays}) AS given ({names})",
                        filled(tuple)
                    );
                }
                let selects: Vec<_> = tuples
                    .into_iter()
                    .map(|tuple| format!("SELECT {} FROM given", filled(tuple)))
                    .collect();
                format!(
                    "WITH given ({names}) AS (SELECT * FROM unnest({arrays})) {head} {}",
                    selects.join(" UNION ALL ")
                )
            }
            // Each is answered by itself, however few rows there seem to be at the moment.
            _ => format!(
                "SELECT found.*, given.number FROM unnest({arrays}) WITH ORDINALITY AS given \
                 ({names}, number) \
                 CROSS JOIN LATERAL (SELECT * FROM ({}) AS one OFFSET 0) AS found",
                filled(&self.sql)
            ),
        }
    }
}

/// What stands in each of the brackets of `(…), (…)`.
fn tuples(rows: &str) -> Vec<&str> {
    let (mut found, mut depth, mut start) = (Vec::new(), 0, 0);
    for (place, character) in rows.char_indices() {
        match character {
            '(' => {
                depth += 1;
                if depth == 1 {
                    start = place + 1;
                }
            }
            ')' => {
                depth -= 1;
                if depth == 0 {
                    found.push(&rows[start..place]);
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const PERSON: &str = "INSERT INTO person (workspace_id, id) VALUES (?1, ?2)";
    const COMPANY: &str = "INSERT INTO company (workspace_id, id) VALUES (?1, ?2)";
    const LOOK: &str = "SELECT id FROM company WHERE workspace_id = ?1 AND id = ?2";

    fn queued(sql: &str, number: i64, ticket: Option<usize>) -> Queued {
        Queued { sql: sql.into(), params: vec![Owned::Int(1), Owned::Int(number)], ticket }
    }

    fn texts(sent: &[Outgoing]) -> Vec<(&str, usize)> {
        let count = |sent: &Outgoing| match sent {
            Outgoing::One(_) => 1,
            Outgoing::ArrayStatement(many) => many.tickets.len(),
        };
        sent.iter().map(|sent| (sent.sql(), count(sent))).collect()
    }

    #[test]
    fn many_of_one_text_become_one_and_few_stay() {
        let many = (0..9).map(|number| queued(PERSON, number, None)).collect();
        assert_eq!(texts(&gather(many, false, Coalescing::Alike)), [(PERSON, 9)]);
        let with_last = (0..9)
            .map(|number| queued(LOOK, number, Some(number as usize).filter(|ticket| *ticket < 8)))
            .collect();
        assert_eq!(texts(&gather(with_last, true, Coalescing::Alike)), [(LOOK, 8), (LOOK, 1)]);
        let with_tickets =
            (0..9).map(|number| queued(LOOK, number, Some(number as usize))).collect();
        assert_eq!(texts(&gather(with_tickets, true, Coalescing::Alike)), [(LOOK, 9)]);
        let kept = format!("{LOOK} FOR KEY SHARE SKIP LOCKED");
        let keeping = (0..9).map(|number| queued(&kept, number, Some(number as usize))).collect();
        assert_eq!(texts(&gather(keeping, true, Coalescing::Alike)), [(kept.as_str(), 9)]);
        let locking = (0..9)
            .map(|number| queued(&format!("{LOOK} FOR UPDATE"), number, Some(number as usize)))
            .collect();
        assert_eq!(texts(&gather(locking, true, Coalescing::Alike)).len(), 9);
        let few = (0..3).map(|number| queued(LOOK, number, Some(number as usize))).collect();
        assert_eq!(texts(&gather(few, false, Coalescing::Alike)), [(LOOK, 1); 3]);
        let all = "SELECT workspace_id FROM workspace";
        let without_parameters = (0..9)
            .map(|ticket| Queued { sql: all.into(), params: Vec::new(), ticket: Some(ticket) })
            .collect();
        assert_eq!(texts(&gather(without_parameters, false, Coalescing::Alike)), [(all, 1); 9]);
        let quick = (0..9).map(|number| queued(LOOK, number, Some(number as usize))).collect();
        assert_eq!(texts(&gather(quick, true, Coalescing::Inserts)), [(LOOK, 1); 9]);
        let plain = (0..9).map(|number| queued(PERSON, number, None)).collect();
        assert_eq!(texts(&gather(plain, false, Coalescing::Nothing)), [(PERSON, 1); 9]);
    }

    #[test]
    fn a_question_that_is_asked_again_at_once_is_asked_once() {
        let asked = [1, 1, 2, 1, 3, 3, 3, 4].into_iter().enumerate();
        let many = ArrayStatement::of(
            asked.map(|(ticket, number)| queued(LOOK, number, Some(ticket))).collect(),
        );
        assert_eq!(many.tickets, [vec![0, 1], vec![2], vec![3], vec![4, 5, 6], vec![7]]);
        assert_eq!(
            format!("{:?}", many.columns[1]),
            "List([Int(1), Int(2), Int(1), Int(3), Int(4)])"
        );
        let rows = ArrayStatement::of(
            [1, 1, 2].into_iter().map(|number| queued(PERSON, number, None)).collect(),
        );
        assert_eq!(
            format!("{:?}", rows.columns[1]),
            "List([Int(1), Int(1), Int(2)])",
            "a row is written as often as it was told"
        );
    }

    #[test]
    fn what_is_pointed_at_is_written_first() {
        let mut queue: Vec<_> = (0..8).map(|number| queued(PERSON, number, None)).collect();
        queue.push(queued(COMPANY, 1, None));
        assert_eq!(texts(&gather(queue, false, Coalescing::Alike)), [(COMPANY, 1), (PERSON, 8)]);
    }

    #[test]
    fn looks_do_not_pass_writes() {
        let mut queue: Vec<_> =
            (0..8).map(|number| queued(LOOK, number, Some(number as usize))).collect();
        queue.extend((0..8).map(|number| queued(PERSON, number, None)));
        queue.extend((8..16).map(|number| queued(LOOK, number, Some(number as usize))));
        assert_eq!(
            texts(&gather(queue, false, Coalescing::Alike)),
            [(LOOK, 8), (PERSON, 8), (LOOK, 8)]
        );
    }

    #[test]
    fn parameters_become_columns() {
        let many = ArrayStatement::of((0..3).map(|number| queued(PERSON, number, None)).collect());
        assert_eq!(
            format!("{:?}", many.columns),
            "[List([Int(1), Int(1), Int(1)]), List([Int(0), Int(1), Int(2)])]"
        );
        assert_eq!(
            many.over_arrays(&[Type::INT8, Type::UUID]),
            "INSERT INTO person (workspace_id, id) SELECT given.p1, given.p2 FROM \
             unnest(?1::int8[], ?2::uuid[]) AS given (p1, p2)"
        );
        let rows = ArrayStatement {
            sql: "INSERT INTO a (x, y) VALUES (?1, f(?2, 0)), (?1, ?3)".into(),
            tickets: Vec::new(),
            columns: Vec::new(),
        };
        assert_eq!(
            rows.over_arrays(&[Type::INT8, Type::TEXT, Type::TEXT]),
            "WITH given (p1, p2, p3) AS (SELECT * FROM unnest(?1::int8[], ?2::text[], ?3::text[])) \
             INSERT INTO a (x, y) SELECT given.p1, f(given.p2, 0) FROM given UNION ALL SELECT \
             given.p1, given.p3 FROM given"
        );
        let look = ArrayStatement::of(vec![queued(LOOK, 1, Some(0))]);
        assert_eq!(
            look.over_arrays(&[Type::INT8, Type::UUID]),
            "SELECT found.*, given.number FROM unnest(?1::int8[], ?2::uuid[]) WITH ORDINALITY AS \
             given (p1, p2, number) \
             CROSS JOIN LATERAL (SELECT * FROM (SELECT id FROM company WHERE workspace_id = \
             given.p1 AND id = given.p2) AS one OFFSET 0) AS found"
        );
    }
}
