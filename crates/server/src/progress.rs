//! How far long work is: a bar on a terminal, one line at the end elsewhere. If nobody reads it,
//! the work goes on.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

const WIDTH: usize = 30;
const EVERY: Duration = Duration::from_millis(200);

pub struct Progress {
    label: String,
    total: u64,
    begun: Instant,
    shown: Instant,
    is_terminal: bool,
}

impl Progress {
    pub fn start(label: String, total: u64) -> Self {
        let _ = writeln!(stderr(), "{label}");
        let begun = Instant::now();
        Self {
            label,
            total: total.max(1),
            begun,
            shown: begun,
            is_terminal: stderr().is_terminal(),
        }
    }

    /// The same when the total became known only now.
    pub fn show_of(&mut self, done: u64, total: u64) {
        self.total = total.max(1);
        self.show(done);
    }

    pub fn show(&mut self, done: u64) {
        if !self.is_terminal || self.shown.elapsed() < EVERY {
            return;
        }
        self.shown = Instant::now();
        let seconds = self.begun.elapsed().as_secs_f64();
        let rate = done as f64 / seconds.max(0.001);
        let left = self.total.saturating_sub(done) as f64 / rate.max(0.001);
        let filled = (done as usize * WIDTH / self.total as usize).min(WIDTH);
        let bar = format!("{}{}", "#".repeat(filled), "-".repeat(WIDTH - filled));
        let _ = write!(
            stderr(),
            "\r[{bar}] {:3}%  {rate:.0} a second, {left:.0} s left   ",
            done * 100 / self.total
        );
        let _ = stderr().flush();
    }

    pub fn finish(self) {
        if self.is_terminal {
            let _ = write!(stderr(), "\r{}\r", " ".repeat(WIDTH + 50));
        }
        let _ = writeln!(
            stderr(),
            "{}: done in {:.1} s",
            self.label,
            self.begun.elapsed().as_secs_f64()
        );
    }
}
