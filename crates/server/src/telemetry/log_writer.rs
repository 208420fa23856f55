//! Writing the log off the path of requests. Lines gather in memory, and a thread of its own writes what has gathered in one piece: one
//! write for many lines, and no line makes a request wait for the terminal or the disk unless the log falls far behind.

use std::io::{Result, Write, stderr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// How long a line may lie in memory.
const GATHERED_FOR: Duration = Duration::from_millis(20);
/// Past that many bytes a line waits for the thread: memory is bounded, and nothing is dropped.
const MOST_GATHERED: usize = 32 * 1024 * 1024;
/// Memory that is kept for what gathers next.
const MOST_KEPT: usize = 1024 * 1024;

#[derive(Default)]
pub struct Shared {
    gathered: Mutex<Gathered>,
    arrived: Condvar,
    written: Condvar,
}

#[derive(Default)]
struct Gathered {
    lines: Vec<u8>,
    is_closed: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, line: &[u8]) {
        let mut gathered = self.lock();
        while gathered.lines.len() > MOST_GATHERED && !gathered.is_closed {
            gathered = self.written.wait(gathered).unwrap_or_else(PoisonError::into_inner);
        }
        let is_first = gathered.lines.is_empty();
        gathered.lines.extend_from_slice(line);
        if is_first {
            self.arrived.notify_one();
        }
    }

    fn write_until_closed(&self) {
        let mut piece = Vec::new();
        loop {
            let mut gathered = self.lock();
            while gathered.lines.is_empty() && !gathered.is_closed {
                gathered = self.arrived.wait(gathered).unwrap_or_else(PoisonError::into_inner);
            }
            if gathered.lines.is_empty() {
                return;
            }
            if !gathered.is_closed {
                drop(gathered);
                std::thread::sleep(GATHERED_FOR);
                gathered = self.lock();
            }
            std::mem::swap(&mut piece, &mut gathered.lines);
            drop(gathered);
            self.written.notify_all();
            // Nobody is left to be told that the log is gone.
            let _ = stderr().write_all(&piece);
            piece.clear();
            piece.shrink_to(MOST_KEPT);
        }
    }
}

pub struct LogWriter {
    shared: Arc<Shared>,
}

/// Writes the rest of the log when it goes.
pub struct LogGuard {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl LogWriter {
    pub fn start() -> Result<(Self, LogGuard)> {
        let shared = Arc::new(Shared::default());
        let writing = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("log-writer".to_owned()).spawn(move || writing.write_until_closed())?;
        Ok((Self { shared: Arc::clone(&shared) }, LogGuard { shared, thread: Some(thread) }))
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.arrived.notify_one();
        self.shared.written.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Write for &Shared {
    fn write(&mut self, line: &[u8]) -> Result<usize> {
        self.add(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for LogWriter {
    type Writer = &'w Shared;

    fn make_writer(&'w self) -> &'w Shared {
        &self.shared
    }
}
