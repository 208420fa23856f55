use std::env;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::Instant;

use super::wait::{DEADLINE, eventually};

/// The program under test, with none of the settings of whoever runs the tests.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_slated"));
    for (name, _) in
        env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("SLATED_"))
    {
        command.env_remove(name);
    }
    command.env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

/// A running program whose output is collected as it comes. It is killed when it goes out of scope.
pub struct Process {
    child: Child,
    pub output: Lines,
    pub log: Lines,
}

impl Process {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let output = Lines::collect(child.stdout.take().unwrap());
        let log = Lines::collect(child.stderr.take().unwrap());
        Self { child, output, log }
    }

    /// Ends the program without giving it a chance to do anything about it.
    pub fn kill(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Asks the program to end.
    pub fn terminate(&self) {
        let sent =
            Command::new("kill").arg("-TERM").arg(self.child.id().to_string()).status().unwrap();
        assert!(sent.success());
    }

    pub fn wait_exit(&mut self) -> ExitStatus {
        let mut status = None;
        eventually("the program ends", || {
            status = self.child.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The lines that a program has written so far.
#[derive(Clone, Default)]
pub struct Lines(Arc<(Mutex<Written>, Condvar)>);

#[derive(Default)]
struct Written {
    lines: Vec<String>,
    ended: bool,
}

impl Lines {
    fn collect(source: impl Read + Send + 'static) -> Self {
        let lines = Self::default();
        let writer = lines.clone();
        thread::spawn(move || {
            for line in BufReader::new(source).split(b'\n').map_while(Result::ok) {
                writer.change(|written| {
                    written.lines.push(String::from_utf8_lossy(&line).into_owned())
                });
            }
            writer.change(|written| written.ended = true);
        });
        lines
    }

    fn change(&self, change: impl FnOnce(&mut Written)) {
        let (written, changed) = &*self.0;
        change(&mut written.lock().unwrap());
        changed.notify_all();
    }

    /// The first thing that `find` makes of a line, those to come included.
    #[track_caller]
    pub fn wait_for<T>(&self, what: &str, find: impl Fn(&str) -> Option<T>) -> T {
        let begun = Instant::now();
        let (written, changed) = &*self.0;
        let mut written = written.lock().unwrap();
        let mut seen = 0;
        loop {
            if let Some(found) = written.lines[seen..].iter().find_map(|line| find(line)) {
                return found;
            }
            seen = written.lines.len();
            let waited = begun.elapsed();
            if written.ended || waited >= DEADLINE {
                let text = written.lines.join("\n");
                drop(written);
                panic!("no line with {what} after {waited:?} in:\n{text}");
            }
            written = changed.wait_timeout(written, DEADLINE - waited).unwrap().0;
        }
    }

    /// All of it, once the program has ended.
    #[track_caller]
    pub fn to_end(&self) -> String {
        eventually("the output ends", || self.0.0.lock().unwrap().ended);
        self.text()
    }

    pub fn text(&self) -> String {
        self.0.0.lock().unwrap().lines.join("\n")
    }
}
