//! Statements that travel together, and their answers.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use futures_util::future::{MaybeDone, maybe_done};
use futures_util::{TryStreamExt, pin_mut};
use tokio_postgres::{Client, Error, Row, Statement};

use crate::driver::postgres::value::Owned;

/// Whether the transaction ends with it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TxEnd {
    None,
    Commit,
    CommitAndMark,
}

/// What is sent.
pub(crate) struct Pipeline {
    pub(crate) beginning: Option<&'static str>,
    pub(crate) statements: Vec<(Statement, Vec<Owned>)>,
    pub(crate) ending: TxEnd,
    /// How the server is asked how far it has come, if somebody wants to know.
    pub(crate) position: Option<Statement>,
    /// It is asked at the beginning.
    pub(crate) at_least: Option<i64>,
}

type Answer = Result<(Vec<Row>, u64), Error>;

pub(crate) struct PipelineResponse {
    pub(crate) position: Option<Result<Vec<Row>, Error>>,
    pub(crate) began: Result<(), Error>,
    pub(crate) answers: Vec<Answer>,
    /// Nothing if the transaction goes on.
    pub(crate) ended: Option<Result<(), Error>>,
    pub(crate) mark: Option<Result<Vec<Row>, Error>>,
}

pub(crate) type Boxed<'f, T> = Pin<Box<dyn Future<Output = T> + Send + 'f>>;

/// Polls each once, in this order, before it waits for any; then it waits for them in the same
/// order. What sends when it is first polled is sent in this order too.
pub(crate) async fn in_order<T: Send>(futures: Vec<Boxed<'_, T>>) -> Vec<T> {
    let mut under_way: Vec<MaybeDone<Boxed<'_, T>>> = futures.into_iter().map(maybe_done).collect();
    poll_fn(|context| {
        for future in &mut under_way {
            let _ = Pin::new(future).poll(context);
        }
        Poll::Ready(())
    })
    .await;
    let mut done = Vec::with_capacity(under_way.len());
    for future in &mut under_way {
        let mut future = Pin::new(future);
        future.as_mut().await;
        done.extend(future.take_output());
    }
    done
}

/// What is sent in its place, and answered.
enum Step {
    Looked(Result<Vec<Row>, Error>),
    Began(Result<(), Error>),
    Answered(Answer),
    Ended(Result<(), Error>),
    Marked(Result<Vec<Row>, Error>),
}

/// Sends everything in order before it waits for the first answer.
pub(crate) async fn exchange(client: Arc<Client>, sent: Pipeline) -> PipelineResponse {
    let Pipeline { beginning, statements, ending, position, at_least } = &sent;
    let client = &*client;
    let mut steps: Vec<Boxed<'_, Step>> = Vec::with_capacity(statements.len() + 4);
    if let (Some(position), Some(_)) = (position, at_least) {
        steps.push(Box::pin(async move { Step::Looked(client.query(position, &[]).await) }));
    }
    if let Some(sql) = *beginning {
        steps.push(Box::pin(async move { Step::Began(client.batch_execute(sql).await) }));
    }
    for (statement, params) in statements {
        steps
            .push(Box::pin(async move { Step::Answered(answer(client, statement, params).await) }));
    }
    if *ending != TxEnd::None {
        steps.push(Box::pin(async move { Step::Ended(client.batch_execute("COMMIT").await) }));
    }
    if let (Some(position), TxEnd::CommitAndMark) = (position, ending) {
        steps.push(Box::pin(async move { Step::Marked(client.query(position, &[]).await) }));
    }
    let mut exchanged = PipelineResponse {
        position: None,
        began: Ok(()),
        answers: Vec::with_capacity(statements.len()),
        ended: None,
        mark: None,
    };
    for step in in_order(steps).await {
        match step {
            Step::Looked(rows) => exchanged.position = Some(rows),
            Step::Began(began) => exchanged.began = began,
            Step::Answered(answer) => exchanged.answers.push(answer),
            Step::Ended(ended) => exchanged.ended = Some(ended),
            Step::Marked(rows) => exchanged.mark = Some(rows),
        }
    }
    exchanged
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    #[tokio::test]
    async fn all_are_begun_in_order_before_any_is_waited_for() {
        let begun = Mutex::new(Vec::new());
        let one = |number: usize| -> Boxed<'_, usize> {
            let begun = &begun;
            Box::pin(async move {
                begun.lock().expect("nobody panics").push(number);
                tokio::task::yield_now().await;
                assert_eq!(begun.lock().expect("nobody panics").len(), 200);
                number
            })
        };
        let numbers: Vec<_> = (0..200).collect();
        assert_eq!(in_order(numbers.iter().map(|number| one(*number)).collect()).await, numbers);
        assert_eq!(begun.into_inner().expect("nobody panics"), numbers);
    }
}
