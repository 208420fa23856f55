use std::path::{Path, PathBuf};
use std::process::{self, Command};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

use tokio::runtime::Builder;
use tokio_postgres::NoTls;

/// The server that the tests make their databases on.
fn server() -> String {
    env::var("TEST_POSTGRES").unwrap_or_else(|_| {
        panic!(
            "TEST_POSTGRES is not set: run the tests with scripts/test, or start a server with \
             scripts/postgres start DIRECTORY and put \
             the URL that it prints into TEST_POSTGRES"
        )
    })
}

/// The URL of the database of that name.
pub fn url(name: &str) -> String {
    let server = server();
    let (base, _) = server.rsplit_once('/').expect("a URL with a database");
    format!("{base}/{name}")
}

pub fn create_database(name: &str) {
    execute(&server(), &format!("CREATE DATABASE {name}"));
}

/// Makes a copy of a database that nobody is connected to.
pub fn copy_database(from: &str, to: &str) {
    execute(&server(), &format!("CREATE DATABASE {to} TEMPLATE {from}"));
}

pub fn databases() -> Vec<String> {
    execute(&server(), "SELECT datname FROM pg_database")
}

pub fn drop_database(name: &str) {
    execute(&server(), &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
}

/// Runs statements; gives back the first column of each row, as text.
pub fn execute(url: &str, sql: &str) -> Vec<String> {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        let driver = tokio::spawn(connection);
        let answer =
            client.simple_query(sql).await.unwrap_or_else(|error| panic!("{sql}: {error:?}"));
        drop(client);
        driver.await.unwrap().unwrap();
        answer
            .iter()
            .filter_map(|message| match message {
                tokio_postgres::SimpleQueryMessage::Row(row) => row.get(0).map(str::to_owned),
                _ => None,
            })
            .collect()
    })
}

/// Runs a statement in a transaction that stays open until this goes out of scope, and is undone
/// then, or is committed.
pub struct Held {
    release: Option<tokio::sync::oneshot::Sender<&'static str>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Held {
    pub fn new(url: String, sql: String) -> Self {
        let (release, released) = tokio::sync::oneshot::channel();
        let (ready, is_ready) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(async {
                let (client, connection) = tokio_postgres::connect(&url, NoTls).await.unwrap();
                tokio::spawn(connection);
                client.batch_execute(&format!("BEGIN; {sql}")).await.unwrap();
                ready.send(()).unwrap();
                client.batch_execute(released.await.unwrap_or("ROLLBACK")).await.unwrap();
            });
        });
        is_ready.recv().unwrap();
        Self { release: Some(release), thread: Some(thread) }
    }

    pub fn commit(mut self) {
        self.release.take().unwrap().send("COMMIT").unwrap();
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        drop(self.release.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// A server that a test has for itself, to halt, to copy and to throw away.
pub struct Server {
    directory: PathBuf,
    url: String,
}

impl Server {
    pub fn start(environment: &[(&str, &str)]) -> Self {
        Self::make(&["start"], None, environment)
    }

    pub fn replica(&self, environment: &[(&str, &str)]) -> Self {
        Self::make(&["replica"], Some(&self.directory), environment)
    }

    fn make(action: &[&str], other: Option<&Path>, environment: &[(&str, &str)]) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let directory = env::temp_dir().join(format!("slated-server-{}-{number}", process::id()));
        let url = script(action, &directory, other, environment);
        Self { directory, url }
    }

    /// The URL of a database on it.
    pub fn url(&self) -> &str {
        &self.url
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub fn halt(&self) {
        script(&["halt"], &self.directory, None, &[]);
    }

    pub fn resume(&self) {
        script(&["resume"], &self.directory, None, &[]);
    }

    /// Sends a signal to the server and all its processes. The first goes first: once it stands
    /// still no others come into being.
    pub fn signal(&self, signal: &str) {
        let first = fs::read_to_string(self.directory.join("data/postmaster.pid")).unwrap();
        let first = first.lines().next().unwrap();
        assert!(Command::new("kill").args([signal, first]).status().unwrap().success());
        let children = Command::new("pgrep").args(["-P", first]).output().unwrap();
        for child in String::from_utf8(children.stdout).unwrap().lines() {
            // It may be gone by now.
            Command::new("kill").args([signal, child]).output().unwrap();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        script(&["stop"], &self.directory, None, &[]);
    }
}

fn script(
    action: &[&str],
    directory: &Path,
    other: Option<&Path>,
    environment: &[(&str, &str)],
) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/postgres");
    let output = Command::new(script)
        .args(action)
        .arg(directory)
        .args(other)
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    assert!(output.status.success(), "{action:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}
