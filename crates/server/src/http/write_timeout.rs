//! A connection whose other end stops reading is given up: an answer that nobody takes must not be
//! kept for ever.

use std::future::Future;
use std::io::{Error, ErrorKind, IoSlice, Result};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use rustix::io::Errno;
use rustix::net::{Shutdown, shutdown};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};

use super::connections::Activity;

/// What must be taken of an answer in the time that it may lie unread, unless there is no more of
/// it. A byte now and then is no reading.
const MIN_TAKEN: usize = 64 * 1024;

pub struct StallGuard {
    stream: Arc<TcpStream>,
    patience: Duration,
    activity: Arc<Activity>,
    waiting: Option<Waiting>,
}

/// Something is there to be sent, and the other end did not take all of it at once.
struct Waiting {
    deadline: Pin<Box<Sleep>>,
    taken: usize,
}

impl StallGuard {
    pub const fn new(stream: Arc<TcpStream>, patience: Duration, activity: Arc<Activity>) -> Self {
        Self { stream, patience, activity, waiting: None }
    }

    /// Passes on what the stream says, unless too little was taken for too long.
    fn judge(
        &mut self,
        context: &mut Context<'_>,
        progress: Poll<Result<usize>>,
    ) -> Poll<Result<usize>> {
        if let (Poll::Ready(Ok(bytes)), Some(waiting)) = (&progress, &mut self.waiting) {
            waiting.taken += bytes;
            if waiting.taken >= MIN_TAKEN {
                self.waiting = None;
            }
        }
        if progress.is_ready() {
            return progress;
        }
        let (patience, activity) = (self.patience, &self.activity);
        let waiting = self.waiting.get_or_insert_with(|| {
            activity.set_sending(true);
            Waiting { deadline: Box::pin(sleep(patience)), taken: 0 }
        });
        ready!(waiting.deadline.as_mut().poll(context));
        Poll::Ready(Err(Error::new(ErrorKind::TimedOut, "the client stopped reading")))
    }
}

impl AsyncRead for StallGuard {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<Result<()>> {
        loop {
            ready!(self.stream.poll_read_ready(context))?;
            match self.stream.try_read(buffer.initialize_unfilled()) {
                Ok(bytes) => {
                    buffer.advance(bytes);
                    return Poll::Ready(Ok(()));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }
}

/// Writes as soon as the stream takes something.
fn write(
    stream: &TcpStream,
    context: &mut Context<'_>,
    write: impl Fn() -> Result<usize>,
) -> Poll<Result<usize>> {
    loop {
        ready!(stream.poll_write_ready(context))?;
        match write() {
            Err(error) if error.kind() == ErrorKind::WouldBlock => {}
            outcome => return Poll::Ready(outcome),
        }
    }
}

impl AsyncWrite for StallGuard {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<Result<usize>> {
        let progress = write(&self.stream, context, || self.stream.try_write(bytes));
        self.judge(context, progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<Result<usize>> {
        let progress = write(&self.stream, context, || self.stream.try_write_vectored(slices));
        self.judge(context, progress)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    /// Asked for when all that was there has been taken.
    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        self.waiting = None;
        self.activity.set_sending(false);
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Result<()>> {
        match shutdown(&*self.stream, Shutdown::Write) {
            // It is closed from the other end.
            Err(Errno::NOTCONN) | Ok(()) => Poll::Ready(Ok(())),
            Err(error) => Poll::Ready(Err(error.into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    const TEST_TIMEOUT: Duration = Duration::from_millis(300);
    const LENGTH: usize = 64 * 1024 * 1024;

    /// Sends much to somebody who reads so many bytes between pauses.
    async fn send_to_reader_of(bytes: usize, pause: Duration) -> Result<()> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let mut reader = TcpStream::connect(listener.local_addr()?).await?;
        let (stream, peer) = listener.accept().await?;
        let activity = Activity::new(peer.ip(), Instant::now());
        let reading = tokio::spawn(async move {
            let mut buffer = vec![0; bytes];
            while reader.read_exact(&mut buffer).await.is_ok() {
                sleep(pause).await;
            }
        });
        let sent = StallGuard::new(Arc::new(stream), TEST_TIMEOUT, activity)
            .write_all(&vec![0; LENGTH])
            .await;
        reading.abort();
        sent
    }

    fn block_on<T>(work: impl Future<Output = T>) -> T {
        tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    #[test]
    fn whoever_reads_is_waited_for() {
        block_on(send_to_reader_of(1024 * 1024, Duration::from_millis(1))).unwrap();
    }

    #[test]
    fn a_byte_now_and_then_is_no_reading() {
        let sent = block_on(send_to_reader_of(1, Duration::from_millis(10)));
        assert_eq!(sent.unwrap_err().kind(), ErrorKind::TimedOut);
    }
}
