use std::collections::BTreeMap;
use std::ops::Deref;
use std::process::Command;

use serde_json::Value;

use super::database::{Database, KeyMaker, key_name};
use super::engine::Engine;
use super::process::{Lines, Process};
use super::workspace::{MAIN, Workspace};

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
        Self {
            engine,
            arguments: Vec::new(),
            environment,
            files: BTreeMap::new(),
            first_start: false,
        }
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
        if self.first_start {
            let database = Database::new(self.engine);
            return self.run(database, None);
        }
        let (database, key) = Database::with_key(self.engine);
        self.start_with_key(database, key)
    }

    /// Starts on a database that has that key.
    pub fn start_with_key(self, database: Database, key: &str) -> App {
        self.run(database, Some(key))
    }

    pub fn start_on(self, database: Database) -> App {
        self.run(database, None)
    }

    fn run(self, database: Database, key: Option<&str>) -> App {
        let key = key.map(str::to_owned).or_else(|| {
            let make =
                || KeyMaker::open(&database.url()).make(MAIN, &key_name(MAIN, "write"), "write");
            (!self.first_start).then(make)
        });
        let process = self.serve(&database);
        let workspace = Workspace::alone(address_of(&process.log), database.url());
        let workspace = match key {
            Some(key) => workspace.with_key(MAIN, "write", &key),
            None => workspace,
        };
        App { process, workspace, builder: self, database }
    }

    /// The server as a process, which may or may not come up.
    pub fn serve(&self, database: &Database) -> Process {
        Process::start(&mut self.command(database))
    }

    pub fn command(&self, database: &Database) -> Command {
        for (name, text) in &self.files {
            database.write_file(name, text);
        }
        let mut command = database.command(&["serve"]);
        command.env("SLATED_LISTEN", "127.0.0.1:0").args(&self.arguments).envs(&self.environment);
        command
    }
}

/// Where a server listens, once it says so.
pub fn address_of(log: &Lines) -> String {
    log.wait_for("the address that it listens on", |line| {
        let entry: Value = serde_json::from_str(line).ok()?;
        let fields = &entry["fields"];
        (fields["message"] == "listening")
            .then(|| fields["listen.address"].as_str().unwrap().to_owned())
    })
}

/// The running program on a database of its own.
pub struct App {
    pub process: Process,
    workspace: Workspace,
    builder: AppBuilder,
    pub database: Database,
}

/// What can be done in any workspace can be done here.
impl Deref for App {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.workspace
    }
}

impl App {
    /// Starts the program again on the same database, once it has ended.
    pub fn restart(&mut self) {
        self.process = self.builder.serve(&self.database);
        self.workspace.address = address_of(&self.process.log);
    }

    /// A second server beside this one on the same database, and where it listens.
    pub fn another_server(&self) -> (Process, String) {
        let process = self.builder.serve(&self.database);
        let address = address_of(&process.log);
        (process, address)
    }
}
