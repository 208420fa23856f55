use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs};

use serde_json::Value;

use super::client::Client;
use super::engine::Engine;
use super::postgres;
use super::process::{Lines, Process, program};

/// The workspace of a test that does not care which one.
const WORKSPACE: &str = "main";

const RUN_ON_SQLITE: &str = "
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as database:
    for row in database.execute(sys.argv[2]):
        print(row[0])
";

/// A database that nobody else knows, removed when it goes out of scope.
pub struct Database {
    pub engine: Engine,
    /// Where the program runs, and keeps its file if it has one.
    directory: PathBuf,
    name: String,
    given: Option<String>,
}

impl Database {
    pub fn new(engine: Engine) -> Self {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let directory = env::temp_dir().join(format!("slated-contract-{}-{number}", process::id()));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir_all(&directory).unwrap();
        let name = format!("contract_{}_{number}", process::id());
        if let Engine::Postgres = engine {
            postgres::drop_database(&name);
            postgres::create_database(&name);
        }
        Self { engine, directory, name, given: None }
    }

    /// A PostgreSQL database that is there already, and stays.
    pub fn at(url: &str) -> Self {
        let mut database = Self::new(Engine::Sqlite);
        database.engine = Engine::Postgres;
        database.given = Some(url.to_owned());
        database
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Writes a file into the directory, in the place of the one that may be there.
    pub fn write_file(&self, name: &str, text: &str) {
        let path = self.directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub fn file(&self) -> PathBuf {
        self.directory.join("slated.db")
    }

    pub fn url(&self) -> String {
        match (self.engine, &self.given) {
            (Engine::Sqlite, _) => format!("sqlite:{}", self.file().display()),
            (Engine::Postgres, Some(given)) => given.clone(),
            (Engine::Postgres, None) => postgres::url(&self.name),
        }
    }

    /// Runs a statement in a transaction of its own that stays open, on PostgreSQL.
    pub fn hold(&self, sql: &str) -> postgres::Held {
        postgres::Held::new(self.url(), sql.to_owned())
    }

    /// Runs a statement behind the program's back; gives back the first column of each row.
    pub fn execute(&self, sql: &str) -> Vec<String> {
        match self.engine {
            Engine::Sqlite => {
                let output = Command::new("python3").args(["-c", RUN_ON_SQLITE]).arg(self.file()).arg(sql).output().unwrap();
                assert!(output.status.success(), "{sql}: {}", String::from_utf8_lossy(&output.stderr));
                String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
            }
            Engine::Postgres => postgres::execute(&self.url(), sql),
        }
    }

    /// The program with these arguments, on this database.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = program();
        command.args(arguments).arg("--database").arg(self.url()).current_dir(&self.directory);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// What the program writes to its standard output when it succeeds.
    #[track_caller]
    pub fn ask(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        assert!(output.status.success(), "slated {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap().trim_end().to_owned()
    }

    #[track_caller]
    pub fn create_key(&self, workspace: &str, scope: &str, more: &[&str]) -> String {
        let name = format!("{workspace} {scope}");
        let arguments = ["key", "create", "--name", &name, "--scope", scope, "--workspace", workspace];
        let key = self.ask(&[&arguments[..], more].concat());
        assert!(key.starts_with("slated_") && !key.contains(char::is_whitespace), "not just a key: {key}");
        key
    }
}

impl Drop for Database {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.directory);
        if let (Engine::Postgres, None) = (self.engine, &self.given) {
            postgres::drop_database(&self.name);
        }
    }
}

/// How the program is to be started.
pub struct AppBuilder {
    engine: Engine,
    arguments: Vec<String>,
    environment: BTreeMap<String, String>,
    /// What lies where the program is started, by name.
    files: BTreeMap<String, String>,
    first_start: bool,
}

impl AppBuilder {
    pub fn new(engine: Engine) -> Self {
        let environment = BTreeMap::from([("SLATED_RATE_LIMIT".to_owned(), "0".to_owned())]);
        Self { engine, arguments: Vec::new(), environment, files: BTreeMap::new(), first_start: false }
    }

    pub fn argument(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.insert(name.to_owned(), value.to_owned());
        self
    }

    /// Puts a file where the program is started, which is the directory of its database.
    pub fn file(mut self, name: &str, text: &str) -> Self {
        self.files.insert(name.to_owned(), text.to_owned());
        self
    }

    /// Starts the program with this configuration file.
    pub fn config(self, text: &str) -> Self {
        self.file("slated.toml", text).environment("SLATED_CONFIG", "slated.toml")
    }

    /// Leaves the database empty, so that the program makes the first key itself.
    pub fn first_start(mut self) -> Self {
        self.first_start = true;
        self
    }

    pub fn start(self) -> App {
        let database = Database::new(self.engine);
        self.start_on(database)
    }

    pub fn start_on(self, database: Database) -> App {
        let mut keys = HashMap::new();
        if !self.first_start {
            keys.insert((WORKSPACE.to_owned(), "write".to_owned()), database.create_key(WORKSPACE, "write", &[]));
        }
        let process = self.serve(&database);
        let address = address_of(&process.log);
        App { process, address, keys: Mutex::new(keys), builder: self, database }
    }

    /// The server as a process, which may or may not come up.
    pub fn serve(&self, database: &Database) -> Process {
        for (name, text) in &self.files {
            database.write_file(name, text);
        }
        let mut command = database.command(&["serve", "--listen", "127.0.0.1:0"]);
        command.args(&self.arguments).envs(&self.environment);
        Process::start(&mut command)
    }
}

/// Where a server listens, once it says so.
pub fn address_of(log: &Lines) -> String {
    log.wait_for("the address that it listens on", |line| {
        let entry: Value = serde_json::from_str(line).ok()?;
        let fields = &entry["fields"];
        (fields["message"] == "listening").then(|| fields["listen.address"].as_str().unwrap().to_owned())
    })
}

/// The running program on a database of its own.
pub struct App {
    pub process: Process,
    pub address: String,
    keys: Mutex<HashMap<(String, String), String>>,
    builder: AppBuilder,
    pub database: Database,
}

impl App {
    /// Starts the program again on the same database, once it has ended.
    pub fn restart(&mut self) {
        self.process = self.builder.serve(&self.database);
        self.address = address_of(&self.process.log);
    }

    /// A second server beside this one on the same database, and where it listens.
    pub fn another_server(&self) -> (Process, String) {
        let process = self.builder.serve(&self.database);
        let address = address_of(&process.log);
        (process, address)
    }

    pub fn key(&self, workspace: &str, scope: &str) -> String {
        let mut keys = self.keys.lock().unwrap();
        keys.entry((workspace.to_owned(), scope.to_owned())).or_insert_with(|| self.database.create_key(workspace, scope, &[])).clone()
    }

    pub fn client(&self, scope: &str) -> Client {
        self.client_of(WORKSPACE, scope)
    }

    pub fn client_of(&self, workspace: &str, scope: &str) -> Client {
        self.anonymous().with_key(&self.key(workspace, scope))
    }

    /// A client without a key.
    pub fn anonymous(&self) -> Client {
        Client::new(&self.address)
    }

    /// A client that may write, which is what most tests need.
    pub fn writer(&self) -> Client {
        self.client("write")
    }
}
