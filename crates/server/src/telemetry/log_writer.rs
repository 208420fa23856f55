//! Writing the log off the path of requests. Lines gather in memory, and a thread of its own writes
//! what has gathered in one piece: one write for many lines, and no line makes a request wait for
//! the terminal or the disk unless the log falls far behind, nor then for long.

use std::io::{Result, Write, stderr};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tracing_subscriber::fmt::MakeWriter;

/// How long a line may lie in memory.
const FLUSH_INTERVAL: Duration = Duration::from_millis(20);
/// Past that many bytes a line waits for the thread.
const MAX_GATHERED: usize = 32 * 1024 * 1024;
/// How long it does. If nothing was written meanwhile, nobody reads the log: it and those behind it
/// are dropped, and counted, until somebody does.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// How long the program waits for the rest of the log to be written when it ends.
const MAX_END: Duration = Duration::from_secs(2);
const WRITTEN_AT_ONCE: usize = 64 * 1024;
/// Memory that is kept for what gathers next.
const MAX_KEPT: usize = 1024 * 1024;

#[derive(Default)]
pub struct Shared {
    gathered: Mutex<Gathered>,
    arrived: Condvar,
    moved: Condvar,
}

#[derive(Default)]
struct Gathered {
    lines: Vec<u8>,
    /// Bytes of the piece that is being written.
    unwritten: usize,
    is_closed: bool,
    /// Pieces that were written so far.
    written: u64,
    is_stuck: bool,
    dropped: u64,
}

impl Gathered {
    const fn has_room(&self) -> bool {
        self.lines.len() + self.unwritten <= MAX_GATHERED || self.is_closed
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Gathered> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, line: &[u8]) {
        let mut gathered = self.lock();
        while !gathered.has_room() && !gathered.is_stuck {
            let written = gathered.written;
            let wait = self.moved.wait_timeout_while(gathered, MAX_WAIT, |gathered| {
                !gathered.has_room() && gathered.written == written
            });
            gathered = wait.unwrap_or_else(PoisonError::into_inner).0;
            gathered.is_stuck = gathered.written == written;
        }
        if !gathered.has_room() {
            gathered.dropped += 1;
            return;
        }
        let is_first = gathered.lines.is_empty();
        gathered.lines.extend_from_slice(line);
        if is_first {
            self.arrived.notify_one();
        }
    }

    /// So many bytes were written, so somebody reads.
    fn go_on(&self, bytes: usize) {
        let mut gathered = self.lock();
        gathered.unwritten -= bytes;
        gathered.written += 1;
        gathered.is_stuck = false;
        drop(gathered);
        self.moved.notify_all();
    }

    fn write_until_closed(&self, mut sink: impl Write) {
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
                std::thread::sleep(FLUSH_INTERVAL);
                gathered = self.lock();
            }
            std::mem::swap(&mut piece, &mut gathered.lines);
            let dropped = std::mem::take(&mut gathered.dropped);
            drop(gathered);
            if dropped > 0 {
                tracing::warn!(
                    lines = dropped,
                    "log lines were dropped because the log was not \
                    read"
                );
            }
            // Only now: the line above is one more, and nobody else makes room for it.
            self.lock().unwritten = piece.len();
            for part in piece.chunks(WRITTEN_AT_ONCE) {
                // Nobody is left to be told that the log is gone.
                let _ = sink.write_all(part);
                self.go_on(part.len());
            }
            piece.clear();
            piece.shrink_to(MAX_KEPT);
        }
    }
}

pub struct LogWriter {
    shared: Arc<Shared>,
}

/// Writes the rest of the log when it goes.
pub struct LogGuard {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
}

impl LogWriter {
    pub fn start() -> Result<(Self, LogGuard)> {
        let shared = Arc::new(Shared::default());
        let writing = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("log-writer".to_owned())
            .spawn(move || writing.write_until_closed(stderr()))?;
        Ok((Self { shared: Arc::clone(&shared) }, LogGuard { shared, thread }))
    }
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.arrived.notify_one();
        self.shared.moved.notify_all();
        let end = Instant::now() + MAX_END;
        while !self.thread.is_finished() && Instant::now() < end {
            std::thread::sleep(FLUSH_INTERVAL / 4);
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

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    /// Whoever reads the log, a piece at each word.
    struct Reader {
        words: mpsc::Receiver<()>,
        read: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for Reader {
        fn write(&mut self, bytes: &[u8]) -> Result<usize> {
            // Without anybody to give a word all of it is read.
            let _ = self.words.recv();
            self.read.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> Result<()> {
            Ok(())
        }
    }

    const LINE: usize = WRITTEN_AT_ONCE;
    const TEST_TIMEOUT: Duration = Duration::from_secs(20);

    #[test]
    fn a_log_that_is_read_slowly_loses_nothing_and_keeps_nobody_waiting_for_all_of_it() {
        let (shared, read) = (Arc::new(Shared::default()), Arc::new(Mutex::default()));
        let (word, words) = mpsc::channel();
        let reader = Reader { words, read: Arc::clone(&read) };
        let writing = Arc::clone(&shared);
        let thread = thread::spawn(move || writing.write_until_closed(reader));
        let line = [b'x'; LINE];
        shared.add(&line);
        while shared.lock().unwritten == 0 {
            thread::yield_now();
        }
        (0..MAX_GATHERED / LINE).for_each(|_| shared.add(&line));
        assert!(!shared.lock().has_room());
        word.send(()).unwrap();
        // One piece that is read makes room for one line.
        let begun = Instant::now();
        while !shared.lock().has_room() {
            assert!(begun.elapsed() < TEST_TIMEOUT, "no room is made");
            thread::yield_now();
        }
        shared.add(&line);
        assert_eq!(shared.lock().dropped, 0);
        shared.lock().is_closed = true;
        drop(word);
        shared.arrived.notify_one();
        thread.join().unwrap();
        assert_eq!(read.lock().unwrap().len(), MAX_GATHERED + 2 * LINE);
    }

    #[test]
    fn a_log_that_nobody_reads_loses_lines_and_counts_them() {
        let shared = Shared::default();
        let line = [b'x'; LINE];
        (0..=MAX_GATHERED / LINE).for_each(|_| shared.add(&line));
        let begun = Instant::now();
        shared.add(&line);
        assert!(begun.elapsed() >= MAX_WAIT);
        assert!(shared.lock().is_stuck, "those behind the first would wait too");
        shared.add(&line);
        assert_eq!(shared.lock().dropped, 2);
    }
}
