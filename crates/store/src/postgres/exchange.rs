//! Statements that travel together, and their answers.

use std::sync::Arc;

use futures_util::future::{join, join_all, join3};
use futures_util::{TryStreamExt, pin_mut};
use tokio_postgres::{Client, Error, Row, Statement};

use super::value::Owned;

/// Whether the transaction ends with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ending {
    None,
    Commit,
    CommitAndMark,
}

/// What is sent.
pub(super) struct Exchange {
    pub(super) beginning: Option<&'static str>,
    pub(super) statements: Vec<(Statement, Vec<Owned>)>,
    pub(super) ending: Ending,
    /// How the server is asked how far it has come, if somebody wants to know.
    pub(super) position: Option<Statement>,
    /// It is asked at the beginning.
    pub(super) at_least: Option<i64>,
}

type Answer = Result<(Vec<Row>, u64), Error>;

pub(super) struct Exchanged {
    pub(super) position: Option<Result<Vec<Row>, Error>>,
    pub(super) began: Result<(), Error>,
    pub(super) answers: Vec<Answer>,
    /// Nothing if the transaction goes on.
    pub(super) ended: Option<Result<(), Error>>,
    pub(super) mark: Option<Result<Vec<Row>, Error>>,
}

/// Sends everything in this order before it waits for the first answer: each of these futures sends when it is first polled, and
/// joined ones are polled from the first to the last.
pub(super) async fn exchange(client: Arc<Client>, sent: Exchange) -> Exchanged {
    let Exchange { beginning, statements, ending, position, at_least } = sent;
    let client = &*client;
    let look = async |statement: Option<Statement>| match statement {
        Some(statement) => Some(client.query(&statement, &[]).await),
        None => None,
    };
    let begin = async {
        match beginning {
            Some(sql) => client.batch_execute(sql).await,
            None => Ok(()),
        }
    };
    let commit = async {
        match ending {
            Ending::None => None,
            Ending::Commit | Ending::CommitAndMark => Some(client.batch_execute("COMMIT").await),
        }
    };
    let begin = join(look(position.clone().filter(|_| at_least.is_some())), begin);
    let middle = join_all(statements.iter().map(|(statement, params)| answer(client, statement, params)));
    let end = join(commit, look(position.clone().filter(|_| ending == Ending::CommitAndMark)));
    let ((position, began), answers, (ended, mark)) = join3(begin, middle, end).await;
    Exchanged { position, began, answers, ended, mark }
}

async fn answer(client: &Client, statement: &Statement, params: &[Owned]) -> Answer {
    let stream = client.query_raw(statement, params).await?;
    pin_mut!(stream);
    let mut rows = Vec::new();
    while let Some(row) = stream.try_next().await? {
        rows.push(row);
    }
    Ok((rows, stream.rows_affected().unwrap_or(0)))
}
